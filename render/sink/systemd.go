package sink

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"meshc.dev/compiler/data"
)

// maxUnitLine is the longest line that systemd reads from a unit, LONG_LINE_MAX.
const maxUnitLine = 1 << 20

// Systemd writes a struct of sections as a systemd unit: [Unit] first, [Install] last, the others
// between them by name. A list is a repeated key, "" among its items being systemd's way to
// reset it; null leaves the key out.
//
// Values are unit syntax as the author wrote it: %i is a specifier, $HOME in ExecStart= is
// expanded, quotes and backslashes are systemd's. So a value is refused only where it would not be
// one line of that key: with a line end, with spaces at its ends, which systemd strips, or with a
// backslash at its end, which swallows the next line. The one exception is Environment given as
// a struct of names and values: these are no syntax but data, and are escaped so that the
// process gets exactly those bytes.
func Systemd(v data.Value) ([]byte, error) {
	if v.Kind() != data.Struct {
		return nil, refuse(nil, "is "+withArticle(v.Kind())+", and a unit is sections of keys")
	}
	var b strings.Builder
	sections := slices.Clone(v.Fields())
	slices.SortStableFunc(sections, func(x, y data.Field) int { return cmp.Compare(sectionRank(x.Name), sectionRank(y.Name)) })
	for _, s := range sections {
		path := []string{s.Name}
		switch {
		case s.Value.Kind() == data.Null:
			continue
		case s.Value.Kind() != data.Struct:
			return nil, refuse(path, "is "+withArticle(s.Value.Kind())+" and no section")
		case s.Name == "" || !scalarText(s.Name) || strings.ContainsAny(s.Name, "[]"):
			return nil, refuse(path, "is no name for a section")
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("[" + s.Name + "]\n")
		for _, f := range s.Value.Fields() {
			if err := writeUnitKey(&b, in(path, f.Name), f); err != nil {
				return nil, err
			}
		}
	}
	return []byte(b.String()), nil
}

func sectionRank(name string) int {
	switch name {
	case "Unit":
		return 0
	case "Install":
		return 2
	}
	return 1
}

func writeUnitKey(b *strings.Builder, path []string, f data.Field) error {
	if f.Name == "" || !only(f.Name, isWordByte) {
		return refuse(path, "is no name for a key: letters, digits, _ and -")
	}
	switch f.Value.Kind() {
	case data.Null:
		return nil
	case data.Struct:
		if f.Name != "Environment" {
			return refuse(path, "is a struct; only Environment can be one, of names with values")
		}
		for _, x := range f.Value.Fields() {
			here := in(path, x.Name)
			if x.Value.Kind() == data.Null {
				continue
			}
			text, err := scalar(here, x.Value)
			if err != nil {
				return err
			}
			word, err := systemdEnv(here, x.Name, text)
			if err != nil {
				return err
			}
			b.WriteString(f.Name + "=" + word + "\n")
		}
		return nil
	case data.List:
		for i, x := range f.Value.Items() {
			if x.Kind() == data.Null {
				return refuse(in(path, fmt.Sprint(i)), noListNull)
			}
			if err := writeUnitLine(b, in(path, fmt.Sprint(i)), f.Name, x); err != nil {
				return err
			}
		}
		return nil
	}
	return writeUnitLine(b, path, f.Name, f.Value)
}

func writeUnitLine(b *strings.Builder, path []string, key string, v data.Value) error {
	text, err := scalar(path, v)
	if err != nil {
		return err
	}
	if reason := unitLine(text); reason != "" {
		return refuse(path, reason)
	}
	if len(key)+1+len(text) >= maxUnitLine {
		return refuse(path, "is longer than the 1 MB of a line that systemd reads")
	}
	b.WriteString(key + "=" + text + "\n")
	return nil
}

// unitLine says why a text would not be the whole value of one line in a unit.
func unitLine(s string) string {
	if reason := systemdText(s); reason != "" {
		return reason
	}
	switch {
	case strings.ContainsAny(s, "\n\r"):
		return "holds a line end, behind which systemd reads another key; a list is a repeated key"
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return "holds a control character"
	case strings.TrimFunc(s, unicode.IsSpace) != s:
		return "has spaces at its ends, which systemd strips; quote it where the key takes quotes"
	case (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1:
		return "ends in a backslash, with which systemd joins the next line to it"
	}
	return ""
}

// SystemdEnv writes one variable for Environment= in a unit, so that the process gets exactly
// this value: "NAME=VALUE" in quotes, with % doubled. A $ has no meaning there.
func SystemdEnv(name, value string) (string, error) { return systemdEnv(nil, name, value) }

func systemdEnv(path []string, name, value string) (string, error) {
	if err := checkSystemdEnv(path, name, value); err != nil {
		return "", err
	}
	return quoteUnit(name+"="+value, "%"), nil
}

// SystemdValue writes a whole value for a key whose specifiers are expanded and that is otherwise
// taken as it stands, such as Description=.
func SystemdValue(s string) (string, error) {
	if reason := unitLine(s); reason != "" {
		return "", refuse(nil, reason)
	}
	return strings.ReplaceAll(s, "%", "%%"), nil
}

// SystemdArg writes one argument for ExecStart= and its like in a unit, so that the process
// gets exactly this: % and $ are doubled, and all else that has a meaning is quoted. The
// program itself is not written with it: what stands first has prefixes (@ - : + !).
func SystemdArg(s string) (string, error) {
	if reason := systemdText(s); reason != "" {
		return "", refuse(nil, reason)
	}
	if err := checkWord(nil, s); err != nil {
		return "", err
	}
	if s != "" && only(s, func(c byte) bool { return isPlainWord(c) && c != '%' }) {
		return s, nil
	}
	return quoteUnit(s, "%$"), nil
}

// QuadletEnv writes one variable for Environment= in the [Container] of a Podman quadlet. Its
// generator reads the words as systemd does and writes them into ExecStart=, where systemd
// expands specifiers and variables: so % and $ are doubled here.
func QuadletEnv(name, value string) (string, error) {
	if !containerEnvName(name) {
		return "", refuse(nil, "is no name for an environment variable: letters, digits and _ . - with a letter or _ first")
	}
	return quadletWord(name + "=" + value)
}

// QuadletArg writes one argument for Exec= in a quadlet. The generator loses an empty
// argument, and everything behind it, and leaves a lone ; bare, where systemd
// ends the command: %i, which is empty in a unit that is no template, stands beside both.
func QuadletArg(s string) (string, error) {
	if s == "" || s == ";" {
		return "%i" + s, nil
	}
	return quadletWord(s)
}

func quadletWord(s string) (string, error) {
	if reason := quadletText(s); reason != "" {
		return "", refuse(nil, reason)
	}
	if err := checkWord(nil, s); err != nil {
		return "", err
	}
	return quoteUnit(s, "%$"), nil
}

// QuadletValue writes a whole value for those keys of a quadlet that the generator takes as
// they stand, without unquoting: Image=, HealthCmd=, Volume=, PublishPort=, User= and their like.
func QuadletValue(s string) (string, error) {
	if reason := quadletText(s); reason != "" {
		return "", refuse(nil, reason)
	}
	if reason := unitLine(s); reason != "" {
		return "", refuse(nil, reason)
	}
	if s == "" || strings.Trim(s, `"`) != s || strings.HasSuffix(s, `\`) {
		return "", refuse(nil, "is empty, ends in a backslash, or has double quotes at its ends, which Quadlet strips")
	}
	return strings.NewReplacer("%", "%%", "$", "$$").Replace(s), nil
}

func quadletText(s string) string {
	if strings.ContainsRune(s, 0x80) {
		return "holds the control character U+0080, which Quadlet writes as a byte that is no UTF-8"
	}
	return systemdText(s)
}

// quoteUnit writes a word in double quotes with C escapes, as systemd's extract_first_word
// reads them, and doubles the characters given.
func quoteUnit(s, doubled string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"', r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < utf8.RuneSelf && strings.ContainsRune(doubled, r):
			b.WriteRune(r)
			b.WriteRune(r)
		case shortEscape(r) != 0:
			b.WriteByte('\\')
			b.WriteByte(shortEscape(r))
		case r < ' ', r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
