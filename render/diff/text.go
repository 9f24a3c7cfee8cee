package diff

import (
	"fmt"
	"io"
	"strings"
)

// Text writes a diff for a terminal, what matters most first.
func Text(w io.Writer, d *Diff, colour bool) error {
	p := &painter{w: w, colour: colour}
	if d.IsEmpty() {
		p.printf("nothing changes between %s and %s\n", d.From, d.To)
		return p.err
	}
	p.printf("%s → %s: %s on %s\n", d.From, d.To, p.bold(d.Impact.String()), plural(len(d.Nodes), "node"))
	if d.Compiler != "" {
		p.printf("some of it only because of another meshc: %s\n", d.Compiler)
	}
	impact := Impact(-1)
	for _, c := range d.Changes {
		if c.Impact != impact {
			impact = c.Impact
			p.printf("\n%s\n", p.bold(impact.String()))
		}
		p.printf("  %s  %s\n", c.title(), p.dim(onNodes(c.Nodes, 6)))
		for _, b := range c.Because {
			p.printf("    %s\n", b)
		}
		if c.At != "" {
			p.printf("    %s\n", p.dim("from "+c.At))
		}
		for line := range strings.Lines(c.Detail) {
			p.printf("    %s\n", p.hunk(printable(strings.TrimSuffix(line, "\n"))))
		}
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

// printable shows control characters, which could otherwise drive a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '␀' + r%32
		}
		return r
	}, s)
}

// onNodes names a few nodes and counts the rest.
func onNodes(nodes []string, most int) string {
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
