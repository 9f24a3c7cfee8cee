package compiler_test

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"meshc.dev/compiler"
	"meshc.dev/compiler/load"
	"meshc.dev/render"
)

const meshHead = "package mesh\n\nimport \"meshc.dev/schema\"\n\nschema.#Mesh\n\nname: \"home\"\n"

const moduleHead = "package notes\n\nimport \"meshc.dev/schema\"\n\nschema.#Module\n\nin: _\n\nname: \"notes\"\nsummary: \"notes\"\n"

// meshSeed and moduleSeed say a little of everything that the language has.
const meshSeed = meshHead + `
network: cidr: "10.86.0.0/16"
ports: {from: 20000, to: 20010}
sites: house: {mtu: 1492, assign: lan: {}, settings: lan: interface: "eth0"}
assign: zsh: {}
pins: storage: "notes@anchor"
groups: g: {settings: notes: size: 5, pins: storage: "notes@anchor"}
licences: own: {answers: "oracle", serves: url: "https://x.example"}
nodes: [_]: site: "house"
nodes: anchor: {
	groups: g: {}
	assign: notes: {settings: words: ["a", "b"], pins: storage: "notes@anchor"}
	assign: diary: module: "notes"
	omit: zsh: {}
	facts: {ram: 32, deep: x: [1, 2.5, null, true]}
	reserved: ports: "5432": "older"
	routes: ["10.13.0.0/24"]
	address: "10.86.0.9"
}
nodes: laptop: {runtime: "docker", assign: {i3: {}, notes: {}}, managed: false, endpoint: "203.0.113.7:51820"}
moved: nodes: old: "laptop"
`

const moduleSeed = moduleHead + `
settings: {
	size:  *1 | (int & >=1 & <=10)
	words: [...string]
	open: {...}
}
listens: http: {port: 80, reach: "network"}
listens: dns: {port: 53, to: 54, protocol: "udp"}
requires: storage: {optional: true, where: kind: "disk", contributes: {endpoint: "http", n: settings.size}, binds: path: "/etc/\(in.instance)/s.json"}
provides: storage: {
	scope: "mesh"
	accepts: {endpoint?: string, n?: int}
	serves: {kind: "disk", port: in.ports.http}
	consumer: _
	derives: path: "/srv/\(consumer.instance)-\(consumer.node)"
	unique: ["path"]
	receives: path: "/etc/\(in.instance)/consumers.json"
}
if settings.size > 5 {claims: big: scope: "site"}
needs: key: {path: "/etc/\(in.instance)/key", length: 20}
resources: {
	file: conf: {path: "/etc/\(in.instance)/conf", format: "ini", data: {n: settings.size, for w in settings.words {(w): "x"}}}
	file: key: {path: "/etc/\(in.instance)/with", content: "k=\(in.needs.key.value)"}
	container: server: {image: "docker.io/library/notes:1", publishes: ["http"], env: A: "50%", restart_on: ["file.conf"]}
	unit: beat: {name: "\(in.instance)-beat.service", content: Service: ExecStart: "/bin/true"}
	directory: d: path: "/srv/\(in.instance)"
	rule: r: {listen: "http", from: "world"}
}
`

// survives compiles whatever there is, all the way to bundles, within a bound of time.
func survives(t *testing.T, mesh, module string) {
	t.Helper()
	done := make(chan bool)
	go func() {
		defer close(done)
		fsys := fstest.MapFS{"mesh.cue": {Data: []byte(mesh)}, "modules/notes/notes.cue": {Data: []byte(module)}}
		r, ds := compiler.Compile(compiler.Input{FS: fsys, Options: load.Options{}})
		if ds.HasErrors() {
			return
		}
		render.New(r.Plan, render.Origin{}).All()
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatalf("half a minute is not enough for\n%s\n-- module --\n%s", mesh, module)
	}
}

// DIA-5: no mesh makes the compiler panic or hang.
func FuzzCompile(f *testing.F) {
	f.Add(meshSeed, moduleSeed)
	f.Add(meshHead+"nodes: a: assign: notes: {}\n", moduleHead)
	f.Add(meshHead+"nodes: a: facts: x: nodes.a.facts\n", moduleHead+"requires: a: {}\nprovides: a: {}\n")
	f.Fuzz(func(t *testing.T, mesh, module string) {
		if len(mesh)+len(module) > 1<<14 {
			t.Skip("larger inputs only take longer")
		}
		survives(t, mesh, module)
	})
}

// DIA-5: a mesh that lost a line, or ends anywhere, is refused or holds, and no more.
func TestMutations(t *testing.T) {
	cut := func(s string, k int) []string {
		lines := strings.Split(s, "\n")
		without := append(append([]string{}, lines[:k]...), lines[k+1:]...)
		twice := append(append([]string{}, lines[:k+1]...), lines[k:]...)
		return []string{strings.Join(without, "\n"), strings.Join(twice, "\n"), strings.Join(lines[:k], "\n")}
	}
	whole := fstest.MapFS{"mesh.cue": {Data: []byte(meshSeed)}, "modules/notes/notes.cue": {Data: []byte(moduleSeed)}}
	if _, ds := compiler.Compile(compiler.Input{FS: whole}); ds.HasErrors() {
		t.Fatalf("the whole mesh has to hold: %v", ds)
	}
	for k := range strings.Count(meshSeed, "\n") {
		for _, m := range cut(meshSeed, k) {
			survives(t, m, moduleSeed)
		}
	}
	for k := range strings.Count(moduleSeed, "\n") {
		for _, m := range cut(moduleSeed, k) {
			survives(t, meshSeed, m)
		}
	}
}

// word finds what a person changes at once: a name, a number, a text, or a sign.
var word = regexp.MustCompile(`"[^"\n]*"|[A-Za-z0-9_#.]+|[^\sA-Za-z0-9]`)

// mutated is a text in which a few words are left out, doubled, swapped or replaced by others of it.
func mutated(r *rand.Rand, s string) string {
	for range 1 + r.IntN(3) {
		at := word.FindAllStringIndex(s, -1)
		a, b := at[r.IntN(len(at))], at[r.IntN(len(at))]
		other := s[b[0]:b[1]]
		switch r.IntN(4) {
		case 0:
			other = ""
		case 1:
			other = s[a[0]:a[1]] + " " + other
		case 2:
			odd := []string{"null", "-1", "1e400", "\"\\u0000\"", "[...]", "{...}", "_", "_|_", "in", "18446744073709551616", "\"\"", "error(\"x\")", "nodes", "settings"}
			other = odd[r.IntN(len(odd))]
		}
		s = s[:a[0]] + other + s[a[1]:]
	}
	return s
}

// DIA-5: nor does a mesh in which words were changed at random.
func TestRandomMutations(t *testing.T) {
	n := uint64(150)
	if s := os.Getenv("MESHC_TEST_MUTATIONS"); s != "" {
		n, _ = strconv.ParseUint(s, 10, 64)
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 2))
		if r.IntN(2) == 0 {
			survives(t, mutated(r, meshSeed), moduleSeed)
		} else {
			survives(t, meshSeed, mutated(r, moduleSeed))
		}
	}
}
