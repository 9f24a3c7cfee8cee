package dist

import (
	"io/fs"
	"syscall"
	"time"
)

// changed is when a file was last changed in any way, which nobody can set back as
// they can its time; the zero time where that is not known.
func changed(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix())
	}
	return time.Time{}
}
