package compiler_test

import (
	"fmt"
	"os"
	"testing"

	"meshc.dev/compiler"
	"meshc.dev/compiler/load"
	"meshc.dev/render"
)

// BenchmarkFleet compiles and renders meshes/fleet at three sizes; its cost per
// instance is what has to stay flat.
func BenchmarkFleet(b *testing.B) {
	for _, nodes := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			instances := 0
			for b.Loop() {
				r, ds := compiler.Compile(compiler.Input{
					FS: os.DirFS("../meshes/fleet"), Options: load.Options{Tags: []string{fmt.Sprintf("nodes=%d", nodes)}},
				})
				if ds.HasErrors() {
					b.Fatal(ds)
				}
				_, rds := render.New(r.Plan, render.Origin{}).All()
				if rds.HasErrors() {
					b.Fatal(rds)
				}
				instances = 0
				for _, n := range r.Plan.Nodes {
					instances += len(n.Instances)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(instances), "µs/instance")
		})
	}
}
