package bundle

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Encoding is how a secret is written into its place in a file.
type Encoding string

// The encodings of a secret in a file.
const (
	// Value is the secret's exact bytes.
	Value Encoding = "value"
	// URLEncoded percent-encodes everything but RFC 3986's unreserved characters.
	URLEncoded Encoding = "urlencoded"
	// JSON is the inside of a JSON string, without its quotes.
	JSON Encoding = "json"
	// Base64 is RFC 4648's standard alphabet with padding.
	Base64 Encoding = "base64"
	// Shell is one whole word of a POSIX shell, with its quotes.
	Shell Encoding = "shell"
)

var encodings = []Encoding{Value, URLEncoded, JSON, Base64, Shell}

// Valid says whether the encoding is one of those there are.
func (e Encoding) Valid() bool { return slices.Contains(encodings, e) }

// Encode writes a secret in an encoding, or says why that cannot carry it; what it
// says never holds any of the secret.
func (e Encoding) Encode(secret []byte) ([]byte, error) {
	switch e {
	case Value:
		return secret, nil
	case URLEncoded:
		const digits = "0123456789ABCDEF"
		out := make([]byte, 0, 3*len(secret))
		for _, c := range secret {
			if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
				out = append(out, c)
			} else {
				out = append(out, '%', digits[c>>4], digits[c&15])
			}
		}
		return out, nil
	case JSON:
		if !utf8.Valid(secret) {
			return nil, fmt.Errorf("the secret is not UTF-8, which a JSON string cannot carry")
		}
		quoted, err := json.Marshal(string(secret))
		if err != nil {
			return nil, err
		}
		return quoted[1 : len(quoted)-1], nil
	case Base64:
		return base64.StdEncoding.AppendEncode(nil, secret), nil
	case Shell:
		out := append(make([]byte, 0, len(secret)+2), '\'')
		for _, c := range secret {
			switch c {
			case 0:
				return nil, fmt.Errorf("the secret holds a zero byte, which a shell word cannot carry")
			case '\'':
				out = append(out, `'\''`...)
			default:
				out = append(out, c)
			}
		}
		return append(out, '\''), nil
	}
	return nil, fmt.Errorf("encoding %q is not known", string(e))
}

// Filled gives the bytes of a file whose source is given, with its secrets put in.
// Secrets are asked for by identity.
func (f *File) Filled(source []byte, secret func(ID) ([]byte, error)) ([]byte, error) {
	if len(f.Fills) == 0 {
		return source, nil
	}
	out := make([]byte, 0, len(source)+64*len(f.Fills))
	at := 0
	for _, fill := range f.Fills {
		if fill.Offset < at || fill.Offset > len(source) {
			return nil, fillBeyondEnd(f.ID, f.Source)
		}
		plain, err := secret(fill.Secret)
		if err != nil {
			return nil, err
		}
		encoded, err := fill.Encoding.Encode(plain)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", f.ID, fill.Secret, err)
		}
		out = append(out, source[at:fill.Offset]...)
		out = append(out, encoded...)
		at = fill.Offset
	}
	return append(out, source[at:]...), nil
}

func isUTF8(s string) bool { return utf8.ValidString(s) }
