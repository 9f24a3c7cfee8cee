package show

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"meshc.dev/compiler/diag"
)

// sources reads files once each and finds lines in them.
type sources struct {
	read  func(string) ([]byte, error)
	files map[string]*source
}

// source is a file and where its lines begin.
type source struct {
	content []byte
	starts  []int
}

func newSources(read func(string) ([]byte, error)) *sources {
	return &sources{read, map[string]*source{}}
}

// line gives a line of a file without its line ending, or false where there is none.
func (s *sources) line(file string, n int) (string, bool) {
	if s.read == nil || n < 1 {
		return "", false
	}
	f, seen := s.files[file]
	if !seen {
		if content, err := s.read(file); err == nil {
			f = &source{content, []int{0}}
			for i, c := range content {
				if c == '\n' {
					f.starts = append(f.starts, i+1)
				}
			}
		}
		s.files[file] = f
	}
	if f == nil || n > len(f.starts) {
		return "", false
	}
	end := len(f.content)
	if n < len(f.starts) {
		end = f.starts[n] - 1
	}
	return withoutKeys(string(bytes.TrimSuffix(f.content[f.starts[n-1]:end], []byte("\r")))), true
}

// privateKey matches what is private about a key that somebody wrote into a file by
// mistake: it must not reach a terminal's scrollback or a public log as well.
var privateKey = regexp.MustCompile(`(?i)(AGE-SECRET-KEY-(?:PQ-)?1)([0-9a-z]+)|(PRIVATE KEY-----)(.+)`)

// withoutKeys puts as many asterisks in a private key's place.
func withoutKeys(line string) string {
	if !strings.Contains(line, "-----") && !strings.Contains(strings.ToUpper(line), "AGE-SECRET") {
		return line
	}
	for _, m := range privateKey.FindAllStringSubmatchIndex(line, -1) {
		for _, part := range [][2]int{{m[4], m[5]}, {m[8], m[9]}} {
			if part[0] >= 0 {
				line = line[:part[0]] + strings.Repeat("*", part[1]-part[0]) + line[part[1]:]
			}
		}
	}
	return line
}

// span gives the part of a line that a position means, as byte offsets within
// it: from its column to its end where that is on the same line, to the end of the
// line where it is on a later one, and over the word that begins there where the
// position has no end. A position without a column means the line's text.
func span(line string, p diag.Pos) (from, to int) {
	last := len(trimSpaceRight(line))
	if p.Column < 1 {
		return min(indent(line), last), last
	}
	from = clamp(p.Column-1, 0, len(line))
	switch {
	case p.EndLine > p.Line:
		to = last
	case p.EndColumn > p.Column && p.EndLine == p.Line:
		to = clamp(p.EndColumn-1, from, len(line))
	default:
		to = from + word(line[from:])
	}
	return from, max(from, to)
}

func clamp(n, low, high int) int { return max(low, min(n, high)) }

func indent(line string) int {
	for i, r := range line {
		if !unicode.IsSpace(r) && r != 0xfeff {
			return i
		}
	}
	return len(line)
}

func trimSpaceRight(line string) string {
	for len(line) > 0 {
		r, size := utf8.DecodeLastRuneInString(line)
		if !unicode.IsSpace(r) {
			break
		}
		line = line[:len(line)-size]
	}
	return line
}

// word is the length of the name, number or quoted string that s begins with.
func word(s string) int {
	if s != "" && s[0] == '"' {
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
	}
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '#' {
			return i
		}
	}
	return len(s)
}

// characters gives the columns of a position counted in characters rather than
// bytes, the end exclusive, which is what editors and forges count. An end that
// is not known, or lies before the beginning, is 0. Without the source lines
// there is no telling, and both are 0.
func (s *sources) characters(p diag.Pos) (column, endColumn int) {
	line, ok := s.line(p.File, p.Line)
	if !ok || p.Column < 1 {
		return 0, 0
	}
	column = runes(line, p.Column-1) + 1
	if p.EndLine == p.Line && p.EndColumn > p.Column {
		return column, max(column, runes(line, p.EndColumn-1)+1)
	}
	if p.EndLine > p.Line && p.EndColumn > 0 {
		if end, ok := s.line(p.File, p.EndLine); ok {
			return column, runes(end, p.EndColumn-1) + 1
		}
	}
	return column, 0
}

// runes counts the characters in the first n bytes of a line.
func runes(line string, n int) int {
	return utf8.RuneCountInString(line[:clamp(n, 0, len(line))])
}
