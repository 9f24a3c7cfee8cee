package report

import (
	"fmt"
	"html/template"
	"strings"

	"meshc.dev/render/diff"
)

// changes is a diff for the page.
type changes struct {
	From, To string
	Impact   string
	Rank     int
	Empty    bool
	Nodes    int
	Compiler string
	Groups   []impactGroup

	hidden, unlisted int
	of               map[string][]*change // by node
}

// impactGroup is the changes of one impact.
type impactGroup struct {
	Impact  string
	Rank    int
	Changes []*change
}

// change is one change.
type change struct {
	ID      string
	What    string
	Nodes   []string
	More    int // nodes that are not named
	Because []string
	At      string
	Lines   []diffLine // of a unified diff
	Hidden  bool       // its diff was left out
	Rank    int
	Impact  string
}

// diffLine is one of a unified diff.
type diffLine struct{ Class, Text string }

// mostNamed is how many machines a change names.
const mostNamed = 60

// changesOf prepares a diff; the lines of files have to fit into room.
func changesOf(d *diff.Diff, room int) *changes {
	out := &changes{
		From: d.From, To: d.To, Impact: d.Impact.String(), Rank: int(d.Impact), Empty: d.IsEmpty(), Nodes: len(d.Nodes),
		Compiler: d.Compiler, of: map[string][]*change{},
	}
	for k, c := range d.Changes {
		x := &change{ID: fmt.Sprintf("change-%d", k+1), What: c.What, At: c.At, Rank: int(c.Impact), Impact: c.Impact.String()}
		x.Because, x.Nodes = c.Because, c.Nodes
		if len(c.Nodes) > mostNamed {
			x.Nodes, x.More = c.Nodes[:mostNamed], len(c.Nodes)-mostNamed
		}
		size := 200 + len(x.What) + len(strings.Join(x.Because, "")) + 80*len(x.Nodes)
		if size > room {
			out.unlisted++
			continue
		}
		room -= size
		if c.Detail != "" {
			const tag = 32 // bytes that a line has besides its text
			if cost := len(template.HTMLEscapeString(visible(c.Detail))) + tag*strings.Count(c.Detail, "\n"); cost > room/2 {
				x.Hidden = true
				out.hidden++
			} else {
				room -= cost
				x.Lines = lines(c.Detail)
			}
		}
		for _, n := range c.Nodes {
			out.of[n] = append(out.of[n], x)
		}
		if g := len(out.Groups); g == 0 || out.Groups[g-1].Rank != x.Rank {
			out.Groups = append(out.Groups, impactGroup{Impact: x.Impact, Rank: x.Rank})
		}
		g := &out.Groups[len(out.Groups)-1]
		g.Changes = append(g.Changes, x)
	}
	return out
}

func (c *changes) leftOut() []string {
	var out []string
	if c.unlisted > 0 {
		out = append(out, plural(c.unlisted, "change"))
	}
	if c.hidden > 0 {
		out = append(out, "what is changed in "+plural(c.hidden, "file"))
	}
	return out
}

func lines(detail string) []diffLine {
	var out []diffLine
	for l := range strings.Lines(detail) {
		l = strings.TrimSuffix(l, "\n")
		class := "same"
		switch {
		case strings.HasPrefix(l, "+"):
			class = "add"
		case strings.HasPrefix(l, "-"):
			class = "del"
		case strings.HasPrefix(l, "@@"):
			class = "hunk"
		}
		out = append(out, diffLine{class, l})
	}
	return out
}

// visible shows what is not text: control characters, and bytes that are no UTF-8. It is
// applied to the page as a whole, which has none of its own.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ':
			return '␀' + r
		case r == 0x7f, r >= 0x80 && r < 0xa0:
			return '␡'
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return '�' // turns the direction of text around, so that it reads as something else
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
