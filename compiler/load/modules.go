package load

import (
	"crypto/sha256"
	"io/fs"
	"path"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"meshc.dev/catalog"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/work"
)

// modules are those built in and those of the mesh; one of the mesh replaces one built in.
func modules(t tree, ctx *cue.Context, log *work.Log) map[string]*Module {
	out := map[string]*Module{}
	entries, _ := fs.ReadDir(catalog.Files, ".")
	for _, e := range entries {
		if e.IsDir() {
			out[e.Name()] = builtin(ctx, e.Name())
		}
	}
	for _, name := range t.moduleDirs() {
		m := own(t, ctx, name)
		if b := out[name]; b != nil && b.Builtin {
			m.replaces = true
		}
		out[name] = m
	}
	for _, m := range out {
		m.log = log
	}
	return out
}

func builtin(ctx *cue.Context, name string) *Module {
	var files []*ast.File
	entries, _ := fs.ReadDir(catalog.Files, name)
	h := sha256.New()
	for _, e := range entries {
		b, _ := fs.ReadFile(catalog.Files, path.Join(name, e.Name()))
		f, err := parser.ParseFile(path.Join("catalog", name, e.Name()), b, parser.ParseComments)
		if err != nil {
			continue // the catalogue's own tests parse every file
		}
		h.Write(b)
		files = append(files, f)
	}
	m := newModule(name, files)
	m.Builtin = true
	h.Sum(m.Digest[:0])
	m.build = func() (cue.Value, diag.List) {
		v := buildFiles(ctx, name, files, true)
		if err := v.Validate(); err != nil {
			return v, translate(errors.Errors(err), "module "+name, nil, m.At)
		}
		return v, nil
	}
	return m
}

func own(t tree, ctx *cue.Context, name string) *Module {
	dir := "modules/" + name
	var files []*ast.File
	h := sha256.New()
	for _, p := range t.under(dir) {
		f, err := parser.ParseFile(path.Join(root, p), t[p], parser.ParseComments)
		if err == nil {
			files = append(files, f)
		}
	}
	// A module may import packages of the mesh's folder, so its digest is of all of them.
	for _, p := range slices.Sorted(keys(t)) {
		if strings.HasPrefix(p, dir+"/") || !strings.HasPrefix(p, "modules/") && path.Dir(p) != "." {
			h.Write([]byte(p))
			h.Write(t[p])
		}
	}
	m := newModule(name, files)
	if !m.At.IsValid() {
		m.At = diag.Pos{File: t.under(dir)[0], Line: 1, Column: 1, EndLine: 1, EndColumn: 2}
	}
	h.Sum(m.Digest[:0])
	m.build = func() (cue.Value, diag.List) { return buildOwn(t, ctx, m) }
	return m
}

// buildOwn builds a module of the mesh twice: with the schema to see whether it
// holds, and without for everything else.
func buildOwn(t tree, ctx *cue.Context, m *Module) (cue.Value, diag.List) {
	arg := "./modules/" + m.Name
	inst := markOwnWords(instances(t, false, nil, arg)[0])
	if inst.Err != nil {
		return cue.Value{}, instanceFaults(t, inst)
	}
	full := ctx.BuildInstance(inst)
	def, ok := definition(ctx, inst, "#Module")
	if !ok {
		return cue.Value{}, diag.List{notAModule(m)}
	}
	loose := ctx.BuildInstance(markOwnWords(instances(t, true, nil, arg)[0]))
	if ds := unknownNames(m); len(ds) > 0 {
		return loose, ds // what CUE says of the same would be that something has no value
	}
	if err := full.Unify(def).Validate(); err != nil {
		subject := "module " + m.Name
		ds := Checker{
			Subject: subject, Partial: true, Unknown: unknownField(subject), Missing: missingField(subject),
		}.Check(def, loose)
		if len(ds) == 0 {
			ds = translate(errors.Errors(err), subject, nil, m.At)
		}
		return loose, ds
	}
	ds := moduleFaults(m, loose)
	return loose, ds
}

// moduleFaults are what the schema cannot say of a module.
func moduleFaults(m *Module, v cue.Value) diag.List {
	var ds diag.List
	nv := v.LookupPath(cue.ParsePath("name"))
	if name, err := nv.String(); err == nil && name != m.Name {
		ds = append(ds, otherName(valueAt(nv), m.Name, name))
	} else if !nv.Exists() {
		ds = append(ds, missingField("module "+m.Name)(m.At, []string{"name"}))
	}
	if sv := v.LookupPath(cue.ParsePath("summary")); !sv.Exists() {
		ds = append(ds, missingField("module "+m.Name)(m.At, []string{"summary"}))
	}
	ds = append(ds, structDefaults(m)...)
	return slices.Concat(ds, lateInterface(m), secretsOutside(m), secretsComputed(m))
}

// ownModuleFaults builds the mesh's own modules, all of them, and says what is
// wrong with each; those with syntax faults have been spoken of already.
func ownModuleFaults(ms map[string]*Module, said diag.List) diag.List {
	var ds diag.List
	for _, name := range slices.Sorted(keys(ms)) {
		m := ms[name]
		if m.Builtin {
			continue
		}
		if slices.ContainsFunc(said, func(d diag.Diagnostic) bool { return path.Dir(d.At.File) == "modules/"+name }) {
			m.once.Do(func() {})
			continue
		}
		_, mds := m.Value()
		for _, d := range mds {
			// CUE reads the folders above a module as well, whose files have been spoken of
			if !slices.ContainsFunc(said, func(s diag.Diagnostic) bool { return s.At.File == d.At.File }) {
				ds = append(ds, d)
			}
		}
		if m.replaces {
			ds = append(ds, replaced(m))
		}
	}
	return ds
}

// newModule reads what stands in a module's source whatever its settings are.
func newModule(name string, files []*ast.File) *Module {
	m := &Module{Name: name, Files: files, Provides: map[string]diag.Pos{}}
	for _, f := range files {
		for _, d := range f.Decls {
			staticDecl(m, d)
			if f, ok := d.(*ast.Field); ok { // under a condition it says nothing for certain
				lit, isLit := f.Value.(*ast.BasicLit)
				label, _, _ := ast.LabelName(f.Label)
				m.Unmanaged = m.Unmanaged || label == "unmanaged" && isLit && lit.Kind == token.TRUE
			}
		}
	}
	for _, n := range topFields(files, "resources") {
		ast.Walk(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				label, _, _ := ast.LabelName(n.Label)
				m.Containers = m.Containers || label == "container"
			case *ast.BasicLit:
				m.Shields = m.Shields || strings.Contains(n.Value, "net.ipv4.ip_local_reserved_ports")
			}
			return true
		}, nil)
	}
	return m
}

func staticDecl(m *Module, d ast.Decl) {
	switch d := d.(type) {
	case *ast.Field:
		label, _, _ := ast.LabelName(d.Label)
		switch label {
		case "name":
			m.At = span(d)
		case "summary":
			if lit, ok := d.Value.(*ast.BasicLit); ok {
				m.Summary = unquote(lit.Value)
			}
		case "provides":
			if s, ok := d.Value.(*ast.StructLit); ok {
				for _, e := range s.Elts {
					staticProvides(m, e)
				}
			}
		}
	case *ast.Comprehension:
		if s, ok := d.Value.(*ast.StructLit); ok {
			for _, e := range s.Elts {
				staticDecl(m, e)
			}
		}
	}
}

func staticProvides(m *Module, d ast.Decl) {
	switch d := d.(type) {
	case *ast.Field:
		if label, _, err := ast.LabelName(d.Label); err == nil {
			m.Provides[label] = span(d.Label)
		}
	case *ast.Comprehension:
		if s, ok := d.Value.(*ast.StructLit); ok {
			for _, e := range s.Elts {
				staticProvides(m, e)
			}
		}
	}
}
