package provision

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
)

// maxList bounds the file that lists consumers, in bytes: some hundred thousand of them.
const maxList = 64 << 20

// list is who asks, as the mesh wrote it.
type list struct {
	entries []entry
	// frozen are logins that the list says something of that cannot be meant, each with why:
	// they are neither changed nor withdrawn (PRV-2).
	frozen map[string]string
	sum    [32]byte
}

// entry is one consumer, with the path of its credential.
type entry struct {
	Consumer
	path string
}

// readList reads the file that a provider's `receives` names. Whatever is wrong with it is
// an error, and an error withdraws nobody (PRV-1). Provision and provider say whose list it
// has to be; an empty one is not asked for.
func readList(path, provision, provider string) (list, error) {
	raw, err := readPlain(path, maxList)
	if err != nil {
		return list{}, err
	}
	l, err := parseList(raw, provision, provider)
	if err != nil {
		return list{}, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

func parseList(raw []byte, provision, provider string) (list, error) {
	var doc struct {
		Requirement string             `json:"requirement"`
		Provider    string             `json:"provider"`
		Given       *[]json.RawMessage `json:"given"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(&doc); err != nil {
		return list{}, fmt.Errorf("this is not JSON, or not whole: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return list{}, errors.New("something follows the list")
	}
	switch {
	case provision != "" && doc.Requirement != provision:
		return list{}, fmt.Errorf("this lists who asks for %q, not for %q", doc.Requirement, provision)
	case provider != "" && doc.Provider != "" && doc.Provider != provider:
		return list{}, fmt.Errorf("this lists who asks %q, not %q", doc.Provider, provider)
	case doc.Given == nil:
		return list{}, errors.New(`there is no list "given" in it`)
	}
	l := list{frozen: map[string]string{}, sum: sha256.Sum256(raw)}
	seen := map[string]bool{}
	for k, raw := range *doc.Given {
		var e struct {
			As       *string         `json:"as"`
			Instance string          `json:"instance"`
			Node     string          `json:"node"`
			Label    string          `json:"label"`
			Secret   *string         `json:"secret"`
			Values   json.RawMessage `json:"values"`
			Derived  json.RawMessage `json:"derived"`
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			// Whom it is about is not known, so nobody may be withdrawn for not being listed.
			return list{}, fmt.Errorf("entry %d: %w", k+1, err)
		}
		if e.As == nil {
			continue // it asks for no login
		}
		login := *e.As
		switch {
		case login == "":
			return list{}, fmt.Errorf("entry %d has a login without a name", k+1)
		case seen[login]:
			l.frozen[login] = "two entries have this login"
			continue
		case e.Secret == nil || *e.Secret == "":
			l.frozen[login] = "its entry names no file with a credential"
		}
		seen[login] = true
		l.entries = append(l.entries, entry{Consumer{
			Login: login, Instance: e.Instance, Node: e.Node, Label: e.Label, Values: e.Values, Derived: e.Derived, Entry: raw,
		}, deref(e.Secret)})
	}
	l.entries = slices.DeleteFunc(l.entries, func(e entry) bool { return l.frozen[e.Login] != "" })
	return l, nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// readPlain reads a plain file of a bounded size. The last name of the path must not be a
// link, and a pipe keeps nobody waiting.
func readPlain(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no plain file", path)
	}
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return raw, err
}
