package diff

import (
	"fmt"
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/plan"
)

func answeredBy(t plan.Take) string {
	if t.Licence != "" {
		return "licence " + t.Licence
	}
	return addr.Instance{Name: t.Provider, Node: t.Node}.String()
}

// answers says who answers each requirement now, and which values that the consumer is told are
// others.
func (c *comparison) answers(name addr.Node, before, after *plan.Node) {
	was, is := c.takes(name, before, c.names), c.takes(name, after, names{})
	for _, key := range union(was, is) {
		a, b := was[key], is[key]
		switch {
		case len(a) == 1 && len(b) == 1:
			o, t := a[0], b[0]
			what := fmt.Sprintf("%s takes %s from %s", t.Instance, asked(t), answeredBy(t))
			if answeredBy(o) != answeredBy(t) {
				c.add(name, Change{Kind: OfAnswer, What: what + " instead of " + answeredBy(o), Because: told(o, t)})
			} else {
				for _, v := range told(o, t) {
					c.add(name, Change{Kind: OfAnswer, What: fmt.Sprintf("%s is told another %s by %s", t.Instance, asked(t), answeredBy(t)), Because: []string{v}})
				}
			}
		default:
			for _, t := range b {
				if !slices.ContainsFunc(a, func(o plan.Take) bool { return answeredBy(o) == answeredBy(t) }) {
					c.add(name, Change{Kind: OfAnswer, What: fmt.Sprintf("%s takes %s from %s", t.Instance, asked(t), answeredBy(t))})
				}
			}
			for _, o := range a {
				if !slices.ContainsFunc(b, func(t plan.Take) bool { return answeredBy(o) == answeredBy(t) }) && instance(after, o.Instance) != nil {
					c.add(name, Change{Kind: OfAnswer, What: fmt.Sprintf("%s no longer takes %s from %s", o.Instance, asked(o), answeredBy(o))})
				}
			}
			for _, t := range b {
				for _, o := range a {
					if answeredBy(o) == answeredBy(t) {
						if v := told(o, t); len(v) > 0 {
							c.add(name, Change{Kind: OfAnswer, What: fmt.Sprintf("%s is told another %s by %s", t.Instance, asked(t), answeredBy(t)), Because: v})
						}
					}
				}
			}
		}
	}
}

func asked(t plan.Take) string {
	if t.Label != "" && t.Label != t.Provision {
		return fmt.Sprintf("%s (%s)", t.Label, t.Provision)
	}
	return t.Provision
}

// takes are a node's by requirement, in the names that the second state has.
func (c *comparison) takes(name addr.Node, n *plan.Node, ns names) map[string][]plan.Take {
	out := map[string][]plan.Take{}
	for _, t := range n.Takes {
		if now := ns.instance(addr.Instance{Name: t.Instance, Node: n.Name}); now.Node == name {
			t.Instance = now.Name
		}
		if t.Provider != "" {
			by := ns.instance(addr.Instance{Name: t.Provider, Node: t.Node})
			t.Provider, t.Node = by.Name, by.Node
		}
		key := t.Instance + "/" + t.Label
		out[key] = append(out[key], t)
	}
	return out
}

// told lists the values that a consumer is told otherwise.
func told(o, t plan.Take) []string {
	a, b := o.Told(), t.Told()
	var out []string
	for _, key := range union(a, b) {
		if a[key] != b[key] && !slices.Contains([]string{"node", "instance", "hostport", "note"}, key) {
			out = append(out, fmt.Sprintf("%s is %s instead of %s", key, orNone(b[key]), orNone(a[key])))
		}
	}
	return out
}
