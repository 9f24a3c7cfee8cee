package show

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"meshc.dev/compiler/screen"
)

const (
	tabStop  = 4
	ellipsis = "…"
	// farthest is how many bytes before and after a span are looked at: more than
	// any terminal is wide, so that a line of a megabyte costs no more than others.
	farthest = 2048
)

// cell is what stands in one place of a drawn line: a character with all that
// combines with it, a tab as spaces, or something hidden spelled out.
type cell struct {
	from, to int // bytes of the line
	text     string
	width    int // columns it takes
}

// cells lays out a part of a line that begins at byte base of it.
func cells(part string, base int) []cell {
	var out []cell
	column, state := 0, -1
	add := func(from, to int, text string, width int) {
		out = append(out, cell{from, to, text, width})
		column += width
	}
	for at := base; len(part) > 0; {
		cluster, rest, width, next := uniseg.FirstGraphemeClusterInString(part, state)
		switch {
		case cluster == "\t":
			n := tabStop - column%tabStop
			add(at, at+1, strings.Repeat(" ", n), n)
		case cluster == "\ufeff" && at == 0:
			add(at, at+len(cluster), "", 0) // a byte order mark is no part of the text
		case clean(cluster):
			add(at, at+len(cluster), cluster, width)
		default:
			for i := 0; i < len(cluster); {
				r, size := utf8.DecodeRuneInString(cluster[i:])
				text, width := cluster[i:i+size], 1
				if screen.Hidden(r) || r == utf8.RuneError && size == 1 {
					text = screen.Spell(text)
					width = len(text)
				} else {
					width = uniseg.StringWidth(text)
				}
				add(at+i, at+i+size, text, width)
				i += size
			}
		}
		at += len(cluster)
		part, state = rest, next
	}
	return out
}

// drawn is a source line as it is printed, and where the marker under a span of it stands.
type drawn struct {
	text       string
	pad, width int
}

// whole lays out a line that fits into max columns, or says that it does not.
func whole(line string, max int) ([]cell, bool) {
	if len(line) > 2*farthest {
		return nil, false
	}
	c := cells(line, 0)
	return c, columns(c) <= max
}

// mark draws the marker for the bytes from..to of a laid out line.
func mark(line []cell, from, to int) drawn {
	var d drawn
	var b strings.Builder
	column, end := 0, 0
	for _, c := range line {
		b.WriteString(c.text)
		if c.to <= from {
			d.pad = column + c.width
		}
		column += c.width
		if c.from < to {
			end = column
		}
	}
	d.text = b.String()
	d.width = max(1, end-d.pad)
	return d
}

// cut draws a line that is too long: the part of it around the span, at most max
// columns wide, with an ellipsis where something was left out.
func cut(line string, from, to, maxColumns int) drawn {
	low := boundary(line, from-farthest)
	high := boundary(line, min(to, from+farthest)+farthest)
	all := cells(line[low:high], low)
	m := mark(all, from, min(to, high))

	room := max(1, maxColumns-2)
	total := columns(all)
	left := clamp(m.pad-room/3, 0, max(0, total-room))
	var out drawn
	var b strings.Builder
	column, first, last := 0, -1, 0
	for _, c := range all {
		if column >= left && column+c.width <= left+room {
			if first < 0 {
				first = column
			}
			b.WriteString(c.text)
			last = column + c.width
		}
		column += c.width
	}
	first = max(first, 0)
	out.pad = clamp(m.pad-first, 0, room)
	out.width = max(1, min(m.pad+m.width, last)-m.pad)
	out.text = b.String()
	if first > 0 || low > 0 {
		out.text = ellipsis + out.text
		out.pad++
	}
	if last < total || high < len(line) {
		out.text += ellipsis
	}
	return out
}

func columns(line []cell) int {
	n := 0
	for _, c := range line {
		n += c.width
	}
	return n
}

// boundary is the nearest byte at or before n at which a character of the line begins.
func boundary(line string, n int) int {
	n = clamp(n, 0, len(line))
	for range utf8.UTFMax - 1 {
		if n > 0 && n < len(line) && !utf8.RuneStart(line[n]) {
			n--
		}
	}
	return n
}
