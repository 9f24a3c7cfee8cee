package evaluate

import (
	"encoding/hex"
	"regexp"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/plan"
)

// Encodings in which a machine can fill a secret in.
var Encodings = []string{"value", "urlencoded", "json", "base64", "shell"}

const (
	placeholderBegin = plan.PlaceholderBegin
	placeholderEnd   = plan.PlaceholderEnd
)

var placeholderText = regexp.MustCompile(placeholderBegin + `([0-9a-f]+)` + placeholderEnd)

// marks are the letters that placeholders are made of. A module that does more with
// one than put it somewhere gives another result with the second marks (SEC-10): these
// begin with a letter that sorts elsewhere, have another length, and share no character
// with the first.
type marks int

const (
	placed marks = iota
	compared
)

const (
	comparedBegin   = "qWwQw"
	comparedEnd     = "QwQwQwQWq"
	comparedLetters = "gijklmnoprtuvxyz" // one for each hex digit
)

var (
	comparedText = regexp.MustCompile(comparedBegin + `([` + comparedLetters + `]+)` + comparedEnd)
	toCompared   = letters("0123456789abcdef", comparedLetters)
	fromCompared = letters(comparedLetters, "0123456789abcdef")
)

// letters puts each letter of one alphabet in place of its like in the other.
func letters(from, to string) *strings.Replacer {
	var pairs []string
	for i := range from {
		pairs = append(pairs, from[i:i+1], to[i:i+1])
	}
	return strings.NewReplacer(pairs...)
}

// placeholder is the text for a secret of an instance in one encoding.
func placeholder(secret, encoding string, m marks) string {
	name := hex.EncodeToString([]byte(secret + " " + encoding))
	if m == compared {
		return comparedBegin + toCompared.Replace(name) + comparedEnd
	}
	return placeholderBegin + name + placeholderEnd
}

// HasPlaceholder says whether a text holds a placeholder or a piece of one.
func HasPlaceholder(s string) bool {
	return strings.Contains(s, placeholderBegin) || strings.Contains(s, placeholderEnd)
}

// Placeholders finds the placeholders in a text, each once.
func Placeholders(instance, s string) []plan.Placeholder {
	if !strings.Contains(s, placeholderBegin) {
		return nil
	}
	var out []plan.Placeholder
	seen := map[string]bool{}
	for _, m := range placeholderText.FindAllStringSubmatch(s, -1) {
		if seen[m[0]] {
			continue
		}
		seen[m[0]] = true
		b, err := hex.DecodeString(m[1])
		secret, encoding, ok := strings.Cut(string(b), " ")
		if err != nil || !ok {
			continue
		}
		out = append(out, plan.Placeholder{Text: m[0], Secret: addr.Resource{Instance: instance, Kind: "secret", Name: secret}, Encoding: encoding})
	}
	return out
}

// asPlaced writes every placeholder of the second marks in the first.
func asPlaced(s string) string {
	return comparedText.ReplaceAllStringFunc(s, func(p string) string {
		return placeholderBegin + fromCompared.Replace(p[len(comparedBegin):len(p)-len(comparedEnd)]) + placeholderEnd
	})
}
