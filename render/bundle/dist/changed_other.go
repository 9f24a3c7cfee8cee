//go:build !linux

package dist

import (
	"io/fs"
	"time"
)

// changed is not known here, so that every file is compared byte for byte.
func changed(fs.FileInfo) time.Time { return time.Time{} }
