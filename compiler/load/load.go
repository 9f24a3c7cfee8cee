// Package load reads a mesh and its modules: the CUE files of a folder, the schema
// and the catalogue that are built in, and nothing else; it cannot reach a network.
// It says everything that is wrong with what a person wrote, each fault once, and
// gives the mesh as Go data with the place of every value. What modules declare for
// an instance depends on its settings and is left to package evaluate. Enter at Load.
package load

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/errors"
	cueload "cuelang.org/go/cue/load"
	"cuelang.org/go/cue/parser"

	"github.com/Masterminds/semver/v3"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/work"
)

// Options for reading a mesh.
type Options struct {
	// Tags fill CUE's @tag attributes, as "key=value" each.
	Tags []string
	// Version of this compiler, held against the mesh's `meshc:`; empty for a development build, which any mesh accepts.
	Version string
	// Log is told what is being computed; it may be nil.
	Log *work.Log
}

// Load reads the mesh in a folder. The source is nil where nothing could be read
// of the mesh itself; otherwise it is as whole as the diagnostics allow.
func Load(fsys fs.FS, opts Options) (*Source, diag.List) {
	t, ds := readTree(fsys)
	src := &Source{Tree: t, Context: cuecontext.New()}
	rootFiles := t.under(".")
	if len(rootFiles) == 0 {
		if !ds.HasErrors() {
			ds = append(ds, noMesh())
		}
		return src, ds
	}
	faulty := syntaxFaults(t)
	for _, d := range leftOut(t, opts.Tags) {
		if d.Severity() == diag.Error { // what its folder lacks then is a consequence
			faulty = append(faulty, d)
		} else {
			ds = append(ds, d)
		}
	}
	ds = append(ds, faulty...)
	src.Modules = modules(t, src.Context, opts.Log)
	if slices.ContainsFunc(faulty, func(d diag.Diagnostic) bool { return path.Dir(d.At.File) == "." }) {
		return src, t.meantReferences(append(ds, ownModuleFaults(src.Modules, faulty)...))
	}
	var mesh *Mesh
	var mds diag.List
	failed := opts.Log.Do("the mesh", diag.Pos{File: rootFiles[0], Line: 1, Column: 1, EndLine: 1, EndColumn: 2}, func() { mesh, mds = loadMesh(t, src.Context, opts) })
	ds = slices.Concat(ds, mds, failed)
	src.Mesh = mesh
	return src, t.meantReferences(append(ds, ownModuleFaults(src.Modules, faulty)...))
}

// syntaxFaults are the first fault of each file that is not CUE; what follows
// in the same file is a consequence of it more often than not.
func syntaxFaults(t tree) diag.List {
	var ds diag.List
	for p, b := range t {
		_, err := parser.ParseFile(path.Join(root, p), b, parser.ParseComments)
		if err == nil {
			continue
		}
		e := errors.Errors(err)[0]
		format, args := e.Msg()
		msg := plainf(format, args)
		ds = append(ds, syntax(t, PosOf(e.Position()), msg))
	}
	return ds
}

func loadMesh(t tree, ctx *cue.Context, opts Options) (*Mesh, diag.List) {
	inst := instances(t, false, opts.Tags, ".")[0]
	if inst.Err != nil {
		return nil, instanceFaults(t, inst)
	}
	v := ctx.BuildInstance(inst)
	def, ok := definition(ctx, inst, "#Mesh")
	if !ok {
		return nil, diag.List{notAMesh(diag.Pos{File: t.under(".")[0], Line: 1, Column: 1})}
	}
	// The schema says whether the mesh holds; without it every value stands where its
	// author wrote it, and not where the schema declares it.
	err := v.Validate(cue.Concrete(true))
	loose := ctx.BuildInstance(instances(t, true, opts.Tags, ".")[0])
	d := &decoder{}
	mesh := d.mesh(loose)
	if err == nil && d.faulty {
		// A mesh may read what only the schema says, such as another node's default.
		if again := (&decoder{}); !again.isFaulty(v) {
			d, mesh = again, again.read
		}
	}
	if err != nil || d.faulty {
		ds := Checker{
			Subject: "the mesh", Unknown: unknownField("the mesh"), Missing: missingField("the mesh"),
		}.Check(def, loose)
		if len(ds) == 0 && err != nil {
			ds = translate(errors.Errors(err), "the mesh", nil, diag.Pos{})
		}
		if len(ds) == 0 {
			ds = d.ds
		}
		return mesh, ds
	}
	return mesh, append(d.ds, accepts(mesh, opts.Version)...)
}

// definition finds one of the schema's definitions where a package imports the schema.
func definition(ctx *cue.Context, inst *build.Instance, name string) (cue.Value, bool) {
	for _, imp := range inst.Imports {
		if strings.HasSuffix(imp.ImportPath, "meshc.dev/schema") {
			return ctx.BuildInstance(imp).LookupPath(cue.ParsePath(name)), true
		}
	}
	return cue.Value{}, false
}

// packageClause is where a file says to which package it belongs.
func packageClause(t tree, p string) diag.Pos {
	p = strings.TrimPrefix(p, "/")
	f, err := parser.ParseFile(path.Join(root, p), t[p], parser.PackageClauseOnly)
	if err == nil {
		for _, d := range f.Decls {
			if clause, ok := d.(*ast.Package); ok {
				return span(clause)
			}
		}
	}
	return diag.Pos{File: p}
}

// instanceFaults says what is wrong with a package before it has a value: its
// imports, its package clauses, its references.
func instanceFaults(t tree, inst *build.Instance) diag.List {
	var ds diag.List
	for _, e := range errors.Errors(inst.Err) {
		format, args := e.Msg()
		msg := plainf(format, args)
		at := PosOf(e.Position())
		if ps := positions([]errors.Error{e}); !at.IsValid() && len(ps) > 0 {
			at = ps[0]
		}
		if several := (*cueload.MultiplePackageError)(nil); errors.As(e, &several) {
			at = packageClause(t, path.Join(strings.TrimPrefix(several.Dir, root), several.Files[1]))
		}
		if tag := unusedTag.FindStringSubmatch(msg); tag != nil {
			ds = append(ds, unknownTag(tag[1], t.tags()))
			continue
		}
		switch {
		case strings.Contains(msg, "import failed"), strings.Contains(msg, "cannot find package"), strings.Contains(msg, "cannot find module"), strings.Contains(msg, "not built into meshc"), strings.Contains(msg, "standard library import path"):
			if importPath := importAt(inst, at); importPath != "" {
				ds = append(ds, unknownImport(at, importPath))
				continue
			}
			ds = append(ds, cueFault(at, "this package", nil, msg, nil))
		case strings.Contains(msg, "found packages"), strings.Contains(msg, "package name"), strings.Contains(msg, "multiple packages"):
			ds = append(ds, packageNames(at, msg))
		case strings.HasPrefix(msg, "reference"):
			ds = append(ds, unknownReference(at, plainArg(args)))
		default:
			ds = append(ds, cueFault(at, "this package", nil, msg, nil))
		}
	}
	return ds
}

// importAt is the path imported at a place.
func importAt(inst *build.Instance, at diag.Pos) string {
	for _, f := range inst.Files {
		for spec := range f.ImportSpecs() {
			if p := PosOf(spec.Pos()); p.File == at.File && p.Line == at.Line {
				return strings.Trim(spec.Path.Value, `"`)
			}
		}
	}
	return ""
}

// accepts holds this compiler's version against the range that the mesh asks for.
func accepts(m *Mesh, version string) diag.List {
	if m.Requires.Value == "" {
		return nil
	}
	c, err := semver.NewConstraint(m.Requires.Value)
	if err != nil {
		return diag.List{notARange(m.Requires)}
	}
	v, err := semver.NewVersion(version)
	if err != nil || c.Check(v) {
		return nil
	}
	return diag.List{otherCompiler(m.Requires, version)}
}
