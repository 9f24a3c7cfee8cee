package postgres

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"

	"meshc.dev/render/seal"
)

// iterations as PostgreSQL itself takes them (scram_iterations).
const iterations = 4096

// verifierOf is what the server keeps of a password (RFC 5803): a salt and two keys, of
// which the password cannot be found again.
func verifierOf(s seal.Secret) (string, error) {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails: the process ends instead
	return verifier(s, salt, iterations)
}

func verifier(s seal.Secret, salt []byte, iterations int) (string, error) {
	var stored, server []byte
	var err error
	s.Use(func(b []byte) {
		for _, c := range b {
			// SASLprep would change other characters, and the client and we might not agree how.
			if c < ' ' || c > '~' {
				err = errors.New("the credential has characters other than printable ASCII")
				return
			}
		}
		var salted []byte
		if salted, err = pbkdf2.Key(sha256.New, string(b), salt, iterations, sha256.Size); err != nil {
			return
		}
		client := sha256.Sum256(mac(salted, "Client Key"))
		stored, server = client[:], mac(salted, "Server Key")
	})
	if err != nil {
		return "", err
	}
	e := base64.StdEncoding.EncodeToString
	return "SCRAM-SHA-256$" + strconv.Itoa(iterations) + ":" + e(salt) + "$" + e(stored) + ":" + e(server), nil
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// verifies says whether a verifier that the server keeps is one of this password.
func verifies(kept string, s seal.Secret) bool {
	rest, ok := strings.CutPrefix(kept, "SCRAM-SHA-256$")
	if !ok {
		return false
	}
	count, rest, ok1 := strings.Cut(rest, ":")
	salt, _, ok2 := strings.Cut(rest, "$")
	n, err := strconv.Atoi(count)
	raw, serr := base64.StdEncoding.DecodeString(salt)
	if !ok1 || !ok2 || err != nil || serr != nil || n < 1 || n > 1<<20 {
		return false
	}
	want, err := verifier(s, raw, n)
	return err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(kept)) == 1
}
