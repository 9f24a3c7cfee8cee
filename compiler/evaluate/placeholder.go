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

// A placeholder is made of letters and digits only, so that no writer has to
// escape it: a beginning, what it stands for in hex, padding, and an end.
const (
	placeholderBegin = "Mshc0"
	placeholderEnd   = "0cshM"
)

var placeholderText = regexp.MustCompile(placeholderBegin + `([0-9a-f]+)Z*` + placeholderEnd)

// placeholder is the text for a secret of an instance in one encoding. Padding
// makes it longer and means nothing else: evaluating with two lengths shows
// whether a module did more with it than put it somewhere (SEC-10).
func placeholder(secret, encoding string, padding int) string {
	return placeholderBegin + hex.EncodeToString([]byte(secret+" "+encoding)) + strings.Repeat("Z", padding) + placeholderEnd
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

// unpadded takes the padding out of every placeholder in a text.
func unpadded(s string) string {
	return placeholderText.ReplaceAllString(s, placeholderBegin+"${1}"+placeholderEnd)
}
