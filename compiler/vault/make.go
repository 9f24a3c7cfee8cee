package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"

	"meshc.dev/compiler/lock"
	"meshc.dev/render/seal"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Change is a new state of the lock and the sealed blobs, not written yet.
type Change struct {
	// Lock is the lock as it will be.
	Lock *lock.Lock
	// Secrets are those wanted, with the blobs of all that are made.
	Secrets []Secret

	add    []blob
	remove []string
	data   map[string][]byte
}

// Blob is the content of a wanted secret's blob, by its name below sealed/.
func (c *Change) Blob(name string) []byte { return c.data[name] }

// Find gives a wanted secret.
func (c *Change) Find(n Name) (Secret, bool) {
	i, ok := slices.BinarySearchFunc(c.Secrets, n, func(s Secret, n Name) int { return s.Name.Compare(n) })
	if !ok {
		return Secret{}, false
	}
	return c.Secrets[i], true
}

// Copy gives the copy that a role's holder has; false where it is not made.
func (s Secret) Copy(role seal.Role, holder string) (Copy, bool) {
	i := slices.IndexFunc(s.Ends, func(c Copy) bool { return c.Role == role && c.Holder == holder && c.Blob != "" })
	if i < 0 {
		return Copy{}, false
	}
	return s.Ends[i], true
}

// IsComplete says whether every wanted secret is there for all its holders.
func (c *Change) IsComplete() bool {
	return !slices.ContainsFunc(c.Secrets, func(s Secret) bool {
		return slices.ContainsFunc(s.Ends, func(c Copy) bool { return c.Blob == "" }) || s.Action >= Awaited
	})
}

// Make makes and seals what the plan says, on all processors, and carries over the
// rest. Each of them reads random bytes from a source of its own. A plan with a
// diagnostic that refuses is not carried out, not even in part.
func (p *Plan) Make(ctx context.Context, random func() io.Reader) (*Change, error) {
	if p.refused {
		return nil, errors.New("the secrets were refused")
	}
	c := &Change{Lock: p.lock.Clone(), Secrets: slices.Clone(p.Secrets), data: maps.Clone(p.data)}
	blobs := make([][]blob, len(c.Secrets))
	sources := sync.Pool{New: func() any { return random() }}
	err := parallel(len(c.Secrets), func(i int) error {
		s := &c.Secrets[i]
		if s.Action != Made && s.Action != Remade {
			return ctx.Err()
		}
		source := sources.Get().(io.Reader)
		defer sources.Put(source)
		w := p.wants[s.Name.String()]
		value, err := seal.Generate(w.Format, w.Length, source)
		if err != nil {
			return err
		}
		defer value.Wipe()
		blobs[i], err = p.seal(s, value)
		return errors.Join(err, ctx.Err())
	})
	if err != nil {
		return nil, err
	}
	c.Lock.Mesh = p.mesh
	for i, s := range c.Secrets {
		c.take(s, blobs[i], p.lock)
	}
	for _, name := range p.Forgotten {
		if p.prune {
			delete(c.Lock.Secrets, name)
			continue
		}
		// The generation stays, so that a value that is made later is never taken for this one.
		c.Lock.Secrets[name] = lock.Secret{Generation: c.Lock.Secrets[name].Generation}
	}
	c.remove = append(unnamed(p.lock, c.Lock), p.Removed...)
	slices.Sort(c.remove)
	return c, nil
}

// seal seals a value to every end of a secret, and fills in what that gives.
func (p *Plan) seal(s *Secret, value seal.Secret) ([]blob, error) {
	name := s.Name.String()
	s.Ends = slices.Clone(s.Ends)
	out := make([]blob, len(s.Ends))
	for i := range s.Ends {
		c := &s.Ends[i]
		key, _ := p.keys.of(c.end())
		c.Purpose = seal.Purpose{Mesh: p.mesh, Name: name, Role: c.Role, Generation: s.Generation}
		data, err := seal.Seal(c.Purpose, value, key)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		c.Blob, c.SHA256 = blobName(name, c.end(), data), hex.EncodeToString(sum[:])
		out[i] = blob{c.Blob, data}
	}
	return out, nil
}

// take enters a secret into the lock as it is now.
func (c *Change) take(s Secret, made []blob, before *lock.Lock) {
	name := s.Name.String()
	entry := before.Secrets[name]
	switch s.Action {
	case Made, Remade:
		entry = lock.Secret{Generation: s.Generation, Sealed: name}
	case Kept, Awaited:
		here := len(s.kept)
		for _, e := range s.Ends {
			if e.Blob != "" {
				here++
			}
		}
		if here == len(entry.Ends) {
			return // as it was, or not there at all
		}
	default:
		return
	}
	entry.Ends = slices.Clone(s.kept)
	for _, e := range s.Ends {
		if e.Blob != "" {
			entry.Ends = append(entry.Ends, e.end())
		}
	}
	slices.SortFunc(entry.Ends, lock.End.Compare)
	c.Lock.Secrets[name] = entry
	for _, b := range made {
		c.add = append(c.add, b)
		c.data[b.name] = b.data
	}
}

// unnamed are the blobs that one lock names and the next no longer does.
func unnamed(before, after *lock.Lock) []string {
	named := map[string]bool{}
	for _, s := range after.Secrets {
		for _, e := range s.Ends {
			named[e.Blob] = true
		}
	}
	var out []string
	for _, s := range before.Secrets {
		for _, e := range s.Ends {
			if !named[e.Blob] {
				named[e.Blob] = true // once
				out = append(out, e.Blob)
			}
		}
	}
	return out
}

// Commit writes a change: all of it, or nothing. Nothing is written where nothing changed.
func (x *Session) Commit(c *Change) error {
	next := c.Lock.Bytes()
	if bytes.Equal(next, x.Lock) && len(c.add)+len(c.remove) == 0 {
		return nil
	}
	if x.Lock == nil && c.Lock.IsEmpty() && len(c.remove) == 0 {
		return nil // a mesh that settles nothing has no lock
	}
	if err := x.store.commit(next, c.add, c.remove); err != nil {
		// What was written so far is put right at once where that works, by the next run otherwise.
		return errors.Join(err, x.store.recover())
	}
	view, err := x.store.look()
	if err == nil {
		x.View = view
	}
	return err
}
