package sink

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"meshc.dev/compiler/data"
)

// Properties writes a struct as a Java properties file (java.util.Properties.load). Structs in
// it become dotted keys, server.port=8080, as everybody writes them; two keys that become equal so are
// refused, and so are lists, for which there is no common form. What is not printable ASCII
// is escaped, so the file reads the same as ISO 8859-1 and as UTF-8. Null leaves
// a key out.
func Properties(v data.Value) ([]byte, error) {
	if v.Kind() != data.Struct {
		return nil, refuse(nil, "is "+withArticle(v.Kind())+", and properties are keys with values")
	}
	w := propertiesWriter{seen: map[string]bool{}}
	if err := w.fields(nil, "", v); err != nil {
		return nil, err
	}
	return []byte(w.b.String()), nil
}

type propertiesWriter struct {
	b    strings.Builder
	seen map[string]bool
}

func (w *propertiesWriter) fields(path []string, prefix string, v data.Value) error {
	for _, f := range v.Fields() {
		here, key := in(path, f.Name), prefix+f.Name
		switch {
		case !utf8.ValidString(f.Name):
			return refuse(here, "has a name that "+noUTF8)
		case f.Value.Kind() == data.Null:
			continue
		case f.Value.Kind() == data.Struct:
			if err := w.fields(here, key+".", f.Value); err != nil {
				return err
			}
			continue
		case w.seen[key]:
			return refuse(here, "becomes the same key as another")
		}
		w.seen[key] = true
		text, err := scalar(here, f.Value)
		if err != nil {
			return err
		}
		escapeProperty(&w.b, key, true)
		w.b.WriteByte('=')
		escapeProperty(&w.b, text, false)
		w.b.WriteByte('\n')
	}
	return nil
}

// escapeProperty writes a key or a value. In a key every separator is escaped; in a value only
// a space at the beginning has a meaning, and a backslash.
func escapeProperty(b *strings.Builder, s string, key bool) {
	for i, r := range s {
		switch {
		case r == '\\', r == ' ' && (key || i == 0), key && strings.ContainsRune("=:#!", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r != '\b' && shortEscape(r) != 0:
			b.WriteByte('\\')
			b.WriteByte(shortEscape(r))
		case r >= ' ' && r <= '~':
			b.WriteRune(r)
		default:
			for _, u := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(b, `\u%04X`, u)
			}
		}
	}
}
