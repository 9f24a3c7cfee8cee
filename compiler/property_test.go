package compiler_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"meshc.dev/compiler"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/view"
)

// randomMesh is a mesh as lines that can stand in any order, and its modules.
type randomMesh struct {
	lines   []string
	modules map[string]string
}

// newRandomMesh makes modules that require and provide each other at random, circles
// included, and nodes that run some of them. Some meshes hold, others are refused.
func newRandomMesh(r *rand.Rand) randomMesh {
	m := randomMesh{modules: map[string]string{}}
	scopes := []string{"node", "node", "site", "mesh"}
	provisions := 3 + r.IntN(4)
	scope := make([]string, provisions)
	for k := range scope {
		scope[k] = scopes[r.IntN(len(scopes))]
	}
	modules := 3 + r.IntN(5)
	for k := range modules {
		var b strings.Builder
		name := fmt.Sprintf("m%d", k)
		fmt.Fprintf(&b, "package %s\n\nimport \"meshc.dev/schema\"\n\nschema.#Module\n\nin: _\n\nname: %q\nsummary: %q\nsettings: word: *\"x\" | string\n", name, name, name)
		for range r.IntN(3) {
			p := r.IntN(provisions)
			fmt.Fprintf(&b, "provides: p%d: scope: %q\n", p, scope[p])
		}
		for range r.IntN(3) {
			optional := ""
			if r.IntN(4) == 0 {
				optional = "optional: true, "
			}
			p := r.IntN(provisions)
			fmt.Fprintf(&b, "requires: r%d: {%sprovision: \"p%d\", binds: path: \"/etc/\\(in.instance)/r%d\"}\n", p, optional, p, p)
		}
		if r.IntN(3) == 0 {
			fmt.Fprintf(&b, "claims: \"c%d\": scope: %q\n", r.IntN(2), scopes[r.IntN(4)])
		}
		if r.IntN(2) == 0 {
			b.WriteString("listens: http: port: 8080\n")
		}
		fmt.Fprintf(&b, "resources: file: own: {path: \"/etc/\\(in.instance)/own\", content: settings.word}\n")
		m.modules[name] = b.String()
	}
	m.lines = append(m.lines, "sites: {a: assign: lan: {}, b: assign: lan: {}}", "groups: g: settings: m0: word: \"group\"", "settings: m1: word: \"mesh\"")
	for k := range 1 + r.IntN(4) {
		node := fmt.Sprintf("n%d", k)
		m.lines = append(m.lines, fmt.Sprintf("nodes: %s: site: %q", node, []string{"a", "b"}[r.IntN(2)]))
		for range 1 + r.IntN(3) {
			m.lines = append(m.lines, fmt.Sprintf("nodes: %s: assign: m%d: {}", node, r.IntN(modules)))
		}
		if r.IntN(3) == 0 {
			m.lines = append(m.lines, fmt.Sprintf("nodes: %s: groups: g: {}", node))
		}
		if r.IntN(3) == 0 {
			m.lines = append(m.lines, fmt.Sprintf("nodes: %s: assign: other: module: \"m%d\"", node, r.IntN(modules)))
		}
		if r.IntN(4) == 0 {
			m.lines = append(m.lines, fmt.Sprintf("nodes: %s: pins: p%d: \"n0\"", node, r.IntN(provisions)))
		}
	}
	m.lines = slices.Compact(slices.Sorted(slices.Values(m.lines)))
	return m
}

// files writes the mesh in one order, into some files.
func (m randomMesh) files(order []int, perFile int) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range m.modules {
		out["modules/"+name+"/m.cue"] = &fstest.MapFile{Data: []byte(text)}
	}
	head := "package mesh\n\nimport \"meshc.dev/schema\"\n\nschema.#Mesh\n\nname: \"home\"\n"
	for k := 0; k < len(order); k += perFile {
		body := head
		for _, i := range order[k:min(len(order), k+perFile)] {
			body += m.lines[i] + "\n"
		}
		out[fmt.Sprintf("%02d.cue", k)] = &fstest.MapFile{Data: []byte(body)}
		head = "package mesh\n\n"
	}
	return out
}

// compiled is what a compilation came to, as bytes; where it refuses, what it says, without places,
// which another order of lines moves.
func compiled(t *testing.T, fsys fstest.MapFS) (text []byte, refused bool) {
	t.Helper()
	type outcome struct {
		r  *compiler.Result
		ds diag.List
	}
	done := make(chan outcome, 1)
	go func() {
		r, ds := compiler.Compile(compiler.Input{FS: fsys, Options: load.Options{}})
		done <- outcome{r, ds}
	}()
	select {
	case o := <-done:
		if o.ds.HasErrors() {
			var said []string
			for _, d := range o.ds {
				said = append(said, string(d.Code))
			}
			slices.Sort(said)
			return []byte(strings.Join(said, "\n")), true
		}
		b, err := json.Marshal(view.OfPlan(o.r.Plan))
		if err != nil {
			t.Fatal(err)
		}
		return append(b, o.r.Lock.Bytes()...), false
	case <-time.After(time.Minute):
		var b strings.Builder
		for name, f := range fsys {
			fmt.Fprintf(&b, "-- %s --\n%s\n", name, f.Data)
		}
		t.Fatalf("a minute is not enough for:\n%s", b.String())
		return nil, false
	}
}

// BLD-1: SEL-3: a mesh comes to the same whatever the order of its lines and files and the number of
// processors; that it comes to anything holds for circles of requirements too.
func TestPropertyOrder(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	held, refused := 0, 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := newRandomMesh(r)
		inOrder := make([]int, len(m.lines))
		for k := range inOrder {
			inOrder[k] = k
		}
		runtime.GOMAXPROCS(1)
		want, no := compiled(t, m.files(inOrder, len(inOrder)))
		if no {
			refused++
		} else {
			held++
		}
		for range 2 {
			runtime.GOMAXPROCS(4)
			fsys := m.files(r.Perm(len(m.lines)), 1+r.IntN(5))
			if got, _ := compiled(t, fsys); !bytes.Equal(got, want) {
				t.Fatalf("seed %d: another order comes to\n%s\nand not to\n%s\nlines:\n%s", seed, got, want, strings.Join(m.lines, "\n"))
			}
		}
	}
	// Both kinds have to be among them, or the test says little.
	if held < 10 || refused < 10 {
		t.Errorf("%d meshes hold and %d are refused: make the random ones otherwise", held, refused)
	}
}
