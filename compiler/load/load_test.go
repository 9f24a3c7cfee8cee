package load

import (
	"strings"
	"testing"
	"testing/fstest"

	"meshc.dev/compiler/diag"
)

const head = "package mesh\n\nimport \"meshc.dev/schema\"\n\nschema.#Mesh\n\nname: \"home\"\n"

// files makes a mesh's folder in memory.
func files(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return m
}

func said(ds diag.List) string {
	var b strings.Builder
	for _, d := range ds.Sorted() {
		b.WriteString(string(d.Code) + " " + d.At.String() + " " + d.Message + "\n")
	}
	return b.String()
}

// DIA-1: five nodes with five different mistakes give five diagnostics.
func TestFiveMistakes(t *testing.T) {
	_, ds := Load(files("mesh.cue", head+`
nodes: a: {endpont: "x", runtime: "lxc"}
nodes: b: runtime: "lxd"
nodes: c: routes: "10.0.0.0/8"
nodes: d: {facts: x: 1, facts: x: 2}
nodes: e: assign: "Web_1": {}
nodes: f: assign: web: modul: "gitea"
sites: s: mtu: 20
`), Options{})
	want := `E0111 mesh.cue:9:12 the mesh has no field nodes.a.endpont; did you mean endpoint?
E0115 mesh.cue:9:35 nodes.a.runtime of the mesh: runtime is "podman" or "docker"
E0115 mesh.cue:10:20 nodes.b.runtime of the mesh: runtime is "podman" or "docker"
E0114 mesh.cue:11:19 nodes.c.routes of the mesh is a list, not a string
E0116 mesh.cue:12:35 nodes.d.facts.x of the mesh has two different values
E0113 mesh.cue:13:19 "Web_1" in nodes.e.assign is no name: a name is lower-case letters, digits and inner hyphens, at most 63
E0111 mesh.cue:14:24 the mesh has no field nodes.f.assign.web.modul; did you mean module?
E0115 mesh.cue:15:16 sites.s.mtu of the mesh: an mtu is a number from 1280 to 9216
`
	if got := said(ds); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// DIA-1: a mesh is decoded with its defaults and the place of every value.
func TestDecode(t *testing.T) {
	src, ds := Load(files("mesh.cue", head+`
network: cidr: "10.86.0.0/16"
nodes: a: {assign: blog: {module: "gitea", settings: {n: null, list: [1, 2], deep: s: "no"}}, groups: g: {}}
groups: g: pins: database: "a"
`), Options{})
	if len(ds) > 0 {
		t.Fatal(said(ds))
	}
	m := src.Mesh
	blog := m.Nodes["a"].Layer.Assign["blog"]
	if m.Domain != "home.mesh" || m.Ports.From != 20000 || m.Ports.To != 29999 || blog.Module != "gitea" ||
		blog.Settings.Fields["deep"].Fields["s"].Leaf.Text() != "no" || blog.Settings.Fields["n"].Leaf.String() != "null" {
		t.Errorf("%+v %+v", m, blog.Settings)
	}
	if at := blog.Settings.Fields["deep"].Fields["s"].Span; at.String() != "mesh.cue:10:87" {
		t.Errorf("place of a setting: %s", at)
	}
}

// DIA-4: misspelt keys of a module are found at every depth.
func TestModuleTypos(t *testing.T) {
	_, ds := Load(files("mesh.cue", head+"nodes: a: {}\n", "modules/x/x.cue", `package x

import "meshc.dev/schema"

schema.#Module

in: _
name: "x"
summary: "x"
settings: port: *1 | int
requres: y: {}
requires: db: wher: driver: "postgres"
resources: fil: {}
resources: file: a: {path: "/etc/a", modee: "0644"}
if settings.port > 0 {listens: http: {prt: 5}}
claims: seat: scope: "planet"
`), Options{})
	want := `E0111 modules/x/x.cue:11:1 module x has no field requres; did you mean requires?
E0111 modules/x/x.cue:12:15 module x has no field requires.db.wher; did you mean where?
E0111 modules/x/x.cue:13:12 module x has no field resources.fil; did you mean file?
E0111 modules/x/x.cue:14:38 module x has no field resources.file.a.modee; did you mean mode?
E0112 modules/x/x.cue:15:32 module x needs the field listens.http.port
E0111 modules/x/x.cue:15:39 module x has no field listens.http.prt; did you mean port?
E0115 modules/x/x.cue:16:22 claims.seat.scope of module x: scope is "node", "site" or "mesh"
`
	if got := said(ds); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// DIA-1: a field without a default that was left out is found, and files of two packages.
func TestLeftOut(t *testing.T) {
	for want, fsys := range map[string]fstest.MapFS{
		"E0112 mesh.cue:10:11 the mesh needs the field licences.personal.answers\n": files("mesh.cue", head+`
nodes: a: {}
licences: personal: serves: url: "https://models.example/v1"
`),
		"E0112 mesh.cue:8:1 the mesh needs the field network.cidr\n": files("mesh.cue", head+"network: {}\nnodes: a: {}\n"),
		"E0106 nodes.cue:2:1 found packages \"mesh\" (mesh.cue) and \"cabin\" (nodes.cue) in \".\"\n": files(
			"mesh.cue", head+"nodes: a: {}\n", "nodes.cue", "// The cabin.\npackage cabin\n"),
	} {
		if _, ds := Load(fsys, Options{}); said(ds) != want {
			t.Errorf("got:\n%s\nwant:\n%s", said(ds), want)
		}
	}
}

// DIA-2: what is assigned stands where its name was written, also where a pattern and the schema say something of it.
func TestPlaceOfAKey(t *testing.T) {
	src, ds := Load(files("mesh.cue", head+`
nodes: [_]: assign: networking: {}
nodes: a: assign: gitea: module: "forge"
assign: zsh: {}
`), Options{})
	if len(ds) > 0 {
		t.Fatal(said(ds))
	}
	a := src.Mesh.Nodes["a"]
	for _, c := range []struct {
		at   diag.Pos
		want string
	}{
		{a.At, "mesh.cue:10:8"},
		{a.Layer.Assign["gitea"].At, "mesh.cue:10:19"},
		{a.Layer.Assign["networking"].At, "mesh.cue:9:21"},
		{src.Mesh.Layer.Assign["zsh"].At, "mesh.cue:11:9"},
	} {
		if c.at.String() != c.want {
			t.Errorf("place %s, not %s", c.at, c.want)
		}
	}
}
