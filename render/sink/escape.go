package sink

import (
	"fmt"
	"strings"
)

// ShellQuote writes a string as one word for a POSIX shell.
func ShellQuote(s string) (string, error) {
	if strings.ContainsRune(s, 0) {
		return "", refuse(nil, "holds a zero byte, which ends a string in every process")
	}
	if s != "" && only(s, isPlainWord) && !strings.Contains(s, "=") {
		return s, nil
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'", nil
}

// URLEncode percent-encodes a string for a user name, a password or one component of a
// path in a URL: everything but RFC 3986's unreserved characters.
func URLEncode(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; isWordByte(c) || c == '.' || c == '~' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
