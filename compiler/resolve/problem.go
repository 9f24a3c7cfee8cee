package resolve

import (
	"fmt"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
)

// problem is something wrong on one node. Problems of one key are the same on
// several nodes and are said once, with all of them.
type problem struct {
	node       addr.Node
	diagnostic diag.Diagnostic
	key        string
	// say makes the diagnostic for the nodes that have the problem; it may try a mend.
	say func(nodes []addr.Node, everywhere bool) diag.Diagnostic
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
	nodes := map[string][]addr.Node{}
	for _, p := range ps {
		if p.key != "" {
			nodes[p.key] = append(nodes[p.key], p.node)
		}
	}
	said := map[string]bool{}
	for _, p := range ps {
		if p.key == "" {
			ds = append(ds, p.diagnostic)
			continue
		}
		if said[p.key] {
			continue
		}
		said[p.key] = true
		on := slices.Compact(slices.Sorted(slices.Values(nodes[p.key])))
		ds = append(ds, p.say(on, of > 1 && len(on) == of))
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

// line is a line of mesh.cue for one node or, where all have the problem, for the mesh.
func line(nodes []addr.Node, everywhere bool, rest string) string {
	if everywhere {
		return rest
	}
	return fmt.Sprintf("nodes: %s: %s", key(string(nodes[0])), rest)
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
