package sinktest

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Line is one key of a unit file. An empty value is kept: it resets a list.
type Line struct{ Section, Key, Value string }

// Unit is what systemd reads from a unit file, in order.
type Unit []Line

// Values are the values of a key after the last reset.
func (u Unit) Values(section, key string) []string {
	var out []string
	for _, l := range u {
		switch {
		case l.Section != section || l.Key != key:
		case l.Value == "":
			out = nil
		default:
			out = append(out, l.Value)
		}
	}
	return out
}

// Value is the last value of a key, or nothing.
func (u Unit) Value(section, key string) string {
	v := u.Values(section, key)
	if len(v) == 0 {
		return ""
	}
	return v[len(v)-1]
}

// ParseUnit reads a unit file as systemd does (config_parse in src/shared/conf-parser.c, systemd.syntax(7)).
// What systemd would warn about and ignore is an error here.
func ParseUnit(b []byte) (Unit, error) {
	if !utf8.Valid(b) {
		return nil, fmt.Errorf("the unit is not UTF-8")
	}
	var u Unit
	section, pending := "", ""
	joined := false
	// read_line ends a line at \n, \r and the zero byte alike.
	for n, raw := range strings.FieldsFunc(string(b)+"\n", func(r rune) bool { return r == '\n' || r == '\r' || r == 0 }) {
		line := strings.TrimLeft(raw, " \t")
		if line != "" && strings.IndexByte("#;", line[0]) >= 0 {
			continue
		}
		line = pending + line
		pending = ""
		escaped := false
		for i := range len(line) {
			escaped = !escaped && line[i] == '\\'
		}
		if joined = escaped; joined {
			pending = line[:len(line)-1] + " "
			continue
		}
		line = strings.Trim(line, " \t")
		switch {
		case line == "":
		case line[0] == '[':
			if line[len(line)-1] != ']' {
				return nil, fmt.Errorf("line %d: a section without its end", n+1)
			}
			section = line[1 : len(line)-1]
		default:
			key, value, ok := strings.Cut(line, "=")
			if !ok || section == "" {
				return nil, fmt.Errorf("line %d is no assignment in a section: %s", n+1, line)
			}
			u = append(u, Line{section, strings.TrimRight(key, " \t"), strings.TrimLeft(value, " \t")})
		}
	}
	if joined {
		return nil, fmt.Errorf("the last line is continued")
	}
	return u, nil
}

// Words splits a value as systemd's extract_first_word does with EXTRACT_UNQUOTE and
// EXTRACT_CUNESCAPE: what Environment= and ExecStart= are read with.
func Words(s string) ([]string, error) {
	var words []string
	rest := s
	for {
		rest = strings.TrimLeft(rest, " \t\n\r")
		if rest == "" {
			return words, nil
		}
		word, left, err := firstWord(rest)
		if err != nil {
			return nil, err
		}
		words, rest = append(words, word), left
	}
}

func firstWord(s string) (word, rest string, err error) {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\':
			n, err := unescape(&b, s[i+1:])
			if err != nil {
				return "", "", err
			}
			i += n
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0 && strings.IndexByte(" \t\n\r", c) >= 0:
			return b.String(), s[i:], nil
		default:
			b.WriteByte(c)
		}
	}
	if quote != 0 {
		return "", "", fmt.Errorf("a quote is not closed in %q", s)
	}
	return b.String(), "", nil
}

var cEscapes = map[byte]byte{'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\\': '\\', '"': '"', '\'': '\'', 's': ' '}

// unescape reads what follows a backslash (cunescape_one) and tells how long it was.
func unescape(b *strings.Builder, s string) (int, error) {
	if s == "" {
		return 0, fmt.Errorf("a backslash at the end")
	}
	if c, ok := cEscapes[s[0]]; ok {
		b.WriteByte(c)
		return 1, nil
	}
	digits, base := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]], 16
	text := s[1:]
	if s[0] >= '0' && s[0] <= '7' {
		digits, base, text = 3, 8, s
	}
	if digits == 0 || len(text) < digits {
		return 0, fmt.Errorf("no escape: \\%s", s)
	}
	var n int
	format := map[int]string{16: "%x", 8: "%o"}[base]
	if _, err := fmt.Sscanf(text[:digits], format, &n); err != nil || n == 0 {
		return 0, fmt.Errorf("no escape: \\%s", s)
	}
	if digits <= 3 {
		if n > 255 {
			return 0, fmt.Errorf("no escape: \\%s", s)
		}
		b.WriteByte(byte(n))
	} else {
		b.WriteRune(rune(n))
	}
	return digits + len(s) - len(text), nil
}

// Specifiers expands a word's % as systemd does for the unit's name given without a
// suffix: %% and those that a test can know.
func Specifiers(word, unit string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(word); i++ {
		if word[i] != '%' {
			b.WriteByte(word[i])
			continue
		}
		i++
		switch {
		case i == len(word):
			b.WriteByte('%')
		case word[i] == '%':
			b.WriteByte('%')
		case word[i] == 'i':
		case word[i] == 'n':
			b.WriteString(unit + ".service")
		case word[i] == 'N':
			b.WriteString(unit)
		case word[i] == 't':
			b.WriteString("/run")
		default:
			return "", fmt.Errorf("the specifier %%%c in %q", word[i], word)
		}
	}
	return b.String(), nil
}

// Environment gives the variables of Environment= lines as the process gets them.
func Environment(lines []string) (map[string]string, error) {
	env := map[string]string{}
	for _, l := range lines {
		words, err := Words(l)
		if err != nil {
			return nil, err
		}
		for _, w := range words {
			if w, err = Specifiers(w, "unit"); err != nil {
				return nil, err
			}
			name, value, ok := strings.Cut(w, "=")
			if !ok || !isIdentifier(name) || !systemdUTF8(value) {
				return nil, fmt.Errorf("%q is no assignment to systemd", w)
			}
			env[name] = value
		}
	}
	return env, nil
}

// Argv gives the arguments of an ExecStart= line as the process gets them: words, then specifiers, then
// variables (replace_env_argv), where only $$ is none. A bare ; begins another command, which
// is an error here.
func Argv(line, unit string) ([]string, error) {
	var argv []string
	rest := line
	for {
		rest = strings.TrimLeft(rest, " \t\n\r")
		if rest == "" {
			return argv, nil
		}
		if f := strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == '\t' }); f[0] == ";" {
			return nil, fmt.Errorf("a bare ; ends the command in %q", line)
		}
		word, left, err := firstWord(rest)
		if err != nil {
			return nil, err
		}
		rest = left
		if word, err = Specifiers(word, unit); err != nil {
			return nil, err
		}
		if !systemdUTF8(word) {
			return nil, fmt.Errorf("%q is not UTF-8 to systemd", word)
		}
		var b strings.Builder
		for i := 0; i < len(word); i++ {
			if word[i] != '$' {
				b.WriteByte(word[i])
				continue
			}
			i++
			if i == len(word) || word[i] != '$' {
				return nil, fmt.Errorf("%q would be expanded", word)
			}
			b.WriteByte('$')
		}
		argv = append(argv, b.String())
	}
}

func isIdentifier(s string) bool {
	for i, r := range s {
		if r != '_' && (r|0x20 < 'a' || r|0x20 > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// systemdUTF8 is utf8_is_valid of src/basic/utf8.c: noncharacters are not valid there.
func systemdUTF8(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if r >= 0xfdd0 && r <= 0xfdef || r&0xfffe == 0xfffe {
			return false
		}
	}
	return true
}
