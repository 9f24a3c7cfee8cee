package bundle

import (
	"archive/tar"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// Bounds of a bundle that is read; one that says it is larger is refused before
// anything of that size is taken into memory.
const (
	MaxFile    = 16 << 20
	MaxTotal   = 64 << 20
	MaxEntries = 20_000
)

// Vouch says whether somebody vouches for a bundle: by the bytes of its provenance and
// those of the signature of it, none where there is none.
type Vouch func(provenance, signature []byte) error

func anybody([]byte, []byte) error { return nil }

// Open reads a bundle from a folder or from a tar, whichever lies at name.
func Open(name string) (*Bundle, error) {
	return OpenVouched(name, anybody)
}

// OpenVouched is Open of a bundle for which somebody has to vouch before anything of it
// is read as more than bytes.
func OpenVouched(name string, vouch Vouch) (*Bundle, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		root, err := os.OpenRoot(name)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		return read(root.FS(), vouch)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readTar(f, vouch)
}

func read(fsys fs.FS, vouch Vouch) (*Bundle, error) {
	l := loader{}
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return nil
		case !e.Type().IsRegular():
			return notRegular(name, kindOf(e.Type()))
		}
		f, err := fsys.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return notRegular(name, kindOf(info.Mode()))
		}
		return l.add(name, info.Size(), f)
	})
	if err != nil {
		return nil, err
	}
	return l.bundle(vouch)
}

// ReadTar takes a bundle from a tar and verifies it. Its files may lie in one
// folder, as WriteTo puts them, or at the top.
func ReadTar(r io.Reader) (*Bundle, error) {
	return readTar(r, anybody)
}

func readTar(r io.Reader, vouch Vouch) (*Bundle, error) {
	l := loader{}
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("not a tar that can be read: %w", err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(h.Name, "./"), "/")
		switch {
		case h.Typeflag == tar.TypeDir:
			continue
		case h.Typeflag != tar.TypeReg:
			return nil, notRegular(h.Name, kindOf(h.FileInfo().Mode()))
		case !fs.ValidPath(name):
			return nil, fmt.Errorf("%q leads out of the bundle", h.Name)
		}
		if err := l.add(name, h.Size, tr); err != nil {
			return nil, err
		}
	}
	if err := l.strip(); err != nil {
		return nil, err
	}
	return l.bundle(vouch)
}

// WriteTo writes the bundle as a tar, in a folder of the node's name. The same
// bundle gives the same bytes.
func (b *Bundle) WriteTo(w io.Writer) (int64, error) {
	counted := &counter{w: w}
	tw := tar.NewWriter(counted)
	for _, e := range b.Contents() {
		err := tw.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: b.Node + "/" + e.Name, Mode: 0o644, Size: int64(len(e.Data)),
			ModTime: time.Unix(0, 0),
		})
		if err == nil {
			_, err = tw.Write(e.Data)
		}
		if err != nil {
			return counted.n, fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	return counted.n, tw.Close()
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// loader takes files in within the bounds.
type loader struct {
	files []Entry
	names map[string]bool
	total int64
}

func (l *loader) add(name string, size int64, r io.Reader) error {
	if size > MaxFile {
		return tooLarge(name, size, MaxFile)
	}
	l.total += size
	if l.total > MaxTotal || len(l.files) >= MaxEntries {
		return tooMuch()
	}
	if l.names == nil {
		l.names = make(map[string]bool)
	}
	if l.names[name] {
		return fmt.Errorf("%q is there twice", name)
	}
	l.names[name] = true
	data, err := io.ReadAll(io.LimitReader(r, size+1))
	if err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	if int64(len(data)) != size {
		return fmt.Errorf("%q says that it has %d bytes and has others", name, size)
	}
	l.files = append(l.files, NewEntry(name, data))
	return nil
}

// strip takes the folder off that everything in a tar lies in.
func (l *loader) strip() error {
	prefix := ""
	for _, f := range l.files {
		if dir, base := path.Split(f.Name); base == ManifestName && strings.Count(dir, "/") <= 1 {
			prefix = dir
		}
	}
	for i, f := range l.files {
		name, ok := strings.CutPrefix(f.Name, prefix)
		if !ok {
			return fmt.Errorf("%q lies outside the bundle's folder %q", f.Name, prefix)
		}
		l.files[i].Name = name
	}
	return nil
}

// bundle puts together what was read, and verifies each file against the one
// that vouches for it: the signature for provenance.json, this for bundle.json, and that
// for all others. Nothing is parsed before it was verified.
func (l *loader) bundle(vouch Vouch) (*Bundle, error) {
	b := &Bundle{}
	others := make([]Entry, 0, len(l.files))
	for _, f := range l.files {
		switch f.Name {
		case ManifestName:
			b.manifest = f
		case ProvenanceName:
			b.provenance = f
		case SignatureName:
			b.Signature = f.Data
		default:
			others = append(others, f)
		}
	}
	if b.manifest.Name == "" {
		return nil, missingFile(ManifestName)
	}
	if b.provenance.Name == "" {
		return nil, missingFile(ProvenanceName)
	}
	if err := vouch(b.provenance.Data, b.Signature); err != nil {
		return nil, err
	}
	if err := decodeJSON(ProvenanceName, b.provenance.Data, &b.Provenance); err != nil {
		return nil, err
	}
	if b.Provenance.Bundle != b.manifest.Sum {
		return nil, wrongBundleSum(b.Provenance.Bundle, b.manifest.Sum)
	}
	if err := decodeJSON(ManifestName, b.manifest.Data, &b.Manifest); err != nil {
		return nil, err
	}
	if b.Manifest.Format < 1 || b.Manifest.Format > Format {
		return nil, fmt.Errorf("%s: %w", ManifestName, laterFormat(b.Manifest.Format, b.Provenance.Version))
	}
	if err := verify(b.Manifest, others); err != nil {
		return nil, err
	}
	if err := b.fill(others); err != nil {
		return nil, err
	}
	return b, nil
}

// verify holds files to the sums of the manifest: all of them and no others.
func verify(m Manifest, files []Entry) error {
	var errs []error
	have := make(map[string]bool, len(files))
	for _, f := range files {
		have[f.Name] = true
		want, ok := m.Files[f.Name]
		switch {
		case !ok:
			errs = append(errs, unlistedFile(f.Name))
		case want != f.Sum:
			errs = append(errs, wrongSum(f.Name, want, f.Sum))
		}
	}
	for name := range m.Files {
		if !have[name] {
			errs = append(errs, missingFile(name))
		}
	}
	// Maps have no order, and a reader of a message wants to see the same one twice.
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// fill reads the declaration and takes the entries in.
func (b *Bundle) fill(files []Entry) error {
	for _, f := range files {
		if f.Name == DeclarationName {
			b.declaration = f
			continue
		}
		b.Entries = append(b.Entries, f)
	}
	if b.declaration.Name == "" {
		return missingFile(DeclarationName)
	}
	b.Entries = sortedEntries(b.Entries)
	d, err := ParseDeclaration(b.declaration.Data)
	if err != nil {
		return err
	}
	if d.Mesh != b.Manifest.Mesh || d.Node != b.Manifest.Node {
		return differentMachine(DeclarationName, d.Mesh, d.Node, b.Manifest)
	}
	b.Mesh, b.Node, b.Declaration = d.Mesh, d.Node, d
	return b.checkEntries()
}

func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "no plain file"
}
