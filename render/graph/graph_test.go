package graph_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/build"
	"meshc.dev/render/diff"
	"meshc.dev/render/graph"
	"meshc.dev/render/graph/graphviz"
)

func printed(t *testing.T, print func(io.Writer, *graph.Graph) error, g *graph.Graph) string {
	t.Helper()
	var b bytes.Buffer
	if err := print(&b, g); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func svg(t *testing.T, g *graph.Graph) string {
	t.Helper()
	return printed(t, func(w io.Writer, g *graph.Graph) error { return graph.SVG(context.Background(), w, g) }, g)
}

// REV-6: the picture of meshes/home, in the languages that are read as text; UPDATE=1 rewrites them.
func TestHome(t *testing.T) {
	o, ds, err := build.State(os.DirFS("../../meshes/home"), build.Options{}, nil)
	if err != nil || ds.HasErrors() {
		t.Fatal(err, ds)
	}
	for name, print := range map[string]func(io.Writer, *graph.Graph) error{"home.dot": graph.Dot, "home.mermaid": graph.Mermaid} {
		got := printed(t, print, graph.Of(o.Plan, graph.Options{}))
		golden := filepath.Join("../../testdata/golden/graph", name)
		if os.Getenv("UPDATE") != "" {
			if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is not what it was; UPDATE=1 go test ./render/graph, and read the difference:\n%s", golden, got)
		}
	}
}

// fleet is a mesh of n machines at sites of 25, the first of each with a broker that
// the others take a queue from, and one that watches all.
func fleet(n int) *plan.Plan {
	p := &plan.Plan{Mesh: "fleet", Hub: "m000"}
	name := func(k int) addr.Node { return addr.Node(fmt.Sprintf("m%03d", k)) }
	for k := range n {
		x := &plan.Node{
			Name: name(k), Site: fmt.Sprintf("site-%02d", k/25), Managed: true, Address: netip.AddrFrom4([4]byte{10, 0, byte(k / 250), byte(k % 250)}),
			Networks:  []plan.Network{{Network: "wg", Prefix: "10.0.0.0/16"}},
			Instances: []*plan.Instance{{Name: "agent"}, {Name: "exporter"}},
			Takes:     []plan.Take{{Instance: "exporter", Provision: "metrics", Node: name(0), Provider: "watch", Optional: true}},
		}
		if k%25 == 0 {
			x.Instances = append(x.Instances, &plan.Instance{Name: "broker"})
		} else {
			x.Takes = append(x.Takes, plan.Take{Instance: "agent", Provision: "queue", Node: name(k / 25 * 25), Provider: "broker", As: fmt.Sprintf("agent_%d", k)})
		}
		p.Nodes = append(p.Nodes, x)
	}
	return p
}

func boxesOf(g *graph.Graph) []*graph.Box {
	var out []*graph.Box
	for _, s := range g.Sites {
		out = append(out, s.Boxes...)
	}
	return out
}

// REV-6: however many machines there are, few enough boxes are drawn, and each machine is in one of them.
func TestLargeMeshesAreFolded(t *testing.T) {
	for _, n := range []int{5, 40, 200, 1000, 3000} {
		p := fleet(n)
		g := graph.Of(p, graph.Options{})
		seen := map[string]int{}
		for _, x := range boxesOf(g) {
			for _, name := range x.Nodes {
				seen[name]++
			}
		}
		for _, node := range p.Nodes {
			if seen[string(node.Name)] != 1 {
				t.Fatalf("of %d: %s is in %d boxes", n, node.Name, seen[string(node.Name)])
			}
		}
		if boxes := len(boxesOf(g)); boxes > graph.DefaultBoxes {
			t.Errorf("%d machines are %d boxes", n, boxes)
		}
		if folded := g.Folded != ""; folded != (n > graph.DefaultBoxes) {
			t.Errorf("of %d machines it is said: %q", n, g.Folded)
		}
		if n <= 1000 {
			svg(t, g)
		}
	}
}

// REV-6: a machine that changes is marked, also where those like it are one box, and so is one that goes.
func TestChangesAreMarked(t *testing.T) {
	d := &diff.Diff{Nodes: map[string]diff.Impact{"m101": diff.Restart, "gone": diff.Unreachable}}
	for _, n := range []int{120, 1000, 3000} {
		g := graph.Of(fleet(n), graph.Options{Diff: d})
		marks := map[string]string{}
		for _, x := range boxesOf(g) {
			if x.Impact != "" {
				marks[strings.Join(x.Nodes[:1], "")] += x.Impact
				if slices.Contains(x.Nodes, "m101") && len(x.Nodes) > 1 && n < 1000 {
					t.Errorf("of %d: m101 is in a box with %d that do not change", n, len(x.Nodes)-1)
				}
			}
		}
		if marks["gone"] != "node unreachable" || len(marks) != 2 {
			t.Errorf("of %d: marked are %v", n, marks)
		}
		if got := svg(t, g); !strings.Contains(got, "▲ restart") || strings.Count(got, " changed i") != 2 {
			t.Errorf("of %d: the picture does not have the two marks", n)
		}
	}
}

// REV-6: parallel lines are one line that says how many, and what everybody takes from one place is said there.
func TestEdgesAreGathered(t *testing.T) {
	g := graph.Of(fleet(30), graph.Options{MostBoxes: 100})
	for _, e := range g.Edges {
		for _, x := range e.Takes {
			if x.Provision == "metrics" {
				t.Errorf("%s takes metrics from %s in a line of its own", e.From, e.To)
			}
		}
	}
	first := boxesOf(g)[0]
	if want := "gives metrics to 29 nodes"; !slices.Contains(first.Gives, want) {
		t.Errorf("%s says %v and not %s", first.Title, first.Gives, want)
	}
	g = graph.Of(fleet(200), graph.Options{})
	var labels []string
	for _, e := range g.Edges {
		labels = append(labels, e.Labels()...)
		if !e.Credential() {
			t.Errorf("%s takes %v from %s without a login", e.From, e.Labels(), e.To)
		}
	}
	if slices.Sort(labels); !slices.Contains(labels, "queue × 24") || len(labels) != 8 {
		t.Errorf("the lines are %v", labels)
	}
}

// REV-6: names that mean something to a printer's language are text in it.
func TestNamesAreText(t *testing.T) {
	const evil = "a\"]; x -> y <script>\\n#quot;|end\n\x01&"
	p := fleet(3)
	p.Mesh, p.Nodes[1].Site, p.Nodes[1].Instances[0].Name, p.Nodes[1].Takes[0].Provision = evil, evil, evil, evil
	p.Nodes[2].Takes = append(p.Nodes[2].Takes, plan.Take{Instance: "x", Provision: "y", Licence: evil})
	p.Nodes[0].Endpoint = evil
	p.Nodes[0].Networks = append(p.Nodes[0].Networks, plan.Network{Network: evil, Prefix: evil})
	g := graph.Of(p, graph.Options{})
	l, err := graphviz.Place(context.Background(), printed(t, graph.Dot, g))
	if err != nil {
		t.Fatalf("dot does not read what was written for it: %v", err)
	}
	if len(l[0].Nodes) != 4 {
		t.Errorf("dot reads these nodes: %v", l[0].Nodes)
	}
	if mermaid := printed(t, graph.Mermaid, g); strings.Contains(mermaid, "<script>") || strings.Contains(mermaid, "x -> y") {
		t.Errorf("Mermaid is given markup:\n%s", mermaid)
	}
	names := 0
	d := xml.NewDecoder(strings.NewReader(svg(t, g)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the svg is not well-formed: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			names++
			if e.Name.Local == "script" {
				t.Error("the svg has a script")
			}
		}
	}
	if names < 30 {
		t.Errorf("the svg has %d elements only", names)
	}
}

// BLD-1: the same mesh gives the same picture.
func TestSamePicture(t *testing.T) {
	a, b := graph.Of(fleet(200), graph.Options{}), graph.Of(fleet(200), graph.Options{})
	if svg(t, a) != svg(t, b) || printed(t, graph.Dot, a) != printed(t, graph.Dot, b) || printed(t, graph.Mermaid, a) != printed(t, graph.Mermaid, b) {
		t.Error("two pictures of one mesh differ")
	}
}

// REV-6: the picture's title and description say in words what it shows; as a file it is one image.
func TestPictureInWords(t *testing.T) {
	got := svg(t, graph.Of(fleet(40), graph.Options{}))
	for _, want := range []string{`role="img" aria-labelledby="picture-title picture-desc"`, "<title id=\"picture-title\">The mesh fleet</title>", "40 nodes at 2 sites;", "prefers-color-scheme: dark"} {
		if !strings.Contains(got, want) {
			t.Errorf("the svg does not have %s", want)
		}
	}
	inline, err := graph.Inline(context.Background(), graph.Of(fleet(3), graph.Options{}), func(x *graph.Box) string { return "#" + x.ID })
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(inline, `<a href="#node-m`); n != 3 || strings.Contains(inline, "<style>") {
		t.Errorf("within a page the picture has %d links, and is to have no style of its own", n)
	}
}
