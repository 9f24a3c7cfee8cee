package vault

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"meshc.dev/compiler/folder"
)

// disk is everything that the store does to files. It is an interface so that
// tests can stop at each of its calls, and lose what was not yet synced.
type disk interface {
	ReadFile(path string) ([]byte, error)
	// List gives the names in a folder, those of folders with a slash behind; none
	// where there is no such folder.
	List(path string) ([]string, error)
	// Mkdir makes a folder and those above it; one that is there already is fine.
	Mkdir(path string) error
	// Create makes a new file, and fails where there is one.
	Create(path string) (file, error)
	// Rewrite makes a new file in place of one that may be there.
	Rewrite(path string) (file, error)
	Rename(from, to string) error
	// Remove takes a file or an empty folder away; one that is gone already is fine.
	Remove(path string) error
	// SyncDir makes the names in a folder durable, and has nothing to do where it
	// is gone; SyncAll makes everything durable that is on the same file system.
	SyncDir(path string) error
	SyncAll(path string) error
}

type file interface {
	io.WriteCloser
	Sync() error
}

// osDisk is the disk below a mesh's folder. Of what is the store's nothing may be a link:
// a repository can hold one that leads anywhere.
type osDisk struct{ dir string }

// plain refuses a file of the store that is none, or that a link leads to; folders does
// so of the folder that a path lies in, and of those above.
func (d osDisk) plain(path string) error {
	return d.below(path, folder.Plain)
}

func (d osDisk) folders(path string) error {
	return d.below(filepath.Dir(path), folder.Folders)
}

func (d osDisk) below(path string, holds func(dir, name string) error) error {
	if d.dir == "" {
		return nil
	}
	name, err := filepath.Rel(d.dir, path)
	if err != nil {
		return err
	}
	return holds(d.dir, name)
}

func tooLarge(path string) error {
	return fmt.Errorf("%s has more than %d MB, which is more than any lock or sealed secret", path, folder.MaxFile>>20)
}

func (d osDisk) ReadFile(path string) ([]byte, error) {
	if err := d.plain(path); err != nil {
		return nil, err
	}
	return readFile(path)
}

func (d osDisk) List(path string) ([]string, error) {
	if err := d.below(path, folder.Folders); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
		if e.IsDir() {
			names[i] += "/"
		}
	}
	return names, nil
}

func (d osDisk) Mkdir(path string) error {
	if err := d.below(path, folder.Folders); err != nil {
		return err
	}
	return os.MkdirAll(path, 0o755)
}

func (d osDisk) Create(path string) (file, error) {
	if err := d.folders(path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o644)
}

func (d osDisk) Rewrite(path string) (file, error) {
	// A new file in place of whatever has the name: nothing is written through a link.
	if err := d.Remove(path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o644)
}

func (d osDisk) Rename(from, to string) error {
	if err := errors.Join(d.plain(from), d.folders(to)); err != nil {
		return err
	}
	return os.Rename(from, to)
}

func (d osDisk) Remove(path string) error {
	if err := d.folders(path); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

func (osDisk) SyncDir(path string) error {
	d, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func (osDisk) SyncAll(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return syncAll(d)
}
