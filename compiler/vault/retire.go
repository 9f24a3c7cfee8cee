package vault

import (
	"maps"
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
	"meshc.dev/render/seal"
)

// Retirement is everything that a machine's keys could ever open.
type Retirement struct {
	Node addr.Node
	// Keys are the fingerprints of all keys that the machine ever had, but for Stays.
	Keys []string
	// Stays is the key that the machine has now, where it had others before: it is
	// trusted, and nothing is made anew because of it.
	Stays string
	// Remake are secrets of others whose present value it could open.
	Remake []Name
	// Forget are secrets that it could open and that nobody wants now: its own, mostly.
	Forget []Name
	// Issuer are secrets that a person supplied, its own among them: only who issued
	// them can change them.
	Issuer []Issued
}

// Mode is the step that carries a retirement out.
func (r Retirement) Mode() Mode {
	return Mode{Step: Relock, Rotate: r.Remake, Forget: r.Forget, Drop: r.Keys}
}

// Issued is a supplied secret that a machine held.
type Issued struct {
	Name Name
	// Held is the last generation that it held, Now the present one, 0 where there is
	// none: a later one may still be the same value, supplied once more.
	Held, Now int
}

// Retire finds what a machine's keys could ever open: by the lock, and by every
// lock that git has. It is refused while the machine still has the one key to which
// things were sealed, since they would be made anew for that very key; where it has a
// new one, only its earlier keys are retired.
func Retire(d Demand, lk *lock.Lock, history []*lock.Lock, node addr.Node) (Retirement, diag.List) {
	out := Retirement{Node: node}
	past := slices.DeleteFunc(append(slices.Clone(history), lk), func(l *lock.Lock) bool { return l == nil })
	had := keysOf(past, node)
	for _, n := range d.Nodes {
		r, err := seal.ParseRecipient(n.Recipient)
		switch {
		case err != nil || !had[r.Fingerprint()]:
		case n.Name == node && len(had) > 1:
			out.Stays = r.Fingerprint()
			delete(had, out.Stays)
		default:
			return out, diag.List{retireStillThere(node, n, r.Fingerprint())}
		}
	}
	out.Keys = slices.Sorted(maps.Keys(had))
	if len(had) == 0 {
		return out, diag.List{retireNothing(node)}
	}

	if lk == nil {
		lk = lock.New()
	}
	open := opened(past, had)
	wanted := map[string]bool{}
	for _, w := range d.Wants {
		wanted[w.Name.String()] = true
	}
	issued := map[string]Issued{}
	for sealed, generation := range open.generation {
		if n, err := ParseName(sealed); err == nil && n.IsSupplied() {
			issued[sealed] = Issued{n, generation, 0}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lk.Secrets)) {
		entry := lk.Secrets[name]
		n, err := ParseName(name)
		sealed := sealedAs(name, entry)
		if err != nil || open.generation[sealed] == 0 {
			continue
		}
		if n.IsSupplied() {
			issued[sealed] = Issued{n, open.generation[sealed], entry.Generation}
		}
		switch {
		case !open.versions[version{sealed, entry.Generation}]:
			// made anew since
		case !wanted[name] && len(entry.Ends) > 0:
			out.Forget = append(out.Forget, n)
		case wanted[name] && !n.IsSupplied():
			out.Remake = append(out.Remake, n)
		}
	}
	out.Issuer = slices.SortedFunc(maps.Values(issued), func(a, b Issued) int { return a.Name.Compare(b.Name) })
	return out, nil
}

// keysOf are the fingerprints of the keys that a machine had, by whatever name.
func keysOf(past []*lock.Lock, node addr.Node) map[string]bool {
	had := map[string]bool{}
	for _, l := range past {
		for _, s := range l.Secrets {
			for _, e := range s.Ends {
				if e.Node() == node && e.Role != string(seal.Recovery) {
					had[e.To] = true
				}
			}
		}
	}
	return had
}

// openable is what some keys could open, by the name that a secret was sealed
// under, which no move changes.
type openable struct {
	generation map[string]int // the last
	versions   map[version]bool
}

// version is one value of a secret: all its copies have the same.
type version struct {
	sealed     string
	generation int
}

func opened(past []*lock.Lock, had map[string]bool) openable {
	o := openable{map[string]int{}, map[version]bool{}}
	for _, l := range past {
		for name, s := range l.Secrets {
			if !slices.ContainsFunc(s.Ends, func(e lock.End) bool { return had[e.To] }) {
				continue
			}
			sealed := sealedAs(name, s)
			o.generation[sealed] = max(o.generation[sealed], s.Generation)
			o.versions[version{sealed, s.Generation}] = true
		}
	}
	return o
}
