package resolve

import (
	"cmp"
	"slices"

	"meshc.dev/compiler/evaluate"
)

// holder is an instance that holds a claim.
type holder struct {
	by    *Instance
	claim evaluate.Claim
}

// claims refuses a second holder of a claim in its scope (CLM-1, CLM-2).
func (r *resolver) claims() {
	byScope := map[[3]string][]holder{}
	for _, name := range r.nodes {
		o := r.offers[name]
		r.nodeClaims(o)
		for _, h := range holders(o) {
			switch h.claim.Scope {
			case "site":
				if site := o.spec.Site.Value; site != "" {
					byScope[[3]string{"site", site, h.claim.Name}] = append(byScope[[3]string{"site", site, h.claim.Name}], h)
				}
			case "mesh":
				byScope[[3]string{"mesh", "", h.claim.Name}] = append(byScope[[3]string{"mesh", "", h.claim.Name}], h)
			}
		}
	}
	for where, hs := range byScope {
		for _, h := range hs[1:] {
			r.found = append(r.found, claimHeldTwice(where[0], where[1], hs[0], h))
		}
	}
}

// nodeClaims refuses what two instances of one node claim.
func (r *resolver) nodeClaims(o *offer) {
	first := map[string]holder{}
	for _, h := range holders(o) {
		if h.claim.Scope != "node" {
			continue
		}
		if f, held := first[h.claim.Name]; held {
			o.problems = append(o.problems, claimHeldTwice("node", string(o.spec.Name), f, h))
			continue
		}
		first[h.claim.Name] = h
	}
}

// holders of a node, those that were assigned first.
func holders(o *offer) []holder {
	var out []holder
	for _, i := range o.instances {
		if i.Interface == nil {
			continue
		}
		for _, c := range i.Interface.Claims {
			out = append(out, holder{i, c})
		}
	}
	slices.SortStableFunc(out, func(a, b holder) int {
		return cmp.Or(a.by.At.Compare(b.by.At), cmp.Compare(a.by.Addr.Name, b.by.Addr.Name))
	})
	return out
}
