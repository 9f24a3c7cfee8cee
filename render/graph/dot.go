package graph

import (
	"fmt"
	"io"
	"strings"
)

// mostLines is how many instances are named in a box.
const mostLines = 8

// lines of a box below its title.
func (x *Box) lines() []string {
	var out []string
	if x.Impact != "" {
		out = append(out, "▲ "+x.Impact)
	}
	switch x.Kind {
	case Licence:
		return append(append(out, "licence, outside the mesh"), x.Gives...)
	case Gone:
		return append(out, "no longer in the mesh")
	}
	if x.Address != "" {
		out = append(out, cut(x.Address, 32))
	}
	if x.Endpoint != "" {
		out = append(out, cut("reached at "+x.Endpoint, 32))
	}
	if x.Hub {
		out = append(out, "the hub")
	}
	if !x.Managed {
		out = append(out, "not managed")
	}
	return append(out, x.Gives...)
}

// runs are the instances that are named, and what is said of the others.
func (x *Box) runs() []string {
	var out []string
	for k, i := range x.Instances {
		if k == mostLines-1 && len(x.Instances) > mostLines {
			return append(out, fmt.Sprintf("+ %d more", len(x.Instances)-k))
		}
		out = append(out, cut(i, 32))
	}
	return out
}

// Dot writes the picture in Graphviz's language; the same mesh gives the same text.
func Dot(w io.Writer, g *Graph) error {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n", quoted(g.Mesh))
	b.WriteString("  rankdir=LR\n  node [shape=box style=rounded fontname=\"Helvetica\" fontsize=11]\n  edge [fontname=\"Helvetica\" fontsize=9]\n")
	if g.Folded != "" {
		fmt.Fprintf(&b, "  // %s\n", g.Folded)
	}
	for _, n := range g.Networks {
		fmt.Fprintf(&b, "  // network %s %s: %d nodes\n", oneLine(n.Name), oneLine(n.Prefix), n.Nodes)
	}
	clusters(&b, g, func(x *Box) string {
		label := quoted(strings.Join(append([]string{x.Title}, append(x.lines(), x.runs()...)...), "\n"))
		switch {
		case x.Kind == Licence:
			label += " style=dashed"
		case x.Kind == Gone:
			label += " style=\"rounded,dotted\""
		case x.Impact != "":
			label += " penwidth=3"
		}
		return "label=" + label
	})
	for _, e := range g.Edges {
		style := ""
		if !e.Credential() {
			style = " style=dashed"
		}
		fmt.Fprintf(&b, "  %s -> %s [label=%s%s]\n", quoted(e.From), quoted(e.To), quoted(strings.Join(e.Labels(), "\n")), style)
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// clusters writes the sites with their boxes.
func clusters(b *strings.Builder, g *Graph, attributes func(*Box) string) {
	for _, s := range g.Sites {
		indent := "  "
		if s.Name != "" {
			fmt.Fprintf(b, "  subgraph %s {\n    label=%s\n", quoted(s.id()), quoted(s.Name))
			indent = "    "
		}
		for _, x := range s.Boxes {
			fmt.Fprintf(b, "%s%s [%s]\n", indent, quoted(x.ID), attributes(x))
		}
		if s.Name != "" {
			b.WriteString("  }\n")
		}
	}
}

// id of a site: dot draws what begins with "cluster" as a box around its nodes.
func (s Site) id() string { return "cluster_" + word(s.Name) }

// quoted is a string of the dot language. Backslashes begin escapes there, and what is
// not text has no place in a label.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ' || r == 0x7f:
			b.WriteRune('␀' + r%32)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func oneLine(s string) string { return strings.Trim(quoted(s), `"`) }
