package hosts

import (
	"bufio"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
)

// on puts a node on a network under a name; without an address the mesh does not know it.
func on(network, name, address string) plan.Network {
	return plan.Network{Instance: strings.TrimSuffix(network, ":home"), Network: network, Name: name, Address: address}
}

func node(name string, line int, networks ...plan.Network) *plan.Node {
	return &plan.Node{Name: addr.Node(name), At: diag.Pos{File: "mesh.cue", Line: line, Column: 5}, Networks: networks}
}

func home() *plan.Plan {
	return &plan.Plan{Mesh: "home", Nodes: []*plan.Node{
		node("anchor", 1, on("tunnel:home", "anchor.home.mesh", "10.86.0.7"), on("lan:home", "anchor.house.home.mesh", "192.168.1.7")),
		node("board", 2, on("tunnel:home", "board.home.mesh", "10.86.0.12"), on("lan:home", "board.house.home.mesh", "")),
		node("nas", 3, on("lan:home", "nas.house.home.mesh", "192.168.1.100")),
		node("phone", 4, on("tunnel:home", "phone.home.mesh", "fd86::4")),
	}}
}

func blockOf(p *plan.Plan, name string) string {
	return string(New(p).Block(p.Node(addr.Node(name))))
}

// CMP-2: each node has the names of all nodes on its networks, sorted and in columns, each with
// its address there; its own host name is left to the machine.
func TestBlock(t *testing.T) {
	for name, want := range map[string]string{
		"anchor": "" +
			"10.86.0.7      anchor.home.mesh\n" +
			"192.168.1.7    anchor.house.home.mesh\n" +
			"10.86.0.12     board.home.mesh board\n" +
			"192.168.1.100  nas.house.home.mesh nas\n" +
			"fd86::4        phone.home.mesh phone\n",
		"board": "" +
			"10.86.0.7      anchor.home.mesh anchor\n" +
			"192.168.1.7    anchor.house.home.mesh\n" +
			"10.86.0.12     board.home.mesh\n" +
			"192.168.1.100  nas.house.home.mesh nas\n" +
			"fd86::4        phone.home.mesh phone\n",
		"nas": "" +
			"192.168.1.7    anchor.house.home.mesh anchor\n" +
			"192.168.1.100  nas.house.home.mesh\n",
		"phone": "" +
			"10.86.0.7   anchor.home.mesh anchor\n" +
			"10.86.0.12  board.home.mesh board\n" +
			"fd86::4     phone.home.mesh\n",
	} {
		p := home()
		if l := New(p).Check(); len(l) > 0 {
			t.Error(l)
		}
		if got := blockOf(p, name); got != want {
			t.Errorf("%s:\n%swant\n%s", name, got, want)
		}
	}
}

// CMP-2: a short name stands for one machine or for none.
func TestAliases(t *testing.T) {
	p := &plan.Plan{Nodes: []*plan.Node{
		node("a", 1, on("t", "web.a.mesh", "10.0.0.1")),
		node("b", 2, on("t", "web.b.mesh", "10.0.0.2")), // the same first label
		node("c", 3, on("t", "d.c.mesh", "10.0.0.3")),   // another node's whole name
		node("d", 4, on("t", "d", "10.0.0.4")),
		node("e", 5, on("t", "localhost.e.mesh", "10.0.0.5")),
		node("f", 6, on("t", "a.f.mesh", "10.0.0.6")), // node a's host name
	}}
	want := "10.0.0.6  a.f.mesh a\n10.0.0.4  d\n10.0.0.3  d.c.mesh\n10.0.0.5  localhost.e.mesh\n10.0.0.1  web.a.mesh\n10.0.0.2  web.b.mesh\n"
	if got := blockOf(p, "b"); got != want {
		t.Errorf("b:\n%s", got)
	}
	if got, want := blockOf(p, "a"), strings.Replace(want, "a.f.mesh a\n", "a.f.mesh\n", 1); got != want {
		t.Errorf("a:\n%s", got)
	}
	if l := New(p).Check(); len(l) > 0 {
		t.Error(l)
	}
}

// CMP-2, T81: a node may be called as every machine calls itself, and has that name with its domain only.
func TestOwnNames(t *testing.T) {
	p := &plan.Plan{Nodes: []*plan.Node{node("a", 1, on("t", "a.home.mesh", "10.0.0.1"))}}
	for k, name := range own {
		if strings.Contains(name, ".") {
			continue
		}
		p.Nodes = append(p.Nodes, node(name, k+2, on("t", name+".home.mesh", fmt.Sprintf("10.0.1.%d", k))))
	}
	got := blockOf(p, "ip6-localhost")
	for line := range strings.Lines(got) {
		if f := strings.Fields(line); len(f) != 2 && f[1] != "a.home.mesh" {
			t.Errorf("taken: %q", line)
		}
	}
	if l := New(p).Check(); len(l) > 0 || !strings.Contains(got, "ip6-localhost.home.mesh\n") || !strings.Contains(got, "a.home.mesh a\n") {
		t.Error(l, got)
	}
}

// CMP-2: a node on no network, or on one without known addresses, has nothing to be told.
func TestNothing(t *testing.T) {
	p := &plan.Plan{Nodes: []*plan.Node{node("a", 1), node("b", 2, on("lan", "b.house", ""))}}
	for _, n := range p.Nodes {
		if got := New(p).Block(n); len(got) > 0 {
			t.Errorf("%s: %q", n.Name, got)
		}
	}
}

// CMP-2, BLD-7, O30: what a hosts file cannot hold, or what would stand for two machines, is
// refused once, and everybody is named.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes []*plan.Node
		want  []string
	}{
		{"underscore", []*plan.Node{node("a", 1, on("t", "redis_cache.home", "10.0.0.1")), node("b", 2, on("t", "b.home", "10.0.0.2"))}, []string{
			`E0518 t provides the network t on a under a name that is no host name: "redis_cache" in "redis_cache.home" is not letters, digits and inner hyphens`,
		}},
		{"upper case", []*plan.Node{node("a", 1, on("t", "UPPER", "10.0.0.1"))}, []string{
			`E0518 t provides the network t on a under a name that is no host name: "UPPER" is not lower case`,
		}},
		{"dot", []*plan.Node{node("a", 1, on("t", "web.", "10.0.0.1"))}, []string{
			`E0518 t provides the network t on a under a name that is no host name: "web." ends in a dot`,
		}},
		{"two lines", []*plan.Node{node("a", 1, on("t", "a\n6.6.6.6 bank.example", "10.0.0.1"))}, []string{
			`E0518 t provides the network t on a under a name that is no host name: "a\n6" in "a\n6.6.6.6 bank.example" is not letters, digits and inner hyphens`,
		}},
		{"localhost", []*plan.Node{node("a", 1, on("t", "localhost", "10.0.0.1")), node("b", 2, on("t", "b.localhost", "10.0.0.2"))}, []string{
			"E0518 t provides the network t on a under the name localhost, which every machine has for itself",
			"E0518 t provides the network t on b under the name b.localhost, which every machine has for itself",
		}},
		{"the machine's own", []*plan.Node{node("a", 1, on("t", "ip6-localhost", "10.0.0.1")), node("b", 2, on("t", "broadcasthost", "10.0.0.2")), node("c", 3, on("t", "localhost.localdomain", "10.0.0.3"))}, []string{
			"E0518 t provides the network t on a under the name ip6-localhost, which every machine has for itself",
			"E0518 t provides the network t on b under the name broadcasthost, which every machine has for itself",
			"E0518 t provides the network t on c under the name localhost.localdomain, which every machine has for itself",
		}},
		{"address", []*plan.Node{node("a", 1, on("t", "a.home", "10.0.0.1/24")), node("b", 2, on("t", "b.home", "fe80::1%eth0"))}, []string{
			`E0518 t provides the network t on a with "10.0.0.1/24", which is no address that a hosts file can hold`,
			`E0518 t provides the network t on b with "fe80::1%eth0", which is no address that a hosts file can hold`,
		}},
		{"one name, one network", []*plan.Node{node("a", 1, on("t", "web.home", "10.0.0.1")), node("b", 2, on("t", "web.home", "10.0.0.2")), node("c", 3, on("t", "c.home", "10.0.0.3"))}, []string{
			"E0519 a and b are both called web.home on the network t",
		}},
		{"one name, two networks", []*plan.Node{node("a", 1, on("t", "web.home", "10.0.0.1")), node("b", 2, on("u", "web.home", "10.0.0.2")), node("c", 3, on("t", "c.home", "10.0.0.3"), on("u", "c.house", "10.0.1.3")), node("d", 4, on("u", "d.home", "10.0.0.4"), on("t", "d.house", "10.0.1.4"))}, []string{
			"E0519 a and b are both called web.home, the one on the network t, the other on u",
		}},
		{"one name, networks that nobody joins", []*plan.Node{node("a", 1, on("t", "web.home", "10.0.0.1")), node("b", 2, on("u", "web.home", "10.0.0.2"))}, nil},
		{"one node, two networks", []*plan.Node{node("a", 1, on("t", "a.home", "10.0.0.1"), on("u", "a.home", "10.0.1.1"))}, []string{
			"E0519 a is called a.home on the networks t and u, where it has two addresses",
		}},
		{"the second has no address", []*plan.Node{node("a", 1, on("t", "a.home", "10.0.0.1"), on("u", "a.home", ""))}, nil},
	} {
		var said []string
		for _, d := range New(&plan.Plan{Mesh: "home", Nodes: c.nodes}).Check() {
			said = append(said, string(d.Code)+" "+d.Message)
			if !d.At.IsValid() {
				t.Errorf("%s: %s has no place", c.name, d.Code)
			}
		}
		if !slices.Equal(said, c.want) {
			t.Errorf("%s: got\n%s", c.name, strings.Join(said, "\n"))
		}
	}
}

// BLD-6: each line is read back, as the resolver reads hosts files, as an address and names.
func TestReadBack(t *testing.T) {
	p := home()
	for _, n := range p.Nodes {
		names := map[string]string{}
		for s := bufio.NewScanner(strings.NewReader(blockOf(p, string(n.Name)))); s.Scan(); {
			fields := strings.Fields(s.Text())
			if _, err := netip.ParseAddr(fields[0]); err != nil || len(fields) < 2 || len(fields) > 3 {
				t.Errorf("%q: %v", s.Text(), err)
			}
			for _, f := range fields[1:] {
				if names[f] != "" {
					t.Errorf("%s: %s stands twice", n.Name, f)
				}
				names[f] = fields[0]
			}
		}
		for _, other := range p.Nodes {
			for _, w := range other.Networks {
				shared := slices.ContainsFunc(n.Networks, func(o plan.Network) bool { return o.Network == w.Network })
				if want := w.Address; shared && names[w.Name] != want || !shared && names[w.Name] != "" {
					t.Errorf("%s: %s is %q, want %q", n.Name, w.Name, names[w.Name], want)
				}
			}
		}
	}
}

// BLD-1: the order of the nodes is not seen.
func TestOrder(t *testing.T) {
	p, q := home(), home()
	slices.Reverse(q.Nodes)
	for _, n := range p.Nodes {
		if want, got := blockOf(p, string(n.Name)), blockOf(q, string(n.Name)); got != want {
			t.Errorf("%s: in reverse order\n%s", n.Name, got)
		}
	}
}

// The blocks of all nodes of a mesh.
func BenchmarkBlocks(b *testing.B) {
	for _, size := range []int{10, 100, 1000} {
		p := &plan.Plan{}
		for i := range size {
			name := fmt.Sprintf("node-%04d", i)
			p.Nodes = append(p.Nodes, node(name, i+1, on("tunnel:home", name+".home.mesh", fmt.Sprintf("10.86.%d.%d", i>>8, i&255))))
		}
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m := New(p)
				for _, n := range p.Nodes {
					m.Block(n)
				}
			}
		})
	}
}
