package firewall

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// quoted puts the name of an interface in quotes. It was looked at before and holds
// nothing that would have to be escaped, for which nftables has no way.
func quoted(s string) string { return `"` + s + `"` }

// longestComment is what the kernel keeps of a rule's comment, in bytes.
const longestComment = 128

// comment gives a rule a comment, which `nft list ruleset` shows. A reason may hold
// anything that a person writes; nftables' strings have no escapes, so a quote
// becomes an apostrophe and what is not printable a space.
func comment(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '"':
			return '\''
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " "))
	for len(s) > longestComment {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return ` comment "` + strings.TrimSpace(s) + `"`
}
