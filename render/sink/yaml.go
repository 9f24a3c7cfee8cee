package sink

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"meshc.dev/compiler/data"
)

// maxYAMLKey is how long a key may be before YAML wants another notation for it.
const maxYAMLKey = 1024

// YAML writes a value as YAML that means the same to a reader of YAML 1.1 and one of
// 1.2. String values always stand in double quotes: that is the one style in which nothing is
// re-typed, folded or cut by any reader, and in which a secret's JSON encoding can be
// put in place. A string of several lines is broken after each \n, so that it
// can still be read. Keys are plain where no reader could take them for anything but
// a string. Numbers with an exponent are spelled 1.0e+3, since 1.1 takes 1e3 for a
// string. Bytes are !!binary.
func YAML(v data.Value) ([]byte, error) {
	var b strings.Builder
	if err := writeYAML(&b, nil, v, 0); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}

// writeYAML writes a value and the newline after it; for a struct or list the writer
// already stands at the indentation, for a scalar where it belongs.
func writeYAML(b *strings.Builder, path []string, v data.Value, indent int) error {
	switch {
	case v.Kind() == data.List && len(v.Items()) > 0:
		for i, x := range v.Items() {
			if i > 0 {
				b.WriteString(spaces(indent))
			}
			b.WriteString("- ")
			if err := writeYAML(b, in(path, fmt.Sprint(i)), x, indent+2); err != nil {
				return err
			}
		}
		return nil
	case v.Kind() == data.Struct && len(v.Fields()) > 0:
		for i, f := range v.Fields() {
			if i > 0 {
				b.WriteString(spaces(indent))
			}
			if err := writeYAMLKey(b, in(path, f.Name), f.Name); err != nil {
				return err
			}
			if len(f.Value.Items()) > 0 || len(f.Value.Fields()) > 0 {
				b.WriteString("\n" + spaces(indent+2))
			} else {
				b.WriteByte(' ')
			}
			if err := writeYAML(b, in(path, f.Name), f.Value, indent+2); err != nil {
				return err
			}
		}
		return nil
	}
	if err := writeYAMLScalar(b, path, v, max(indent, 2)); err != nil {
		return err
	}
	b.WriteByte('\n')
	return nil
}

func writeYAMLKey(b *strings.Builder, path []string, name string) error {
	switch {
	case !utf8.ValidString(name):
		return refuse(path, "has a name that "+noUTF8)
	case plainYAMLKey(name):
		b.WriteString(name)
	default:
		start := b.Len()
		quoteYAML(b, name, -1)
		if b.Len()-start > maxYAMLKey {
			return refuse(path, "has a name that is longer than the 1024 characters of a YAML key")
		}
	}
	b.WriteByte(':')
	return nil
}

func writeYAMLScalar(b *strings.Builder, path []string, v data.Value, indent int) error {
	switch v.Kind() {
	case data.Absent:
		return refuse(path, noValue)
	case data.Null:
		b.WriteString("null")
	case data.Bool:
		b.WriteString(v.Text())
	case data.Int, data.Float:
		text, ok := number(v)
		if !ok {
			return refuse(path, notANumber)
		}
		if v.Kind() == data.Float {
			if !fitsDouble(text) {
				return refuse(path, "is beyond what a double can hold, and some YAML readers then take it for a string")
			}
			text = yamlFloat(text)
		}
		b.WriteString(text)
	case data.String:
		if !utf8.ValidString(v.Text()) {
			return refuse(path, noUTF8)
		}
		quoteYAML(b, v.Text(), indent)
	case data.Bytes:
		b.WriteString(`!!binary "` + base64.StdEncoding.EncodeToString([]byte(v.Text())) + `"`)
	case data.List:
		b.WriteString("[]")
	case data.Struct:
		b.WriteString("{}")
	}
	return nil
}

// yamlFloat spells a float so that YAML 1.1 takes it for one: it wants a point in the
// mantissa and a sign in the exponent.
func yamlFloat(s string) string {
	mantissa, exponent, has := strings.Cut(strings.ToLower(s), "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	if !has {
		return mantissa
	}
	if exponent[0] != '-' && exponent[0] != '+' {
		exponent = "+" + exponent
	}
	return mantissa + "e" + exponent
}

// quoteYAML writes a string in double quotes. With an indent of its own, lines are
// broken after an escaped newline: a backslash at the end of a line joins it to the
// next without adding anything, and the spaces there do not count.
func quoteYAML(b *strings.Builder, s string, indent int) {
	b.WriteByte('"')
	lineStart := false
	for i, r := range s {
		switch {
		case lineStart && r == ' ', r == '"', r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case shortEscape(r) != 0:
			b.WriteByte('\\')
			b.WriteByte(shortEscape(r))
		case plainRune(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			fmt.Fprintf(b, `\U%08x`, r)
		}
		lineStart = r == '\n' && indent >= 0 && i < len(s)-1
		if lineStart {
			b.WriteString("\\\n" + spaces(indent))
		}
	}
	b.WriteByte('"')
}

// plainRune says whether a character can stand in double quotes as it is: what is seen
// when printed, and not what some reader takes for a line's end or drops.
func plainRune(r rune) bool {
	return r >= ' ' && r <= '~' || r >= 0xa0 && unicode.IsPrint(r)
}

// plainYAMLKey says whether every reader takes a bare word for a string. It begins with a
// letter, so that it is no number, time, .inf or indicator, and it is none of the words
// that YAML 1.1 re-types.
func plainYAMLKey(s string) bool {
	if s == "" || len(s) > 128 || !isLetter(s[0]) && s[0] != '_' {
		return false
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf":
		return false
	}
	return only(s, func(c byte) bool { return isWordByte(c) || c == '.' || c == '/' })
}

func spaces(n int) string { return strings.Repeat(" ", n) }
