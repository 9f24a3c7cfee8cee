package sink

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"meshc.dev/compiler/data"
)

// JSON writes a value as JSON (RFC 8259): indented by two spaces, fields sorted, numbers
// with the digits they have, bytes as base64 like CUE does, and one newline at the end.
func JSON(v data.Value) ([]byte, error) {
	var b strings.Builder
	if err := writeJSON(&b, nil, v, "\n"); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return []byte(b.String()), nil
}

// writeJSON writes a value whose lines begin with the given line break and indentation.
func writeJSON(b *strings.Builder, path []string, v data.Value, line string) error {
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
		b.WriteString(text)
	case data.String:
		if !utf8.ValidString(v.Text()) {
			return refuse(path, noUTF8)
		}
		quoteJSON(b, v.Text())
	case data.Bytes:
		b.WriteString(`"` + base64.StdEncoding.EncodeToString([]byte(v.Text())) + `"`)
	case data.List:
		if len(v.Items()) == 0 {
			b.WriteString("[]")
			return nil
		}
		b.WriteByte('[')
		for i, x := range v.Items() {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(line + "  ")
			if err := writeJSON(b, in(path, fmt.Sprint(i)), x, line+"  "); err != nil {
				return err
			}
		}
		b.WriteString(line + "]")
	case data.Struct:
		if len(v.Fields()) == 0 {
			b.WriteString("{}")
			return nil
		}
		b.WriteByte('{')
		for i, f := range v.Fields() {
			if i > 0 {
				b.WriteByte(',')
			}
			if !utf8.ValidString(f.Name) {
				return refuse(path, "has a name that "+noUTF8)
			}
			b.WriteString(line + "  ")
			quoteJSON(b, f.Name)
			b.WriteString(": ")
			if err := writeJSON(b, in(path, f.Name), f.Value, line+"  "); err != nil {
				return err
			}
		}
		b.WriteString(line + "}")
	}
	return nil
}

// quoteJSON writes a string with the short escapes where there are any. U+2028 and U+2029
// are escaped too, so that the text is also JavaScript and its lines are what an editor shows.
func quoteJSON(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"', r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case shortEscape(r) != 0:
			b.WriteByte('\\')
			b.WriteByte(shortEscape(r))
		case r < ' ', r == 0x7f, r == 0x2028, r == 0x2029:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}

// shortEscape is the letter of the escapes that JSON, YAML and TOML have in common, or 0.
func shortEscape(r rune) byte {
	switch r {
	case '\b':
		return 'b'
	case '\t':
		return 't'
	case '\n':
		return 'n'
	case '\f':
		return 'f'
	case '\r':
		return 'r'
	}
	return 0
}
