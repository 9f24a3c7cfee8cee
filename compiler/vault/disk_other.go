//go:build !linux

package vault

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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

func readFile(path string) ([]byte, error) { return os.ReadFile(path) }
