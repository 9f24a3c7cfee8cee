package evaluate

import (
	"os"
	"testing"

	"meshc.dev/compiler/data"
	"meshc.dev/compiler/load"
)

// BenchmarkResources is the cost of asking one instance of the fleet for its
// resources, with nothing kept from another.
func BenchmarkResources(b *testing.B) {
	src, ds := load.Load(os.DirFS("../../meshes/fleet"), load.Options{Tags: []string{"nodes=10"}})
	if ds.HasErrors() {
		b.Fatal(ds)
	}
	for _, name := range []string{"app", "agent"} {
		m := src.Modules[name]
		b.Run(name, func(b *testing.B) {
			c := NewCUE(src.Context, nil)
			in := Inputs{
				Mesh: Mesh{"fleet", "fleet.mesh"}, Node: Node{Name: "n", Site: "s", Runtime: "podman", Facts: data.NewStruct(data.Field{Name: "number", Value: data.NewInt("1")}, data.Field{Name: "memory", Value: data.NewInt("8")})},
				Instance: "x", Ports: map[string]int{"http": 20000, "metrics": 20001}, Addresses: map[string]string{"http": "10.0.0.1", "metrics": "10.0.0.1"},
				Bindings: map[string]data.Value{}, Consumers: map[string]data.Value{},
			}
			k := c.compiled(m)
			b.ReportAllocs()
			b.Run("fill", func(b *testing.B) {
				for b.Loop() {
					c.fill(k.value, in, 0)
				}
			})
			b.Run("all", func(b *testing.B) {
				for b.Loop() {
					v := c.fill(k.value, in, 0)
					_, _ = readResources(k, v, in)
				}
			})
		})
	}
}
