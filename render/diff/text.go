package diff

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"meshc.dev/compiler/screen"
)

// Text writes a diff for a terminal, what matters most first.
func Text(w io.Writer, d *Diff, colour bool) error {
	p := &painter{w: screen.Inked(w), colour: colour}
	if d.IsEmpty() {
		p.printf("nothing changes between %s and %s\n", d.From, d.To)
		return p.err
	}
	p.printf("%s → %s: %s\n", d.From, d.To, d.headline(p))
	if d.Compiler != "" {
		p.printf("some of it only because of another meshc: %s\n", d.Compiler)
	}
	impact := Impact(-1)
	for _, c := range folded(d.Changes) {
		if c.Impact != impact {
			impact = c.Impact
			p.printf("\n%s\n", p.bold(impact.String()))
		}
		p.printf("  %s\n", strings.TrimRight(screen.Text(c.title())+"  "+p.dim(screen.Text(onNodes(c.Nodes, 6))), " "))
		for _, b := range c.Because {
			p.printf("    %s\n", screen.Text(b))
		}
		if c.At != "" {
			p.printf("    %s\n", p.dim(screen.Text("from "+c.At)))
		}
		for line := range strings.Lines(c.Detail) {
			p.printf("    %s\n", p.hunk(screen.Text(strings.TrimSuffix(line, "\n"))))
		}
	}
	return p.err
}

// headline is the gravest class and on how many nodes it is, then how many change besides.
func (d *Diff) headline(p *painter) string {
	n, all := d.gravest(), len(d.Nodes)
	switch {
	case n == 0:
		return p.bold(d.Impact.String()) + " of the whole mesh"
	case n == all:
		return p.bold(d.Impact.String()) + " on " + plural(n, "node")
	}
	return fmt.Sprintf("%s on %s, %s in all", p.bold(d.Impact.String()), plural(n, "node"), changing(all))
}

func changing(n int) string {
	if n == 1 {
		return "1 changes"
	}
	return fmt.Sprintf("%d change", n)
}

// gravest counts the nodes on which the gravest class happens.
func (d *Diff) gravest() int {
	n := 0
	for _, i := range d.Nodes {
		if i == d.Impact {
			n++
		}
	}
	return n
}

// folded shows once what the compiler computes for many nodes from the same data: each node's
// file names all others, and so differs in its own way.
func folded(cs []Change) []Change {
	const most = 3
	count := map[string]int{}
	for _, c := range cs {
		if c.Computed && c.Impact != Access {
			count[c.What]++
		}
	}
	var out []Change
	at := map[string]int{}
	for _, c := range cs {
		if count[c.What] <= most || !c.Computed || c.Impact == Access {
			out = append(out, c)
			continue
		}
		k, ok := at[c.What]
		if !ok {
			at[c.What] = len(out)
			c.Because = append(slices.Clone(c.Because), fmt.Sprintf("computed for each node; shown as on %s, `meshc diff --node NODE` shows another", c.Nodes[0]))
			out = append(out, c)
			continue
		}
		out[k].Nodes = slices.Sorted(slices.Values(slices.Concat(out[k].Nodes, c.Nodes)))
	}
	return out
}

// On is the part of a diff that concerns one node.
func (d *Diff) On(node string) *Diff {
	out := &Diff{From: d.From, To: d.To, Changes: []Change{}, Nodes: map[string]Impact{}, Compiler: d.Compiler}
	for _, c := range d.Changes {
		if len(c.Nodes) > 0 && !slices.Contains(c.Nodes, node) {
			continue
		}
		if len(c.Nodes) > 0 {
			c.Nodes = []string{node}
		}
		out.Changes = append(out.Changes, c)
		out.Impact = max(out.Impact, c.Impact)
	}
	if i, ok := d.Nodes[node]; ok {
		out.Nodes[node] = i
	}
	return out
}

// Stat writes a line a node: the gravest that happens to it, and how many of what.
func Stat(w io.Writer, d *Diff, colour bool) error {
	p := &painter{w: screen.Inked(w), colour: colour}
	if d.IsEmpty() {
		p.printf("nothing changes between %s and %s\n", d.From, d.To)
		return p.err
	}
	p.printf("%s → %s: %s\n", d.From, d.To, d.headline(p))
	for _, c := range d.Changes {
		if len(c.Nodes) == 0 {
			p.printf("%s\n", screen.Text(c.title()))
		}
	}
	width, wide := 0, 0
	for n, i := range d.Nodes {
		width, wide = max(width, len(n)), max(wide, len(i.String()))
	}
	for _, n := range slices.Sorted(maps.Keys(d.Nodes)) {
		count := map[Kind]int{}
		for _, c := range d.Changes {
			if slices.Contains(c.Nodes, n) {
				count[c.Kind]++
			}
		}
		var parts []string
		for _, k := range kindOrder {
			if count[k] > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", count[k], k))
			}
		}
		p.printf("%-*s  %-*s  %s\n", width, n, wide, d.Nodes[n], strings.Join(parts, ", "))
	}
	return p.err
}

// title is what changes, marked where only the compiler does it.
func (c Change) title() string {
	if c.Compiler {
		return c.What + " (only because of another meshc)"
	}
	return c.What
}

type painter struct {
	w      io.Writer
	colour bool
	err    error
}

func (p *painter) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func (p *painter) paint(code, s string) string {
	if !p.colour || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p *painter) bold(s string) string { return p.paint("1", s) }
func (p *painter) dim(s string) string  { return p.paint("2", s) }

func (p *painter) hunk(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return p.paint("32", line)
	case strings.HasPrefix(line, "-"):
		return p.paint("31", line)
	case strings.HasPrefix(line, "@@"):
		return p.paint("36", line)
	}
	return line
}

// onNodes names a few nodes and counts the rest.
func onNodes(nodes []string, most int) string {
	if len(nodes) == 0 {
		return ""
	}
	if len(nodes) > most {
		return fmt.Sprintf("on %s and %d more", strings.Join(nodes[:most-1], ", "), len(nodes)-most+1)
	}
	return "on " + strings.Join(nodes, ", ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
