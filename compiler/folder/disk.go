package folder

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// disk is a work tree on disk. The kernel keeps every name below it (os.Root).
type disk struct{ root *os.Root }

func (d disk) Lstat(name string) (fs.FileInfo, error) { return d.root.Lstat(filepath.FromSlash(name)) }

func (d disk) Readlink(name string) (string, error) {
	return d.root.Readlink(filepath.FromSlash(name))
}

func (d disk) Open(name string) (io.ReadCloser, error) {
	// What became something else since it was looked at is neither followed nor waited for.
	f, err := d.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("it is %s, not a plain file", Kind(info.Mode()))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// maxEntries is more than any folder of a work tree has that a mesh lies in.
const maxEntries = 100_000

func (d disk) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := d.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(maxEntries + 1)
	if err == io.EOF {
		err = nil
	}
	if len(entries) > maxEntries {
		return nil, fmt.Errorf("has more than %d files", maxEntries)
	}
	return entries, err
}

// Plain refuses a file of our own that is not where it should be: one that is no plain
// file, or that a folder which is a link leads to. One that is not there is fine.
func Plain(dir, name string) error {
	if err := Folders(dir, filepath.Dir(name)); err != nil {
		return err
	}
	return is(filepath.Join(dir, name), fs.FileMode.IsRegular)
}

// Folders is Plain of a folder.
func Folders(dir, name string) error {
	at := dir
	for part := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		if part == "." {
			continue
		}
		at = filepath.Join(at, part)
		if err := is(at, fs.FileMode.IsDir); err != nil {
			return err
		}
	}
	return nil
}

func is(name string, wanted func(fs.FileMode) bool) error {
	info, err := os.Lstat(name)
	if err == nil && !wanted(info.Mode()) {
		return fmt.Errorf("%s is %s, which meshc did not put there", name, Kind(info.Mode()))
	}
	if os.IsNotExist(err) {
		return nil
	}
	return err
}
