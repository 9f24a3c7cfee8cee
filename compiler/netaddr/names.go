package netaddr

import "strings"

// IsLabel says whether s is one lower-case label of a host name (RFC 1123):
// letters, digits and inner hyphens, at most 63 bytes.
func IsLabel(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// IsName says whether s is a host name: labels with dots between them.
func IsName(s string) bool { return CheckName(s) == nil }

// CheckName says what is wrong with a host name, or nothing. A name whose last
// label is digits alone is refused, since programs read it as an address.
func CheckName(s string) error {
	switch {
	case s == "":
		return errNoHost
	case len(s) > 253:
		return errLong(s)
	case strings.HasSuffix(s, "."):
		return errDot(s)
	case s != strings.ToLower(s):
		return errUpper(s)
	}
	last := ""
	for label := range strings.SplitSeq(s, ".") {
		if !IsLabel(label) {
			return errLabel{s, label}
		}
		last = label
	}
	if strings.Trim(last, "0123456789") == "" {
		return errDigits(s)
	}
	return nil
}

// IsInterface says whether s can be the name of a network interface on Linux and
// of a file named after it: at most 15 letters, digits, dots, hyphens and
// underscores, not "." or "..".
func IsInterface(s string) bool {
	if s == "" || len(s) > 15 || s == "." || s == ".." {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}
