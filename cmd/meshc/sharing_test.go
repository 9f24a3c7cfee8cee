package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"meshc.dev/compiler/diag"
	"meshc.dev/render"
	"meshc.dev/render/build"
)

// bothWays compiles a mesh with answers shared and without, and wants the same: every
// byte of every bundle, or the same refusals. It says whether there were bundles.
func bothWays(t *testing.T, fsys fs.FS) bool {
	t.Helper()
	type result struct {
		bundles map[string][]byte
		ds      string
	}
	compile := func(alone bool) (r result) {
		o, ds, err := build.State(fsys, build.Options{NoSharing: alone, Version: "0.3.0"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !ds.HasErrors() {
			bundles, bds := o.Bundles(render.Origin{Version: "test"})
			ds = append(ds, bds...)
			r.bundles = map[string][]byte{}
			for _, b := range bundles {
				for _, e := range b.Contents() {
					r.bundles[b.Node+"/"+e.Name] = e.Data
				}
			}
		}
		r.ds = said(ds)
		return r
	}
	shared, alone := compile(false), compile(true)
	if shared.ds != alone.ds {
		t.Errorf("with sharing it says\n%s\nand without\n%s", shared.ds, alone.ds)
	}
	for name, want := range alone.bundles {
		if got, ok := shared.bundles[name]; !ok || !bytes.Equal(got, want) {
			t.Errorf("%s, with sharing:\n%s\nand without:\n%s", name, got, want)
		}
	}
	if len(shared.bundles) != len(alone.bundles) {
		t.Errorf("%d files with sharing, %d without", len(shared.bundles), len(alone.bundles))
	}
	return len(alone.bundles) > 0
}

func said(ds diag.List) string {
	var b strings.Builder
	for _, d := range ds.Sorted() {
		fmt.Fprintln(&b, d.Code, d.At, d.Message)
	}
	return b.String()
}

// BLD-1, T01, T02: the meshes of the repository come to the same bytes with answers shared and without.
func TestSharingChangesNothingInMeshes(t *testing.T) {
	dirs, err := filepath.Glob("../../meshes/*/mesh.cue")
	if err != nil || len(dirs) < 3 {
		t.Fatal(dirs, err)
	}
	for _, d := range dirs {
		name := filepath.Base(filepath.Dir(d))
		t.Run(name, func(t *testing.T) {
			dir := filepath.Dir(d)
			fsys := fs.FS(os.DirFS(dir))
			if name == "fleet" {
				fsys = smaller(t, dir)
			}
			if !bothWays(t, fsys) {
				t.Error("it does not compile")
			}
		})
	}
}

// smaller is the fleet with few nodes: each module runs on several all the same.
func smaller(t *testing.T, dir string) fs.FS {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "mesh.cue"))
	if err != nil {
		t.Fatal(err)
	}
	few := strings.NewReplacer("*1000 |", "*12 |").Replace(string(text))
	if few == string(text) {
		t.Fatal("the number of nodes does not stand where it stood")
	}
	out := fstest.MapFS{"mesh.cue": {Data: []byte(few)}}
	if err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || p == "mesh.cue" {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, p))
		out[p] = &fstest.MapFile{Data: b}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// BLD-1, T01, T02: so do the meshes of all scripts.
func TestSharingChangesNothingInScripts(t *testing.T) {
	scripts, err := filepath.Glob("../../testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal(err)
	}
	compiled := 0
	for _, p := range scripts {
		a, err := txtar.ParseFile(p)
		if err != nil {
			t.Fatal(err)
		}
		fsys := fstest.MapFS{}
		for _, f := range a.Files {
			if fs.ValidPath(f.Name) {
				fsys[f.Name] = &fstest.MapFile{Data: f.Data}
			}
		}
		if fsys["mesh.cue"] == nil {
			continue
		}
		t.Run(filepath.Base(p), func(t *testing.T) {
			if bothWays(t, fsys) {
				compiled++
			}
		})
	}
	if compiled < 30 {
		t.Errorf("only %d of the scripts' meshes compiled", compiled)
	}
}

// ways are those in which a module's source can name an input: what stands at the top of
// one of its files, and the expression. NAME is a path below `in`, such as node.name.
var ways = []struct{ top, expr string }{
	{"", "in.NAME"},
	{"", `in["HEAD"].TAIL`},
	{"", `((in).HEAD).TAIL`},
	{"_iN: in", "_iN.NAME"},
	{"_hN: in.HEAD", "_hN.TAIL"},
	{"_xN: {a: in.NAME, b: a}", "_xN.b"},
	{"_xN: {b: a, a: _}\n_xN: a: in.NAME", "_xN.b"},
	{"_xN: {[string]: in.NAME, k: _}", "_xN.k"},
	{"_yN: k: in.NAME\n_xN: {_yN}", "_xN.k"},
	{"let lN = in", "lN.NAME"},
	{"let lN = in.HEAD", "lN.TAIL"},
	{"#FN: {i: _, out: i.NAME}", "(#FN & {i: in}).out"},
	{"#FN: {i: _, out: i.TAIL}", "(#FN & {i: in.HEAD}).out"},
	{"#FN: {i: _, _j: i, out: _j.NAME}", "(#FN & {i: in}).out"},
	{"", "[for x in [in] {x.NAME}][0]"},
	{"", "{let y = in, z: y.NAME}.z"},
	{"", "[if in.NAME != _|_ {in.NAME}, \"none\"][0]"},
	{"_wN: \"HEAD\"", "in[_wN].TAIL"},
	{"PN=_pN: in.NAME", "PN"},
	{"_qN: VN={a: in.NAME, b: VN.a}", "_qN.b"},
	{"_sN: {in: {node: name: \"shadow\"}, other: in.node.name}\n_tN: in.NAME", `[_tN, _sN.other][0]`},
	{"_cN: {if in.NAME != _|_ {v: in.NAME}}", "_cN.v"},
	{"_dN: \"\\(in.NAME)\": 1", "[for k, _ in _dN {k}][0]"},
	{"_lN: [in.HEAD, {}]", "_lN[0].TAIL"},
	{"_mN: {for k, v in in {(k): v}}", "_mN.NAME"},
	// What stands at a place is unified there, wherever it was taken from.
	{"#FN: {i: _, out: i.NAME}\n_yN: #FN\n_yN: i: in", "_yN.out"},
	{"#FN: {i: _, out: i.NAME}\n_yN: {#FN, i: in}", "_yN.out"},
	{"#FN: {i: _, out: i.NAME}\n_yN: {k: #FN}\n_yN: k: i: in", "_yN.k.out"},
	{"#FN: {i: _, out: i.NAME}\nlet lN = {#FN, i: in}", "lN.out"},
	{"#GN: {i: _, sub: {j: i, out: j.NAME}}\n_yN: #GN\n_yN: i: in", "_yN.sub.out"},
	{"_yN: [string]: {i: _, out: i.NAME}\n_yN: k: i: in", "_yN.k.out"},
	{"_yN: {for k in [\"k\"] {(k): {i: _, out: i.NAME}}, k: i: in}", "_yN.k.out"},
	{"_yN: {if true {k: {i: _, out: i.NAME}}, k: i: in}", "_yN.k.out"},
	{"_zN: {i: _, out: i.NAME}\n_yN: k: _zN\n_yN: [string]: i: in", "_yN.k.out"},
	{"_zN: {i: _, out: i.NAME}\n_yN: k: i: in\n_yN: [=~\"^k\"]: _zN", "_yN.k.out"},
	{"#FN: {i: _, out: i.NAME}\n_yN: {k: {#FN, ...}}\n_yN: k: i: in", "_yN.k.out"},
	{"#FN: {i: _, #out: i.NAME}\n_yN: #FN & {i: _, ...}\n_yN: i: in", "_yN.#out"},
	{"_aN: b: c: {i: _, out: i.NAME}\n_yN: _aN.b\n_yN: c: i: in", "_yN.c.out"},
	{"_aN: b: {i: _, c: out: i.NAME}\n_yN: _aN\n_yN: b: i: in", "_yN.b.c.out"},
	{"_yN: {i?: _, if i != _|_ {out: i.NAME}}\n_yN: i: in", "_yN.out"},
	{"let lN = {a: {i: _, out: i.NAME}, a: i: in}", "lN.a.out"},
	{"_yN: {if true {k: {if true {i: _}, out: i.NAME}}}\n_yN: k: i: in", "_yN.k.out"},
	{"_yN: a: b: {i: _, out: i.NAME}\n_yN: a: VN=b: {i: in}\n_vN: _yN.a", "_vN.b.out"},
	{"_yN: {let j = i, i: _, out: j.NAME}\n_yN: i: in", "_yN.out"},
	{"_yN: {QN=i: _, out: QN.NAME}\n_yN: i: in", "_yN.out"},
	{"#FN: {QN=i: _, out: QN.NAME}\n_yN: #FN\n_yN: i: in", "_yN.out"},
}

// BLD-1, T01, T02, T76: so do modules that name their inputs in all ways there are, over several files.
func TestSharingChangesNothingInGeneratedModules(t *testing.T) {
	inputs := []string{"node.name", "node.site", "node.runtime", "mesh.domain", "node.facts.rack"}
	r := rand.New(rand.NewPCG(9, 9))
	compiled := 0
	for n := range 420 {
		files := make([]strings.Builder, 1+r.IntN(3))
		var resources strings.Builder
		for k := range 1 + r.IntN(4) {
			w := ways[(n+k*7)%len(ways)]
			input := inputs[r.IntN(len(inputs))]
			head, tail, _ := strings.Cut(input, ".")
			put := strings.NewReplacer("NAME", input, "HEAD", head, "TAIL", tail, "N", fmt.Sprint(k)).Replace
			f := &files[0]
			// A let is known in its own file alone.
			if !strings.HasPrefix(w.top, "let") && !strings.HasPrefix(w.top, "PN=") {
				f = &files[r.IntN(len(files))]
			}
			fmt.Fprintln(f, put(w.top))
			fmt.Fprintf(&resources, "\tfile: f%d: {path: \"/etc/odd/%d\", content: \"\\(%s)\\n\"}\n", k, k, put(w.expr))
		}
		fsys := fstest.MapFS{"mesh.cue": {Data: []byte(`package mesh
import "meshc.dev/schema"
schema.#Mesh
name: "home"
sites: {north: {}, south: {}}
nodes: [_]: assign: odd: {}
nodes: {
	a: {site: "north", facts: rack: "1"}
	b: {site: "south", facts: rack: "2"}
	c: {site: "north", facts: rack: "2", runtime: "docker"}
	d: {site: "south", facts: rack: "1", runtime: "docker"}
}
`)}}
		for k := range files {
			head := "package odd\n"
			if k == 0 {
				head += "import \"meshc.dev/schema\"\nschema.#Module\nin: _\nname: \"odd\"\nsummary: \"odd\"\nresources: {\n" + resources.String() + "}\n"
			}
			fsys[fmt.Sprintf("modules/odd/%c.cue", 'a'+k)] = &fstest.MapFile{Data: []byte(head + files[k].String())}
		}
		ok := t.Run(fmt.Sprint(n), func(t *testing.T) {
			if bothWays(t, fsys) {
				compiled++
			}
		})
		if !ok {
			for _, p := range slices.Sorted(func(yield func(string) bool) {
				for p := range fsys {
					if !yield(p) {
						return
					}
				}
			}) {
				t.Logf("-- %s --\n%s", p, fsys[p].Data)
			}
		}
	}
	if compiled < 280 {
		t.Errorf("only %d of the generated meshes compiled", compiled)
	}
}
