package seal

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
)

// Format is the form of a secret that is made.
type Format string

// The formats. Length counts a password's characters and the bytes that hex and
// base64 encode; a uuid has none.
const (
	Password Format = "password"
	Hex      Format = "hex"
	Base64   Format = "base64"
	UUID     Format = "uuid" // version 4
)

// DefaultLength is used where a length is 0. As a password it has 186 bits.
const DefaultLength = 32

// The alphabet of a password: letters and digits, which no sink has to escape
// (O10), without 0, O, 1, I and l, which people misread. It begins with a letter, so
// that no reader takes it for a number.
const (
	letters  = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	alphabet = letters + "23456789"
)

// Generate makes a secret from random bytes. Lengths are from 16 to 1024.
func Generate(f Format, length int, random io.Reader) (Secret, error) {
	if length == 0 {
		length = DefaultLength
	}
	if length < 16 || length > 1024 {
		return Secret{}, fmt.Errorf("a secret of length %d, where 16 to 1024 is made", length)
	}
	switch f {
	case Password, "":
		return password(length, random)
	case Hex:
		return encoded(length, random, hex.EncodedLen, func(dst, src []byte) { hex.Encode(dst, src) })
	case Base64:
		return encoded(length, random, base64.StdEncoding.EncodedLen, base64.StdEncoding.Encode)
	case UUID:
		return uuid(random)
	}
	return Secret{}, fmt.Errorf("a secret of format %q, where password, hex, base64 and uuid are known", f)
}

// password draws each character evenly: bytes that would favour some are drawn again.
func password(length int, random io.Reader) (Secret, error) {
	out := make([]byte, 0, length)
	var pool [64]byte
	defer clear(pool[:])
	for len(out) < length {
		if _, err := io.ReadFull(random, pool[:]); err != nil {
			clear(out)
			return Secret{}, fmt.Errorf("read random bytes: %w", err)
		}
		for _, b := range pool {
			from := alphabet
			if len(out) == 0 {
				from = letters
			}
			if n := len(from); len(out) < length && int(b) < 256/n*n {
				out = append(out, from[int(b)%n])
			}
		}
	}
	return NewSecret(out), nil
}

func encoded(length int, random io.Reader, size func(int) int, encode func(dst, src []byte)) (Secret, error) {
	raw := make([]byte, length)
	defer clear(raw)
	if _, err := io.ReadFull(random, raw); err != nil {
		return Secret{}, fmt.Errorf("read random bytes: %w", err)
	}
	out := make([]byte, size(length))
	encode(out, raw)
	return NewSecret(out), nil
}

func uuid(random io.Reader) (Secret, error) {
	var raw [16]byte
	defer clear(raw[:])
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return Secret{}, fmt.Errorf("read random bytes: %w", err)
	}
	raw[6] = raw[6]&0x0f | 0x40 // version 4 (RFC 9562)
	raw[8] = raw[8]&0x3f | 0x80
	out := make([]byte, 0, 36)
	for i, part := range [][]byte{raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:]} {
		if i > 0 {
			out = append(out, '-')
		}
		out = hex.AppendEncode(out, part)
	}
	return NewSecret(out), nil
}
