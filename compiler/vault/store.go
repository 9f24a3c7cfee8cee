package vault

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"meshc.dev/compiler/lock"
)

// The files of a mesh that are the store's. State is for one machine and is in no
// git: it holds the mark of who is at work, the journal, and the lock being written.
const (
	sealedDir   = "sealed"
	StateDir    = ".meshc" // of this machine alone
	busyFile    = StateDir + "/busy"
	journalFile = StateDir + "/journal"
	nextLock    = StateDir + "/lock"
	nextJournal = StateDir + "/journal.new"
	ignoreFile  = StateDir + "/.gitignore"
	nextIgnore  = StateDir + "/.gitignore.new"
)

// Store is the lock and the sealed blobs of a mesh's folder.
type Store struct {
	dir  string
	disk disk
}

// Open gives the store of a mesh's folder. It touches nothing.
func Open(dir string) *Store { return &Store{dir, osDisk{dir}} }

func (s *Store) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// View is what stood in the folder at one moment.
type View struct {
	// Lock is the file mesh.lock.hcl; nil where there is none.
	Lock []byte
	// blobs are the age files below sealed/, pending those that an unfinished
	// transaction left there, which count as neither there nor foreign.
	blobs, pending map[string]bool
	store          *Store
}

// Read looks at the folder without waiting for anybody and without changing
// anything. Whoever means to commit asks Begin instead.
func (s *Store) Read() (*View, error) {
	for range 10 {
		v, err := s.look()
		if err != nil {
			return nil, err
		}
		// Blobs are named by their content and the lock is replaced as a whole: as
		// long as the lock is the same, so is everything that it names.
		again, err := s.readLock()
		if err != nil {
			return nil, err
		}
		if bytes.Equal(again, v.Lock) {
			return v, nil
		}
	}
	return nil, fmt.Errorf("%s changes all the time", s.path(lock.File))
}

func (s *Store) look() (*View, error) {
	v := &View{store: s, blobs: map[string]bool{}, pending: map[string]bool{}}
	var err error
	if v.Lock, err = s.readLock(); err != nil {
		return nil, err
	}
	// The journal is read on both sides of the listing: what another process is about
	// to add or to take away while we look is pending, whichever comes first.
	if err := s.pending(v); err != nil {
		return nil, err
	}
	if err := s.listAll(v.blobs); err != nil {
		return nil, fmt.Errorf("list the sealed secrets: %w", err)
	}
	return v, s.pending(v)
}

func (s *Store) pending(v *View) error {
	names, err := s.readJournal()
	for _, name := range names {
		v.pending[name] = true
	}
	return err
}

// readLock gives nil where there is none.
func (s *Store) readLock() ([]byte, error) {
	b, err := s.disk.ReadFile(s.path(lock.File))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// listAll collects the age files below sealed/; of others, such as a README, the store knows nothing.
func (s *Store) listAll(into map[string]bool) error {
	folders, files, err := s.list("")
	if err != nil {
		return err
	}
	found := make([][]string, len(folders))
	err = parallel(len(folders), func(i int) error { // a folder for each machine
		for queue := folders[i : i+1 : i+1]; len(queue) > 0; {
			deeper, files, err := s.list(queue[0])
			if err != nil {
				return err
			}
			queue = append(queue[1:], deeper...)
			found[i] = append(found[i], files...)
		}
		return nil
	})
	for _, name := range slices.Concat(append(found, files)...) {
		into[name] = true
	}
	return err
}

func (s *Store) list(below string) (folders, files []string, err error) {
	names, err := s.disk.List(s.path(path.Join(sealedDir, below)))
	for _, name := range names {
		if folder, ok := strings.CutSuffix(name, "/"); ok {
			folders = append(folders, path.Join(below, folder))
		} else if strings.HasSuffix(name, blobEnd) {
			files = append(files, path.Join(below, name))
		}
	}
	return folders, files, err
}

// load reads blobs by their names below sealed/. One that is not there has no entry.
func (v *View) load(names []string) (map[string][]byte, error) {
	contents := make([][]byte, len(names))
	err := parallel(len(names), func(i int) error {
		b, err := v.store.disk.ReadFile(v.store.path(path.Join(sealedDir, names[i])))
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		contents[i] = b
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make(map[string][]byte, len(names))
	for i, b := range contents {
		if b != nil {
			out[names[i]] = b
		}
	}
	if len(out) < len(names) {
		now, err := v.store.readLock()
		if err == nil && !bytes.Equal(now, v.Lock) {
			err = ErrChanged
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ErrChanged says that another process changed the folder after Read looked at it,
// and took away what Read had seen: everything has to be looked at again.
var ErrChanged = errors.New("another meshc changed the lock meanwhile; run it again")

// parallel calls f for 0 to n-1 on all processors, and gives the first error by number.
func parallel(n int, f func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || failed.Load() {
					return
				}
				if errs[i] = f(i); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}
