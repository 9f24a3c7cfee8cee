package load

import (
	"io/fs"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/format"

	"meshc.dev/catalog"
	"meshc.dev/compiler/cuedata"
	"meshc.dev/compiler/diag"
)

// KeyAt is where a field's name stands, and ValueAt where its value does; the
// zero Pos where no person wrote it.
func KeyAt(v cue.Value) diag.Pos { return keyAt(v) }

// ValueAt is where a value stands.
func ValueAt(v cue.Value) diag.Pos { return valueAt(v) }

// Translate says what CUE found wrong in words of this language; one diagnostic for all of err.
func Translate(err error, subject string, path []string, at diag.Pos) diag.List {
	if err == nil {
		return nil
	}
	return translate(errors.Errors(err), subject, path, at)
}

// Rounded says that a number was computed with fewer digits than it has, where that is what an
// error of package cuedata is about; otherwise it is empty.
func Rounded(err error) diag.List {
	var r *cuedata.Rounded
	if !errors.As(err, &r) {
		return nil
	}
	return diag.List{roundedNumber(valueAt(r.Value), last(strings.Split(r.Path.String(), ".")))}
}

// Said is what error("…") in a module says of what it was given, or empty.
func Said(err error) string {
	if err == nil {
		return ""
	}
	return customMessage(errors.Errors(err))
}

// KindNames says a kind in words: "a string or null".
func KindNames(k cue.Kind) string { return kindNames(k) }

// Format writes a value as CUE, for messages.
func Format(v cue.Value) string {
	b, err := format.Node(v.Syntax(cue.Final()))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// BuiltinSource is the text of a file of the catalogue, as positions name it.
func BuiltinSource(file string) ([]byte, error) {
	return catalog.Files.ReadFile(strings.TrimPrefix(file, "catalog/"))
}

// Files are the CUE files that take part in a mesh, by path; Load says what is wrong with them.
func Files(fsys fs.FS) map[string][]byte {
	t, _ := readTree(fsys)
	return t
}

// Modules are those built in and those of a folder, whether or not it is a mesh.
func Modules(fsys fs.FS) map[string]*Module {
	t, _ := readTree(fsys)
	return modules(t, cuecontext.New(), nil)
}
