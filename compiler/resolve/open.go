package resolve

import (
	"maps"
	"slices"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/load"
)

// Open is a port that the layers of a node open, and the layer that won.
type Open struct {
	Key   string // as written: "22/tcp"
	Layer string
	load.Open
}

// opened unites what a node's layers open: a stronger one replaces a key whole, and two
// groups that disagree are refused unless something stronger decides (SET-4).
func (r *resolver) opened(n *load.Node) ([]Open, diag.List) {
	won := map[string]stratum{}
	apart := map[string]diag.Diagnostic{}
	for _, s := range r.strata(n) {
		for key, o := range s.Open {
			before, ok := won[key]
			delete(apart, key)
			if ok && before.rank == s.rank && !sameOpen(before.Open[key], o) {
				apart[key] = groupsOpenApart(n.Name, key, before.name, before.Open[key], s.name, o)
			}
			won[key] = s
		}
	}
	var out []Open
	for _, key := range slices.Sorted(maps.Keys(won)) {
		out = append(out, Open{key, won[key].name, won[key].Open[key]})
	}
	return out, slices.Collect(maps.Values(apart))
}

func sameOpen(a, b load.Open) bool { return a.For.Value == b.For.Value && slices.Equal(a.From, b.From) }
