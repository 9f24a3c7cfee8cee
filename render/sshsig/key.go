package sshsig

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Key is a private ssh-ed25519 key that signs. It prints as its fingerprint.
type Key struct {
	private ed25519.PrivateKey
	public  ssh.PublicKey
}

// ErrPassphrase says that a key is protected by a passphrase, which ParseKeyWithPassphrase takes.
var ErrPassphrase = errors.New("the key is protected by a passphrase")

// ParseKey reads a private key as ssh-keygen writes it.
func ParseKey(pem []byte) (*Key, error) {
	return newKey(ssh.ParseRawPrivateKey(pem))
}

// ParseKeyWithPassphrase reads a private key that is protected by a passphrase.
func ParseKeyWithPassphrase(pem, passphrase []byte) (*Key, error) {
	return newKey(ssh.ParseRawPrivateKeyWithPassphrase(pem, passphrase))
}

// newKey never passes on the parser's own words, which could hold parts of the key.
func newKey(raw any, err error) (*Key, error) {
	if missing := (*ssh.PassphraseMissingError)(nil); errors.As(err, &missing) {
		return nil, ErrPassphrase
	}
	if err != nil {
		return nil, errors.New("not a private SSH key, or the passphrase is another")
	}
	private, ok := raw.(*ed25519.PrivateKey)
	if !ok {
		if p, isValue := raw.(ed25519.PrivateKey); isValue {
			private = &p
		} else {
			return nil, fmt.Errorf("a key of type %s cannot sign a bundle, an ssh-ed25519 key can", strings.TrimPrefix(fmt.Sprintf("%T", raw), "*"))
		}
	}
	signer, err := ssh.NewSignerFromKey(*private)
	if err != nil {
		return nil, errors.New("not a usable ssh-ed25519 key")
	}
	return &Key{private: *private, public: signer.PublicKey()}, nil
}

// Public is the key's public half, as it stands in a .pub file without its comment.
func (k *Key) Public() string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k.public)))
}

// Fingerprint is what `ssh-keygen -lf` prints: SHA256:….
func (k *Key) Fingerprint() string { return ssh.FingerprintSHA256(k.public) }

func (k *Key) String() string { return k.Fingerprint() }

// GoString keeps %#v from walking into the key.
func (k *Key) GoString() string { return k.Fingerprint() }

// Format keeps every verb from walking into the key.
func (k *Key) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, k.Fingerprint()) }
