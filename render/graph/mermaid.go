package graph

import (
	"fmt"
	"io"
	"strings"
)

// Mermaid writes the picture as a Mermaid flowchart, which forges draw in Markdown.
func Mermaid(w io.Writer, g *Graph) error {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	ids := map[string]string{}
	var changed, gone []string
	for k, s := range g.Sites {
		indent := "  "
		if s.Name != "" {
			fmt.Fprintf(&b, "  subgraph s%d[\"%s\"]\n", k, entities(s.Name))
			indent = "    "
		}
		for _, x := range s.Boxes {
			// Mermaid has words of its own that are no identifiers ("end"), so boxes are numbered.
			id := fmt.Sprintf("n%d", len(ids))
			ids[x.ID] = id
			open, end := "[", "]"
			if x.Kind == Licence {
				open, end = "([", "])"
			}
			text := []string{"<b>" + entities(x.Title) + "</b>"}
			for _, l := range append(x.lines(), x.runs()...) {
				text = append(text, entities(l))
			}
			fmt.Fprintf(&b, "%s%s%s\"%s\"%s\n", indent, id, open, strings.Join(text, "<br>"), end)
			switch {
			case x.Kind == Gone:
				gone = append(gone, id)
			case x.Impact != "":
				changed = append(changed, id)
			}
		}
		if s.Name != "" {
			b.WriteString("  end\n")
		}
	}
	for _, e := range g.Edges {
		arrow := "-->"
		if !e.Credential() {
			arrow = "-.->"
		}
		var labels []string
		for _, l := range e.Labels() {
			labels = append(labels, entities(l))
		}
		fmt.Fprintf(&b, "  %s %s|\"%s\"| %s\n", ids[e.From], arrow, strings.Join(labels, "<br>"), ids[e.To])
	}
	if len(changed) > 0 {
		fmt.Fprintf(&b, "  classDef changed stroke-width:4px\n  class %s changed\n", strings.Join(changed, ","))
	}
	if len(gone) > 0 {
		fmt.Fprintf(&b, "  classDef gone stroke-dasharray:4\n  class %s gone\n", strings.Join(gone, ","))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// entities writes everything that could mean something to Mermaid or HTML by its number.
func entities(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteByte(' ')
		case r < ' ' || r == 0x7f:
			b.WriteRune('␀' + r%32)
		case strings.ContainsRune("\"#&<>;`\\|[]{}()%", r):
			fmt.Fprintf(&b, "#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
