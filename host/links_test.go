package host

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"meshc.dev/render/bundle"
)

// The machine's program links neither the compiler nor CUE.
func TestLinksNoCompiler(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "meshc.dev/cmd/mesh-host").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "meshc.dev/host\n") {
		t.Fatal("the host itself is not among its parts")
	}
	for dep := range strings.Lines(string(out)) {
		for _, not := range []string{"meshc.dev/compiler", "meshc.dev/schema", "meshc.dev/catalog", "cuelang.org/", "cuelabs.dev/"} {
			if strings.HasPrefix(dep, not) {
				t.Errorf("it links %s", dep)
			}
		}
	}
}

// BenchmarkNoop applies a bundle of 300 resources a second time.
func BenchmarkNoop(b *testing.B) {
	var items []bundle.Item
	content := map[bundle.ID]string{}
	for i := range 100 {
		f := &bundle.File{ID: bundle.ID(fmt.Sprintf("m%d/file.f", i)), Path: fmt.Sprintf("/etc/m%d/conf", i), Mode: 0o644}
		s := &bundle.Secret{ID: bundle.ID(fmt.Sprintf("m%d/secret.needs.s", i)), Path: fmt.Sprintf("/etc/m%d/secret", i), Mode: 0o600}
		u := &bundle.Unit{ID: bundle.ID(fmt.Sprintf("m%d/unit.u", i)), Name: fmt.Sprintf("m%d.service", i), State: bundle.Running, Enabled: true, RestartOn: []bundle.ID{f.ID, s.ID}}
		content[f.ID], content[s.ID] = strings.Repeat("x", 1000), "secret"
		items = append(items, f, s, u)
	}
	dir := newTree(b)
	bundleDir := write(b, items, content)
	apply(b, onTree(b, dir), bundleDir)
	b.ReportAllocs()
	for b.Loop() {
		if r := apply(b, onTree(b, dir), bundleDir); len(r.Events) > 0 {
			b.Fatalf("it changed something: %v", r.Events[0])
		}
	}
}
