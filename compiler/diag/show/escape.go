package show

import (
	"strings"
	"unicode/utf8"

	"meshc.dev/compiler/screen"
)

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
		case r == utf8.RuneError && size == 1, screen.Hidden(r):
			b.WriteString(screen.Spell(s))
		default:
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}

func clean(s string) bool {
	for i, r := range s {
		if screen.Hidden(r) {
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
