package dist

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"meshc.dev/render/bundle"
)

// fleet makes the bundles of n nodes with 100 files of 1 kB each, and one of these
// the setting.
func fleet(b *testing.B, n int, setting string, serial int64) []Node {
	content := make([]byte, 1000)
	out := make([]Node, n)
	for i := range out {
		files := make(map[string]string, 100)
		for f := range 99 {
			copy(content, fmt.Sprintf("%d %d", i, f))
			files[fmt.Sprintf("/etc/module%d/conf.d/file%d", f/5, f)] = string(content)
		}
		files["/etc/setting"] = setting
		made, err := makeBundle(fmt.Sprintf("node%d", i), files, serial)
		if err != nil {
			b.Fatal(err)
		}
		out[i] = Node{made.Node, func() (*bundle.Bundle, error) { return made, nil }}
	}
	return out
}

// BenchmarkWrite measures an output of 1000 nodes × 100 files: from nothing, with
// nothing changed, one node and two nodes changed, and all provenance changed. Floor is a program
// that only writes the same files.
//
// Nothing is deleted before the end: for minutes ext4 looks at every inode that was
// deleted before it takes a free one, which makes whatever is measured next several
// times slower.
func BenchmarkWrite(b *testing.B) {
	nodes := fleet(b, 1000, "off", 1)
	later := fleet(b, 1000, "off", 2)
	other := fleet(b, 2, "on", 1)
	top, places := b.TempDir(), 0
	place := func() string {
		places++
		return filepath.Join(top, fmt.Sprint(places), "dist")
	}
	run := func(b *testing.B, dir string, nodes []Node) {
		if _, err := Write(dir, "home", nodes, Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("floor", func(b *testing.B) {
		begin := cpu(b)
		for b.Loop() {
			if err := writeOnly(place(), nodes); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric((cpu(b)-begin)/float64(b.N), "cpu-s/op")
	})
	b.Run("nothing", func(b *testing.B) {
		begin := cpu(b)
		for b.Loop() {
			run(b, place(), nodes)
		}
		b.ReportMetric((cpu(b)-begin)/float64(b.N), "cpu-s/op")
	})
	for _, c := range []struct {
		name string
		next []Node
	}{
		{"same", nodes},
		{"one", append(slices.Clone(other[:1]), nodes[1:]...)},
		{"two", append(slices.Clone(other[:2]), nodes[2:]...)},
		{"provenance", later},
	} {
		b.Run(c.name, func(b *testing.B) {
			dir := place()
			run(b, dir, nodes)
			begin := cpu(b)
			for i := 0; b.Loop(); i++ {
				run(b, dir, [][]Node{c.next, nodes}[i%2])
			}
			b.ReportMetric((cpu(b)-begin)/float64(b.N), "cpu-s/op")
		})
	}
}

// cpu is the processor time of this process so far, in seconds: what a busy machine
// does not change.
func cpu(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// writeOnly writes the files of bundles and does nothing else.
func writeOnly(dir string, nodes []Node) error {
	return parallel(len(nodes), func(i int) error {
		made, _ := nodes[i].Bundle()
		for _, e := range made.Contents() {
			name := filepath.Join(dir, made.Node, e.Name)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(name, e.Data, 0o644); err != nil {
				return err
			}
		}
		return nil
	})
}
