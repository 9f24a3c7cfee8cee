package catalog_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/load"

	"meshc.dev/catalog"
	"meshc.dev/compiler/cuedata"
	"meshc.dev/compiler/data"
	"meshc.dev/render/sink"
)

// placeholder begins what stands for a secret in these tests. It is letters and
// digits, as made secrets are, so that every program takes it for one.
const placeholder = "xSECRETx"

// library is the catalogue as CUE has it, with the cases of testdata/cases.
type library struct {
	ctx     *cue.Context
	modules map[string]cue.Value
	cases   cue.Value
	done    map[string]rendered // by module and case
}

func names() []string {
	dirs, err := fs.ReadDir(catalog.Files, ".")
	if err != nil {
		panic(err)
	}
	var out []string
	for _, d := range dirs {
		out = append(out, d.Name())
	}
	return out
}

func open(t *testing.T) *library {
	t.Helper()
	lib, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

// shared is loaded once: values of CUE are never changed.
var shared = sync.OnceValues(func() (*library, error) {
	lib := &library{ctx: cuecontext.New(), modules: map[string]cue.Value{}, done: map[string]rendered{}}
	folders := []string{"./testdata/cases"}
	for _, n := range names() {
		folders = append(folders, "./"+n)
	}
	// No registry is asked: all that a module imports is in this repository.
	instances := load.Instances(folders, &load.Config{Env: append(os.Environ(), "CUE_REGISTRY=none")})
	for i, inst := range instances {
		v := lib.ctx.BuildInstance(inst)
		if err := v.Validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", folders[i], err)
		}
		if i == 0 {
			lib.cases = v
			continue
		}
		lib.modules[strings.TrimPrefix(folders[i], "./")] = v
	}
	return lib, nil
})

// rendered is a module with everything filled in for one case.
type rendered struct {
	module, label string
	value         cue.Value // all of it
	resources     data.Value
}

func (r rendered) String() string { return r.module + "/" + r.label }

// each calls f for every case of every module. Every module has one at least.
func (lib *library) each(t *testing.T, f func(t *testing.T, r rendered)) {
	for _, name := range names() {
		cases := lib.cases.LookupPath(cue.MakePath(cue.Str(name)))
		if !cases.Exists() {
			t.Errorf("module %s has no case in testdata/cases", name)
			continue
		}
		it, err := cases.Fields()
		if err != nil {
			t.Fatal(err)
		}
		for it.Next() {
			label := it.Selector().Unquoted()
			t.Run(name+"/"+label, func(t *testing.T) { f(t, lib.render(t, name, label)) })
		}
	}
}

// fill gives a module everything the compiler would: ports and addresses for its
// listens, placeholders for its secrets, and what each consumer derives.
func (lib *library) fill(t *testing.T, name string, given cue.Value) cue.Value {
	t.Helper()
	module := lib.modules[name]
	settings := given.LookupPath(cue.ParsePath("settings"))
	if settings.Exists() {
		module = module.FillPath(cue.ParsePath("settings"), settings)
	}
	node := map[string]any{"name": "anchor", "site": "house", "address": "10.86.0.1", "runtime": "podman"}
	for _, f := range fields(given, "node") {
		node[f.name], _ = f.value.String()
	}
	node["facts"] = map[string]any{}
	in := map[string]any{
		"mesh":     map[string]any{"name": "home", "domain": "home.mesh"},
		"node":     node,
		"instance": text(given, "instance", name),
		"ports":    map[string]any{}, "addresses": map[string]any{}, "bindings": map[string]any{},
		"secrets": map[string]any{}, "needs": map[string]any{}, "consumers": map[string]any{},
	}
	early := module.FillPath(cue.ParsePath("in"), lib.ctx.Encode(in))

	ports, addresses, secrets, needs := map[string]any{}, map[string]any{}, map[string]any{}, map[string]any{}
	for i, l := range fields(early, "listens") {
		port, _ := l.value.LookupPath(cue.ParsePath("port")).Int64()
		if fixed, _ := l.value.LookupPath(cue.ParsePath("fixed")).Bool(); !fixed {
			port = 20000 + port%1000 + int64(i)
		}
		ports[l.name], addresses[l.name] = port, text(given, "address", "127.0.0.1")
	}
	for _, r := range fields(early, "requires") {
		if r.value.LookupPath(cue.ParsePath("secret")).Exists() {
			secrets[r.name] = placeholders(r.name)
		}
	}
	for _, n := range fields(early, "needs") {
		needs[n.name] = placeholders(n.name)
	}
	in["ports"], in["addresses"], in["secrets"], in["needs"] = ports, addresses, secrets, needs
	bindings := map[string]any{}
	for _, b := range fields(given, "bindings") {
		bindings[b.name] = b.value
	}
	in["bindings"] = bindings

	consumers := map[string]any{}
	for _, p := range fields(early, "provides") {
		consumers[p.name] = lib.consumers(t, p, given)
	}
	in["consumers"] = consumers
	return module.FillPath(cue.ParsePath("in"), lib.ctx.Encode(in))
}

// consumers are a case's consumers of one provision, each accepted and derived for.
func (lib *library) consumers(t *testing.T, p field, given cue.Value) []any {
	t.Helper()
	out := []any{}
	it, err := given.LookupPath(cue.MakePath(cue.Str("consumers"), cue.Str(p.name))).List()
	if err != nil {
		return out
	}
	for it.Next() {
		c := it.Value()
		values := c.LookupPath(cue.ParsePath("values"))
		// The number of an endpoint is added after the check (CON-6).
		stated := values
		if port := values.LookupPath(cue.ParsePath("port")); port.Exists() {
			stated = lib.without(values, "port")
		}
		closed := lib.ctx.CompileString("#S: _").FillPath(cue.ParsePath("#S"), p.value.LookupPath(cue.ParsePath("accepts"))).LookupPath(cue.ParsePath("#S"))
		if err := closed.Unify(stated).Validate(cue.Concrete(true)); err != nil {
			t.Errorf("provision %s does not accept %v: %v", p.name, values, err)
		}
		asked := c
		if !c.LookupPath(cue.ParsePath("as")).Exists() {
			asked = c.FillPath(cue.ParsePath("as"), "nobody")
		}
		derived := p.value.FillPath(cue.ParsePath("consumer"), asked).LookupPath(cue.ParsePath("derives"))
		if !derived.Exists() {
			derived = lib.ctx.CompileString("{}")
		}
		if err := derived.Validate(cue.Concrete(true)); err != nil {
			t.Errorf("provision %s derives nothing certain: %v", p.name, err)
		}
		out = append(out, c.FillPath(cue.ParsePath("derived"), derived))
	}
	return out
}

func (lib *library) without(v cue.Value, name string) cue.Value {
	out := map[string]any{}
	it, _ := v.Fields()
	for it.Next() {
		if it.Selector().Unquoted() != name {
			out[it.Selector().Unquoted()] = it.Value()
		}
	}
	return lib.ctx.Encode(out)
}

func placeholders(name string) map[string]any {
	out := map[string]any{}
	for _, encoding := range []string{"value", "urlencoded", "json", "base64", "shell"} {
		out[encoding] = placeholder + strings.ReplaceAll(name, "-", "") + encoding
	}
	return out
}

// field is a named field of a CUE struct.
type field struct {
	name  string
	value cue.Value
}

func fields(v cue.Value, name string) []field {
	it, err := v.LookupPath(cue.MakePath(cue.Str(name))).Fields()
	if err != nil {
		return nil
	}
	var out []field
	for it.Next() {
		out = append(out, field{it.Selector().Unquoted(), it.Value()})
	}
	return out
}

func text(v cue.Value, name, otherwise string) string {
	if s, err := v.LookupPath(cue.ParsePath(name)).String(); err == nil {
		return s
	}
	return otherwise
}

func concrete(t *testing.T, v cue.Value, path string) data.Value {
	t.Helper()
	v = v.LookupPath(cue.ParsePath(path))
	if !v.Exists() {
		return data.NewStruct()
	}
	if err := v.Validate(cue.Concrete(true)); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	out, err := cuedata.From(v)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return out
}

// file is a file of a rendered module, as it would be on the machine.
type file struct {
	name, path string
	content    []byte
	validate   []string
	mode       string
}

func (r rendered) files(t *testing.T) []file {
	t.Helper()
	var out []file
	for _, f := range r.resources.Get("file").Fields() {
		content := []byte(f.Value.Get("content").Text())
		if format := f.Value.Get("format").Text(); format != "" {
			var err error
			if content, err = sink.Write(format, f.Value.Get("data")); err != nil {
				t.Fatalf("file.%s: %v", f.Name, err)
			}
		}
		out = append(out, file{
			name: f.Name, path: f.Value.Get("path").Text(), content: content,
			validate: f.Value.Get("validate").Strings(), mode: f.Value.Get("mode").Text(),
		})
	}
	return out
}

func (r rendered) file(t *testing.T, name string) file {
	t.Helper()
	files := r.files(t)
	i := slices.IndexFunc(files, func(f file) bool { return f.name == name })
	if i < 0 {
		t.Fatalf("%s has no file %s", r, name)
	}
	return files[i]
}

// render is one case of one module.
func (lib *library) render(t *testing.T, module, label string) rendered {
	t.Helper()
	if r, ok := lib.done[module+"/"+label]; ok {
		return r
	}
	given := lib.cases.LookupPath(cue.MakePath(cue.Str(module), cue.Str(label)))
	if !given.Exists() {
		t.Fatalf("there is no case %s/%s", module, label)
	}
	r := rendered{module: module, label: label, value: lib.fill(t, module, given)}
	r.resources = concrete(t, r.value, "resources")
	lib.done[r.String()] = r
	return r
}

// write puts a file where a program can read it.
func write(t *testing.T, dir, name string, content []byte) string {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, content, 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

func path(p string) cue.Path { return cue.ParsePath(p) }
