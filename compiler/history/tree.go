package history

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"meshc.dev/compiler/folder"
)

// Tree is the mesh's folder as it was at a revision, read from git's objects as they are:
// no attribute of the tree and no replacement of an object changes them, and links are
// followed as in a folder on disk. Files are read when they are asked for, so that what has
// nothing to do with the mesh costs its name. Submodules are empty.
func (r *Repository) Tree(rev string) (*folder.FS, error) {
	if strings.HasPrefix(rev, "-") {
		return nil, fmt.Errorf("%q is no revision", rev)
	}
	id, err := r.git("rev-parse", "--verify", "--quiet", rev+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("git knows no revision %s", rev)
	}
	// The whole repository, since a link may lead out of the mesh's folder.
	out, err := r.git("ls-tree", "-r", "-z", "--full-tree", strings.TrimSpace(string(id)))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", rev, err)
	}
	t := &tree{repo: r, entries: map[string]entry{".": {name: ".", mode: fs.ModeDir | 0o755}}, dirs: map[string][]fs.DirEntry{}}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if line == "" {
			continue
		}
		if err := t.add(line); err != nil {
			return nil, fmt.Errorf("reading %s: %w", rev, err)
		}
	}
	return folder.New(t, path.Clean(r.prefix)), nil
}

// tree is what ls-tree says of a commit. It implements folder.Source.
type tree struct {
	repo    *Repository
	entries map[string]entry
	dirs    map[string][]fs.DirEntry
	mu      sync.Mutex
	objects *objects // git that gives contents; nil until something is read
}

// add takes in a line of ls-tree: mode, type and object, a tab, the path. It is not asked for
// sizes: a partial clone would fetch every object to tell them.
func (t *tree) add(line string) error {
	what, name, ok := strings.Cut(line, "\t")
	fields := strings.Fields(what)
	if !ok || len(fields) != 3 || !fs.ValidPath(name) {
		return fmt.Errorf("git ls-tree: cannot understand %q", line)
	}
	e := entry{name: path.Base(name), object: fields[2]}
	switch fields[0] {
	case "120000":
		e.mode = fs.ModeSymlink | 0o777
	case "160000":
		e.mode = fs.ModeDir | 0o755 // a submodule, which is another repository's
	default:
		e.mode = 0o644
	}
	for {
		if _, known := t.entries[name]; known {
			return nil
		}
		t.entries[name] = e
		dir := path.Dir(name)
		t.dirs[dir] = append(t.dirs[dir], fs.FileInfoToDirEntry(e))
		name, e = dir, entry{name: path.Base(dir), mode: fs.ModeDir | 0o755}
	}
}

func (t *tree) Lstat(name string) (fs.FileInfo, error) {
	e, ok := t.entries[name]
	if !ok {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
	}
	return e, nil
}

// maxLink is longer than any link that a system takes.
const maxLink = 4096

func (t *tree) Readlink(name string) (string, error) {
	b, err := t.read(name)
	if err == nil && len(b) > maxLink {
		err = errors.New("it is a symbolic link that is too long")
	}
	return string(b), err
}

func (t *tree) Open(name string) (io.ReadCloser, error) {
	b, err := t.read(name)
	return io.NopCloser(bytes.NewReader(b)), err
}

func (t *tree) ReadDir(name string) ([]fs.DirEntry, error) {
	return append([]fs.DirEntry(nil), t.dirs[name]...), nil
}

func (t *tree) read(name string) ([]byte, error) {
	e, ok := t.entries[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.objects == nil {
		o, err := t.repo.objects()
		if err != nil {
			return nil, err
		}
		t.objects = o
	}
	b, err := t.objects.blob(e.object)
	if err != nil {
		t.objects = nil // what comes next of it belongs to this
	}
	return b, err
}

// entry is a file, folder or link of the tree.
type entry struct {
	name, object string
	mode         fs.FileMode
}

func (e entry) Name() string       { return e.name }
func (e entry) Size() int64        { return 0 }
func (e entry) Mode() fs.FileMode  { return e.mode }
func (e entry) IsDir() bool        { return e.mode.IsDir() }
func (e entry) ModTime() time.Time { return time.Time{} }
func (e entry) Sys() any           { return nil }

// objects is a running git that is asked for one object after the other. It ends with its
// input, which ends with us.
type objects struct {
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *bytes.Buffer
	cmd    *exec.Cmd
}

func (r *Repository) objects() (*objects, error) {
	cmd := r.command("cat-file", "--batch")
	o := &objects{cmd: cmd, stderr: &bytes.Buffer{}}
	cmd.Stderr = o.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	o.in, o.out = in, bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	return o, nil
}

func (o *objects) blob(id string) ([]byte, error) {
	fail := func(err error) ([]byte, error) {
		o.in.Close()
		_ = o.cmd.Wait() // what it says is in stderr
		if msg := strings.TrimSpace(o.stderr.String()); msg != "" {
			return nil, fmt.Errorf("git cat-file: %s", msg)
		}
		return nil, fmt.Errorf("git cat-file: object %s: %w", id, err)
	}
	if _, err := io.WriteString(o.in, id+"\n"); err != nil {
		return fail(err)
	}
	head, err := o.out.ReadString('\n')
	if err != nil {
		return fail(err)
	}
	fields := strings.Fields(head)
	if len(fields) != 3 || fields[1] != "blob" {
		return fail(fmt.Errorf("is %s", strings.Join(fields[min(1, len(fields)):], " ")))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || size > folder.MaxFile {
		return fail(fmt.Errorf("has %s bytes", fields[2]))
	}
	b := make([]byte, size+1) // and the newline after it
	if _, err := io.ReadFull(o.out, b); err != nil {
		return fail(err)
	}
	return b[:size], nil
}
