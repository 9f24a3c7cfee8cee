package seal

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// Secret is a plaintext. It has no string form: printed in any way it is
// "(secret)", encoded in any way it is an error. Copies are one and the same
// secret, and Wipe wipes them all. It cannot be compared with ==.
//
// The bytes are held by a closure, not by a field, so that printers which walk
// through values by reflection find nothing either.
type Secret struct{ cell func() *cell }

type cell struct {
	b     []byte
	wiped bool
}

const shown = "(secret)"

// NewSecret takes the bytes over: the caller must not keep them.
func NewSecret(b []byte) Secret {
	c := &cell{b: b}
	return Secret{func() *cell { return c }}
}

// Use lends the bytes to f, which must neither keep nor change them.
func (s Secret) Use(f func(b []byte)) { f(s.bytes()) }

// Len is the number of bytes.
func (s Secret) Len() int { return len(s.bytes()) }

// IsZero says whether there is no secret here at all.
func (s Secret) IsZero() bool { return s.cell == nil }

// Equal compares two secrets in a time that does not depend on what they are.
func (s Secret) Equal(o Secret) bool { return subtle.ConstantTimeCompare(s.bytes(), o.bytes()) == 1 }

// Wipe overwrites the bytes. Using a wiped secret panics: an empty one must
// never take its place.
func (s Secret) Wipe() {
	if s.cell == nil {
		return
	}
	c := s.cell()
	clear(c.b)
	c.b, c.wiped = nil, true
}

func (s Secret) bytes() []byte {
	if s.cell == nil {
		return nil
	}
	c := s.cell()
	if c.wiped {
		panic("seal: a secret was used after it was wiped")
	}
	return c.b
}

// String, GoString, Format and LogValue all give the same fixed text.
func (Secret) String() string             { return shown }
func (Secret) GoString() string           { return shown }
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, shown) }
func (Secret) LogValue() slog.Value       { return slog.StringValue(shown) }

var errMarshal = errors.New("a secret cannot be encoded")

// MarshalJSON and the others below are here to fail, for whoever finds a secret in what he encodes.
func (Secret) MarshalJSON() ([]byte, error)   { return nil, errMarshal }
func (Secret) MarshalText() ([]byte, error)   { return nil, errMarshal }
func (Secret) MarshalBinary() ([]byte, error) { return nil, errMarshal }
func (Secret) GobEncode() ([]byte, error)     { return nil, errMarshal }
