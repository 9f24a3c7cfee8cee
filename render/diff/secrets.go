package diff

import (
	"fmt"
	"maps"
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/bundle"
	"meshc.dev/render/seal"
)

// recovery says whose key is new, or no longer, one that opens every secret. It comes before
// everything else (REV-5).
func (c *comparison) recovery() {
	a, b := recoveryKeys(c.from), recoveryKeys(c.to)
	for _, f := range union(a, b) {
		x := Change{Impact: Access, Kind: OfRecovery, Reason: "recovery keys"}
		switch {
		case a[f] == "":
			x.What = "a new recovery key can open every secret of the mesh: " + b[f]
		case b[f] == "":
			x.What = "no longer a recovery key: " + a[f]
			x.Because = []string{"what was sealed to it before can be opened with it still"}
		default:
			continue
		}
		c.add("", x)
	}
}

// recoveryKeys are a state's, by fingerprint: those that the mesh names, and those to which its
// lock says that anything is sealed.
func recoveryKeys(s Side) map[string]string {
	out := map[string]string{}
	if s.Lock != nil {
		for _, x := range s.Lock.Secrets {
			for _, e := range x.Ends {
				if e.Role == string(seal.Recovery) {
					out[e.To] = e.To
				}
			}
		}
	}
	for _, k := range s.Recovery {
		r, err := seal.ParseRecipient(k)
		if err != nil {
			out[k] = k
			continue
		}
		out[r.Fingerprint()] = k
	}
	return out
}

// secrets says of each secret that either side places whether it has a new value or
// a new recipient, and never what it is (REV-2).
func (c *comparison) secrets() {
	a, b := map[string][]addr.Node{}, placed(c.to.Plan)
	before := map[string]lock.Secret{}
	for key, nodes := range placed(c.from.Plan) {
		for _, n := range nodes {
			a[c.names.key(key)] = append(a[c.names.key(key)], c.names.node(n))
		}
		if s, ok := c.from.Lock.Secrets[key]; ok {
			before[c.names.key(key)] = s
		}
	}
	for key, s := range c.from.Lock.Secrets {
		if _, ok := before[key]; !ok {
			before[key] = s
		}
	}
	for _, key := range union(a, b) {
		x := Change{Impact: Credential, Kind: OfSecret}
		old, had := before[key]
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
		case !had:
			x.What = key + ": made for the first time"
		case old.Generation != now.Generation:
			x.What = fmt.Sprintf("%s: new value, generation %d instead of %d", key, now.Generation, old.Generation)
		default:
			if x.Because = c.recipients(old, now); x.Because == nil {
				continue
			}
			x.What = key + ": new recipient"
		}
		for _, n := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(a[key], b[key])))) {
			c.add(n, x)
		}
	}
}

// recipients says who can open a secret now and could not, and the other way round. Recovery
// keys are said on their own.
func (c *comparison) recipients(old, now lock.Secret) []string {
	ends := func(s lock.Secret, name func(addr.Instance) addr.Instance) map[string]bool {
		out := map[string]bool{}
		for _, e := range s.Ends {
			if e.Role == string(seal.Recovery) {
				continue
			}
			holder := e.Holder
			if i, err := addr.ParseInstance(holder); err == nil {
				holder = name(i).String()
			}
			out[fmt.Sprintf("%s %s, %s", e.Role, holder, e.To)] = true
		}
		return out
	}
	a := ends(old, c.names.instance)
	b := ends(now, func(i addr.Instance) addr.Instance { return i })
	var out []string
	for _, e := range union(a, b) {
		switch {
		case !a[e]:
			out = append(out, "opened by "+e)
		case !b[e]:
			out = append(out, "no longer sealed to "+e)
		}
	}
	return out
}

// newValue says whether the lock gives a secret another value, which is said once for all who hold it.
func (c *comparison) newValue(key string) bool {
	for old, s := range c.from.Lock.Secrets {
		if k := c.names.key(old); k == key || s.Sealed == key {
			now, ok := c.to.Lock.Secrets[k]
			return !ok || now.Generation != s.Generation
		}
	}
	_, made := c.to.Lock.Secrets[key]
	return made
}

// keysOf are the secrets that bundles place, by what they are sealed as.
func keysOf(bs []*bundle.Bundle) map[string]bool {
	out := map[string]bool{}
	for _, b := range bs {
		for _, item := range listed(b) {
			if s, ok := item.(*bundle.Secret); ok {
				out[s.Key] = true
			}
		}
	}
	return out
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

func union[T any](a, b map[string]T) []string {
	out := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)))
	slices.Sort(out)
	return slices.Compact(out)
}
