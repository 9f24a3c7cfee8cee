package show

import (
	"fmt"
	"io"
	"path"
	"strings"

	"meshc.dev/compiler/diag"
)

// githubPrinter writes workflow commands, which GitHub shows beside the line:
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions.
// What else is involved, and the help, are further lines of the annotation.
type githubPrinter struct {
	Options
	known lookup
}

func (p githubPrinter) Print(w io.Writer, l diag.List) error {
	src := newSources(p.Read)
	var b strings.Builder
	for _, d := range l.Sorted() {
		b.WriteString("::" + d.Severity().String())
		sep := " "
		property := func(name, value string) {
			b.WriteString(sep + name + "=" + githubProperty(value))
			sep = ","
		}
		if d.At.IsValid() {
			property("file", path.Join(p.Prefix, d.At.File))
			githubPlace(src, d.At, property)
		}
		info, _ := p.known(d.Code)
		property("title", strings.Trim(string(d.Code)+": "+info.Title, ": "))
		b.WriteString("::" + githubData(plain(d)) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// githubPlace writes lines, and columns where the position is on one line: GitHub
// takes none otherwise. There the end column is the last one meant.
func githubPlace(src *sources, p diag.Pos, property func(name, value string)) {
	if p.Line < 1 {
		return
	}
	property("line", fmt.Sprint(p.Line))
	if p.EndLine > p.Line {
		property("endLine", fmt.Sprint(p.EndLine))
		return
	}
	column, end := src.characters(p)
	if column > 0 {
		property("col", fmt.Sprint(column))
		property("endLine", fmt.Sprint(p.Line))
		property("endColumn", fmt.Sprint(max(column, end-1)))
	}
}

// plain says all of a diagnostic that its code does not say, as lines of text.
func plain(d diag.Diagnostic) string {
	var lines []string
	add := func(s string) {
		if s != "" {
			lines = append(lines, escapeLines(s)...)
		}
	}
	add(d.Message)
	for _, n := range d.Also {
		if n.At.IsValid() {
			add(escape(n.At.String()) + ": " + n.Text)
		} else {
			add(n.Text)
		}
	}
	if d.Help != "" {
		add("help: " + d.Help)
	}
	return strings.Join(lines, "\n")
}

// githubData and githubProperty escape as actions/toolkit does.
func githubData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func githubProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(escape(s))
}
