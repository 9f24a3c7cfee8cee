package resolve

import (
	"fmt"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
)

// problem is something wrong on one node. Problems of one key are the same: on
// one node they are said once with all who ask (SEL-4), and on several nodes
// where the same ask, once with all of these.
type problem struct {
	node       addr.Node
	diagnostic diag.Diagnostic
	key        string
	asks       *question // nil where nobody asks for anything
	// say makes the diagnostic for those that have the problem; it may try a mend.
	say func(having) diag.Diagnostic
}

// having is who has a problem.
type having struct {
	nodes      []addr.Node
	everywhere bool       // on all nodes of several
	asks       []question // on the first of the nodes, by instance and label
}

// name tells problems apart.
func (p problem) name() string {
	if p.key != "" {
		return p.key
	}
	return string(p.diagnostic.Code) + p.diagnostic.Message
}

type problems []problem

// diagnostics says every problem once; of is the number of nodes in the mesh.
func (ps problems) diagnostics(of int) diag.List {
	var ds diag.List
	type on struct {
		node addr.Node
		key  string
	}
	asks := map[on][]question{}
	for _, p := range ps {
		if p.asks != nil {
			asks[on{p.node, p.key}] = append(asks[on{p.node, p.key}], *p.asks)
		}
	}
	// The same problem of the same instances, assigned at the same place.
	same := func(p problem) string {
		k := p.key
		for _, q := range asks[on{p.node, p.key}] {
			k += fmt.Sprint(" ", q.by.Addr.Name, " ", q.by.At)
		}
		return k
	}
	groups, order := map[string]*having{}, []problem{}
	for _, p := range ps {
		if p.key == "" {
			ds = append(ds, p.diagnostic)
			continue
		}
		k := same(p)
		g := groups[k]
		if g == nil {
			g = &having{asks: asks[on{p.node, p.key}]}
			groups[k] = g
			order = append(order, p)
		}
		g.nodes = append(g.nodes, p.node)
	}
	for _, p := range order {
		g := groups[same(p)]
		g.nodes = slices.Compact(slices.Sorted(slices.Values(g.nodes)))
		g.everywhere = of > 1 && len(g.nodes) == of
		ds = append(ds, p.say(*g))
	}
	return ds
}

// onNodes names a few nodes and counts the rest.
func onNodes(nodes []addr.Node) string {
	names := nodeNames(nodes)
	if len(names) > 3 {
		return fmt.Sprintf("%s, %s and %d more nodes", names[0], names[1], len(names)-2)
	}
	return enumerate(names)
}

// enumerate writes a list as prose: a, b and c.
func enumerate(items []string) string {
	switch len(items) {
	case 0:
		return "nothing"
	case 1:
		return items[0]
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

// line is a line of mesh.cue for each node or, where all have the problem, one for the mesh.
func (h having) line(rest string) string {
	if h.everywhere {
		return rest
	}
	var out []string
	for _, n := range h.nodes {
		out = append(out, fmt.Sprintf("nodes: %s: %s", key(string(n)), rest))
	}
	return strings.Join(out, "\n")
}

// want names everyone who asks, and what they ask for: "editor and pager on laptop require shell".
func (h having) want(what string) string {
	names := h.names()
	verb := "requires"
	if len(names) > 1 {
		verb = "require"
	}
	return fmt.Sprintf("%s on %s %s %s", enumerate(names), onNodes(h.nodes), verb, what)
}

func (h having) names() []string {
	var out []string
	for _, q := range h.asks {
		out = append(out, q.by.Addr.Name)
	}
	return slices.Compact(out)
}

// at is where the first that asks is assigned; also are the others, and where modules
// of the mesh ask. One that is built in is not for its user to change.
func (h having) at() diag.Pos { return h.asks[0].by.At }

func (h having) also() []diag.Note {
	var out []diag.Note
	for k, q := range h.asks {
		if q.by.At != h.at() && (k == 0 || q.by != h.asks[k-1].by) {
			out = append(out, diag.Note{At: q.by.At, Text: q.by.Addr.Name + " requires it too"})
		}
		note := diag.Note{At: q.require.At, Text: "required here"}
		if !q.by.Module.Builtin && q.require.At.IsValid() && !slices.Contains(out, note) {
			out = append(out, note)
		}
	}
	return out
}

// key quotes a name where CUE needs it.
func key(name string) string {
	if strings.Contains(name, "-") || name != "" && name[0] >= '0' && name[0] <= '9' {
		return fmt.Sprintf("%q", name)
	}
	return name
}

// mends says whether a node written otherwise has fewer problems and no new ones (DIA-3).
func (r *resolver) mends(o *offer, without string, assign, provision, pin string) bool {
	before := map[string]bool{}
	for _, p := range o.problems {
		before[p.name()] = true
	}
	for _, p := range r.trialNode(with(o.spec, assign, provision, pin)) {
		if p.name() == without || !before[p.name()] && !isWarning(p) {
			return false
		}
	}
	return true
}

func isWarning(p problem) bool { return p.key == "" && p.diagnostic.Severity() == diag.Warning }
