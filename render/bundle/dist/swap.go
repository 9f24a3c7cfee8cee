package dist

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// asideSuffix marks what exchangeInTwo has moved aside.
const asideSuffix = ".meshc-aside"

// exchangeInTwo is for systems that cannot let two names change places at once:
// for a moment b is not there. restore puts it back if the process ends then.
func exchangeInTwo(a, b string) error {
	aside := asideName(b)
	if err := os.Rename(b, aside); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return errors.Join(err, os.Rename(aside, b))
	}
	return os.Rename(aside, a)
}

func asideName(name string) string {
	return filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+asideSuffix)
}

// restore finishes an exchangeInTwo that was cut short, of the output folder or of a
// node's: where the name is free, what was moved aside is still the output.
func restore(dir string) error {
	names := []string{asideName(dir)}
	inside, err := filepath.Glob(filepath.Join(dir, ".*"+asideSuffix))
	if err != nil {
		return err
	}
	for _, aside := range append(names, inside...) {
		base := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(aside), "."), asideSuffix)
		name := filepath.Join(filepath.Dir(aside), base)
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			if err := os.Rename(aside, name); err != nil {
				return notReplaceable(dir, err)
			}
			continue
		}
		// Both are there: the exchange was made, and what is aside is the old output.
		old := beside(dir, "old")
		if name != dir {
			if err := os.MkdirAll(old, 0o755); err != nil {
				return err
			}
			old = filepath.Join(old, base)
		}
		if err := os.Rename(aside, old); err != nil {
			return notReplaceable(dir, err)
		}
	}
	return nil
}

// lock keeps a second meshc from writing beside the same folder. It is held on the
// folder above, so that nothing is left behind, and ends with the process.
func lock(parent string) (*os.File, error) {
	f, err := os.Open(parent)
	if err != nil {
		return nil, err
	}
	for range 300 {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		f.Close()
		return nil, busy(parent)
	case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS):
		return f, nil // a file system without locks; two builds at once are then for people to avoid
	case err != nil:
		f.Close()
		return nil, &fs.PathError{Op: "lock", Path: parent, Err: err}
	}
	return f, nil
}
