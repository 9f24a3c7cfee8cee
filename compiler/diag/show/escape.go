package show

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// hidden says whether a rune must not be printed as it is: control characters,
// which can move the cursor or change what stands on the screen, and invisible
// ones that reorder, join or break the text around them.
func hidden(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r == 0x061c, r == 0xfeff, r == 0x2060, // mark of direction, byte order mark, word joiner
		r == 0x200b, r == 0x200e, r == 0x200f, // zero-width space, marks of direction
		r >= 0x2028 && r <= 0x202e, // line and paragraph separators, embeddings and overrides
		r >= 0x2066 && r <= 0x2069: // isolates
		return true
	}
	return false
}

// spell writes a hidden rune, or a byte that is no UTF-8, so that it can be seen.
func spell(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size == 1:
		return fmt.Sprintf(`\x%02x`, s[0])
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// escape gives text in which nothing is hidden. A tab becomes four spaces.
// Newlines are spelled too: who draws several lines splits them first.
func escape(s string) string {
	if clean(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == '\t':
			b.WriteString("    ")
		case r == utf8.RuneError && size == 1, hidden(r):
			b.WriteString(spell(s))
		default:
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}

func clean(s string) bool {
	for i, r := range s {
		if hidden(r) {
			return false
		}
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return false
			}
		}
	}
	return true
}

// escapeLines splits text at its newlines, of either kind, and escapes each line.
func escapeLines(s string) []string {
	lines := strings.Split(strings.ReplaceAll(strings.TrimRight(s, "\r\n"), "\r\n", "\n"), "\n")
	for i, l := range lines {
		lines[i] = escape(l)
	}
	return lines
}
