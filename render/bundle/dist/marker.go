package dist

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"meshc.dev/render/bundle"
)

const (
	markerName    = ".meshc"
	markerFormat  = 1
	archiveSuffix = ".tar"
	// maxOwn is larger than any marker or bundle.json.
	maxOwn = 64 << 20
)

// marker is .meshc: that the folder is ours, and which names in it are. A node's
// folder with a declaration says itself, in bundle.json, which files are ours;
// those of others are listed here, so that a change of content never changes the
// marker.
type marker struct {
	Format int                 `json:"format"`
	Mesh   string              `json:"mesh"`
	Wrote  map[string][]string `json:"wrote"`
}

// readMarker reads the marker of an output folder; the zero marker where there is
// nothing yet. A folder with something in it and no marker is somebody else's.
func readMarker(dir string) (marker, error) {
	var m marker
	name := filepath.Join(dir, markerName)
	if info, err := os.Lstat(name); err == nil && (!info.Mode().IsRegular() || info.Size() > maxOwn) {
		return m, damagedMarker(dir, errors.New("it is no plain file, or larger than any"))
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return m, checkEmpty(dir)
	}
	if err != nil {
		return m, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&m); err != nil {
		return marker{}, damagedMarker(dir, err)
	}
	if m.Format != markerFormat {
		return marker{}, otherMarker(dir, m.Format)
	}
	for name := range m.Wrote {
		if filepath.Base(name) != name || name == "." || name == ".." || name == markerName {
			return marker{}, damagedMarker(dir, errors.New("it names "+name))
		}
	}
	return m, nil
}

func checkEmpty(dir string) error {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.Readdirnames(1)
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return err
	}
	return foreignFolder(dir, names[0])
}

func (m marker) encode() []byte {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		panic(err) // only strings and numbers
	}
	return append(data, '\n')
}

// owned are the files of one name that meshc wrote, relative to it; "." is the
// name itself where it is an archive or the marker.
type owned struct {
	files map[string]bool
	// guessed is true where bundle.json cannot be read any more. Then what the next
	// output has as well counts as ours, and the rest as somebody else's.
	guessed bool
}

// manifestOf reads bundle.json of a node's folder; the zero Manifest where there
// is none that can be read.
func manifestOf(nodeDir string) (bundle.Manifest, []byte, fs.FileInfo) {
	var m bundle.Manifest
	data, info := readManifest(nodeDir)
	if data == nil || json.Unmarshal(data, &m) != nil {
		return bundle.Manifest{}, nil, nil
	}
	return m, data, info
}

func readManifest(nodeDir string) ([]byte, fs.FileInfo) {
	name := filepath.Join(nodeDir, bundle.ManifestName)
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxOwn {
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, nil
	}
	return data, info
}

// ownedIn says which files below root/name are ours, by the marker's list or else
// by the node's own bundle.json.
func ownedIn(root, name string, lists []string) owned {
	switch {
	case filepath.Ext(name) == archiveSuffix || name == markerName:
		return owned{files: map[string]bool{".": true}}
	case len(lists) > 0:
		return ownedBy(lists, bundle.Manifest{}, nil)
	}
	m, raw, _ := manifestOf(filepath.Join(root, name))
	return ownedBy(nil, m, raw)
}

// ownedBy is ownedIn of a node's folder whose bundle.json was read.
func ownedBy(lists []string, m bundle.Manifest, raw []byte) owned {
	o := owned{files: make(map[string]bool, len(lists)+len(m.Files)+4)}
	for _, f := range lists {
		o.files[f] = true
	}
	if len(lists) > 0 {
		return o
	}
	o.guessed = raw == nil
	for f := range m.Files {
		o.files[f] = true
	}
	for _, f := range []string{bundle.DeclarationName, bundle.ManifestName, bundle.ProvenanceName, bundle.SignatureName} {
		o.files[f] = true
	}
	return o
}
