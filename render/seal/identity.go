package seal

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"golang.org/x/crypto/ssh"
)

// Identity is a private key that opens what was sealed to its recipient. It
// prints as its recipient's fingerprint.
type Identity struct {
	age       age.Identity
	recipient Recipient
}

// ParseIdentity reads the content of an age identity file, as age-keygen and
// `mesh-host init` write it, or of an unencrypted ssh-ed25519 private key, as a
// host key is. That nobody else may read the file is for the caller to check.
func ParseIdentity(file []byte) (Identity, error) {
	if bytes.Contains(file, []byte("-----BEGIN")) {
		return parseSSHIdentity(file)
	}
	ids, err := age.ParseIdentities(bytes.NewReader(file))
	if err != nil {
		return Identity{}, errors.New("no age identity and no private SSH key")
	}
	if len(ids) != 1 {
		return Identity{}, fmt.Errorf("%d identities, where a machine has one", len(ids))
	}
	return newIdentity(ids[0])
}

// parseSSHIdentity never passes on the parser's own words, which could hold parts of the key.
func parseSSHIdentity(pem []byte) (Identity, error) {
	raw, err := ssh.ParseRawPrivateKey(pem)
	if missing := (*ssh.PassphraseMissingError)(nil); errors.As(err, &missing) {
		return Identity{}, errors.New("the SSH key is protected by a passphrase, and a machine must open its secrets unattended")
	}
	if err != nil {
		return Identity{}, errors.New("the private SSH key is damaged")
	}
	var private ed25519.PrivateKey
	switch k := raw.(type) {
	case *ed25519.PrivateKey:
		private = *k
	case ed25519.PrivateKey: // what the parser gives depends on the file's format
		private = k
	default:
		return Identity{}, fmt.Errorf("a private key of type %s, where secrets are sealed to ssh-ed25519 keys only", strings.TrimPrefix(fmt.Sprintf("%T", raw), "*"))
	}
	id, err := agessh.NewEd25519Identity(private)
	if err != nil {
		return Identity{}, errors.New("the private SSH key is damaged")
	}
	public, err := ssh.NewPublicKey(private.Public())
	if err != nil {
		return Identity{}, errors.New("the private SSH key is damaged")
	}
	recipient, err := newSSHRecipient(public)
	return Identity{id, recipient}, err
}

// GenerateIdentity makes a new key of an age kind. The secret is the content of
// its identity file, which the age program reads too.
func GenerateIdentity(kind Kind) (Identity, Secret, error) {
	var private age.Identity
	var err error
	switch kind {
	case X25519:
		private, err = age.GenerateX25519Identity()
	case Hybrid:
		private, err = age.GenerateHybridIdentity()
	default:
		return Identity{}, Secret{}, fmt.Errorf("a key of kind %s is made by ssh-keygen, not here", kind)
	}
	if err != nil {
		return Identity{}, Secret{}, fmt.Errorf("make an identity: %w", err)
	}
	id, err := newIdentity(private)
	if err != nil {
		return Identity{}, Secret{}, err
	}
	file := fmt.Appendf(nil, "# public key: %s\n%s\n", id.recipient, private.(fmt.Stringer).String())
	return id, NewSecret(file), nil
}

// newIdentity is for age's own keys.
func newIdentity(private age.Identity) (Identity, error) {
	var recipient Recipient
	var err error
	switch k := private.(type) {
	case *age.X25519Identity:
		recipient, err = newRecipient(X25519)(k.Recipient(), nil)
	case *age.HybridIdentity:
		recipient, err = newRecipient(Hybrid)(k.Recipient(), nil)
	default:
		return Identity{}, fmt.Errorf("an identity of type %T is not known", private)
	}
	return Identity{private, recipient}, err
}

// Recipient is the public half.
func (i Identity) Recipient() Recipient { return i.recipient }

// String, GoString and Format give the recipient's fingerprint.
func (i Identity) String() string             { return i.recipient.fingerprint }
func (i Identity) GoString() string           { return i.recipient.fingerprint }
func (i Identity) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, i.recipient.fingerprint) }
