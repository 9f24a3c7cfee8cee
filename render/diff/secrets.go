package diff

import (
	"fmt"
	"maps"
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/plan"
)

// secrets says of each secret that either side places whether it has a new value or
// a new recipient, and never what it is (REV-2).
func (c *comparison) secrets() {
	a, b := placed(c.from.Plan), placed(c.to.Plan)
	for _, key := range slices.Sorted(maps.Keys(union(a, b))) {
		x := Change{Impact: Credential, Kind: OfSecret}
		old, had := c.from.Lock.Secrets[key]
		now, has := c.to.Lock.Secrets[key]
		switch {
		case len(a[key]) == 0:
			x.Impact = Nothing
			x.What = key + ": placed for the first time"
			if had && has && old.Generation == now.Generation {
				x.What = key + ": placed again, with the value it had"
			}
			if !has {
				x.What = key + ": has yet to be made"
			}
		case len(b[key]) == 0:
			x.What = key + ": no longer placed"
		case had && !has:
			x.What = key + ": would be made anew"
		case !had && !has:
			continue
		case !had || old.Generation != now.Generation:
			x.What = fmt.Sprintf("%s: new value, generation %d", key, now.Generation)
		case !slices.EqualFunc(old.Ends, now.Ends, func(e, f lock.End) bool { return e.Holder == f.Holder && e.Role == f.Role && e.To == f.To }):
			x.What = key + ": new recipient"
		default:
			continue
		}
		for _, n := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(a[key], b[key])))) {
			c.add(n, x)
		}
	}
}

func placed(p *plan.Plan) map[string][]addr.Node {
	out := map[string][]addr.Node{}
	for _, n := range p.Nodes {
		for _, i := range n.Instances {
			for _, r := range i.Resources {
				if r.Secret != nil {
					out[r.Secret.Key] = append(out[r.Secret.Key], n.Name)
				}
			}
		}
	}
	return out
}

func union(a, b map[string][]addr.Node) map[string]bool {
	out := map[string]bool{}
	for k := range a {
		out[k] = true
	}
	for k := range b {
		out[k] = true
	}
	return out
}
