package machine

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Root is the top of a machine's file system. Paths on it are absolute and clean.
//
// A link on the way is followed as the machine itself would follow it, but only if
// root made it where nobody else could have (a link in a folder that others can
// write to could lead anywhere); any other is a PlantedError.
type Root struct {
	fd    int
	dir   string
	trust uint32 // whose links are followed, besides root's
}

// PlantedError is a link in a path that somebody without the right to could have put there.
type PlantedError struct{ Path, Link, Target string }

func (e *PlantedError) Error() string {
	return fmt.Sprintf("%s leads out of place: %s is a link to %s that somebody other than root could have made", e.Path, e.Link, e.Target)
}

// OpenRoot opens a folder as a machine's root.
func OpenRoot(dir string) (*Root, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	return &Root{fd: fd, dir: dir, trust: uint32(os.Geteuid())}, nil
}

// Close closes the root.
func (r *Root) Close() error { return unix.Close(r.fd) }

// Outside is a path of the machine as the process sees it.
func (r *Root) Outside(p string) string { return path.Join(r.dir, p) }

const maxLinks = 40

// place is where a path leads: a folder that was reached safely, and a name in it.
type place struct {
	fd   int
	base string
	path string // for messages
}

func (p place) close() { unix.Close(p.fd) }

func (p place) err(op string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: p.path, Err: err}
}

func (p place) stat() (unix.Stat_t, error) {
	var st unix.Stat_t
	err := unix.Fstatat(p.fd, p.base, &st, unix.AT_SYMLINK_NOFOLLOW)
	return st, p.err("look at", err)
}

// place finds the folder that a path lies in. The path's own last part is not
// followed, whatever it is.
func (r *Root) place(p string) (place, error) {
	return r.walk(p, false)
}

// target finds where a path leads, with links followed that may be.
func (r *Root) target(p string) (place, error) {
	return r.walk(p, true)
}

// walk goes down part by part, holding on to each folder, so that nothing that is
// renamed or relinked meanwhile leads it elsewhere.
func (r *Root) walk(p string, followLast bool) (place, error) {
	dirs := []int{}
	top := func() int {
		if len(dirs) == 0 {
			return r.fd
		}
		return dirs[len(dirs)-1]
	}
	pop := func() {
		if len(dirs) > 0 {
			unix.Close(dirs[len(dirs)-1])
			dirs = dirs[:len(dirs)-1]
		}
	}
	done := func(base string) (place, error) {
		if len(dirs) == 0 {
			fd, err := unix.FcntlInt(uintptr(r.fd), unix.F_DUPFD_CLOEXEC, 0)
			return place{fd, base, p}, pathError(p, err)
		}
		fd := top()
		for dirs = dirs[:len(dirs)-1]; len(dirs) > 0; {
			pop()
		}
		return place{fd, base, p}, nil
	}
	fail := func(err error) (place, error) {
		for len(dirs) > 0 {
			pop()
		}
		return place{}, err
	}
	rest := strings.Split(strings.Trim(p, "/"), "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			pop()
			continue
		}
		if len(rest) == 0 && !followLast {
			return done(part)
		}
		if len(rest) > 0 { // nearly always a folder
			if fd, err := unix.Openat(top(), part, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err == nil {
				dirs = append(dirs, fd)
				continue
			}
		}
		var st unix.Stat_t
		err := unix.Fstatat(top(), part, &st, unix.AT_SYMLINK_NOFOLLOW)
		if len(rest) == 0 && (errors.Is(err, unix.ENOENT) || err == nil && st.Mode&unix.S_IFMT != unix.S_IFLNK) {
			return done(part)
		}
		if err != nil {
			return fail(pathError(p, err))
		}
		if st.Mode&unix.S_IFMT != unix.S_IFLNK {
			fd, err := unix.Openat(top(), part, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
			if err != nil {
				return fail(pathError(p, err))
			}
			dirs = append(dirs, fd)
			continue
		}
		to, err := readlink(top(), part)
		if err != nil {
			return fail(pathError(p, err))
		}
		if links++; links > maxLinks {
			return fail(pathError(p, unix.ELOOP))
		}
		if !r.trusts(st, top()) {
			return fail(&PlantedError{p, part, to})
		}
		if strings.HasPrefix(to, "/") {
			for len(dirs) > 0 {
				pop()
			}
		}
		rest = append(strings.Split(strings.Trim(to, "/"), "/"), rest...)
	}
	return done(".")
}

// placeName names where a path leads, by the folder that is reached and not by the way
// there.
func (r *Root) placeName(p string, followLast bool) (string, error) {
	at, err := r.walk(p, followLast)
	if errors.Is(err, fs.ErrNotExist) && p != "/" {
		above, err := r.placeName(path.Dir(p), true)
		return above + "/" + path.Base(p), err
	}
	if err != nil {
		return "", err
	}
	defer at.close()
	var st unix.Stat_t
	if err := unix.Fstat(at.fd, &st); err != nil {
		return "", at.err("look at", err)
	}
	return fmt.Sprintf("%d:%d/%s", st.Dev, st.Ino, at.base), nil
}

// trusts says whether a link was made by root in a folder where only root makes any.
func (r *Root) trusts(link unix.Stat_t, dir int) bool {
	var st unix.Stat_t
	if err := unix.Fstat(dir, &st); err != nil {
		return false
	}
	mine := func(uid uint32) bool { return uid == 0 || uid == r.trust }
	return mine(link.Uid) && mine(st.Uid) && st.Mode&0o022 == 0
}

func readlink(dir int, name string) (string, error) {
	buf := make([]byte, 4096)
	n, err := unix.Readlinkat(dir, name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

func pathError(p string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: "reach", Path: p, Err: err}
}

// maxRead bounds what is read whole: what dpkg has to say of every package is some 10 MB.
const maxRead = 256 << 20

// ReadFile reads a whole file; a link at its end is followed if it may be.
func (r *Root) ReadFile(p string) ([]byte, error) {
	at, err := r.target(p)
	if err != nil {
		return nil, err
	}
	defer at.close()
	f, err := at.open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > maxRead {
		return nil, at.err("read", cmp.Or(unwrapPath(err), tooLong(maxRead)))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxRead+1))
	if err == nil && len(data) > maxRead {
		return nil, at.err("read", tooLong(maxRead))
	}
	return data, err
}

// open opens a plain file for reading, and nothing that would block or act.
func (p place) open() (*os.File, error) {
	fd, err := unix.Openat(p.fd, p.base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, p.err("open", err)
	}
	f := os.NewFile(uintptr(fd), p.path)
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = p.err("open", fmt.Errorf("it is no plain file"))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Owner of a file that is written: an user's and a group's number.
type Owner struct{ UID, GID int }

// WriteFile replaces a file by another, whole, on disk before it is in place, and
// with its owner and mode from the beginning.
func (r *Root) WriteFile(p string, content []byte, o Owner, mode uint32) error {
	at, err := r.place(p)
	if err != nil {
		return err
	}
	defer at.close()
	if err := at.stageFile(content, o, mode); err != nil {
		return err
	}
	return at.commit()
}

// MkdirAll makes a folder of root's, and those above it. Only ones it makes get the
// mode, and those above it 0755, whatever the umask is.
func (r *Root) MkdirAll(p string, mode uint32) error {
	if p == "/" {
		return nil
	}
	at, err := r.target(p)
	if errors.Is(err, fs.ErrNotExist) {
		if err := r.MkdirAll(path.Dir(p), 0o755); err != nil {
			return err
		}
		at, err = r.target(p)
	}
	if err != nil {
		return err
	}
	defer at.close()
	if at.base == "." {
		return nil
	}
	err = unix.Mkdirat(at.fd, at.base, mode)
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	if err != nil {
		return at.err("make", err)
	}
	fd, err := unix.Openat(at.fd, at.base, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return at.err("open", err)
	}
	defer unix.Close(fd)
	return at.err("change", unix.Fchmod(fd, mode))
}

// Remove removes a file that need not be there.
func (r *Root) Remove(p string) error {
	at, err := r.place(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer at.close()
	if err := unix.Unlinkat(at.fd, at.base, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return at.err("remove", err)
	}
	return nil
}

// ReadDir names what lies in a folder; none where that is not there.
func (r *Root) ReadDir(p string) ([]string, error) {
	at, err := r.target(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer at.close()
	fd, err := unix.Openat(at.fd, at.base, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, at.err("list", err)
	}
	f := os.NewFile(uintptr(fd), p)
	defer f.Close()
	return f.Readdirnames(-1)
}
