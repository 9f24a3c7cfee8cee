package provision

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"meshc.dev/render/seal"
)

// Class says of what kind a failure is, for programs that count them.
type Class string

// The classes; a failure that is none of these has no class.
const (
	Rejected    Class = "credentials-rejected" // the server refuses the administrator
	Unreachable Class = "unreachable"
	Unreadable  Class = "secret-unreadable"
	Refused     Class = "refused" // what is asked for must not be, or somebody else has it
)

// Failure is an error with a class.
type Failure struct {
	Class Class
	Err   error
}

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// maxText is how much of an error is told, in bytes.
const maxText = 300

// fault is a failure as it is told: cut, in one line, and without the credential.
type fault struct {
	class Class
	text  string
}

func faultOf(err error, secret seal.Secret) fault {
	var f *Failure
	class := Class("")
	switch {
	case errors.As(err, &f):
		class = f.Class
	case errors.Is(err, context.DeadlineExceeded):
		class = Unreachable
	}
	return fault{class, short(hide(err.Error(), secret))}
}

// same says whether a reader would learn nothing new: times and numbers aside.
func (f fault) same(o fault) bool {
	return f.class == o.class && numbers.ReplaceAllString(f.text, "0") == numbers.ReplaceAllString(o.text, "0")
}

var numbers = regexp.MustCompile(`[0-9]+([.:][0-9]+)*`)

// short is a text in one line, at most maxText bytes long, cut between two characters.
func short(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "?"), func(r rune) bool { return r < ' ' || r == 0x7f }), " ")
	if len(s) <= maxText {
		return s
	}
	s = s[:maxText-len("…")]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "…"
}

// hide takes every form of a credential out of a text: as it is, and as it stands in a
// URL, in base64 and in JSON.
func hide(text string, secret seal.Secret) string {
	if secret.IsZero() || secret.Len() == 0 {
		return text
	}
	out := []byte(text)
	secret.Use(func(b []byte) {
		quoted, _ := json.Marshal(string(b))
		forms := [][]byte{
			b, []byte(url.QueryEscape(string(b))), []byte(url.PathEscape(string(b))), quoted[1 : len(quoted)-1],
			[]byte(base64.StdEncoding.EncodeToString(b)), []byte(base64.RawStdEncoding.EncodeToString(b)),
			[]byte(base64.URLEncoding.EncodeToString(b)), []byte(base64.RawURLEncoding.EncodeToString(b)),
		}
		// The longest first: one may be a part of another.
		slices.SortFunc(forms, func(a, b []byte) int { return cmp.Compare(len(b), len(a)) })
		for _, f := range forms {
			out = bytes.ReplaceAll(out, f, []byte("(secret)"))
		}
	})
	return string(out)
}
