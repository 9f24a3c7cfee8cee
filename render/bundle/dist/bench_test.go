package dist

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"meshc.dev/render/bundle"
)

// fleet makes the bundles of n nodes with 100 files of 1 kB each.
func fleet(b *testing.B, n int, serial int64) []Node {
	content := make([]byte, 1000)
	out := make([]Node, n)
	for i := range out {
		files := make(map[string]string, 100)
		for f := range 100 {
			copy(content, fmt.Sprintf("%d %d", i, f))
			files[fmt.Sprintf("/etc/module%d/conf.d/file%d", f/5, f)] = string(content)
		}
		made, err := makeBundle(fmt.Sprintf("node%d", i), files, serial)
		if err != nil {
			b.Fatal(err)
		}
		out[i] = Node{made.Node, func() (*bundle.Bundle, error) { return made, nil }}
	}
	return out
}

// BenchmarkWrite measures an output of 1000 nodes × 100 files: from nothing, with
// nothing changed, one node changed, and all provenance changed. Floor is a program
// that only writes the same files.
func BenchmarkWrite(b *testing.B) {
	nodes := fleet(b, 1000, 1)
	later := fleet(b, 1000, 2)
	dir := filepath.Join(b.TempDir(), "dist")
	run := func(b *testing.B, nodes []Node) {
		if _, err := Write(dir, "home", nodes, Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			floor := filepath.Join(b.TempDir(), "floor")
			b.StartTimer()
			err := parallel(len(nodes), func(i int) error {
				made, _ := nodes[i].Bundle()
				for _, e := range made.Contents() {
					name := filepath.Join(floor, made.Node, e.Name)
					if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
						return err
					}
					if err := os.WriteFile(name, e.Data, 0o644); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			os.RemoveAll(floor)
			b.StartTimer()
		}
	})
	b.Run("nothing", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			os.RemoveAll(dir)
			b.StartTimer()
			run(b, nodes)
		}
	})
	b.Run("same", func(b *testing.B) {
		for b.Loop() {
			run(b, nodes)
		}
	})
	b.Run("one", func(b *testing.B) {
		changed := append([]Node{later[0]}, nodes[1:]...)
		for i := 0; b.Loop(); i++ {
			run(b, [][]Node{changed, nodes}[i%2])
		}
	})
	b.Run("provenance", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			run(b, [][]Node{later, nodes}[i%2])
		}
	})
}
