package diff

import (
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/bundle"
)

// names leads from what things were called to what they are called now, so that what was
// renamed is compared with itself (PRT-8).
type names struct {
	nodes     map[addr.Node]addr.Node
	instances map[addr.Instance]addr.Instance
}

// renames are those of a state's moves that happen between the two: a move stays in mesh.cue
// after it was carried out.
func renames(from, to *plan.Plan, m Moved) names {
	out := names{map[addr.Node]addr.Node{}, map[addr.Instance]addr.Instance{}}
	for old, now := range m.Nodes {
		if from.Node(old) != nil && to.Node(now) != nil && from.Node(now) == nil {
			out.nodes[old] = now
		}
	}
	for old, now := range m.Instances {
		if instance(from.Node(old.Node), old.Name) != nil && instance(from.Node(now.Node), now.Name) == nil && instance(to.Node(now.Node), now.Name) != nil {
			out.instances[old] = now
			continue
		}
		// The old name may be written with the node's new one.
		for was, is := range out.nodes {
			o := addr.Instance{Name: old.Name, Node: was}
			if is == old.Node && instance(from.Node(was), old.Name) != nil && instance(to.Node(now.Node), now.Name) != nil {
				out.instances[o] = now
			}
		}
	}
	return out
}

// node is what a node of the first state is called in the second.
func (n names) node(old addr.Node) addr.Node {
	if now, ok := n.nodes[old]; ok {
		return now
	}
	return old
}

// before is what a node of the second state was called in the first.
func (n names) before(now addr.Node) addr.Node {
	for old, x := range n.nodes {
		if x == now {
			return old
		}
	}
	return now
}

// instance is what an instance of the first state is called in the second.
func (n names) instance(old addr.Instance) addr.Instance {
	if now, ok := n.instances[old]; ok {
		return now
	}
	return addr.Instance{Name: old.Name, Node: n.node(old.Node)}
}

// id is a resource's identity on a node, with its instance's new name where it stays on the node.
func (n names) id(node addr.Node, id bundle.ID) bundle.ID {
	name, rest, ok := strings.Cut(string(id), "/")
	old := addr.Instance{Name: name, Node: node}
	if now, moved := n.instances[old]; ok && moved && now.Node == n.node(node) {
		return bundle.ID(now.Name + "/" + rest)
	}
	return id
}

// key is the new name of a secret: every instance in it by its own.
func (n names) key(old string) string {
	words := strings.Split(old, " ")
	for k, w := range words {
		if name, node, ok := strings.Cut(w, "@"); ok {
			words[k] = n.instance(addr.Instance{Name: name, Node: addr.Node(node)}).String()
		}
	}
	return strings.Join(words, " ")
}
