// Package sshsig makes and checks SSH signatures: the armored form that
// `ssh-keygen -Y sign` writes and `ssh-keygen -Y verify` reads (the format is
// OpenSSH's PROTOCOL.sshsig). A bundle's provenance is signed so, and whoever
// has ssh can check it without meshc.
//
// Only ssh-ed25519 keys sign and count, in the one namespace "meshc": an
// ed25519 signature of the same bytes is the same bytes (BLD-1), and a
// signature made for something else is never taken for one of ours. Enter at
// Key.Sign and Signers.Verify. Reading files is left to the caller.
package sshsig

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"golang.org/x/crypto/ssh"
)

// Namespace is what `ssh-keygen -Y verify -n` is told, so that a signature
// over a file, a commit or a mail can never stand for a bundle.
const Namespace = "meshc"

const (
	magic   = "SSHSIG"
	version = 1
	begin   = "-----BEGIN SSH SIGNATURE-----\n"
	end     = "-----END SSH SIGNATURE-----\n"
	// lineLength is OpenSSH's own, so that both print the same signature.
	lineLength = 70
	// maxArmored is far above any ed25519 signature (under 400 bytes); it bounds the work for foreign bytes.
	maxArmored = 1 << 14
)

// Sign gives the armored signature of data, as `ssh-keygen -Y sign -n meshc` does.
func (k *Key) Sign(data []byte) []byte {
	h := sha512.Sum512(data)
	sig := ed25519.Sign(k.private, message("sha512", h[:]))

	var b []byte
	b = append(b, magic...)
	b = binary.BigEndian.AppendUint32(b, version)
	b = appendString(b, k.public.Marshal())
	b = appendString(b, []byte(Namespace))
	b = appendString(b, nil)
	b = appendString(b, []byte("sha512"))
	b = appendString(b, ssh.Marshal(ssh.Signature{Format: ssh.KeyAlgoED25519, Blob: sig}))
	return armor(b)
}

// Verify says who of the signers made the signature of data. The time decides
// about signers that are only valid for a while. The error says what is wrong
// with the signature, or whose key it was where that key is not a signer's.
func (s Signers) Verify(data, signature []byte, at time.Time) (Signer, error) {
	sig, err := parse(signature)
	if err != nil {
		return Signer{}, err
	}
	if err := sig.check(data); err != nil {
		return Signer{}, err
	}
	return s.find(sig.key, at)
}

// signature is what the armor holds.
type signature struct {
	key      ssh.PublicKey
	hash     string
	reserved []byte
	raw      []byte
}

// check says whether the key that the signature names made it, for these bytes.
func (s signature) check(data []byte) error {
	var digest []byte
	switch s.hash {
	case "sha256":
		h := sha256.Sum256(data)
		digest = h[:]
	case "sha512":
		h := sha512.Sum512(data)
		digest = h[:]
	default:
		return fmt.Errorf("the signature uses the hash %q, which is neither sha256 nor sha512", s.hash)
	}
	public := ed25519.PublicKey(s.key.(ssh.CryptoPublicKey).CryptoPublicKey().(ed25519.PublicKey))
	if !ed25519.Verify(public, signedMessage(s.reserved, s.hash, digest), s.raw) {
		return errors.New("the signature is not of this content")
	}
	return nil
}

func parse(armored []byte) (signature, error) {
	b, err := dearmor(armored)
	if err != nil {
		return signature{}, err
	}
	r := reader{b: b}
	if string(r.take(len(magic))) != magic {
		return signature{}, errMalformed
	}
	if v := r.uint32(); r.ok() && v != version {
		return signature{}, fmt.Errorf("an SSH signature of version %d, where 1 is known", v)
	}
	keyBytes, namespace, reserved, hash, sigBytes := r.string(), r.string(), r.string(), r.string(), r.string()
	if !r.ok() || len(r.b) > 0 {
		return signature{}, errMalformed
	}
	if string(namespace) != Namespace {
		return signature{}, fmt.Errorf("the signature is for %q, not for %q", namespace, Namespace)
	}
	key, err := ssh.ParsePublicKey(keyBytes)
	if err != nil {
		return signature{}, errMalformed
	}
	if key.Type() != ssh.KeyAlgoED25519 {
		return signature{}, fmt.Errorf("signed with a key of type %s, where only ssh-ed25519 counts", key.Type())
	}
	var inner ssh.Signature
	if err := ssh.Unmarshal(sigBytes, &inner); err != nil || len(inner.Rest) > 0 || inner.Format != ssh.KeyAlgoED25519 {
		return signature{}, errMalformed
	}
	return signature{key: key, hash: string(hash), reserved: reserved, raw: inner.Blob}, nil
}

var errMalformed = errors.New("not a whole SSH signature")

// message is what is signed: a digest, bound to its namespace.
func message(hash string, digest []byte) []byte { return signedMessage(nil, hash, digest) }

func signedMessage(reserved []byte, hash string, digest []byte) []byte {
	b := []byte(magic)
	b = appendString(b, []byte(Namespace))
	b = appendString(b, reserved)
	b = appendString(b, []byte(hash))
	return appendString(b, digest)
}

func armor(b []byte) []byte {
	text := base64.StdEncoding.EncodeToString(b)
	var out bytes.Buffer
	out.WriteString(begin)
	for len(text) > 0 {
		n := min(lineLength, len(text))
		out.WriteString(text[:n])
		out.WriteByte('\n')
		text = text[n:]
	}
	out.WriteString(end)
	return out.Bytes()
}

func dearmor(a []byte) ([]byte, error) {
	if len(a) > maxArmored {
		return nil, errMalformed
	}
	// A checkout with CRLF line ends does not change what was signed.
	a = bytes.ReplaceAll(a, []byte("\r\n"), []byte("\n"))
	if n := len(a); n > 0 && a[n-1] != '\n' {
		a = append(bytes.Clone(a), '\n')
	}
	body, ok := bytes.CutPrefix(a, []byte(begin))
	if !ok {
		return nil, errMalformed
	}
	if body, ok = bytes.CutSuffix(body, []byte(end)); !ok {
		return nil, errMalformed
	}
	b, err := base64.StdEncoding.DecodeString(string(body)) // it passes over line ends
	if err != nil {
		return nil, errMalformed
	}
	return b, nil
}

func appendString(b, s []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
	return append(b, s...)
}

// reader takes SSH's wire types off a slice; once it ran short it stays so.
type reader struct {
	b     []byte
	short bool
}

func (r *reader) ok() bool { return !r.short }

func (r *reader) take(n int) []byte {
	if n > len(r.b) {
		r.short, r.b = true, nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) string() []byte {
	n := r.uint32()
	if uint64(n) > uint64(len(r.b)) {
		r.short, r.b = true, nil
		return nil
	}
	return r.take(int(n))
}
