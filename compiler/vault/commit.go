package vault

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"meshc.dev/compiler/lock"
)

// The transaction (SEC-7). Blobs have names that no other content ever has, so
// writing new ones disturbs nothing; which of them count is what the lock says,
// and the lock is replaced by one rename. Hence:
//
//	1  the journal names every blob that will be new, and every one that will be old
//	2  the new blobs are written and made durable
//	3  the new lock is written beside, made durable, and renamed into place
//	4  the old blobs are removed
//	5  the journal is removed
//
// Before 3 is done the old lock and all its blobs are there, afterwards the new
// ones. Whoever comes next and finds a journal removes those of its blobs that
// the lock does not name (recover): the new ones if 3 did not happen, the old
// ones if it did.

// blob is one file below sealed/.
type blob struct {
	name string
	data []byte
}

// manyBlobs is from how many on one sync of the whole file system is quicker than one for each file.
const manyBlobs = 32

// commit replaces the lock, adds blobs and removes others: all of it or nothing,
// whenever the process or the machine stops. Where it fails, what was there counts.
func (s *Store) commit(next []byte, add []blob, remove []string) error {
	if len(add)+len(remove) > 0 {
		if err := s.writeJournal(add, remove); err != nil {
			return fmt.Errorf("write the journal: %w", err)
		}
	}
	if err := s.writeBlobs(add); err != nil {
		return fmt.Errorf("write sealed secrets: %w", err)
	}
	if err := s.replace(nextLock, lock.File, next); err != nil {
		return fmt.Errorf("write %s: %w", lock.File, err)
	}
	if len(add)+len(remove) > 0 {
		if err := s.discard(remove); err != nil {
			return fmt.Errorf("remove old sealed secrets: %w", err)
		}
	}
	return nil
}

func (s *Store) writeBlobs(add []blob) error {
	dirs := foldersOf(add)
	for _, d := range dirs {
		if err := s.disk.Mkdir(s.path(d)); err != nil {
			return err
		}
	}
	if len(add) >= manyBlobs {
		if err := parallel(len(add), func(i int) error { return s.create(add[i], false) }); err != nil {
			return err
		}
		return s.disk.SyncAll(s.path(sealedDir))
	}
	for _, b := range add {
		if err := s.create(b, true); err != nil {
			return err
		}
	}
	for _, d := range dirs {
		if err := s.disk.SyncDir(s.path(d)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) create(b blob, sync bool) error {
	f, err := s.disk.Create(s.path(path.Join(sealedDir, b.name)))
	if err != nil {
		return err
	}
	return write(f, b.data, sync)
}

// foldersOf are the folders that blobs lie in and those above them, the mesh's own first.
func foldersOf(blobs []blob) []string {
	if len(blobs) == 0 {
		return nil
	}
	dirs := map[string]bool{".": true, sealedDir: true}
	for _, b := range blobs {
		dirs[path.Dir(path.Join(sealedDir, b.name))] = true
	}
	return slices.Sorted(maps.Keys(dirs))
}

// write writes a file out and closes it.
func write(f file, b []byte, sync bool) error {
	_, err := f.Write(b)
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// replace puts a file in place as a whole, durably.
func (s *Store) replace(beside, name string, content []byte) error {
	f, err := s.disk.Rewrite(s.path(beside))
	if err != nil {
		return err
	}
	if err := write(f, content, true); err != nil {
		return err
	}
	if err := s.disk.Rename(s.path(beside), s.path(name)); err != nil {
		return err
	}
	return s.disk.SyncDir(s.path(path.Dir(name)))
}

// discard removes blobs and the folders that they leave empty, and then the journal.
func (s *Store) discard(names []string) error {
	dirs := map[string]bool{}
	for _, name := range names {
		if err := s.disk.Remove(s.path(path.Join(sealedDir, name))); err != nil {
			return err
		}
		dirs[path.Dir(path.Join(sealedDir, name))] = true
	}
	for dir := range dirs {
		left, err := s.disk.List(s.path(dir))
		if err != nil {
			return err
		}
		if len(left) == 0 {
			if err := s.disk.Remove(s.path(dir)); err != nil {
				return err
			}
			dir = path.Dir(dir)
		}
		// Before the journal goes: a blob that came back without it would be nobody's.
		if err := s.disk.SyncDir(s.path(dir)); err != nil {
			return err
		}
	}
	if err := s.disk.Remove(s.path(journalFile)); err != nil {
		return err
	}
	return s.disk.SyncDir(s.path(StateDir))
}

const journalHead = "meshc journal 1\n"

func (s *Store) writeJournal(add []blob, remove []string) error {
	var b bytes.Buffer
	b.WriteString(journalHead)
	for _, x := range add {
		b.WriteString(x.name + "\n")
	}
	for _, name := range remove {
		b.WriteString(name + "\n")
	}
	return s.replace(nextJournal, journalFile, b.Bytes())
}

// readJournal gives the blobs that an unfinished transaction named; none where there is no journal.
func (s *Store) readJournal() ([]string, error) {
	b, err := s.disk.ReadFile(s.path(journalFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	body, ok := strings.CutPrefix(string(b), journalHead)
	if !ok {
		return nil, fmt.Errorf("%s is no journal of this meshc", s.path(journalFile))
	}
	var out []string
	for line := range strings.Lines(body) {
		name := strings.TrimSuffix(line, "\n")
		if !strings.HasSuffix(name, blobEnd) || path.Clean(name) != name || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "../") {
			return nil, fmt.Errorf("%s names %q, which is no sealed secret", s.path(journalFile), name)
		}
		out = append(out, name)
	}
	return out, nil
}

// recover finishes an interrupted transaction, forwards or backwards. Where the
// lock cannot be read, as in the middle of a merge, it waits for a later run.
func (s *Store) recover() error {
	pending, err := s.readJournal()
	if err != nil || pending == nil {
		return err
	}
	source, err := s.readLock()
	if err != nil {
		return err
	}
	named := map[string]bool{}
	if source != nil {
		lk, faults := lock.Read(lock.File, source)
		if faults.HasErrors() {
			return nil
		}
		for _, secret := range lk.Secrets {
			for _, e := range secret.Ends {
				named[e.Blob] = true
			}
		}
	}
	return s.discard(slices.DeleteFunc(pending, func(name string) bool { return named[name] }))
}
