package sink

import (
	"strings"

	"meshc.dev/compiler/data"
)

// INI writes plain values at the top and one level of sections. There are many INI
// readers and no grammar, so a value is written in a form that go-ini (gitea, grafana), PHP and
// git all read as the same text, or it is refused:
//
//   - words of letters, digits and _ . / : @ , + % - stand bare, except those that PHP
//     re-types (yes, no, on, off, true, false, null, none) or takes for a constant (ALL_CAPS);
//   - everything else stands in double quotes, or in three of them where it holds # or ;,
//     which go-ini takes for a comment even between quotes;
//   - refused are line ends and control characters, the double quote and the backslash, which each of
//     the three reads in another way, ${ (PHP) and %(…)s (go-ini), which they replace;
//   - lists are refused: go-ini keeps the last of repeated keys, PHP wants key[], git
//     keeps all. Join the items as the reader wants them;
//   - null leaves the key out, booleans are true and false, numbers are bare.
//
// Readers without quoting, such as Python's configparser, see the quotes of those values
// that need them; a file for such a reader, or with what is refused here, is written as content.
func INI(v data.Value) ([]byte, error) {
	if v.Kind() != data.Struct {
		return nil, refuse(nil, "is "+withArticle(v.Kind())+", and INI is keys and sections at the top")
	}
	var b strings.Builder
	for _, f := range v.Fields() {
		if f.Value.Kind() == data.Struct {
			continue
		}
		if err := writeINIKey(&b, []string{f.Name}, f); err != nil {
			return nil, err
		}
	}
	topKeys := b.Len() > 0
	for _, f := range v.Fields() {
		if f.Value.Kind() != data.Struct {
			continue
		}
		path := []string{f.Name}
		switch {
		case !iniSection(f.Name):
			return nil, refuse(path, "is no name for an INI section: it is empty, has spaces at its ends, or holds brackets, a backslash, # or ; or a control character")
		case f.Name == "DEFAULT" && topKeys:
			return nil, refuse(path, "is what go-ini calls the keys above all sections, of which there are some too")
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("[" + f.Name + "]\n")
		for _, k := range f.Value.Fields() {
			if err := writeINIKey(&b, in(path, k.Name), k); err != nil {
				return nil, err
			}
		}
	}
	return []byte(b.String()), nil
}

func writeINIKey(b *strings.Builder, path []string, f data.Field) error {
	switch f.Value.Kind() {
	case data.Null:
		return nil
	case data.Struct:
		return refuse(path, "is a section inside a section, which INI does not have")
	case data.List:
		return refuse(path, "is a list, which INI readers do not agree on; join the items into one string")
	}
	if !iniKey(f.Name) {
		return refuse(path, "is no name for an INI key: letters, digits and _ . / - with a letter, digit or _ first")
	}
	text, err := iniValue(path, f.Value)
	if err != nil {
		return err
	}
	b.WriteString(strings.TrimRight(f.Name+" = "+text, " ") + "\n")
	return nil
}

func iniValue(path []string, v data.Value) (string, error) {
	text, err := scalar(path, v)
	if err != nil || v.Kind() != data.String {
		return text, err
	}
	switch {
	case strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff
	}):
		return "", refuse(path, "holds a line end or another control character, which INI has no way to write")
	case strings.ContainsAny(text, `"\`):
		return "", refuse(path, "holds a double quote or a backslash, which INI readers do not agree on; write the file as content")
	case strings.Contains(text, "${"):
		return "", refuse(path, "holds ${, which PHP replaces even between quotes; write the file as content")
	case strings.Contains(text, "%("):
		return "", refuse(path, "holds %(, which go-ini replaces even between quotes; write the file as content")
	case text == "" || iniBare(text):
		return text, nil
	case strings.ContainsAny(text, "#;"):
		return `"""` + text + `"""`, nil
	}
	return `"` + text + `"`, nil
}

// iniBare says whether all three readers take a word without quotes as it stands.
func iniBare(s string) bool {
	switch strings.ToLower(s) {
	case "yes", "no", "on", "off", "true", "false", "null", "none":
		return false
	}
	if isLetter(s[0]) && strings.ToUpper(s) == s && only(s, func(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }) {
		return false
	}
	return only(s, func(c byte) bool { return isWordByte(c) || strings.IndexByte("./:@,+%", c) >= 0 })
}

func iniKey(s string) bool {
	return s != "" && s[0] != '.' && s[0] != '/' && s[0] != '-' &&
		only(s, func(c byte) bool { return isWordByte(c) || c == '.' || c == '/' })
}

func iniSection(s string) bool {
	return s != "" && strings.TrimSpace(s) == s && scalarText(s) && !strings.ContainsAny(s, `[]\#;`)
}
