package vault

import (
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
	"meshc.dev/render/seal"
)

// Accept seals a value that a person supplied to every holder of a secret, and
// wipes it (LIC-2). It needs nothing else to be made or supplied yet. What was
// there before, for holders that are none now too, goes. Head is the lock of the last
// commit, nil where git knows none: a new value has a greater generation than there too.
func Accept(d Demand, lk, head *lock.Lock, n Name, value seal.Secret) (*Change, diag.List, error) {
	defer value.Wipe()
	i := slices.IndexFunc(d.Wants, func(w Want) bool { return w.Name == n })
	if i < 0 {
		return nil, diag.List{notWanted(n.label(), names(d, nil))}, nil
	}
	w := d.Wants[i]
	if !w.Name.IsSupplied() {
		return nil, diag.List{notAPersons(w)}, nil
	}
	if lk == nil {
		lk = lock.New()
	}
	r := &review{demand: d, lock: lk, mode: Mode{Head: head}, plan: &Plan{mesh: d.Mesh, lock: lk}, noKey: map[addr.Node]bool{}}
	r.plan.keys, r.faults = readKeys(d)
	r.plan.keys.compare(lk, nil)
	s := Secret{Name: n, Generation: max(lk.Secrets[n.String()].Generation, r.before(n.String())) + 1, Action: Made}
	if s.Generation > 1 {
		s.Action, s.Because = Remade, "supplied"
	}
	s.Ends, _ = r.ends(w)
	for _, e := range endsOf(w) { // the key of another node may have changed meanwhile: that is not in the way here
		if c := r.plan.keys.changed[e.Holder.Node]; c != nil {
			r.fault(recipientChanged(*c))
		}
	}
	if faults := r.faults.Sorted(); faults.HasErrors() {
		return nil, faults, nil
	}
	made, err := r.plan.seal(&s, value)
	if err != nil {
		return nil, nil, err
	}
	c := &Change{Lock: lk.Clone(), Secrets: []Secret{s}, data: map[string][]byte{}}
	c.Lock.Mesh = d.Mesh
	c.take(s, made, lk)
	c.remove = unnamed(lk, c.Lock)
	slices.Sort(c.remove)
	return c, r.faults.Sorted(), nil
}

// FindSupplied reads what `meshc accept` is told: LICENCE or NODE/INSTANCE/NEED.
func FindSupplied(d Demand, arg string) (Name, diag.List) {
	var known []string
	for _, w := range d.Wants {
		if !w.Name.IsSupplied() {
			continue
		}
		for _, a := range acceptArguments(w) {
			if a == arg {
				return w.Name, nil
			}
			known = append(known, a)
		}
	}
	for _, w := range d.Wants {
		if !w.Name.IsSupplied() && slices.Contains(acceptArguments(w), arg) {
			return Name{}, diag.List{notAPersons(w)}
		}
	}
	slices.Sort(known)
	return Name{}, diag.List{notWanted(arg, known)}
}

// acceptArguments are the ways in which a secret can be named to `meshc accept`.
func acceptArguments(w Want) []string {
	switch {
	case w.Name.Licence != "":
		return []string{w.Name.Licence}
	case w.Name.Need == "":
		return nil
	}
	var out []string
	for _, e := range w.Ends {
		out = append(out, strings.Join([]string{string(e.Holder.Node), e.Holder.Name, w.Name.Need}, "/"))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
