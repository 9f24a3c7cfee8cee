package lock

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The sections of the file, in the order in which they stand there.
const (
	ports     = "ports"
	addresses = "addresses"
	logins    = "logins"
	secrets   = "secrets"
	moved     = "moved"
	kept      = "data"
)

// Bytes is the file: the same bytes for the same entries. It panics on an entry
// that could not be read again, such as a name that holds a quote.
func (l *Lock) Bytes() []byte {
	sections := []struct {
		name  string
		lines []string
	}{
		{ports, make([]string, 0, len(l.Ports))},
		{addresses, make([]string, 0, len(l.Addresses))},
		{logins, make([]string, 0, len(l.Logins))},
		{secrets, make([]string, 0, len(l.Secrets))},
		{moved, make([]string, 0, len(l.Moved))},
		{kept, make([]string, 0, len(l.Data))},
	}
	add := func(i int, key, value string) {
		sections[i].lines = append(sections[i].lines, "  "+quote(key)+" = "+value+"\n")
	}
	for k, port := range l.Ports {
		add(0, k.String(), strconv.Itoa(port))
	}
	for k, a := range l.Addresses {
		add(1, string(k), quote(a.String()))
	}
	for k, login := range l.Logins {
		add(2, k.String(), quote(login))
	}
	for k, s := range l.Secrets {
		add(3, k, s.line(k))
	}
	for k, to := range l.Moved {
		add(4, k, quote(to))
	}
	for k, values := range l.Data {
		add(5, k, quoted(values))
	}

	var b strings.Builder
	fmt.Fprintf(&b, "format = %d\n", Format)
	if l.Mesh != "" {
		fmt.Fprintf(&b, "mesh = %s\n", quote(l.Mesh))
	}
	for _, s := range sections {
		if s.name == moved && len(s.lines) == 0 || s.name == kept && l.Data == nil {
			continue // most meshes never have a move, and older locks do not know where data is
		}
		b.WriteString(s.name + " = {\n")
		slices.Sort(s.lines) // as text, so that sort(1) puts a merged section in order too
		for _, line := range s.lines {
			b.WriteString(line)
		}
		b.WriteString("}\n")
	}
	return []byte(b.String())
}

// line is a secret on one line. The lists are as long as there are ends, each end
// at one place in all of them.
func (s Secret) line(name string) string {
	ends := slices.SortedFunc(slices.Values(s.Ends), End.Compare)
	list := func(of func(End) string) string {
		values := make([]string, len(ends))
		for i, e := range ends {
			values[i] = of(e)
		}
		return quoted(values)
	}
	sealed := ""
	if s.Sealed != "" && s.Sealed != name {
		sealed = ", sealed = " + quote(s.Sealed)
	}
	return "{ generation = " + strconv.Itoa(s.Generation) + sealed +
		", ends = " + list(func(e End) string { return e.Role + " " + e.Holder }) +
		", to = " + list(func(e End) string { return e.To }) +
		", blobs = " + list(func(e End) string { return e.Blob }) +
		", sha256 = " + list(func(e End) string { return e.SHA256 }) + " }"
}

// quoted is a list on one line.
func quoted(list []string) string {
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(s))
	}
	return "[" + b.String() + "]"
}

// quote writes a string that means itself in HCL, without any escape: everything
// in a lock is made of names, digests and addresses.
func quote(s string) string {
	if !isPlain(s) {
		panic(fmt.Sprintf("lock: %q cannot stand in a lock", s))
	}
	return `"` + s + `"`
}

// isPlain says whether HCL reads s between quotes as s: printable ASCII without
// quotes, backslashes, and what begins a template.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '$' || c == '%' {
			return false
		}
	}
	return true
}
