package seal

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"unicode/utf8"
)

// Encoding is how a secret is written where a placeholder stands for it (SEC-10).
type Encoding string

// The encodings.
const (
	// Value is the bytes as they are.
	Value Encoding = "value"
	// URLEncoded is percent-encoded, for any part of a URL.
	URLEncoded Encoding = "urlencoded"
	// JSON is for the inside of a JSON string, between quotes that are there already.
	JSON Encoding = "json"
	// Base64Encoded is standard base64 with padding.
	Base64Encoded Encoding = "base64"
	// Shell is one word in single quotes, for a POSIX shell.
	Shell Encoding = "shell"
)

// Encodings are all of them.
func Encodings() []Encoding { return []Encoding{Value, URLEncoded, JSON, Base64Encoded, Shell} }

// Encode writes a secret in an encoding, or refuses what that encoding cannot
// carry; the error tells what, never where or which bytes.
func Encode(s Secret, e Encoding) (Secret, error) {
	var out []byte
	var err error
	s.Use(func(b []byte) { out, err = encode(b, e) })
	if err != nil {
		return Secret{}, err
	}
	return NewSecret(out), nil
}

// encode makes room for the longest result first, so that growing leaves no copies behind.
func encode(b []byte, e Encoding) ([]byte, error) {
	switch e {
	case Value:
		return bytes.Clone(b), nil
	case URLEncoded:
		return appendURL(make([]byte, 0, 3*len(b)), b), nil
	case JSON:
		if !utf8.Valid(b) {
			return nil, fmt.Errorf("JSON cannot carry the secret: it is not UTF-8")
		}
		return appendJSON(make([]byte, 0, 6*len(b)), b), nil
	case Base64Encoded:
		return base64.StdEncoding.AppendEncode(make([]byte, 0, base64.StdEncoding.EncodedLen(len(b))), b), nil
	case Shell:
		if bytes.IndexByte(b, 0) >= 0 {
			return nil, fmt.Errorf("a shell word cannot carry the secret: it holds a zero byte")
		}
		return appendShell(make([]byte, 0, 4*len(b)+2), b), nil
	}
	return nil, fmt.Errorf("the encoding %q is not known", e)
}

const upperHex = "0123456789ABCDEF"

// appendURL leaves only what RFC 3986 calls unreserved.
func appendURL(out, b []byte) []byte {
	for _, c := range b {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_', c == '~':
			out = append(out, c)
		default:
			out = append(out, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return out
}

func appendJSON(out, b []byte) []byte {
	for _, c := range b {
		switch {
		case c == '"', c == '\\':
			out = append(out, '\\', c)
		case c < ' ', c == 0x7f:
			out = append(out, '\\', 'u', '0', '0', upperHex[c>>4], upperHex[c&15])
		default:
			out = append(out, c)
		}
	}
	return out
}

func appendShell(out, b []byte) []byte {
	out = append(out, '\'')
	for _, c := range b {
		if c == '\'' {
			out = append(out, `'\''`...)
			continue
		}
		out = append(out, c)
	}
	return append(out, '\'')
}
