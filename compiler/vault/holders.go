package vault

import (
	"maps"
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
)

// Holding is a secret in the lock, and everybody who holds a copy.
type Holding struct {
	Name       Name
	Generation int
	Ends       []lock.End
}

// Holders lists who holds the secrets that a provision, licence or need has, wanted
// or not, and to which key each copy is sealed (SEC-9): all of them where the label is empty.
func Holders(lk *lock.Lock, label string) []Holding {
	var out []Holding
	for _, name := range slices.Sorted(maps.Keys(lk.Secrets)) {
		s := lk.Secrets[name]
		n, err := ParseName(name)
		if err == nil && (label == "" || n.label() == label) && len(s.Ends) > 0 {
			out = append(out, Holding{n, s.Generation, s.Ends})
		}
	}
	return out
}

// HeldLabels are the provisions, licences and needs of which the lock has a secret.
func HeldLabels(lk *lock.Lock) []string {
	var out []string
	for name, s := range lk.Secrets {
		if n, err := ParseName(name); err == nil && len(s.Ends) > 0 {
			out = append(out, n.label())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Select gives the wanted secrets that a provision, licence or need has, those of
// one consumer where that is not nil: what `meshc rotate` is told.
func Select(d Demand, label string, consumer *addr.Instance) ([]Name, diag.List) {
	found := names(d, func(w Want) bool { return w.Name.label() == label })
	if len(found) == 0 {
		return nil, diag.List{notWanted(label, labels(d))}
	}
	var out []Name
	var who []string
	for _, w := range d.Wants {
		if w.Name.label() != label {
			continue
		}
		takers := consumers(w)
		if consumer == nil || slices.Contains(takers, *consumer) {
			out = append(out, w.Name)
		}
		for _, t := range takers {
			who = append(who, t.String())
		}
	}
	if len(out) == 0 {
		slices.Sort(who)
		return nil, diag.List{notTaken(label, *consumer, slices.Compact(who))}
	}
	slices.SortFunc(out, Name.Compare)
	return out, nil
}

// consumers are those for whom a secret is there.
func consumers(w Want) []addr.Instance {
	if w.Name.IsCredential() {
		return []addr.Instance{w.Name.Pair.Consumer.Instance}
	}
	var out []addr.Instance
	for _, e := range w.Ends {
		out = append(out, e.Holder)
	}
	return out
}

// names are the names of wanted secrets, in order.
func names(d Demand, which func(Want) bool) []string {
	var out []string
	for _, w := range d.Wants {
		if which == nil || which(w) {
			out = append(out, w.Name.String())
		}
	}
	slices.Sort(out)
	return out
}

// labels are the provisions, licences and needs that have secrets.
func labels(d Demand) []string {
	var out []string
	for _, w := range d.Wants {
		out = append(out, w.Name.label())
	}
	slices.Sort(out)
	return slices.Compact(out)
}
