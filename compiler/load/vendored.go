package load

import (
	"bytes"
	"io/fs"
	"path"
	"strings"

	"meshc.dev/compiler/diag"
	"meshc.dev/schema"
)

// VendoredBy begins each file of the copy of the schema that `meshc init` writes.
const VendoredBy = "// Written by `meshc init`; do not edit. The schema is built into meshc.\n\n"

// Vendored looks at the copy of the schema in a mesh, of which meshc reads nothing: editors and
// CUE's own tools do, so that one that is another's tells a person what does not hold.
func Vendored(fsys fs.FS) diag.List {
	dir := path.Join("cue.mod/pkg", schema.ImportPath)
	have, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil // a mesh needs none
	}
	ours, _ := fs.ReadDir(schema.Files, ".") // it is built in
	want := map[string][]byte{}
	for _, e := range ours {
		want[e.Name()], _ = fs.ReadFile(schema.Files, e.Name())
	}
	for _, e := range have {
		text, known := want[e.Name()]
		if !strings.HasSuffix(e.Name(), ".cue") {
			continue
		}
		b, err := fs.ReadFile(fsys, path.Join(dir, e.Name()))
		if !known || err != nil || !bytes.Equal(bytes.TrimPrefix(b, []byte(VendoredBy)), text) {
			return diag.List{otherSchema(path.Join(dir, e.Name()))}
		}
		delete(want, e.Name())
	}
	if len(want) > 0 {
		return diag.List{otherSchema(dir)}
	}
	return nil
}
