// Package seal makes secrets, seals them to one machine's key each, and opens
// them on that machine. The compiler and the machine's program share it, so it
// imports neither.
//
// A blob is an age file with exactly one recipient (age-encryption.org/v1); the
// age program opens it too. Sealed is a header in text, which says what the
// secret is for (Purpose), an empty line, and the exact bytes of the secret. A
// plaintext lives only in the type Secret, which has no string form. Copies that
// the age library and the garbage collector make of it cannot be wiped: that is
// why a process that makes secrets is short, and writes no core.
//
// Enter at Generate, Seal and Open. Where blobs are kept is for the vault and
// the bundle, who may read a key file for its owner.
package seal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
)

// Seal gives the blob that only the recipient's private key opens. It has fresh
// randomness every time, which the age library takes from the system itself.
func Seal(p Purpose, s Secret, to Recipient) ([]byte, error) {
	switch {
	case to.IsZero():
		return nil, fmt.Errorf("seal %s: no recipient", p)
	case s.Len() == 0:
		return nil, fmt.Errorf("seal %s: the secret is empty", p)
	case s.Len() > MaxLen:
		return nil, fmt.Errorf("seal %s: the secret has %d bytes, more than %d", p, s.Len(), MaxLen)
	}
	header, err := p.header()
	if err != nil {
		return nil, err
	}
	var blob bytes.Buffer
	blob.Grow(2048)
	w, err := age.Encrypt(&blob, to.age)
	if err != nil {
		// The key has the right form and is none all the same, such as a point of low order.
		return nil, fmt.Errorf("seal %s: nothing can be sealed to the key %s", p, to.Fingerprint())
	}
	_, err = w.Write(header)
	s.Use(func(b []byte) {
		if err == nil {
			_, err = w.Write(b)
		}
	})
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("seal %s: %w", p, err)
	}
	return blob.Bytes(), nil
}

// OpenError says which secret could not be opened and why, with both keys.
type OpenError struct {
	Want Purpose
	// SealedTo is the fingerprint of the key that the blob is said to be sealed
	// to, Have that of the key that was tried.
	SealedTo, Have string
	Fault          Fault
	Reason         string
}

func (e *OpenError) Error() string {
	keys := "sealed to " + e.SealedTo + ", this machine's key is " + e.Have
	if e.SealedTo == "" {
		keys = "this machine's key is " + e.Have
	}
	return fmt.Sprintf("cannot open %s: %s (%s)", e.Want, e.Reason, keys)
}

// Open gives the secret in a blob if the blob is for exactly the purpose that is
// wanted. To whom it is said to be sealed, as a fingerprint, is for the message
// only. The error is an *OpenError.
func Open(id Identity, blob []byte, want Purpose, sealedTo string) (Secret, error) {
	s, fault := open(id, blob, want)
	if fault != nil {
		return Secret{}, &OpenError{Want: want, SealedTo: sealedTo, Have: id.recipient.fingerprint, Fault: fault.Fault, Reason: fault.Reason}
	}
	return s, nil
}

func open(id Identity, blob []byte, want Purpose) (Secret, *BlobError) {
	if _, err := inspect(blob); err != nil {
		return Secret{}, err.(*BlobError)
	}
	plain, fault := decrypt(id, blob)
	if fault != nil {
		return Secret{}, fault
	}
	is, secret, err := parseHeader(plain)
	if err != nil {
		clear(plain)
		return Secret{}, err.(*BlobError)
	}
	if is != want {
		clear(plain)
		return Secret{}, &BlobError{OtherPurpose, "it holds " + is.String()}
	}
	if len(secret) == 0 {
		return Secret{}, &BlobError{Foreign, "it holds nothing"}
	}
	return NewSecret(secret), nil
}

// decrypt tells apart what the age library's errors tell apart.
func decrypt(id Identity, blob []byte) ([]byte, *BlobError) {
	altered := &BlobError{Altered, "it was altered or cut short"}
	r, err := age.Decrypt(bytes.NewReader(blob), id.age)
	if none := (*age.NoIdentityMatchError)(nil); errors.As(err, &none) {
		return nil, &BlobError{OtherKey, "it is sealed to another key"}
	}
	if err != nil {
		return nil, altered
	}
	plain := make([]byte, 0, len(blob)) // room for all of it, so that growing leaves no copies behind
	for {
		n, err := r.Read(plain[len(plain):cap(plain)])
		plain = plain[:len(plain)+n]
		if err == io.EOF {
			return plain, nil
		}
		if err != nil {
			clear(plain)
			return nil, altered
		}
	}
}

var (
	errNoHeader  error = &BlobError{Foreign, "it opens, and does not say what it is for: no meshc sealed it"}
	errNewerForm error = &BlobError{Newer, "a newer meshc sealed it than this one"}
)

// ForPerson takes what a person supplied (`meshc accept`) as a secret. A value
// of one line loses the line end that editors and echo put behind it; one of
// several lines, such as a key in PEM, stays as it is. It takes the bytes over.
func ForPerson(value []byte) (Secret, error) {
	one, hadEnd := bytes.CutSuffix(value, []byte("\n"))
	if hadEnd {
		one = bytes.TrimSuffix(one, []byte("\r"))
	}
	switch {
	case len(bytes.TrimSpace(value)) == 0:
		return Secret{}, errors.New("the value is empty")
	case len(value) > MaxLen:
		return Secret{}, fmt.Errorf("the value has %d bytes, more than %d", len(value), MaxLen)
	case bytes.IndexByte(one, '\n') < 0:
		return NewSecret(one), nil
	case strings.TrimRight(string(one), "\r\n") != string(one):
		return Secret{}, errors.New("the value ends in empty lines, which would become part of it")
	}
	return NewSecret(value), nil
}
