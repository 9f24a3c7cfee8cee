package vault

import (
	"io"
	"os"
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
	// Rewrite opens a file for writing from its beginning.
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

type osDisk struct{}

func (osDisk) ReadFile(path string) ([]byte, error) { return readFile(path) }

func (osDisk) List(path string) ([]string, error) {
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

func (osDisk) Mkdir(path string) error { return os.MkdirAll(path, 0o755) }

func (osDisk) Create(path string) (file, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

func (osDisk) Rewrite(path string) (file, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
}

func (osDisk) Rename(from, to string) error { return os.Rename(from, to) }

func (osDisk) Remove(path string) error {
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
