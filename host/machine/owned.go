package machine

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// manyOwned is how many files are looked at in search of one that belongs to somebody.
// Where there are more, it counts as found.
const manyOwned = 100_000

// Nobody is whom what is not there belongs to.
const Nobody = -1

// OwnerOf is the number of the user that a path belongs to, -1 where there is nothing.
func (r *Root) OwnerOf(p string) (int, error) {
	if p == "" {
		return Nobody, nil
	}
	at, err := r.target(p)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return Nobody, nil
	}
	if err != nil {
		return Nobody, err
	}
	defer at.close()
	st, err := at.stat()
	if errors.Is(err, fs.ErrNotExist) {
		return Nobody, nil
	}
	return int(st.Uid), err
}

// Owns says whether a user owns a folder, or anything below it on the same file system.
// Whom a path belongs to is as ahead says, where that knows it: nobody owns what is gone.
func (r *Root) Owns(dir string, uid int, ahead func(p string) (owner int, known bool)) (bool, error) {
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
	return owns(at, st, uid, st.Dev, &left, ahead)
}

func owns(at place, st unix.Stat_t, uid int, device uint64, left *int, ahead func(string) (int, bool)) (bool, error) {
	*left--
	owner, known := ahead(at.path)
	if !known {
		owner = int(st.Uid)
	}
	if owner == uid || *left < 0 {
		return true, nil
	}
	if owner == Nobody {
		return false, nil
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
	names, err := f.Readdirnames(*left + 1) // one more than are looked at
	if err != nil && !errors.Is(err, io.EOF) {
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
		if owns, err := owns(in, st, uid, device, left, ahead); err != nil || owns {
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
