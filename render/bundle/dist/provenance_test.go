package dist

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"meshc.dev/render/bundle"
)

// at calls f at the first step with a name, while the test runs.
func at(t *testing.T, name string, f func()) {
	t.Helper()
	before := step
	t.Cleanup(func() { step = before })
	var once sync.Once
	step = func(s string) {
		if s == name {
			once.Do(f)
		}
	}
}

// valid fails where a node's bundle cannot be read.
func valid(t *testing.T, dir string) {
	t.Helper()
	for _, node := range []string{"anchor", "board"} {
		if _, err := bundle.Open(filepath.Join(dir, node)); err != nil {
			t.Error(err)
		}
	}
}

// otherThan are the files and folders that are not the same as before, in name order.
func otherThan(before, after map[string]string) []string {
	var out []string
	for name, stamp := range after {
		if before[name] != stamp {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// BLD-2: a commit that changes no bundle replaces provenance and touches nothing else,
// folders and files of others included.
func TestProvenanceAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	write(t, dir, home, Options{})
	if err := os.WriteFile(filepath.Join(dir, "anchor", "note"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := stamps(t, dir)
	r := writeNodes(t, dir, home.at(1), Options{})
	if !slices.Equal(r.Changed, []string{"anchor", "board"}) || !slices.Equal(r.Unchanged, []string{"phone"}) {
		t.Errorf("reported %+v", r)
	}
	want := freshNodes(t, home.at(1), Options{})
	want["anchor/note"] = "mine"
	sameTree(t, "replaced", tree(t, dir), want)
	// A folder in which a name is replaced has another time, and no more than that.
	after := stamps(t, dir)
	for _, node := range []string{"anchor", "board"} {
		if strings.Fields(before[node])[0] != strings.Fields(after[node])[0] {
			t.Errorf("%s is another folder", node)
		}
		delete(after, node)
	}
	if got := otherThan(before, after); !slices.Equal(got, []string{"anchor/provenance.json", "board/provenance.json"}) {
		t.Errorf("touched %v", got)
	}
	nothingBeside(t, dir)
}

// An error between two nodes leaves bundles that are valid, with provenance of either
// commit and nothing else changed; the next run makes it one.
func TestProvenanceCutShort(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	write(t, dir, home, Options{})
	before, next := tree(t, dir), freshNodes(t, home.at(1), Options{})
	away := filepath.Join(filepath.Dir(dir), "away")
	at(t, "provenance board", func() {
		if err := os.Rename(filepath.Join(dir, "board"), away); err != nil {
			t.Error(err)
		}
	})
	if _, err := Write(dir, "home", home.at(1), Options{}); err == nil || !strings.Contains(err.Error(), "board/provenance.json") {
		t.Errorf("got %v", err)
	}
	if err := os.Rename(away, filepath.Join(dir, "board")); err != nil {
		t.Fatal(err)
	}
	sameTree(t, "cut short", settled("commit", tree(t, dir), before, next), next)
	valid(t, dir)
	nothingBeside(t, dir)
	writeNodes(t, dir, home.at(1), Options{})
	sameTree(t, "run again", tree(t, dir), next)
}

// BLD-2: provenance that cannot be written shows before a node is replaced.
func TestProvenanceNotWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	write(t, dir, home, Options{})
	before := stamps(t, dir)
	at(t, "write provenance", func() {
		if err := os.Mkdir(filepath.Join(beside(dir, "new"), "board."+bundle.ProvenanceName), 0o755); err != nil {
			t.Error(err)
		}
	})
	if _, err := Write(dir, "home", home.with("anchor", "/etc/a/two", "II").at(1), Options{}); err == nil {
		t.Error("accepted")
	}
	if after := stamps(t, dir); !maps.Equal(before, after) {
		t.Errorf("touched %v", otherThan(before, after))
	}
	nothingBeside(t, dir)
}

// BLD-2: a signature is never beside the provenance of another commit, since a machine
// refuses such a bundle.
func TestSignedProvenance(t *testing.T) {
	signed := func(serial int64) []Node {
		nodes := home.without("phone").at(serial)
		for i, n := range nodes {
			nodes[i].Bundle = func() (*bundle.Bundle, error) {
				b, err := n.Bundle()
				if err == nil {
					b.Signature = append([]byte("signed "), b.ProvenanceBytes()...)
				}
				return b, err
			}
		}
		return nodes
	}
	dir := filepath.Join(t.TempDir(), "dist")
	check := func(s string) {
		for _, node := range []string{"anchor", "board"} {
			provenance, err := os.ReadFile(filepath.Join(dir, node, bundle.ProvenanceName))
			signature, none := os.ReadFile(filepath.Join(dir, node, bundle.SignatureName))
			if err == nil && none == nil && string(signature) != "signed "+string(provenance) {
				t.Errorf("at %q, the signature of %s is over something else", s, node)
			}
		}
	}
	var mu sync.Mutex
	before := step
	defer func() { step = before }()
	step = func(s string) {
		mu.Lock()
		defer mu.Unlock()
		check(s)
	}
	for i, nodes := range [][]Node{signed(0), signed(1), home.without("phone").at(2), signed(3)} {
		writeNodes(t, dir, nodes, Options{})
		sameTree(t, fmt.Sprint("write ", i), tree(t, dir), freshNodes(t, nodes, Options{}))
	}
}
