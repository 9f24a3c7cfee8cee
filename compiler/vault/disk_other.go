//go:build !linux

package vault

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"meshc.dev/compiler/folder"
)

// syncAll syncs each file and folder below f, where a system has no call for all.
func syncAll(f *os.File) error {
	return filepath.WalkDir(f.Name(), func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		x, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(x.Sync(), x.Close())
	})
}

func readFile(path string) ([]byte, error) {
	if info, err := os.Lstat(path); err == nil && info.Size() > folder.MaxFile {
		return nil, tooLarge(path)
	}
	return os.ReadFile(path)
}
