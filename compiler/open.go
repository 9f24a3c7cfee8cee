package compiler

import (
	"fmt"
	"maps"
	"slices"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/plan"
	"meshc.dev/compiler/resolve"
	"meshc.dev/compiler/settle"
)

// opened reads what a node's layers open. What is no port was said by openFaults.
func opened(m *load.Mesh, n *resolve.Node) ([]plan.Admit, diag.List) {
	var out []plan.Admit
	keys := map[diag.Pos]string{}
	for _, o := range n.Open {
		a, err := settle.ParseOpen(o.Key, o.For.Value, o.From)
		if err != nil {
			continue
		}
		if s := m.Sites[n.Spec.Site.Value]; s != nil && s.Prefix.Value != "" {
			for k, from := range a.From {
				if from == "site" {
					a.From[k] = s.Prefix.Value
				}
			}
		}
		a.At = o.At
		keys[o.At] = o.Key + " (" + o.Layer + ")"
		out = append(out, a)
	}
	if a, b, found := settle.OpenOverlap(out); found {
		return nil, diag.List{opensOverlap(n, keys[a.At], a.At, keys[b.At], b.At)}
	}
	return out, nil
}

// openFaults looks at what every layer opens, whether or not a node has it.
func openFaults(m *load.Mesh) diag.List {
	var ds diag.List
	check := func(l load.Layer) {
		for _, key := range slices.Sorted(maps.Keys(l.Open)) {
			o := l.Open[key]
			if _, err := settle.ParseOpen(key, o.For.Value, o.From); err != nil {
				ds = append(ds, badOpen(key, o.At, err))
			}
		}
	}
	check(m.Layer)
	for _, g := range m.Groups {
		check(g.Layer)
	}
	for _, s := range m.Sites {
		check(s.Layer)
	}
	for _, n := range m.Nodes {
		check(n.Layer)
	}
	return ds
}

func badOpen(key string, at diag.Pos, err error) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.BadOpen, At: at, Message: fmt.Sprintf("open %q: %v", key, err)}
}

func opensOverlap(n *resolve.Node, a string, at diag.Pos, b string, here diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.OpensOverlap, At: here, On: []string{string(n.Name)},
		Message: fmt.Sprintf("%s and %s open one port of %s, and neither says which of them holds", a, b, diag.Nodes),
		Also:    []diag.Note{{At: at, Text: "the other one"}},
	}
}
