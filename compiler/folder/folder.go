// Package folder is the one reader of what a mesh's folder holds. Whoever may write to a
// repository may put links, pipes and endless files into it, and what a compiler reads
// it also prints; so only plain files of the repository are read, each bounded in size.
//
// A link is followed where it stays within the work tree, leads to nothing hidden (such as
// .git, where CI keeps its tokens) and keeps the ending of the file's name. The same holds
// for a commit's tree, which package history brings as a Source. Enter at Open.
package folder

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// MaxFile is the size beyond which no file is read: more than any lock or sealed secret has.
const MaxFile = 64 << 20

// Source is a tree of files as it is, in which no link is followed. Names are those of
// fs.FS, and begin at the top of the work tree.
type Source interface {
	// Lstat is fs.ErrNotExist where there is nothing, or where a folder of the name is a link.
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	// Open opens a plain file.
	Open(name string) (io.ReadCloser, error)
	ReadDir(name string) ([]fs.DirEntry, error)
}

// FS is a folder of a work tree. It implements fs.FS, fs.StatFS, fs.ReadFileFS and fs.ReadDirFS.
type FS struct {
	source Source
	prefix string // of the folder within the work tree, "." for its top
}

// New gives a folder of a tree.
func New(s Source, prefix string) *FS { return &FS{s, path.Clean(prefix)} }

// Open gives a folder on disk; links may lead as far as the work tree that it lies in, or
// within the folder where it lies in none.
func Open(dir string) (*FS, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, err
	}
	top := Top(dir)
	if top == "" {
		top = dir
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	prefix, err := filepath.Rel(top, dir)
	if err != nil {
		return nil, err
	}
	return New(disk{root}, filepath.ToSlash(prefix)), nil
}

// Top is the nearest folder, from this one up, that has a .git; empty where none has.
// The path has no links.
func Top(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
}

// Stat implements fs.StatFS. Of a link it tells what that leads to.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	_, info, err := f.resolve("stat", name)
	return info, err
}

// ReadFile implements fs.ReadFileFS, for plain files only.
func (f *FS) ReadFile(name string) ([]byte, error) {
	to, info, err := f.resolve("open", name)
	if err != nil {
		return nil, err
	}
	fail := func(err error) ([]byte, error) { return nil, &fs.PathError{Op: "read", Path: name, Err: err} }
	if !info.Mode().IsRegular() {
		return fail(fmt.Errorf("it is %s, not a plain file", Kind(info.Mode())))
	}
	if info.Size() > MaxFile {
		return fail(tooLarge(info.Size()))
	}
	r, err := f.source.Open(to)
	if err != nil {
		return fail(reason(err))
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err == nil && len(b) > MaxFile {
		err = tooLarge(int64(len(b)))
	}
	if err != nil {
		return fail(reason(err))
	}
	return b, nil
}

// ReadPlain is ReadFile of a file that no link may lead to: one that meshc replaces itself.
func (f *FS) ReadPlain(name string) ([]byte, error) {
	at := f.prefix
	for part := range strings.SplitSeq(name, "/") {
		at = path.Join(at, part)
		info, err := f.source.Lstat(at)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			err = errors.New("it is a symbolic link, not a plain file")
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: reason(err)}
		}
	}
	return f.ReadFile(name)
}

// ReadDir implements fs.ReadDirFS. Links are listed as links.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	to, info, err := f.resolve("open", name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("it is no folder")}
	}
	entries, err := f.source.ReadDir(to)
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: reason(err)}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// Open implements fs.FS.
func (f *FS) Open(name string) (fs.File, error) {
	info, err := f.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		entries, err := f.ReadDir(name)
		return &openDir{named{info, path.Base(name)}, entries}, err
	}
	b, err := f.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &openFile{named{info, path.Base(name)}, bytes.NewReader(b)}, nil
}

const maxLinks = 40

// resolve finds what a name stands for, links followed as far as they may be.
func (f *FS) resolve(op, name string) (string, fs.FileInfo, error) {
	fail := func(err error) (string, fs.FileInfo, error) {
		return "", nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	if !fs.ValidPath(name) {
		return fail(fs.ErrInvalid)
	}
	at, rest := ".", path.Join(f.prefix, name)
	followed := 0
	for {
		part, after, more := strings.Cut(rest, "/")
		next := path.Join(at, part)
		info, err := f.source.Lstat(next)
		if err != nil {
			if followed > 0 && errors.Is(err, fs.ErrNotExist) {
				return fail(dangling{})
			}
			return fail(reason(err))
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if !more {
				return next, info, nil
			}
			if at, rest = next, after; !info.IsDir() {
				return fail(fs.ErrNotExist)
			}
			continue
		}
		if followed++; followed > maxLinks {
			return fail(errors.New("it is a symbolic link that leads round in a circle"))
		}
		to, err := f.source.Readlink(next)
		if err != nil {
			return fail(reason(err))
		}
		target := path.Join(at, to)
		switch {
		case path.IsAbs(to), target == "..", strings.HasPrefix(target, "../"):
			return fail(errors.New("it is a symbolic link that leads out of the repository"))
		case isHidden(target):
			return fail(errors.New("it is a symbolic link to what is hidden"))
		case !more && path.Ext(target) != path.Ext(next) && path.Ext(next) != "":
			return fail(fmt.Errorf("it is a symbolic link to what is no %s file", path.Ext(next)))
		}
		at, rest = ".", path.Join(target, after)
	}
}

// isHidden says whether any part of a path begins with a dot.
func isHidden(name string) bool {
	return name != "." && slices.ContainsFunc(strings.Split(name, "/"), func(p string) bool { return strings.HasPrefix(p, ".") })
}

// dangling is a link into nowhere, which fs.ErrNotExist is too.
type dangling struct{}

func (dangling) Error() string        { return "no such file or directory" }
func (dangling) Is(target error) bool { return target == fs.ErrNotExist }

func tooLarge(size int64) error {
	return fmt.Errorf("it has %d MB, and %d MB are the most", size>>20, MaxFile>>20)
}

// reason is an error without the path, which the caller names.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Kind says what something is that is no plain file.
func Kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m.IsRegular():
		return "a plain file"
	}
	return "something else"
}

type named struct {
	fs.FileInfo
	name string
}

func (n named) Name() string { return n.name }

// ModTime is the same for every copy of a tree.
func (n named) ModTime() time.Time { return time.Time{} }

type openFile struct {
	named
	*bytes.Reader
}

func (f *openFile) Stat() (fs.FileInfo, error) { return sized{f.named, f.Reader.Size()}, nil }
func (f *openFile) Close() error               { return nil }
func (f *openFile) Size() int64                { return f.Reader.Size() }

// sized is a file whose size is known once it is read.
type sized struct {
	named
	size int64
}

func (s sized) Size() int64 { return s.size }

type openDir struct {
	named
	entries []fs.DirEntry
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.named, nil }
func (d *openDir) Close() error               { return nil }
func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: errors.New("is a folder")}
}

func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		out := d.entries
		d.entries = nil
		return out, nil
	}
	if len(d.entries) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.entries))
	out := d.entries[:n]
	d.entries = d.entries[n:]
	return out, nil
}
