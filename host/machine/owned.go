package machine

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// manyOwned is how many files are looked at in search of one that belongs to somebody.
// Where there are more, it counts as found.
const manyOwned = 100_000

// nobody is whom what is not there belongs to.
const nobody = -1

// OwnerOf is the number of the user that a path belongs to, -1 where there is nothing.
func (r *Root) OwnerOf(p string) (int, error) {
	if p == "" {
		return nobody, nil
	}
	at, err := r.target(p)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nobody, nil
	}
	if err != nil {
		return nobody, err
	}
	defer at.close()
	st, err := at.stat()
	if errors.Is(err, fs.ErrNotExist) {
		return nobody, nil
	}
	return int(st.Uid), err
}

// Owns says whether a user owns a folder, or anything below it on the same file system.
func (r *Root) Owns(dir string, uid int) (bool, error) {
	at, err := r.target(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer at.close()
	st, err := at.stat()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	left := manyOwned
	return owns(at, st, uid, st.Dev, &left)
}

func owns(at place, st unix.Stat_t, uid int, device uint64, left *int) (bool, error) {
	*left--
	if int(st.Uid) == uid || *left < 0 {
		return true, nil
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || st.Dev != device {
		return false, nil
	}
	fd, err := unix.Openat(at.fd, at.base, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, at.err("list", err)
	}
	f := os.NewFile(uintptr(fd), at.path)
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		in := place{int(f.Fd()), name, at.path + "/" + name}
		st, err := in.stat()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, err
		}
		if owns, err := owns(in, st, uid, device, left); err != nil || owns {
			return owns, err
		}
	}
	return false, nil
}

// OpenLock opens a file of root's own to be locked, and makes it where it is not there.
func (r *Root) OpenLock(p string) (*os.File, error) {
	at, err := r.place(p)
	if err != nil {
		return nil, err
	}
	defer at.close()
	fd, err := unix.Openat(at.fd, at.base, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, at.err("open", err)
	}
	return os.NewFile(uintptr(fd), p), nil
}
