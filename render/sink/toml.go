package sink

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"meshc.dev/compiler/data"
)

// maxTOMLLine is how long a list may be before each item has a line of its own.
const maxTOMLLine = 80

// TOML writes a struct as TOML 1.0. Plain values of a table come before its
// sub-tables, which have headers of their own; a list of structs is an array of tables.
// Strings are basic strings on one line: TOML lets a reader change the line ends
// of a multi-line string. Refused are integers beyond 64 bits and floats beyond a
// double, which readers cannot hold, bytes, and null in a list.
func TOML(v data.Value) ([]byte, error) {
	if v.Kind() != data.Struct {
		return nil, refuse(nil, "is "+withArticle(v.Kind())+", and TOML is a table at the top")
	}
	w := &tomlWriter{}
	if err := w.table(nil, "", v); err != nil {
		return nil, err
	}
	return []byte(w.b.String()), nil
}

type tomlWriter struct{ b strings.Builder }

// table writes what a table holds; name is the header that its sub-tables begin with.
func (w *tomlWriter) table(path []string, name string, v data.Value) error {
	for _, f := range v.Fields() {
		if f.Value.Kind() == data.Null || isTable(f.Value) || isTableList(f.Value) {
			continue
		}
		key, err := tomlKey(in(path, f.Name), f.Name)
		if err != nil {
			return err
		}
		text, err := tomlValue(in(path, f.Name), f.Value)
		if err != nil {
			return err
		}
		if len(f.Value.Items()) > 0 && len(key)+len(text) > maxTOMLLine {
			if text, err = tomlLongList(in(path, f.Name), f.Value); err != nil {
				return err
			}
		}
		w.b.WriteString(key + " = " + text + "\n")
	}
	for _, f := range v.Fields() {
		if !isTable(f.Value) && !isTableList(f.Value) {
			continue
		}
		here := in(path, f.Name)
		key, err := tomlKey(here, f.Name)
		if err != nil {
			return err
		}
		if name != "" {
			key = name + "." + key
		}
		if isTable(f.Value) {
			if needsHeader(f.Value) {
				w.header("[" + key + "]")
			}
			if err := w.table(here, key, f.Value); err != nil {
				return err
			}
			continue
		}
		for i, x := range f.Value.Items() {
			w.header("[[" + key + "]]")
			if err := w.table(in(here, fmt.Sprint(i)), key, x); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *tomlWriter) header(h string) {
	if w.b.Len() > 0 {
		w.b.WriteByte('\n')
	}
	w.b.WriteString(h + "\n")
}

func isTable(v data.Value) bool { return v.Kind() == data.Struct }

func isTableList(v data.Value) bool {
	for _, x := range v.Items() {
		if x.Kind() != data.Struct {
			return false
		}
	}
	return len(v.Items()) > 0
}

// needsHeader says whether a table has to be opened: where it holds only tables, theirs do.
func needsHeader(v data.Value) bool {
	tables := false
	for _, f := range v.Fields() {
		switch {
		case f.Value.Kind() == data.Null:
		case isTable(f.Value) || isTableList(f.Value):
			tables = true
		default:
			return true
		}
	}
	return !tables
}

func tomlKey(path []string, name string) (string, error) {
	if !utf8.ValidString(name) {
		return "", refuse(path, "has a name that "+noUTF8)
	}
	if name != "" && only(name, isWordByte) {
		return name, nil
	}
	return quoteTOML(name), nil
}

// tomlValue is a value on one line.
func tomlValue(path []string, v data.Value) (string, error) {
	switch v.Kind() {
	case data.Int:
		return tomlInt(path, v)
	case data.Float:
		return tomlFloat(path, v)
	case data.String:
		text, err := scalar(path, v)
		return quoteTOML(text), err
	case data.List:
		items, err := tomlItems(path, v)
		return "[" + strings.Join(items, ", ") + "]", err
	case data.Struct:
		var fields []string
		for _, f := range v.Fields() {
			if f.Value.Kind() == data.Null {
				continue
			}
			key, err := tomlKey(in(path, f.Name), f.Name)
			if err != nil {
				return "", err
			}
			text, err := tomlValue(in(path, f.Name), f.Value)
			if err != nil {
				return "", err
			}
			fields = append(fields, key+" = "+text)
		}
		if len(fields) == 0 {
			return "{}", nil
		}
		return "{ " + strings.Join(fields, ", ") + " }", nil
	default:
		return scalar(path, v)
	}
}

func tomlItems(path []string, v data.Value) ([]string, error) {
	items := make([]string, len(v.Items()))
	for i, x := range v.Items() {
		here := in(path, fmt.Sprint(i))
		if x.Kind() == data.Null {
			return nil, refuse(here, noListNull)
		}
		text, err := tomlValue(here, x)
		if err != nil {
			return nil, err
		}
		items[i] = text
	}
	return items, nil
}

func tomlLongList(path []string, v data.Value) (string, error) {
	items, err := tomlItems(path, v)
	return "[\n  " + strings.Join(items, ",\n  ") + ",\n]", err
}

func tomlInt(path []string, v data.Value) (string, error) {
	text, ok := number(v)
	if !ok {
		return "", refuse(path, notANumber)
	}
	if _, err := strconv.ParseInt(text, 10, 64); err != nil {
		return "", refuse(path, "is beyond the 64 bits of a TOML integer")
	}
	return text, nil
}

func tomlFloat(path []string, v data.Value) (string, error) {
	text, ok := number(v)
	if !ok {
		return "", refuse(path, notANumber)
	}
	if !fitsDouble(text) {
		return "", refuse(path, "is beyond what a TOML float, a double, can hold")
	}
	if !strings.ContainsAny(text, ".eE") {
		text += ".0"
	}
	return text, nil
}

// quoteTOML writes a basic string.
func quoteTOML(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"', r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case shortEscape(r) != 0:
			b.WriteByte('\\')
			b.WriteByte(shortEscape(r))
		case plainRune(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
