package diff

import (
	"fmt"
	"io"
	"strings"
)

// MaxComment is what a comment on GitHub may have, in characters.
const MaxComment = 65536

// marker is in every comment, so that a bot finds the one to update.
const marker = "<!-- meshc diff -->\n"

// Markdown writes a diff as a comment for a pull request. However many nodes change
// it fits into one comment and says what it left out; the same change gives the
// same text (REV-3).
func Markdown(w io.Writer, d *Diff) error {
	_, err := io.WriteString(w, markdown(d))
	return err
}

func markdown(d *Diff) string {
	var b strings.Builder
	b.WriteString(marker)
	if d.IsEmpty() {
		fmt.Fprintf(&b, "**Nothing changes** on any machine (`%s` → `%s`).\n", d.From, d.To)
		return b.String()
	}
	fmt.Fprintf(&b, "**%s** on %s (`%s` → `%s`)\n", d.Impact, plural(len(d.Nodes), "node"), d.From, d.To)
	if d.Compiler != "" {
		fmt.Fprintf(&b, "\nSome of it only because of another meshc: %s\n", d.Compiler)
	}
	// First a line for every change, as far as they fit; then the details of as many
	// as there is room for.
	const reserve = 400 // for what is said of what is left out
	impact, listed := Impact(-1), 0
	for _, c := range d.Changes {
		line := ""
		if c.Impact != impact {
			line = fmt.Sprintf("\n### %s\n\n", c.Impact)
		}
		line += "- " + escape(c.title()) + " " + escape(onNodes(c.Nodes, 6))
		if len(c.Because) > 0 {
			line += ": " + escape(short(c.Because, 4))
		}
		line += "\n"
		if b.Len()+len(line) > MaxComment*2/3 {
			break
		}
		b.WriteString(line)
		impact = c.Impact
		listed++
	}
	if listed < len(d.Changes) {
		fmt.Fprintf(&b, "\n%s left out here; `meshc diff` shows all.\n", plural(len(d.Changes)-listed, "more change"))
	}
	hidden := 0
	for _, c := range d.Changes {
		if c.Detail == "" {
			continue
		}
		from := ""
		if c.At != "" {
			from = fmt.Sprintf(" <sub>from %s</sub>", html(c.At))
		}
		fence := "````"
		for strings.Contains(c.Detail, fence) {
			fence += "`"
		}
		detail := fmt.Sprintf("\n<details><summary>%s %s%s</summary>\n\n%sdiff\n%s\n%s\n\n</details>\n",
			html(c.title()), html(onNodes(c.Nodes, 6)), from, fence, strings.TrimSuffix(c.Detail, "\n"), fence)
		if b.Len()+len(detail) > MaxComment-reserve {
			hidden++
			continue
		}
		b.WriteString(detail)
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "\nThe contents of %s left out here; `meshc diff` shows them.\n", plural(hidden, "more file"))
	}
	return b.String()
}

func short(items []string, most int) string {
	if len(items) > most {
		return strings.Join(items[:most-1], ", ") + fmt.Sprintf(" and %d more", len(items)-most+1)
	}
	return strings.Join(items, ", ")
}

// escape keeps a text from being read as markdown or HTML.
func escape(s string) string {
	var b strings.Builder
	for _, r := range html(s) {
		if strings.ContainsRune("\\`*_[]|~#!", r) {
			b.WriteByte('\\')
		}
		if r == '\n' || r == '\r' {
			r = ' '
		}
		b.WriteRune(r)
	}
	return strings.ReplaceAll(b.String(), "@", "@<!-- -->")
}

func html(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
