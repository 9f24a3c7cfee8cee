package sshsig

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// Signers are those whose signature counts: the lines of an allowed signers
// file, the same that `ssh-keygen -Y verify -f` reads (ssh-keygen(1), "ALLOWED
// SIGNERS").
type Signers []Signer

// Signer is one line of such a file.
type Signer struct {
	// Principals is who it is, as the file has it: names or patterns with commas between.
	Principals string
	// Fingerprint of the key: SHA256:….
	Fingerprint string
	// After and Before bound when the key counts; the zero time is no bound.
	After, Before time.Time

	key        []byte
	namespaces []string // nil where the line names none: all
}

// NotSignerError is a sound signature by somebody whose signature does not count.
type NotSignerError struct {
	Fingerprint string
	Reason      string
}

func (e *NotSignerError) Error() string {
	return fmt.Sprintf("signed with the key %s, which %s", e.Fingerprint, e.Reason)
}

// ParseSigners reads an allowed signers file. It refuses what it would not
// heed: certificate authorities and options it does not know. Keys of other
// types are refused as well, so that nobody believes that they count.
func ParseSigners(file []byte) (Signers, error) {
	var out Signers
	for i, line := range bytes.Split(file, []byte("\n")) {
		text := strings.TrimSpace(string(line))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		s, err := parseSigner(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		out = append(out, s)
	}
	return out, nil
}

func parseSigner(text string) (Signer, error) {
	principals, rest := cutField(text)
	principals = strings.ReplaceAll(principals, `"`, "")
	if strings.HasPrefix(principals, "ssh-") || rest == "" {
		return Signer{}, fmt.Errorf("a line is who signs and then the public key, for example \"admin ssh-ed25519 AAAA…\"")
	}
	// x/crypto reads the remainder, which has the form of an authorized_keys line.
	key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(rest))
	if err != nil {
		return Signer{}, fmt.Errorf("no public SSH key after %q", principals)
	}
	if key.Type() != ssh.KeyAlgoED25519 {
		return Signer{}, fmt.Errorf("a key of type %s, where only ssh-ed25519 counts", key.Type())
	}
	s := Signer{Principals: principals, Fingerprint: ssh.FingerprintSHA256(key), key: key.Marshal()}
	for _, o := range options {
		if err := s.option(o); err != nil {
			return Signer{}, err
		}
	}
	return s, nil
}

func (s *Signer) option(o string) (err error) {
	name, value, _ := strings.Cut(o, "=")
	value = strings.Trim(value, `"`)
	switch strings.ToLower(name) {
	case "namespaces":
		s.namespaces = strings.Split(value, ",")
	case "valid-after":
		s.After, err = parseTime(value)
	case "valid-before":
		s.Before, err = parseTime(value)
	case "cert-authority":
		return fmt.Errorf("cert-authority is not heeded here, name the signer's own key")
	default:
		return fmt.Errorf("the option %q is not known", name)
	}
	return err
}

// parseTime reads OpenSSH's YYYYMMDD[HHMM[SS]], local time unless a Z follows.
func parseTime(s string) (time.Time, error) {
	where := time.Local
	t, utc := strings.CutSuffix(s, "Z")
	if utc {
		where = time.UTC
	}
	for _, layout := range []string{"20060102", "200601021504", "20060102150405"} {
		if len(t) == len(layout) {
			if at, err := time.ParseInLocation(layout, t, where); err == nil {
				return at, nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time of the form YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS", s)
}

// cutField takes a first field that may hold blanks within double quotes.
func cutField(s string) (field, rest string) {
	quoted := false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case (s[i] == ' ' || s[i] == '\t') && !quoted:
			return s[:i], strings.TrimLeft(s[i:], " \t")
		}
	}
	return s, ""
}

// find is the signer with this key that counts at this time, or why none does.
func (s Signers) find(key ssh.PublicKey, at time.Time) (Signer, error) {
	reason := "is not among the signers"
	for _, x := range s {
		if !bytes.Equal(x.key, key.Marshal()) {
			continue
		}
		switch {
		case !x.inNamespace():
			reason = "counts only for other namespaces"
		case !x.After.IsZero() && at.Before(x.After):
			reason = "counts only from " + x.After.Format(time.DateTime)
		case !x.Before.IsZero() && at.After(x.Before):
			reason = "counted until " + x.Before.Format(time.DateTime)
		default:
			return x, nil
		}
	}
	return Signer{}, &NotSignerError{Fingerprint: ssh.FingerprintSHA256(key), Reason: reason}
}

// inNamespace reads the option as OpenSSH does: patterns, of which one with an
// exclamation mark excludes.
func (s Signer) inNamespace() bool {
	if s.namespaces == nil {
		return true
	}
	matched := false
	for _, pattern := range s.namespaces {
		pattern, not := strings.CutPrefix(strings.TrimSpace(pattern), "!")
		if strings.ContainsAny(pattern, `[\`) {
			continue // special to path.Match, plain characters to OpenSSH
		}
		if ok, err := path.Match(pattern, Namespace); err != nil || !ok {
			continue
		}
		if not {
			return false
		}
		matched = true
	}
	return matched
}
