package seal

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"golang.org/x/crypto/ssh"
)

// Kind is a kind of key that secrets are sealed to.
type Kind string

// The kinds of key, by what the blobs sealed to them call it.
const (
	X25519  Kind = "X25519"         // age1…
	Hybrid  Kind = "mlkem768x25519" // age1pq…: ML-KEM-768 and X25519, safe against quantum computers
	Ed25519 Kind = "ssh-ed25519"    // an SSH host key
)

// Recipient is a public key that secrets are sealed to.
type Recipient struct {
	kind        Kind
	text        string
	fingerprint string
	tag         string // what an SSH key's blobs call it: 4 bytes of its digest
	age         age.Recipient
}

// RecipientError says why a text is no recipient. It never holds the text,
// which could be a private key given by mistake.
type RecipientError struct{ Reason string }

func (e *RecipientError) Error() string { return e.Reason }

// ParseRecipient reads an age1…, age1pq… or ssh-ed25519 public key. The error
// is a *RecipientError.
func ParseRecipient(s string) (Recipient, error) {
	s = strings.TrimSpace(s)
	kind, _, _ := strings.Cut(s, " ")
	switch {
	case s == "":
		return Recipient{}, &RecipientError{"there is no key"}
	case strings.HasPrefix(strings.ToUpper(s), "AGE-SECRET-KEY-"), strings.HasPrefix(s, "-----BEGIN"):
		return Recipient{}, &RecipientError{"that is a private key, which must not leave its machine; the public one is meant (it counts as known to others now: make a new one)"}
	case strings.HasPrefix(s, "age1pq1"):
		return newRecipient(Hybrid)(age.ParseHybridRecipient(s))
	case strings.HasPrefix(s, "age1") && strings.LastIndexByte(s, '1') == len("age"):
		return newRecipient(X25519)(age.ParseX25519Recipient(s))
	case strings.HasPrefix(s, "age1"):
		return Recipient{}, &RecipientError{"an age plugin's key is not used, since a machine must open its secrets unattended"}
	case kind == ssh.KeyAlgoED25519:
		return parseSSH(s)
	case kind == ssh.KeyAlgoRSA:
		return Recipient{}, &RecipientError{"RSA keys are not used: they are the weakest and slowest that the age format knows, kept there for old keys only; the machine's ed25519 host key is in /etc/ssh/ssh_host_ed25519_key.pub (`ssh-keygen -A` makes it)"}
	case strings.Contains(kind, "-cert-v01@openssh.com"):
		return Recipient{}, &RecipientError{"that is an SSH certificate, where the key itself is meant"}
	case strings.HasPrefix(kind, "ssh-"), strings.HasPrefix(kind, "ecdsa-"), strings.HasPrefix(kind, "sk-"):
		return Recipient{}, &RecipientError{"keys of this type can sign but not be sealed to; an ssh-ed25519 or age1… key can"}
	}
	return Recipient{}, &RecipientError{"it is neither an age1… nor an age1pq… nor an ssh-ed25519 public key"}
}

// newRecipient takes what the age library parsed. Its error repeats the text, so ours replaces it.
func newRecipient(kind Kind) func(age.Recipient, error) (Recipient, error) {
	return func(r age.Recipient, err error) (Recipient, error) {
		if err != nil {
			return Recipient{}, &RecipientError{"the key is damaged: a character is wrong or missing"}
		}
		text := r.(interface{ String() string }).String()
		digest := sha256.Sum256([]byte(text))
		return Recipient{
			kind: kind, text: text, age: r,
			fingerprint: "SHA256:" + base64.RawStdEncoding.EncodeToString(digest[:]),
		}, nil
	}
}

func parseSSH(s string) (Recipient, error) {
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(s))
	if err != nil || key.Type() != ssh.KeyAlgoED25519 || len(options) > 0 || len(rest) > 0 {
		return Recipient{}, &RecipientError{"the SSH key is damaged: a character is wrong or missing"}
	}
	return newSSHRecipient(key)
}

func newSSHRecipient(key ssh.PublicKey) (Recipient, error) {
	r, err := agessh.NewEd25519Recipient(key)
	if err != nil {
		return Recipient{}, &RecipientError{"the SSH key is no point of its curve, so nothing can be sealed to it"}
	}
	digest := sha256.Sum256(key.Marshal())
	return Recipient{
		kind: Ed25519, age: r,
		text:        strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))),
		fingerprint: ssh.FingerprintSHA256(key),
		tag:         base64.RawStdEncoding.EncodeToString(digest[:4]),
	}, nil
}

// Kind of the key.
func (r Recipient) Kind() Kind { return r.kind }

// IsZero says whether there is no recipient here at all.
func (r Recipient) IsZero() bool { return r.age == nil }

// String is the key in its one canonical form, without a comment.
func (r Recipient) String() string { return r.text }

// Fingerprint is "SHA256:" and the unpadded base64 of a digest: for an SSH key
// what `ssh-keygen -lf` prints, for an age key the SHA-256 of its canonical form.
func (r Recipient) Fingerprint() string { return r.fingerprint }

// Check says whether a blob can have been sealed to this key, as far as it
// shows without opening it: an SSH key is named by its blobs, of an age key they
// only show the kind. The error is a *BlobError.
func (r Recipient) Check(blob []byte) error {
	in, err := inspect(blob)
	if err != nil {
		return err
	}
	if in.kind != string(r.kind) || r.tag != "" && in.tag != r.tag {
		return &BlobError{OtherKey, "it is sealed to another key"}
	}
	return nil
}
