package load
import ("testing";"fmt";"time";"strings")
func TestProbe(t *testing.T){
 var b strings.Builder
 b.WriteString(head)
 for i:=range 500 { fmt.Fprintf(&b,"nodes: n%d: assign: {", i); for j:=range 20 { fmt.Fprintf(&b,"\n\tm%d: {}", j)}; b.WriteString("\n}\n") }
 f:=files("mesh.cue", b.String())
 t0:=time.Now()
 src,_:=Load(f, Options{})
 fmt.Println("load", time.Since(t0))
 inst := instances(src.Tree, false, nil, ".")[0]
 v := src.Context.BuildInstance(inst)
 d:=&decoder{}
 t0=time.Now(); m:=d.mesh(v); fmt.Println("decode", time.Since(t0), m.Nodes["n3"].Layer.Assign["m3"].At)
 t0=time.Now(); m=d.mesh(v); fmt.Println("decode again", time.Since(t0))
}
