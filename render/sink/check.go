package sink

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"meshc.dev/compiler/data"
)

// maxWord is the longest argument or environment assignment that Linux hands to a
// process: MAX_ARG_STRLEN, 32 pages of 4 kB, with the zero byte at the end.
const maxWord = 32*4096 - 1

const (
	noUTF8     = "is not UTF-8; only bytes hold what is not text"
	noValue    = "has no value"
	noBytes    = "holds bytes, which this format has no way to write"
	noListNull = "is null inside a list, and leaving it out would move what follows"
)

func only(s string, ok func(byte) bool) bool {
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool   { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool    { return c >= '0' && c <= '9' }
func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' || c == '-' }

// number gives a number's text after making sure that it is one in JSON's grammar, which is
// the common part of all grammars here; an integer has digits only.
func number(v data.Value) (string, bool) {
	s := strings.TrimPrefix(v.Text(), "-")
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return "", false
	}
	s = s[whole:]
	if v.Kind() == data.Int {
		return v.Text(), s == ""
	}
	if strings.HasPrefix(s, ".") {
		n := digits(s[1:])
		if n == 0 {
			return "", false
		}
		s = s[1+n:]
	}
	if s != "" && s[0]|0x20 == 'e' {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n := digits(s)
		if n == 0 {
			return "", false
		}
		s = s[n:]
	}
	return v.Text(), s == ""
}

func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// fitsDouble says whether a number is neither too large nor too small for a double.
func fitsDouble(text string) bool {
	f, err := strconv.ParseFloat(text, 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	return err == nil && (f != 0 || !strings.ContainsAny(mantissa, "123456789"))
}

// scalar is the text of a value in formats where everything is text in the end.
func scalar(path []string, v data.Value) (string, error) {
	switch v.Kind() {
	case data.Bool:
		return v.Text(), nil
	case data.Int, data.Float:
		text, ok := number(v)
		if !ok {
			return "", refuse(path, notANumber)
		}
		return text, nil
	case data.String:
		if !utf8.ValidString(v.Text()) {
			return "", refuse(path, noUTF8)
		}
		return v.Text(), nil
	case data.Bytes:
		return "", refuse(path, noBytes)
	case data.Absent, data.Null:
		return "", refuse(path, noValue)
	default:
		return "", refuse(path, "is "+withArticle(v.Kind())+", and this format has only single values here")
	}
}

const notANumber = "is not a number in decimal digits"

// envName says whether s names an environment variable as POSIX and systemd have it.
func envName(s string) bool {
	return s != "" && !isDigit(s[0]) && only(s, func(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' })
}

// containerEnvName is wider: images take names such as discovery.type, and the
// runtimes and the kernel have nothing against them.
func containerEnvName(s string) bool {
	return s != "" && (isLetter(s[0]) || s[0] == '_') && only(s, func(c byte) bool { return isWordByte(c) || c == '.' })
}

// systemdText says why systemd would not take a text, wherever it stands: it wants
// UTF-8 without noncharacters and drops the whole line otherwise.
func systemdText(s string) string {
	if !utf8.ValidString(s) {
		return noUTF8
	}
	for _, r := range s {
		switch {
		case r == 0:
			return "holds a zero byte, which ends a string in every process"
		case r >= 0xfdd0 && r <= 0xfdef, r&0xfffe == 0xfffe:
			return "holds a Unicode noncharacter, which systemd does not take for UTF-8"
		}
	}
	return ""
}
