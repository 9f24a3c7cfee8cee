// Package meshes_test holds what the meshes of this repository say of themselves.
package meshes_test

import (
	"bytes"
	"crypto/ecdh"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/load"
	"filippo.io/age"
)

func mesh(t *testing.T, dir string, tags ...string) cue.Value {
	t.Helper()
	instances := load.Instances([]string{"."}, &load.Config{Dir: dir, Tags: tags, Env: append(os.Environ(), "CUE_REGISTRY=none")})
	v := cuecontext.New().BuildInstance(instances[0])
	if err := v.Validate(cue.Concrete(true)); err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	return v
}

func fields(t *testing.T, v cue.Value, path string) map[string]cue.Value {
	t.Helper()
	out := map[string]cue.Value{}
	it, err := v.LookupPath(cue.ParsePath(path)).Fields()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for it.Next() {
		out[it.Selector().Unquoted()] = it.Value()
	}
	return out
}

// The keys of home are in testdata/keys, so that tests can open what is sealed to its machines.
func TestHomeHasItsKeys(t *testing.T) {
	nodes := fields(t, mesh(t, "home"), "nodes")
	if len(nodes) != 5 {
		t.Errorf("home has %d nodes, want 5", len(nodes))
	}
	for name, n := range nodes {
		key := filepath.Join("..", "testdata", "keys", name)
		b, err := os.ReadFile(key + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		ids, err := age.ParseIdentities(bytes.NewReader(b))
		if err != nil || len(ids) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		want := ids[0].(*age.X25519Identity).Recipient().String()
		if got, _ := n.LookupPath(cue.ParsePath("recipient")).String(); got != want {
			t.Errorf("%s has recipient %s, and its key is %s's", name, got, want)
		}
		b, err = os.ReadFile(key + ".wireguard")
		if err != nil {
			t.Fatal(err)
		}
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(b)))
		if err != nil {
			t.Fatal(err)
		}
		private, err := ecdh.X25519().NewPrivateKey(raw)
		if err != nil {
			t.Fatal(err)
		}
		want = base64.StdEncoding.EncodeToString(private.PublicKey().Bytes())
		if got, _ := n.LookupPath(cue.ParsePath("wireguard")).String(); got != want {
			t.Errorf("%s has the WireGuard key %s, want %s", name, got, want)
		}
	}
}

// The sizes of the fleet are the tags', and no two of its machines have one key.
func TestFleetIsAsLargeAsAsked(t *testing.T) {
	for _, c := range []struct {
		tags           []string
		nodes, modules int
		endpoints      int
	}{
		{nil, 1000, 20, 20},
		{[]string{"nodes=60", "modules=9"}, 60, 9, 2},
		{[]string{"nodes=1", "modules=7", "full=true"}, 1, 7, 1},
		{[]string{"nodes=70", "full=true"}, 70, 20, 70},
	} {
		v := mesh(t, "fleet", c.tags...)
		nodes := fields(t, v, "nodes")
		keys, endpoints := map[string]bool{}, 0
		for _, n := range nodes {
			key, _ := n.LookupPath(cue.ParsePath("wireguard")).String()
			keys[key] = true
			if n.LookupPath(cue.ParsePath("endpoint")).Exists() {
				endpoints++
			}
		}
		// mesh-names is brought and not assigned.
		if got := len(fields(t, v, "assign")) + 1; len(nodes) != c.nodes || len(keys) != c.nodes || got != c.modules || endpoints != c.endpoints {
			t.Errorf("with %v: %d nodes with %d keys and %d endpoints, %d modules each; want %d, %d and %d", c.tags, len(nodes), len(keys), endpoints, got, c.nodes, c.endpoints, c.modules)
		}
	}
}

// What stands in README as a mesh of ten lines has no more of them.
func TestSmallIsTenLines(t *testing.T) {
	if n := len(fields(t, mesh(t, "small"), "nodes")); n != 3 {
		t.Errorf("small has %d nodes, want 3", n)
	}
	b, err := os.ReadFile("small/mesh.cue")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(b)) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	if lines > 10 {
		t.Errorf("small/mesh.cue has %d lines", lines)
	}
}
