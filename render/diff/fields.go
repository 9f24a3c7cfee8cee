package diff

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"meshc.dev/render/bundle"
)

// field is one attribute of an item as a person reads it.
type field struct{ name, value string }

// elsewhere are fields that say nothing of their own: an identity, and where in the bundle
// the bytes lie that are compared themselves.
var elsewhere = []string{"ID", "Source", "SHA256", "Sealed", "Fills"}

// fields lists every attribute of an item. It reads the type, so that a field which is added to
// a kind is compared from then on.
func fields(item bundle.Item) []field {
	v := reflect.ValueOf(item).Elem()
	var out []field
	for k := range v.NumField() {
		f := v.Type().Field(k)
		if f.IsExported() && !slices.Contains(elsewhere, f.Name) {
			out = append(out, field{snake(f.Name), shown(v.Field(k))})
		}
	}
	return out
}

// shown is a value in words; what is empty, or as it is unless somebody says otherwise, is "".
func shown(v reflect.Value) string {
	if v.Kind() == reflect.Slice {
		var parts []string
		for k := range v.Len() {
			parts = append(parts, word(fmt.Sprint(v.Index(k).Interface())))
		}
		return strings.Join(parts, " ")
	}
	if v.IsZero() {
		return ""
	}
	if v.Kind() == reflect.Bool {
		return "yes"
	}
	return fmt.Sprint(v.Interface())
}

// word keeps the items of a list apart, whatever is in them.
func word(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\n\"'") {
		return fmt.Sprintf("%q", s)
	}
	return s
}

// snake is a field's name as declarations have it: RestartOn is restart_on.
func snake(s string) string {
	var b strings.Builder
	for k, r := range s {
		if unicode.IsUpper(r) && k > 0 && !unicode.IsUpper(rune(s[k-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// fieldsDiffer says of every attribute that is another what it is and was.
func fieldsDiffer(a, b bundle.Item) []string {
	var out []string
	was := map[string]string{}
	for _, f := range fields(a) {
		was[f.name] = f.value
	}
	for _, f := range fields(b) {
		if o := was[f.name]; o != f.value {
			out = append(out, fmt.Sprintf("%s %s instead of %s", f.name, cmp.Or(f.value, unset(f.name)), cmp.Or(o, unset(f.name))))
		}
	}
	return out
}

// unset is what an attribute is where nothing is said of it.
func unset(name string) string {
	switch name {
	case "owner":
		return "root"
	case "group":
		return "the owner's"
	case "enabled", "system":
		return "no"
	case "mode":
		return "0000"
	}
	return "none"
}

// set lists the attributes of a new item that are worth a word: those that are not as they
// would be unsaid, without what the title has.
func set(item bundle.Item) []string {
	var out []string
	for _, f := range fields(item) {
		switch {
		case f.value == "" || f.value == titled(item, f.name):
		case f.name == "mode" && f.value == usualMode(item):
		case f.name == "state" && (f.value == "running" || f.value == "present"):
		case f.name == "restart_on" || f.name == "reload_on" || f.name == "enabled":
		case f.name == "validate" || f.name == "on_change": // said with what gives access
		case f.name == "key" || f.name == "role" || f.name == "generation":
		default:
			out = append(out, f.name+" "+f.value)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return []string{strings.Join(out, ", ")}
}

func titled(item bundle.Item, name string) string {
	v := reflect.ValueOf(item).Elem()
	if name == "name" || name == "path" {
		if f := v.FieldByName(strings.ToUpper(name[:1]) + name[1:]); f.IsValid() {
			return f.String()
		}
	}
	return ""
}

func usualMode(item bundle.Item) string {
	switch item.(type) {
	case *bundle.File:
		return "0644"
	case *bundle.Directory:
		return "0755"
	}
	return ""
}
