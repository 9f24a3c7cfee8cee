// Package hosts works out the marked block for /etc/hosts: the names of all nodes on
// the private networks that a node is on, with their addresses there (CMP-2). The
// markers around the block, and the rest of the file, are the machine's side's.
//
// A node whose address on a network the mesh does not know has no line for it. Beside
// its name each node has its first label, so that anchor.home.mesh can be called
// anchor; the first of the networks counts, and where two nodes would be called the same
// neither is. No alias is the name of the node that has the file: what a machine's own
// host name stands for is said by the machine (on Debian 127.0.1.1), and programs
// that look it up rely on that. Nor is one a name that every machine has for itself.
package hosts

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/netaddr"
	"meshc.dev/compiler/plan"
)

// Mesh is what the blocks of a plan's nodes share. It does not change once made, and
// can be read by many at once.
type Mesh struct {
	// blocks has one entry for each combination of networks that a node is on, in
	// that node's order.
	blocks map[string]*block
	found  diag.List
}

// block is what nodes on the same networks are told.
type block struct {
	lines []line // sorted by name, then address
	size  int    // of all lines together
}

// line is a node's name on a network.
type line struct {
	node    addr.Node
	network string
	name    string
	addr    netip.Addr
	alias   string // empty where it has none
	text    string // address and name, in columns
}

// New works out the blocks of all nodes.
func New(p *plan.Plan) *Mesh {
	m := &Mesh{blocks: map[string]*block{}}
	on := map[string][]line{}
	for _, n := range p.Nodes {
		for _, w := range n.Networks {
			l, d, ok := newLine(n, w)
			m.found = append(m.found, d...)
			if ok {
				on[w.Network] = append(on[w.Network], l)
			}
		}
	}
	for _, n := range p.Nodes {
		k := key(n)
		if m.blocks[k] != nil {
			continue
		}
		var lines []line
		for _, w := range n.Networks {
			lines = append(lines, on[w.Network]...)
		}
		m.found = append(m.found, sameNames(p, lines)...)
		m.blocks[k] = newBlock(lines)
	}
	m.found = m.found.Sorted()
	return m
}

// Check gives what is wrong with the names of the mesh, each thing once.
func (m *Mesh) Check() diag.List { return m.found }

// Block is what a node's marked block holds: whole lines, none where it is on no
// network with known addresses.
func (m *Mesh) Block(n *plan.Node) []byte {
	b := m.blocks[key(n)]
	if b == nil {
		return nil
	}
	out := make([]byte, 0, b.size)
	for _, l := range b.lines {
		out = append(out, l.text...)
		if l.alias != "" && l.alias != string(n.Name) {
			out = append(out, ' ')
			out = append(out, l.alias...)
		}
		out = append(out, '\n')
	}
	return out
}

// key names the combination of networks that a node is on.
func key(n *plan.Node) string {
	var b strings.Builder
	for _, w := range n.Networks {
		b.WriteString(w.Network)
		b.WriteByte(0)
	}
	return b.String()
}

// newLine is a node's line for a network; false where it has none.
func newLine(n *plan.Node, w plan.Network) (line, diag.List, bool) {
	if w.Name == "" || w.Address == "" {
		return line{}, nil, false
	}
	a, err := netip.ParseAddr(w.Address)
	if err != nil || a.Zone() != "" {
		return line{}, diag.List{badAddress(n, w)}, false
	}
	if err := netaddr.CheckName(w.Name); err != nil {
		return line{}, diag.List{badName(n, w, err)}, false
	}
	if isOwn(w.Name) {
		return line{}, diag.List{ownName(n, w)}, false
	}
	return line{node: n.Name, network: w.Network, name: w.Name, addr: a}, nil, true
}

// newBlock gives out the aliases and sorts. Lines come in order of preference of
// their networks.
func newBlock(lines []line) *block {
	taken := map[string]addr.Node{}
	for _, l := range lines {
		taken[l.name] = ""
	}
	for _, l := range lines {
		short, _, dotted := strings.Cut(l.name, ".")
		if !dotted {
			continue
		}
		if holder, ok := taken[short]; ok && holder != l.node {
			taken[short] = "" // two want it, or it is somebody's whole name
		} else if !ok {
			taken[short] = l.node
		}
	}
	b := &block{lines: slices.Clone(lines)}
	width := 0
	for i := range b.lines {
		l := &b.lines[i]
		short, _, _ := strings.Cut(l.name, ".")
		if taken[short] == l.node && !isOwn(short) {
			l.alias = short
			taken[short] = "" // a second network of the same node does without
		}
		l.text = l.addr.String()
		width = max(width, len(l.text))
	}
	for i := range b.lines {
		l := &b.lines[i]
		l.text += strings.Repeat(" ", width-len(l.text)+2) + l.name
		b.size += len(l.text) + len(l.alias) + len(" \n")
	}
	slices.SortFunc(b.lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.name, b.name), a.addr.Compare(b.addr), cmp.Compare(a.node, b.node))
	})
	return b
}

// sameNames refuses a name that would stand for two addresses.
func sameNames(p *plan.Plan, lines []line) diag.List {
	var out diag.List
	first := map[string]line{}
	for _, l := range lines {
		f, ok := first[l.name]
		if !ok {
			first[l.name] = l
			continue
		}
		if f.node != l.node || f.addr != l.addr {
			out = append(out, sameName(p, f, l))
		}
	}
	return out
}
