package view

import (
	"fmt"
	"io"
	"strings"

	"meshc.dev/compiler/screen"
)

// MarkdownCatalog writes the list of modules for a page of documentation.
func MarkdownCatalog(w io.Writer, ms []Module) error {
	b := "# Modules\n\n"
	for _, m := range ms {
		b += strings.TrimRight(fmt.Sprintf("- %s: %s %s", span(m.Name), plain(m.Summary), m.whose()), " ") + "\n"
	}
	_, err := io.WriteString(w, b)
	return err
}

// MarkdownModule writes a module's page for documentation.
func MarkdownModule(w io.Writer, m Module) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", m.Name, plain(m.Summary))
	for _, s := range m.interfaces() {
		fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		for _, p := range s.parts {
			fmt.Fprintf(&b, "- **%s**\n", plain(p.headline(s.title)))
			for _, f := range p.told(s.title) {
				b.WriteString("  " + f.bullet())
			}
		}
	}
	if len(m.Settings) > 0 {
		b.WriteString("\n## settings\n\n")
	}
	for _, s := range m.Settings {
		b.WriteString(s.bullet())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (d Declare) bullet() string {
	out := "- " + span(d.Path)
	if d.Type != "" {
		out += ": " + span(d.Type)
	}
	if d.If != "" {
		out += " " + span(d.If)
	}
	if d.Doc != "" {
		out += ": " + plain(d.Doc)
	}
	return out + "\n"
}

// span is code in a line, between more backticks than it has itself.
func span(s string) string {
	s = screen.Text(strings.Join(strings.Fields(s), " "))
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// plain is prose that stays what it says: nothing of it is markup.
func plain(s string) string {
	s = screen.Text(strings.Join(strings.Fields(s), " "))
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "|", `\|`, "#", `\#`, "@", "&#64;", "~", `\~`).Replace(s)
}
