package lock

import (
	"strconv"
	"strings"

	"meshc.dev/compiler/diag"
)

// document is a file taken apart: entries in the order in which they stand, not
// yet understood. Both readers give it, and a test holds them equal.
type document struct {
	format  int
	mesh    string
	meshAt  span
	kept    bool // there is a section of where data is, with entries or without
	entries []entry
	empty   []section // those without entries
}

// section is one of a lock, and where its name stands.
type section struct {
	name string
	at   span
}

// entry is a key of a section and its value.
type entry struct {
	section, key string
	value        value
	at           span
}

// kind tells what a value is.
type kind uint8

const (
	number kind = iota // text holds its digits
	text
	list   // of items without names
	object // of items with names
	other  // nothing that a lock ever has
)

type value struct {
	kind  kind
	text  string
	items []item
}

type item struct {
	name  string
	value value
}

// span is a place in the file, as diag.Pos has it.
type span struct{ line, column, endLine, endColumn int32 }

func (s span) pos(file string) diag.Pos {
	return diag.Pos{File: file, Line: int(s.line), Column: int(s.column), EndLine: int(s.endLine), EndColumn: int(s.endColumn)}
}

// readPrinted reads the form that Bytes prints, in any order of lines. It gives
// false for everything else, without saying what is wrong: readHCL does that.
//
//	format = 2
//	mesh = "home"
//	ports = {
//	  "board/gitea/http" = 20311
//	}
func readPrinted(src string) (document, bool) {
	var d document
	s := scanner{rest: src}
	line, ok := s.next()
	digits, isFormat := strings.CutPrefix(line, "format = ")
	if !ok || !isFormat || !isNumber(digits) {
		return d, false
	}
	d.format, _ = strconv.Atoi(digits)
	d.entries = make([]entry, 0, strings.Count(src, "\n"))
	seen := map[string]bool{}
	for s.rest != "" {
		line, ok := s.next()
		if d.mesh == "" && len(seen) == 0 {
			if quoted, isMesh := strings.CutPrefix(line, "mesh = "); isMesh {
				name, rest, good := readString(quoted)
				if !ok || !good || rest != "" || name == "" {
					return d, false
				}
				d.mesh, d.meshAt = name, span{s.line, 1, s.line, int32(len(line) + 1)}
				continue
			}
		}
		name, isSection := strings.CutSuffix(line, " = {")
		if !ok || !isSection || !isSectionName(name) || seen[name] {
			return d, false
		}
		seen[name] = true
		d.kept = d.kept || name == kept
		at, before := span{s.line, 1, s.line, int32(len(name) + 1)}, len(d.entries)
		for {
			line, ok := s.next()
			if !ok {
				return d, false
			}
			if line == "}" {
				if len(d.entries) == before {
					d.empty = append(d.empty, section{name, at})
				}
				break
			}
			e, ok := readEntry(line)
			if !ok {
				return d, false
			}
			e.section = name
			e.at.line, e.at.endLine = s.line, s.line
			d.entries = append(d.entries, e)
		}
	}
	return d, true
}

// isSectionName says whether s is a word that HCL takes for a name and Bytes could have written.
func isSectionName(s string) bool {
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return s != "" && s != "format" && s != "mesh"
}

// scanner gives whole lines.
type scanner struct {
	rest string
	line int32
}

func (s *scanner) next() (string, bool) {
	line, rest, ok := strings.Cut(s.rest, "\n")
	s.rest = rest
	s.line++
	return line, ok
}

// readEntry reads `  "key" = value`.
func readEntry(line string) (e entry, ok bool) {
	rest, ok := strings.CutPrefix(line, "  ")
	if !ok {
		return e, false
	}
	if e.key, rest, ok = readString(rest); !ok {
		return e, false
	}
	if rest, ok = strings.CutPrefix(rest, " = "); !ok {
		return e, false
	}
	if e.value, rest, ok = readValue(rest); !ok || rest != "" {
		return e, false
	}
	e.at.column, e.at.endColumn = 3, int32(len(line)+1)
	return e, true
}

// readValue reads a number, a string, a list of strings or an object of these.
func readValue(s string) (v value, rest string, ok bool) {
	switch {
	case strings.HasPrefix(s, `"`):
		v.kind = text
		v.text, rest, ok = readString(s)
		return v, rest, ok
	case strings.HasPrefix(s, "["):
		v.kind = list
		v.items, rest, ok = readItems(s[1:], "", "]", readListItem)
		return v, rest, ok
	case strings.HasPrefix(s, "{"):
		v.kind = object
		v.items, rest, ok = readItems(s[1:], " ", " }", readField)
		return v, rest, ok
	}
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return value{kind: number, text: s[:n]}, s[n:], isNumber(s[:n])
}

// readItems reads what stands between commas, up to the closing bracket.
func readItems(s, open, end string, one func(string) (item, string, bool)) (items []item, rest string, ok bool) {
	if rest, ok = strings.CutPrefix(s, end); ok {
		return nil, rest, true
	}
	if s, ok = strings.CutPrefix(s, open); !ok {
		return nil, s, false
	}
	items = make([]item, 0, 5) // as many as the fields of a secret
	for {
		var it item
		if it, s, ok = one(s); !ok {
			return nil, s, false
		}
		items = append(items, it)
		if rest, ok = strings.CutPrefix(s, end); ok {
			return items, rest, true
		}
		if s, ok = strings.CutPrefix(s, ", "); !ok {
			return nil, s, false
		}
	}
}

func readListItem(s string) (it item, rest string, ok bool) {
	it.value.kind = text
	it.value.text, rest, ok = readString(s)
	return it, rest, ok
}

// readField reads `name = value` within an object, where the value is no object again.
func readField(s string) (it item, rest string, ok bool) {
	n := 0
	for n < len(s) && (s[n] >= 'a' && s[n] <= 'z' || n > 0 && s[n] >= '0' && s[n] <= '9') {
		n++
	}
	it.name = s[:n]
	if it.name == "for" {
		return it, s, false // with which HCL begins something else
	}
	if rest, ok = strings.CutPrefix(s[n:], " = "); !ok || n == 0 || strings.HasPrefix(rest, "{") {
		return it, rest, false
	}
	it.value, rest, ok = readValue(rest)
	return it, rest, ok
}

// readString reads a string that means itself.
func readString(s string) (text, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", s, false
	}
	s = s[1:]
	n := strings.IndexByte(s, '"')
	if n < 0 || !isPlain(s[:n]) {
		return "", s, false
	}
	return s[:n], s[n+1:], true
}

// isNumber says whether s is a number as Bytes prints one.
func isNumber(s string) bool {
	if s == "" || len(s) > 9 || s[0] == '0' && s != "0" {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
