package history

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Tree is the mesh's folder as it was at a revision, read from git's objects. Links
// are followed as far as they stay within the repository; submodules are empty.
func (r *Repository) Tree(rev string) (fs.FS, error) {
	if strings.HasPrefix(rev, "-") {
		return nil, fmt.Errorf("%q is no revision", rev)
	}
	if _, err := r.git("rev-parse", "--verify", "--quiet", rev+"^{commit}"); err != nil {
		return nil, fmt.Errorf("git knows no revision %s", rev)
	}
	// The whole repository, since a link may lead out of the mesh's folder.
	out, err := r.git("-C", r.root(), "archive", "--format=tar", rev)
	if err != nil {
		return nil, err
	}
	t := &tree{files: map[string][]byte{}, links: map[string]string{}, dirs: map[string][]string{}}
	tr := tar.NewReader(bytes.NewReader(out))
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s from git: %w", rev, err)
		}
		name := strings.TrimSuffix(h.Name, "/")
		switch h.Typeflag {
		case tar.TypeReg:
			if !wanted(name) {
				continue
			}
			b, err := io.ReadAll(tr)
			if err != nil {
				return nil, fmt.Errorf("reading %s from git: %w", rev, err)
			}
			t.files[name] = b
		case tar.TypeSymlink:
			if path.IsAbs(h.Linkname) {
				continue
			}
			t.links[name] = path.Join(path.Dir(name), h.Linkname)
		default:
			continue
		}
		t.enter(name)
	}
	if r.prefix == "" {
		return t, nil
	}
	return fs.Sub(t, strings.TrimSuffix(r.prefix, "/"))
}

// root is the top of the repository's work tree.
func (r *Repository) root() string {
	out, err := r.git("rev-parse", "--show-toplevel")
	if err != nil {
		return r.dir
	}
	return strings.TrimSpace(string(out))
}

// wanted says whether a file can have to do with a mesh; blobs are never read here.
func wanted(name string) bool {
	return strings.HasSuffix(name, ".cue") || path.Base(name) == "mesh.lock.hcl"
}

// tree is a file system in memory.
type tree struct {
	files map[string][]byte
	links map[string]string
	dirs  map[string][]string // names in a folder
}

func (t *tree) enter(name string) {
	for name != "." {
		dir := path.Dir(name)
		if slices.Contains(t.dirs[dir], path.Base(name)) {
			return
		}
		t.dirs[dir] = append(t.dirs[dir], path.Base(name))
		name = dir
	}
}

// resolve follows links in a path; what leads nowhere, out of the tree or round in a circle is not there.
func (t *tree) resolve(name string) (string, bool) {
	for range 40 {
		at, again := ".", false
		for _, part := range strings.Split(name, "/") {
			at = path.Join(at, part)
			if to, ok := t.links[at]; ok {
				name, again = path.Join(to, strings.TrimPrefix(strings.TrimPrefix(name, at), "/")), true
				break
			}
		}
		if strings.HasPrefix(name, "../") {
			return "", false
		}
		if !again {
			return name, true
		}
	}
	return "", false
}

// Open implements fs.FS.
func (t *tree) Open(name string) (fs.File, error) {
	missing := &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	to, ok := t.resolve(name)
	if !ok {
		return nil, missing
	}
	if b, ok := t.files[to]; ok {
		return &openFile{entry{path.Base(name), int64(len(b)), false}, bytes.NewReader(b)}, nil
	}
	names, ok := t.dirs[to]
	if !ok && to != "." {
		return nil, missing
	}
	d := &openDir{entry: entry{path.Base(name), 0, true}}
	for _, n := range slices.Sorted(slices.Values(names)) {
		in, ok := t.resolve(path.Join(to, n))
		if !ok {
			continue
		}
		b, isFile := t.files[in]
		if _, isDir := t.dirs[in]; !isFile && !isDir {
			continue
		}
		d.entries = append(d.entries, entry{n, int64(len(b)), !isFile})
	}
	return d, nil
}

// entry is a file or folder of the tree.
type entry struct {
	name  string
	size  int64
	isDir bool
}

func (e entry) Name() string               { return e.name }
func (e entry) Size() int64                { return e.size }
func (e entry) IsDir() bool                { return e.isDir }
func (e entry) ModTime() time.Time         { return time.Time{} }
func (e entry) Sys() any                   { return nil }
func (e entry) Info() (fs.FileInfo, error) { return e, nil }
func (e entry) Type() fs.FileMode          { return e.Mode().Type() }
func (e entry) Mode() fs.FileMode {
	if e.isDir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

type openFile struct {
	entry
	*bytes.Reader
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.entry, nil }
func (f *openFile) Close() error               { return nil }
func (f *openFile) Size() int64                { return f.entry.size }

type openDir struct {
	entry
	entries []fs.DirEntry
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.entry, nil }
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
