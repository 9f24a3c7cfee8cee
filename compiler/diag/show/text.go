package show

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/screen"
)

// textPrinter draws diagnostics for a person:
//
//	error[E0204]: claim held twice
//	  --> mesh.cue:9:13
//	   |
//	 7 |     assign: xorg: {}
//	   |             ---- xorg holds it
//	 9 |     assign: sway: {}
//	   |             ^^^^ brings wayland, which claims the-seat on laptop too
//	   |
//	  help: a node can have one of them; remove one of these lines
//
// Places in other files follow as snippets of their own. A place whose line
// cannot be read is named with its text and no snippet.
type textPrinter struct {
	Options
	known lookup
}

func (p textPrinter) Print(w io.Writer, l diag.List) error {
	t := text{opts: p.Options, known: p.known, src: newSources(p.Read)}
	if p.Colour {
		t.ink = ansi
	}
	for i, d := range l.Sorted() {
		if i > 0 {
			t.out.WriteByte('\n')
		}
		t.diagnostic(d)
	}
	_, err := screen.Inked(w).Write(t.out.Bytes())
	return err
}

// palette is what is written before and after coloured text; empty without colour.
type palette struct{ bold, red, yellow, blue, cyan, off string }

var ansi = palette{"\x1b[1m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[1;34m", "\x1b[1;36m", "\x1b[0m"}

// text is one run of the printer.
type text struct {
	opts  Options
	known lookup
	src   *sources
	ink   palette
	out   bytes.Buffer

	gutter int    // columns that the line numbers of this diagnostic take
	main   string // ink of the main marker: red for errors, yellow for warnings
}

// markedPlace is a place to be shown, and what to say about it.
type markedPlace struct {
	at   diag.Pos
	text string
	main bool
	line string // the source line
}

func (t *text) diagnostic(d diag.Diagnostic) {
	t.main = t.ink.red
	if d.Severity() == diag.Warning {
		t.main = t.ink.yellow
	}
	info, _ := t.known(d.Code)
	title, message := info.Title, d.Message
	if title == "" {
		title, message = message, ""
	}
	code := ""
	if d.Code != "" {
		code = "[" + escape(string(d.Code)) + "]"
	}
	t.linef("%s%s%s%s%s: %s%s", t.main, d.Severity(), code, t.ink.off, t.ink.bold, escape(title), t.ink.off)

	shown, named := t.places(d, message)
	t.gutter = 1
	for _, group := range shown {
		for _, m := range group {
			t.gutter = max(t.gutter, len(strconv.Itoa(m.at.Line)))
		}
	}
	for _, m := range named {
		if m.main {
			t.named(m)
		}
	}
	for i, group := range shown {
		t.snippet(group, i+1 < len(shown) || d.Help != "")
	}
	for _, m := range named {
		if !m.main {
			t.named(m)
		}
	}
	if d.Help != "" {
		t.labelled(t.ink.cyan, "help:", d.Help)
	}
}

// places sorts the places of a diagnostic into those whose lines can be shown,
// grouped by file with the main one's first, and those that can only be named.
func (t *text) places(d diag.Diagnostic, message string) (shown [][]markedPlace, named []markedPlace) {
	all := []markedPlace{{at: d.At, text: message, main: true}}
	for _, n := range d.Also {
		all = append(all, markedPlace{at: n.At, text: n.Text})
	}
	for _, m := range all {
		line, ok := t.src.line(m.at.File, m.at.Line)
		if !ok || !m.at.IsValid() {
			named = append(named, m)
			continue
		}
		m.line = line
		i := slices.IndexFunc(shown, func(g []markedPlace) bool { return g[0].at.File == m.at.File })
		if i < 0 {
			shown, i = append(shown, nil), len(shown)
		}
		shown[i] = append(shown[i], m)
	}
	return shown, named
}

// named writes a place that has no snippet.
func (t *text) named(m markedPlace) {
	arrow := ":::"
	if m.main {
		arrow = "-->"
	}
	switch {
	case !m.at.IsValid() && m.text == "":
	case !m.at.IsValid() && m.main:
		t.labelled("", "", m.text)
	case !m.at.IsValid():
		t.labelled(t.ink.blue, "note:", m.text)
	case m.text == "":
		t.labelled(t.ink.blue, arrow, escape(m.at.String()))
	default:
		t.labelled(t.ink.blue, arrow, escape(m.at.String())+": "+m.text)
	}
}

// snippet draws the lines of one file with the places on them. A last bar
// leads to what follows, where something does.
func (t *text) snippet(group []markedPlace, more bool) {
	arrow := ":::"
	if group[0].main {
		arrow = "-->"
	}
	t.labelled(t.ink.blue, arrow, escape(group[0].at.String()))
	t.bar("")
	slices.SortStableFunc(group, func(a, b markedPlace) int { return a.at.Compare(b.at) })
	for i := 0; i < len(group); {
		n := i + 1
		for n < len(group) && group[n].at.Line == group[i].at.Line {
			n++
		}
		t.marked(group[i:n])
		i = n
	}
	if more {
		t.bar("")
	}
}

// marked draws one source line and a marker for each place on it. A line that
// is too long is drawn for each place anew, cut around it.
func (t *text) marked(on []markedPlace) {
	line := on[0].line
	laid, fits := whole(line, t.opts.Width)
	for i, m := range on {
		from, to := span(line, m.at)
		var d drawn
		if fits {
			d = mark(laid, from, to)
		} else {
			d = cut(line, from, to, t.opts.Width)
		}
		if i == 0 || !fits {
			t.numbered(m.at.Line, d.text)
		}
		ink, sign := t.ink.blue, "-"
		if m.main {
			ink, sign = t.main, "^"
		}
		pad := strings.Repeat(" ", d.pad)
		marker := strings.Repeat(sign, d.width)
		for j, l := range escapeLines(m.text) {
			if j > 0 {
				marker = strings.Repeat(" ", d.width)
			}
			t.bar(pad + ink + strings.TrimRight(marker+" "+l, " ") + t.ink.off)
		}
	}
}

func (t *text) numbered(n int, line string) {
	t.linef(" %s%*d |%s %s", t.ink.blue, t.gutter, n, t.ink.off, line)
}

func (t *text) bar(rest string) {
	t.linef(" %s%*s |%s %s", t.ink.blue, t.gutter, "", t.ink.off, rest)
}

// labelled writes text after a label, further lines of it under the first.
func (t *text) labelled(ink, label, s string) {
	margin := strings.Repeat(" ", t.gutter+1)
	gap := ""
	if label != "" {
		gap = strings.Repeat(" ", len(label)+1)
	}
	for i, l := range escapeLines(s) {
		switch {
		case i == 0 && label != "" && ink != "":
			t.linef("%s%s%s%s %s", margin, ink, label, t.ink.off, l)
		case i == 0 && label != "":
			t.linef("%s%s %s", margin, label, l)
		default:
			t.linef("%s%s%s", margin, gap, l)
		}
	}
}

// linef writes a line without the spaces that would end it.
func (t *text) linef(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	t.out.WriteString(strings.TrimRight(line, " "))
	t.out.WriteByte('\n')
}
