package unit

import (
	"strings"

	"meshc.dev/compiler/data"
)

// CheckText holds a unit's text to what reads it.
func (k Kind) CheckText(text string) []Fault {
	content, bad := parse(text)
	if bad != "" {
		return []Fault{{Why: bad}}
	}
	return k.Check(content)
}

// parse reads a text as systemd does (systemd.syntax(7)), as far as sections and keys go.
func parse(text string) (content data.Value, bad string) {
	content = data.NewStruct()
	section, whole := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if whole != "" && (strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";")) {
			continue
		}
		if strings.HasSuffix(line, `\`) {
			whole += strings.TrimSuffix(line, `\`) + " "
			continue
		}
		line, whole = whole+line, ""
		switch {
		case line == "", line[0] == '#', line[0] == ';':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
			if content.Get(section).Kind() == data.Absent {
				content = content.With(section, data.NewStruct())
			}
		default:
			key, value, ok := strings.Cut(line, "=")
			key = strings.TrimSpace(key)
			switch {
			case section == "":
				return content, "its text has a line before the first [section], which would be passed over"
			case !ok || key == "":
				return content, "its text has a line in [" + section + "] that is no key=value, which would be passed over"
			}
			s := content.Get(section)
			all := append(s.Get(key).Items(), data.NewString(strings.TrimSpace(value)))
			content = content.With(section, s.With(key, data.NewList(all...)))
		}
	}
	return content, ""
}
