package diff

import (
	"fmt"
	"io"
	"maps"
	"slices"
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
	fmt.Fprintf(&b, "**%s** (`%s` → `%s`)\n", escape(d.sentence()), d.From, d.To)
	if d.Compiler != "" {
		fmt.Fprintf(&b, "\nSome of it only because of another meshc: %s\n", d.Compiler)
	}
	// First a line for every change, as far as they fit, and those of access always; then the
	// details of as many as there is room for.
	const reserve = 400 // for what is said of what is left out
	changes := folded(d.Changes)
	impact, listed := Impact(-1), 0
	grave := 0
	for _, c := range changes {
		if c.Impact == Access {
			grave += len(c.bullet())
		}
	}
	if grave > MaxComment/2 {
		b.WriteString(byReason(changes))
		for listed < len(changes) && changes[listed].Impact == Access {
			listed++
		}
	}
	left := 0
	for _, c := range changes[listed:] {
		line := ""
		if c.Impact != impact {
			line = fmt.Sprintf("\n### %s\n\n", c.Impact)
		}
		line += c.bullet()
		if b.Len()+len(line) > MaxComment*2/3 {
			left++
			continue
		}
		b.WriteString(line)
		impact = c.Impact
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n%s left out here; `meshc diff` shows all.\n", plural(left, "more change"))
	}
	hidden := 0
	for _, c := range changes {
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

// bullet is a change's line. Of access every reason is named.
func (c Change) bullet() string {
	line := "- " + escape(strings.TrimSpace(clipped(c.title())+" "+onNodes(c.Nodes, 6)))
	if most := 4; len(c.Because) > 0 {
		if c.Impact == Access {
			most = 8
		}
		var because []string
		for _, b := range c.Because {
			because = append(because, clipped(b))
		}
		line += ": " + escape(short(because, most))
	}
	return line + "\n"
}

// clipped is a text of which no attacker makes a page.
func clipped(s string) string {
	const most = 300
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// byReason is what there is of access where there is so much of it that its lines do not fit: a
// line for each way of giving it, with how often and where, so that no way is missing.
func byReason(changes []Change) string {
	titles, nodes := map[string][]string{}, map[string][]string{}
	for _, c := range changes {
		if c.Impact == Access {
			titles[c.Reason], nodes[c.Reason] = append(titles[c.Reason], clipped(c.title())), append(nodes[c.Reason], c.Nodes...)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n", Access)
	for _, reason := range slices.Sorted(maps.Keys(titles)) {
		slices.Sort(nodes[reason])
		on := onNodes(slices.Compact(nodes[reason]), 6)
		fmt.Fprintf(&b, "- %s: %s %s: %s\n", escape(reason), plural(len(titles[reason]), "change"), escape(on), escape(short(titles[reason], 6)))
	}
	return b.String()
}

// sentence is the headline, for somebody who knows what the machines are for and not how they are
// made.
func (d *Diff) sentence() string {
	n := d.gravest()
	on := plural(n, "machine")
	out := map[Impact]string{
		Nothing:     "Files change on " + on + ", and no service is interrupted",
		Reload:      "Services on " + on + " take over new settings without interruption",
		Restart:     "Services on " + on + " restart, and are away for a moment",
		Credential:  "Passwords or keys change on " + on,
		Exposed:     "Something on " + on + " becomes reachable from the whole internet",
		Moves:       "Data on " + on + " stays behind or is moved: without work by hand it is missing afterwards",
		Unreachable: on + " can no longer be reached as before",
		Access:      "Who or what has power over " + on + " changes",
	}[d.Impact]
	if n == 0 {
		out = "Who can open the secrets of the whole mesh changes"
	}
	if all := len(d.Nodes); all > n {
		out += "; " + fmt.Sprintf("%d machines change in all", all)
	}
	return out
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
