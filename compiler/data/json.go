package data

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
)

func itoa(i int) string { return strconv.Itoa(i) }

// MarshalJSON writes the value with its digits as they are; bytes become base64.
func (v Value) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	v.print(&b)
	return []byte(b.String()), nil
}

func (v Value) print(b *strings.Builder) {
	switch v.kind {
	case Absent, Null:
		b.WriteString("null")
	case Bool, Int, Float:
		b.WriteString(v.text)
	case String:
		quote(b, v.text)
	case Bytes:
		quote(b, base64.StdEncoding.EncodeToString([]byte(v.text)))
	case List:
		b.WriteByte('[')
		for i, x := range v.list {
			if i > 0 {
				b.WriteByte(',')
			}
			x.print(b)
		}
		b.WriteByte(']')
	case Struct:
		b.WriteByte('{')
		for i, f := range v.fields {
			if i > 0 {
				b.WriteByte(',')
			}
			quote(b, f.Name)
			b.WriteByte(':')
			f.Value.print(b)
		}
		b.WriteByte('}')
	}
}

func quote(b *strings.Builder, s string) {
	var e strings.Builder
	enc := json.NewEncoder(&e)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	b.WriteString(strings.TrimSuffix(e.String(), "\n"))
}
