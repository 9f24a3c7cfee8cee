// Package sink writes values in the formats that programs read: one typed writer
// for each, so that a value arrives in the program as it was written or is
// refused where its format cannot carry it (BLD-6). The writers are pure functions
// from a data.Value to bytes; Write picks one by the name a module gives.
//
// What all of them promise:
//
//   - strings are never re-typed: what a reader could take for a boolean, a
//     number or null is quoted (SET-6);
//   - numbers keep their digits and never pass through a float;
//   - struct fields come out sorted, so equal values give equal bytes (BLD-1);
//   - no newline is added to or taken from a string (BLD-5), and CRLF survives or is refused;
//   - bytes that are not text become base64 in JSON, !!binary in YAML and content as it is
//     in Text; every other format refuses them;
//   - null is null in JSON and YAML; the key-value formats leave such a key out (SET-1)
//     and refuse a null in a list, where leaving it out would move what follows.
//
// The pieces of text that other renderers put into units, quadlets, shell words and
// URLs have functions of their own: SystemdEnv, SystemdArg, SystemdValue, QuadletEnv,
// QuadletArg, QuadletValue, ShellQuote, URLEncode. Strict readers of what is written here, made
// from the readers' own grammars, are in sink/sinktest.
package sink

import (
	"slices"
	"strconv"
	"strings"

	"meshc.dev/compiler/data"
)

// Error says that a format cannot carry a value: where in it, and why. Reason is lower
// case, without a full stop, follows the name of what it is about ("holds a line end"), and
// never has the value itself in it, which could be secret.
type Error struct {
	Path   []string // names and list indexes from the top; empty for the whole value
	Reason string
}

func (e *Error) Error() string {
	if len(e.Path) == 0 {
		return e.Reason
	}
	return PathString(e.Path) + ": " + e.Reason
}

// PathString draws a path as a person would write it: server.HTTP_PORT, hosts.0, a."b c".
func PathString(path []string) string {
	var b strings.Builder
	for i, p := range path {
		if i > 0 {
			b.WriteByte('.')
		}
		if p != "" && only(p, isWordByte) {
			b.WriteString(p)
		} else {
			b.WriteString(strconv.Quote(p))
		}
	}
	return b.String()
}

// Write writes a value in a format of language.md: json, yaml, toml, ini, env, systemd
// or properties.
func Write(format string, v data.Value) ([]byte, error) {
	switch format {
	case "json":
		return JSON(v)
	case "yaml":
		return YAML(v)
	case "toml":
		return TOML(v)
	case "ini":
		return INI(v)
	case "env":
		return Env(v)
	case "systemd":
		return Systemd(v)
	case "properties":
		return Properties(v)
	}
	return nil, refuse(nil, "is to be written in a format that there is none of")
}

// Text gives the bytes of a string or of bytes exactly as they are.
func Text(v data.Value) ([]byte, error) {
	if v.Kind() != data.String && v.Kind() != data.Bytes {
		return nil, refuse(nil, "is "+withArticle(v.Kind())+", and text is a string or bytes")
	}
	return []byte(v.Text()), nil
}

// Carries says whether a secret of any bytes that JSON can hold, written in the given
// encoding where a placeholder stands inside a string of a file in the given format, is
// read back as that encoding of it. JSON, YAML and TOML write such a string in double
// quotes and take JSON's escapes there, so json is exact in them; base64 and urlencoded use
// letters that no format here escapes, but INI's readers re-type and end some bare words.
// A secret in another place arrives only if it was made from letters and digits.
func Carries(format, encoding string) bool {
	switch format {
	case "json", "yaml", "toml":
		return encoding == "json" || encoding == "base64" || encoding == "urlencoded"
	case "env", "properties":
		return encoding == "base64" || encoding == "urlencoded"
	}
	return false
}

func refuse(path []string, reason string) *Error {
	return &Error{Path: slices.Clone(path), Reason: reason}
}

// in is the path one level deeper. It copies, so that siblings never share memory.
func in(path []string, name string) []string {
	return append(slices.Clone(path), name)
}

func withArticle(k data.Kind) string {
	switch k {
	case data.Int:
		return "an integer"
	case data.Float, data.Bool, data.String, data.List, data.Struct:
		return "a " + k.String()
	default:
		return k.String()
	}
}
