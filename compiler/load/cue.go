package load

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	cueload "cuelang.org/go/cue/load"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
	"cuelang.org/go/mod/module"

	"cuelang.org/go/mod/modfile"

	"meshc.dev/schema"
)

// root is where the mesh's folder stands for CUE's loader. It exists nowhere:
// every file the loader may see is in its overlay, so that loading reaches
// neither the disk, nor a stale vendored schema, nor a network.
const root = "/__mesh__"

// looseShapes, with the schema's names.cue, stand in for the schema where a value is to be seen as its author
// wrote it: with the shapes that references need, and without constraints, whose
// failures would hide each other (DIA-1) and which would be evaluated for every instance.
//
// Names and numbers mean in it what they mean in the schema: where a module says `schema.#Port`
// in its settings, nothing else holds what a mesh gives it to that.
const looseShapes = `#Mesh: {...}
#Module: {
	in: {
		mesh: {name: string, domain: string}
		node: {name: string, site?: string, address?: string, endpoint?: string, runtime: string, facts: {...}}
		instance: string
		ports: [string]: int
		addresses: [string]: string
		bindings: [string]: {...}
		secrets: [string]: #Placeholder
		needs: [string]: #Placeholder
		consumers: [string]: [...]
	}
	...
}
#Placeholder: {value: string, urlencoded: string, json: string, base64: string, shell: string}
#Network: {...}
#Ports: {...}
#Licence: {...}
#Moved: {...}
#Layer: {...}
#Open: {...}
#Assign: {...}
#Site: {...}
#Group: {...}
#Node: {...}
#Reserved: {...}
#Listen: {...}
#Require: {...}
#Target: {...}
#Provide: {...}
#Consumer: {...}
#Claim: {...}
#Need: {...}
#Inputs: {...}
#Resources: {...}
#File: {...}
#Directory: {...}
#Block: {...}
#Package: {...}
#User: {...}
#Unit: {...}
#Container: {...}
#Rule: {...}
#Computed: {...}
`

func looseSchema() string {
	names, err := schema.Files.ReadFile("names.cue")
	if err != nil {
		panic(err) // it is built in
	}
	return string(names) + looseShapes
}

// noRegistry refuses every module that is not part of the mesh's folder.
type noRegistry struct{}

func (noRegistry) Requirements(_ context.Context, m module.Version) ([]module.Version, error) {
	return nil, fmt.Errorf("%s is not built into meshc, which loads nothing from a network", m.Path())
}

func (noRegistry) Fetch(_ context.Context, m module.Version) (module.SourceLoc, error) {
	return module.SourceLoc{}, fmt.Errorf("%s is not built into meshc, which loads nothing from a network", m.Path())
}

func (noRegistry) ModuleVersions(context.Context, string) ([]string, error) { return nil, nil }

func (noRegistry) ModFile(_ context.Context, m module.Version) (*modfile.File, error) {
	return nil, fmt.Errorf("%s is not built into meshc, which loads nothing from a network", m.Path())
}

// overlay is the mesh's files and one of the two schemas, as CUE's loader takes them.
func overlay(t tree, loose bool) map[string]cueload.Source {
	out := map[string]cueload.Source{}
	for p, b := range t {
		out[path.Join(root, p)] = cueload.FromBytes(b)
	}
	if _, ok := t["cue.mod/module.cue"]; !ok {
		out[root+"/cue.mod/module.cue"] = cueload.FromString("module: \"mesh.local\"\nlanguage: version: \"v0.17.0\"\n")
	}
	dir := path.Join(root, "cue.mod/pkg", schema.ImportPath)
	if loose {
		out[dir+"/schema.cue"] = cueload.FromString(looseSchema())
		return out
	}
	entries, _ := fs.ReadDir(schema.Files, ".")
	for _, e := range entries {
		b, _ := schema.Files.ReadFile(e.Name())
		out[path.Join(dir, e.Name())] = cueload.FromBytes(b)
	}
	return out
}

// instances loads packages of the mesh's folder: "." or "./modules/gitea".
func instances(t tree, loose bool, tags []string, args ...string) []*build.Instance {
	return cueload.Instances(args, &cueload.Config{
		Dir: root, ModuleRoot: root, Overlay: overlay(t, loose),
		Tags: tags, Registry: noRegistry{}, Env: []string{"CUE_REGISTRY=none"},
	})
}

// schemaInstance builds one of the two schemas by hand, for packages that are
// built from embedded files.
func schemaInstance(bctx *build.Context, loose bool) *build.Instance {
	inst := bctx.NewInstance(schema.ImportPath, nil)
	inst.PkgName = "schema"
	inst.ImportPath = schema.ImportPath
	if loose {
		f, err := parser.ParseFile("schema.cue", looseSchema())
		if err != nil {
			panic(err) // a constant of this package
		}
		_ = inst.AddSyntax(f)
		return inst
	}
	entries, _ := fs.ReadDir(schema.Files, ".")
	for _, e := range entries {
		b, _ := schema.Files.ReadFile(e.Name())
		f, err := parser.ParseFile(schemaPrefix+e.Name(), b)
		if err != nil {
			panic(err) // embedded, and vetted by the tests
		}
		_ = inst.AddSyntax(f)
	}
	return inst
}

// schemaPrefix marks positions in the schema, which are never shown to a person (DIA-4).
const schemaPrefix = "meshc.dev/schema/"

// buildFiles builds a package from parsed files that import only CUE's own
// packages and the schema.
func buildFiles(ctx *cue.Context, name string, files []*ast.File, loose bool) cue.Value {
	bctx := build.NewContext()
	schemaInst := schemaInstance(bctx, loose)
	bctx = build.NewContext(build.Loader(func(_ token.Pos, p string) *build.Instance {
		if strings.HasPrefix(p, schema.ImportPath) {
			return schemaInst
		}
		return nil
	}))
	inst := bctx.NewInstance("meshc.dev/catalog/"+name, nil)
	inst.ImportPath = "meshc.dev/catalog/" + name
	for _, f := range files {
		if err := inst.AddSyntax(f); err != nil {
			return ctx.BuildInstance(inst)
		}
	}
	_ = inst.Complete()
	return ctx.BuildInstance(inst)
}
