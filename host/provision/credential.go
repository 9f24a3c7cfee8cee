package provision

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"

	"meshc.dev/render/seal"
)

// errEmpty says of a credential file what an unreadable one is for (PRV-9).
var errEmpty = errors.New("the file is empty")

// readCredential reads one credential: the exact bytes of the file, which is not empty.
func readCredential(path string) (seal.Secret, error) {
	raw, err := readPlain(path, seal.MaxLen)
	if err != nil {
		return seal.Secret{}, &Failure{Unreadable, err}
	}
	if len(raw) == 0 {
		return seal.Secret{}, &Failure{Unreadable, fmt.Errorf("%s: %w", path, errEmpty)}
	}
	return seal.NewSecret(raw), nil
}

// missing says whether the file is not there yet, which may be a race and no fault.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// digest stands for something between passes: nothing can be learned from it without the
// key, which is this process's own.
type digest [sha256.Size]byte

type digester struct{ key [32]byte }

func newDigester() digester {
	var d digester
	_, _ = rand.Read(d.key[:]) // never fails: the process ends instead
	return d
}

func (d digester) of(b []byte) digest {
	h := hmac.New(sha256.New, d.key[:])
	h.Write(b)
	return digest(h.Sum(nil))
}

// print is what a consumer asked for and with which credential, as two digests.
type print struct{ entry, secret digest }

func (d digester) consumer(c Consumer) print {
	p := print{entry: d.of(c.Entry)}
	c.Secret.Use(func(b []byte) { p.secret = d.of(b) })
	return p
}
