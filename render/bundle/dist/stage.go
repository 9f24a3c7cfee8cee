package dist

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"meshc.dev/render/bundle"
)

// staged is what became of one node.
type staged struct {
	name    string   // in the folder: NODE or NODE.tar
	lists   []string // files that the marker has to list
	same    bool     // as the folder has it already, but for provenance
	foreign []string // files that were kept, from the output folder on
	// provenance is the next provenance.json of a bundle in which only that changes;
	// nothing of it is staged yet.
	provenance []byte
}

// stageNode puts a node's next output into the stage, unless the folder has it.
func (w *writer) stageNode(node string, b *bundle.Bundle) (staged, error) {
	s := staged{name: node, lists: []string{}}
	if w.opts.Archive {
		s.name += archiveSuffix
	}
	lists, ours := w.found.Wrote[s.name]
	if _, err := os.Lstat(filepath.Join(w.dir, s.name)); err == nil && !ours {
		return s, inTheWay(filepath.Join(w.dir, s.name))
	}
	if w.opts.Archive {
		return w.stageArchive(s, b)
	}
	n := newNodeOutput(w, s.name, b, lists)
	if b.Declaration == nil {
		for _, e := range n.contents {
			s.lists = append(s.lists, e.Name)
		}
	}
	if ours && slices.Equal(s.lists, lists) {
		if s.same, s.provenance = n.same(); s.same {
			return s, nil
		}
	}
	foreign, err := n.stage()
	s.foreign = foreign
	return s, err
}

func (w *writer) stageArchive(s staged, b *bundle.Bundle) (staged, error) {
	var buf bytes.Buffer
	if _, err := b.WriteTo(&buf); err != nil {
		return s, err
	}
	e := bundle.Entry{Name: ".", Data: buf.Bytes()}
	if hasContent(filepath.Join(w.dir, s.name), e) {
		s.same = true
		return s, nil
	}
	if err := w.makeStage(); err != nil {
		return s, err
	}
	return s, writeFile(filepath.Join(w.stage, s.name), e.Data)
}

// nodeOutput is one node's folder: as it is, and as it is to be.
type nodeOutput struct {
	w        *writer
	name     string
	from, to string
	contents []bundle.Entry
	owned    owned
	// manifest is the bundle.json of the folder as it is, and written its file: it comes
	// after all others, so that one which changed later was touched by somebody else.
	manifest bundle.Manifest
	raw      []byte
	written  fs.FileInfo
	made     map[string]bool // folders in the stage
	plain    map[string]bool // folders as they are: whether they are ones, and not links to some
}

func newNodeOutput(w *writer, name string, b *bundle.Bundle, lists []string) *nodeOutput {
	n := &nodeOutput{
		w: w, name: name, contents: b.Contents(), made: make(map[string]bool), plain: make(map[string]bool),
		from: filepath.Join(w.dir, name), to: filepath.Join(w.stage, name),
	}
	if w.found.Wrote == nil {
		return n
	}
	if raw, written := readManifest(n.from); b.Declaration != nil && bundle.SumOf(raw) == b.Digest() {
		n.manifest, n.raw, n.written = b.Manifest, raw, written // most are, and reading it as JSON takes long
	} else {
		n.manifest, n.raw, n.written = manifestOf(n.from)
	}
	n.owned = ownedBy(lists, n.manifest, n.raw)
	if n.owned.guessed {
		for _, e := range n.contents {
			n.owned.files[e.Name] = true
		}
	}
	return n
}

// same says whether the folder has the files already, byte for byte, and gives the
// next provenance.json where that is the one which differs. A folder whose
// bundle.json has the wanted bytes can differ in what that does not cover, or
// because somebody changed a file; the latter shows in its size or in when it was
// last changed, which unlike a file's time nobody can set.
func (n *nodeOutput) same() (same bool, provenance []byte) {
	names := make(map[string]bool, len(n.contents))
	for _, e := range n.contents {
		names[e.Name] = true
		if n.has(e) {
			continue
		}
		if e.Name != bundle.ProvenanceName || !isFile(filepath.Join(n.from, e.Name)) {
			return false, nil
		}
		provenance = e.Data
	}
	for name := range n.owned.files {
		if !names[name] && exists(filepath.Join(n.from, name)) {
			return false, nil
		}
	}
	return true, provenance
}

// has says whether the folder has a file with these bytes.
func (n *nodeOutput) has(e bundle.Entry) bool {
	if e.Name == bundle.ManifestName {
		return bytes.Equal(n.raw, e.Data)
	}
	name := filepath.Join(n.from, filepath.FromSlash(e.Name))
	if !n.isPlain(filepath.Dir(name)) {
		return false
	}
	if sum, ok := n.manifest.Files[e.Name]; ok && n.written != nil {
		if sum != e.Sum {
			return false
		}
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(e.Data)) {
			return false
		}
		if at, all := changed(info), changed(n.written); !at.IsZero() && !at.After(all) {
			return true
		}
	}
	return hasContent(name, e)
}

// isPlain says whether no folder between the node's and this one is a link.
func (n *nodeOutput) isPlain(dir string) bool {
	if dir == n.from {
		return true
	}
	plain, known := n.plain[dir]
	if !known {
		info, err := os.Lstat(dir)
		plain = err == nil && info.IsDir() && n.isPlain(filepath.Dir(dir))
		n.plain[dir] = plain
	}
	return plain
}

// stage makes the node's folder to be: what did not change is the same file, linked;
// bundle.json comes last. It gives the files of others that it kept.
func (n *nodeOutput) stage() (foreign []string, err error) {
	if err := n.w.makeStage(); err != nil {
		return nil, err
	}
	if err := os.Mkdir(n.to, 0o755); err != nil {
		return nil, notWritable(n.w.dir, err)
	}
	var manifest *bundle.Entry
	for i, e := range n.contents {
		if e.Name == bundle.ManifestName {
			manifest = &n.contents[i]
			continue
		}
		if err := n.put(e); err != nil {
			return nil, err
		}
	}
	if foreign, err = keepForeign(n.from, n.to, n.name, n.owned); err != nil {
		return nil, err
	}
	if manifest != nil {
		err = n.put(*manifest)
	}
	step("staged " + n.name)
	return foreign, err
}

func (n *nodeOutput) put(e bundle.Entry) error {
	to := filepath.Join(n.to, filepath.FromSlash(e.Name))
	if err := n.mkdir(filepath.Dir(to)); err != nil {
		return notWritable(n.w.dir, err)
	}
	if n.w.found.Wrote != nil && n.has(e) {
		if os.Link(filepath.Join(n.from, filepath.FromSlash(e.Name)), to) == nil {
			return nil
		}
		// A file system without links, or with too many of them, gets a copy.
	}
	step("write " + e.Name)
	if err := writeFile(to, e.Data); err != nil {
		return notWritable(n.w.dir, err)
	}
	return nil
}

func (n *nodeOutput) mkdir(dir string) error {
	if n.made[dir] || dir == n.to {
		return nil
	}
	if err := n.mkdir(filepath.Dir(dir)); err != nil {
		return err
	}
	n.made[dir] = true
	if err := syscall.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return &fs.PathError{Op: "mkdir", Path: dir, Err: err}
	}
	return nil
}

func isFile(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// hasContent compares a file's bytes.
func hasContent(name string, e bundle.Entry) bool {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(e.Data)) {
		return false
	}
	data, err := os.ReadFile(name)
	return err == nil && bytes.Equal(data, e.Data)
}

// writeFile is os.WriteFile with the system calls that a plain file needs, and no
// others: of those there are a hundred thousand.
func writeFile(name string, data []byte) error {
	fd, err := syscall.Open(name, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL|syscall.O_CLOEXEC, 0o644)
	if err != nil {
		return &fs.PathError{Op: "create", Path: name, Err: err}
	}
	for len(data) > 0 {
		n, err := syscall.Write(fd, data)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			syscall.Close(fd)
			return &fs.PathError{Op: "write", Path: name, Err: err}
		}
		data = data[n:]
	}
	if err := syscall.Close(fd); err != nil {
		return &fs.PathError{Op: "close", Path: name, Err: err}
	}
	return nil
}

// step is where a test ends the process.
var step = func(string) {}
