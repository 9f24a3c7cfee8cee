package wireguard

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
)

// update says to rewrite the golden files: UPDATE=1 go test, or make golden.
var update = os.Getenv("UPDATE") != ""

const homeNet = "wireguard:home"

// node makes a node on the WireGuard network, with the address 10.86.0.I.
func node(name string, i int, change ...func(*plan.Node)) *plan.Node {
	a := netip.AddrFrom4([4]byte{10, 86, byte(i >> 8), byte(i)})
	n := &plan.Node{
		Name: addr.Node(name), At: diag.Pos{File: "mesh.cue", Line: i + 1, Column: 9}, Managed: true, Runtime: "podman",
		WireGuard: strings.Repeat("0", 42-len(name)) + name + "A=", Address: a, MTU: 1500,
		Networks: []plan.Network{{Instance: "mesh-wireguard", Network: homeNet, Name: name + ".home.mesh", Address: a.String(), Interface: "wg0"}},
		Instances: []*plan.Instance{{Name: "mesh-wireguard", Module: "mesh-wireguard", Resources: []plan.Resource{
			{ID: peersID, Computed: &plan.Computed{Kind: "wireguard", Interface: "wg0", Port: 51820}},
		}}},
	}
	for _, c := range change {
		c(n)
	}
	return n
}

var peersID = addr.Resource{Instance: "mesh-wireguard", Kind: "computed", Name: "peers"}

func endpoint(s string) func(*plan.Node) { return func(n *plan.Node) { n.Endpoint = s } }

func routes(s ...string) func(*plan.Node) {
	return func(n *plan.Node) {
		for _, r := range s {
			n.Routes = append(n.Routes, netip.MustParsePrefix(r))
		}
	}
}

func site(name, prefix string) func(*plan.Node) {
	return func(n *plan.Node) { n.Site, n.SitePrefix = name, netip.MustParsePrefix(prefix) }
}

// takes says that an instance of the node takes a database from another.
func takes(provider string) func(*plan.Node) {
	return func(n *plan.Node) {
		n.Takes = append(n.Takes, plan.Take{
			Instance: "app", Label: "database", Provision: "database",
			Node: addr.Node(provider), Provider: "store", At: provider + ".home.mesh",
		})
	}
}

func mesh(hub string, nodes ...*plan.Node) *plan.Plan {
	return &plan.Plan{Mesh: "home", Domain: "home.mesh", Hub: addr.Node(hub), Network: netip.MustParsePrefix("10.86.0.0/16"), Nodes: nodes}
}

// home is a mesh with a hub, a second node with an endpoint, nodes behind NAT at two
// sites, networks behind two of them, and a phone.
func home() *plan.Plan {
	return mesh("anchor",
		node("anchor", 1, endpoint("203.0.113.7"), site("house", "192.168.1.0/24"), routes("192.168.1.0/24", "10.13.0.0/24"), func(n *plan.Node) { n.MTU = 1492 }),
		node("board", 2, site("house", "192.168.1.0/24")),
		node("cabin", 3, site("cabin", "192.168.2.0/24"), routes("192.168.2.0/24"), func(n *plan.Node) { n.MTU = 1460 }),
		node("phone", 4, func(n *plan.Node) { n.Managed = false }),
		node("relay", 5, endpoint("[2001:db8::5]:4500"), func(n *plan.Node) { n.Runtime = "docker" }),
	)
}

func config(t *testing.T, p *plan.Plan, n *plan.Node) string {
	t.Helper()
	b, l := New(p).Config(n, peersID, *n.Instances[0].Resources[0].Computed)
	if len(l) > 0 {
		t.Fatalf("%s: %v", n.Name, l)
	}
	return string(b)
}

// CMP-1, O22, O23, O26: the files of a mesh with a hub, sites, routes and a phone.
func TestGolden(t *testing.T) {
	p := home()
	if l := New(p).Check(); len(l) > 0 {
		t.Errorf("%v", l)
	}
	docker := home()
	docker.Nodes[0].Runtime = "docker"
	six := home()
	six.Network = netip.MustParsePrefix("fd86::/64")
	for i, n := range six.Nodes {
		n.Address = netip.MustParseAddr(fmt.Sprintf("fd86::%d", i+1))
		n.Networks[0].Address = n.Address.String()
	}
	files := map[string]string{"docker-hub": config(t, docker, docker.Nodes[0]), "ipv6-hub": config(t, six, six.Nodes[0])}
	for _, n := range p.Nodes {
		files[string(n.Name)] = config(t, p, n)
	}
	for name, got := range files {
		file := filepath.Join("testdata", name+".conf")
		if update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: run make golden and read the diff; got\n%s", file, got)
		}
	}
}

// BLD-1: the order of the nodes and of their routes is not seen.
func TestOrder(t *testing.T) {
	p, q := home(), home()
	slices.Reverse(q.Nodes)
	for _, n := range q.Nodes {
		slices.Reverse(n.Routes)
	}
	for _, n := range p.Nodes {
		if want, got := config(t, p, n), config(t, q, q.Node(n.Name)); got != want {
			t.Errorf("%s: in reverse order\n%s", n.Name, got)
		}
	}
}

// O26: the tunnel is 80 bytes narrower than the site's way out.
func TestMTU(t *testing.T) {
	for way, want := range map[int]string{0: "MTU = 1420\n", 1500: "MTU = 1420\n", 1492: "MTU = 1412\n", 1460: "MTU = 1380\n", 9000: "MTU = 8920\n"} {
		p := mesh("", node("a", 1, func(n *plan.Node) { n.MTU = way }))
		if got := config(t, p, p.Nodes[0]); !strings.Contains(got, want) {
			t.Errorf("a way out of %d: %s", way, got)
		}
	}
}

// CMP-1, BLD-4: what is left to one node's own file to refuse.
func TestConfigRefuses(t *testing.T) {
	for _, c := range []struct {
		change func(*plan.Node, *plan.Computed)
		code   diag.Code
		says   string
	}{
		{func(n *plan.Node, _ *plan.Computed) { n.Networks = nil }, diag.TunnelWithoutNetwork, "mesh-wireguard/computed.peers on a computes"},
		{func(_ *plan.Node, c *plan.Computed) { c.Key = "/var/lib/my key" }, diag.KeyPath, `"/var/lib/my key"`},
		{func(_ *plan.Node, c *plan.Computed) { c.Key = "/a#b" }, diag.KeyPath, `"/a#b"`},
		{func(_ *plan.Node, c *plan.Computed) { c.Key = "/a$(id)" }, diag.KeyPath, `"/a$(id)"`},
		{func(_ *plan.Node, c *plan.Computed) { c.Key = "key" }, diag.KeyPath, `"key"`},
		{func(_ *plan.Node, c *plan.Computed) { c.Interface = ".." }, diag.BadInterface, `".."`},
	} {
		p := mesh("", node("a", 1))
		n := p.Nodes[0]
		c.change(n, n.Instances[0].Resources[0].Computed)
		b, l := New(p).Config(n, peersID, *n.Instances[0].Resources[0].Computed)
		if b != nil || len(l) != 1 || l[0].Code != c.code || !strings.Contains(l[0].Message, c.says) {
			t.Errorf("%s: %q %v", c.code, b, l)
		}
	}
}

// CMP-1: the interface's name is the file's, as wg-quick wants it.
func TestPath(t *testing.T) {
	for want, c := range map[string]plan.Computed{
		"/etc/wireguard/wg0.conf":  {},
		"/etc/wireguard/mesh.conf": {Interface: "mesh"},
		"/srv/wg1.conf":            {Interface: "wg1", Path: "/srv/wg1.conf"},
	} {
		if got := Path(c); got != want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// CMP-1: a keepalive is as long as the module says, and 0 is never.
func TestKeepalive(t *testing.T) {
	for every, want := range map[int]string{0: "PersistentKeepalive = 25\n", 40: "PersistentKeepalive = 40\n", plan.NoKeepalive: ""} {
		p := mesh("", node("a", 1), node("b", 2, endpoint("b.example")))
		p.Nodes[0].Instances[0].Resources[0].Computed.Keepalive = every
		got := config(t, p, p.Nodes[0])
		if !strings.Contains(got, want) || want == "" && strings.Contains(strings.ToLower(got), "keepalive") {
			t.Errorf("keepalive %d: %s", every, got)
		}
	}
}

// CMP-1: the file of a machine that is not managed is whole but for its own key, and has
// nothing in it that a WireGuard app does not know.
func TestUnmanaged(t *testing.T) {
	p := home()
	got := config(t, p, p.Node("phone"))
	if !strings.Contains(got, "\n# PrivateKey =\n") {
		t.Errorf("there is no place for the key:\n%s", got)
	}
	known := []string{"Address", "MTU", "PublicKey", "Endpoint", "AllowedIPs", "PersistentKeepalive"}
	for line := range strings.SplitSeq(got, "\n") {
		key, _, _ := strings.Cut(line, " =")
		if line != "" && line[0] != '#' && line[0] != '[' && !slices.Contains(known, key) {
			t.Errorf("a WireGuard app refuses %q", line)
		}
	}
}

// BLD-7, O22: where a node's endpoint names no port, it is the one that the node listens on.
func TestEndpointPort(t *testing.T) {
	for written, want := range map[string]string{
		"203.0.113.7": "203.0.113.7:4000", "2001:db8::1": "[2001:db8::1]:4000", "[2001:db8::1]": "[2001:db8::1]:4000",
		"[2001:db8::1]:7": "[2001:db8::1]:7", "fe80::1%eth0": "[fe80::1%eth0]:4000", "Vpn.example": "vpn.example:4000",
	} {
		p := mesh("", node("a", 1), node("b", 2, endpoint(written)))
		p.Nodes[1].Instances[0].Resources[0].Computed.Port = 4000
		if got := config(t, p, p.Nodes[0]); !strings.Contains(got, "\nEndpoint = "+want+"\n") {
			t.Errorf("%s: %s", written, got)
		}
	}
}

// fleet is n nodes, every second one behind NAT, the first one the hub.
func fleet(n int) *plan.Plan {
	var nodes []*plan.Node
	for i := range n {
		var change []func(*plan.Node)
		if i%2 == 0 {
			change = append(change, endpoint(fmt.Sprintf("n%d.example", i)))
		}
		nodes = append(nodes, node(fmt.Sprintf("n%04d", i), i+1, change...))
	}
	return mesh("n0000", nodes...)
}

// All configurations of a mesh, with what they share.
func BenchmarkConfigs(b *testing.B) {
	for _, size := range []int{10, 100, 1000} {
		p := fleet(size)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m := New(p)
				if l := m.Check(); len(l) > 0 {
					b.Fatal(l)
				}
				total := 0
				for _, n := range p.Nodes {
					c, _ := m.Config(n, peersID, *n.Instances[0].Resources[0].Computed)
					total += len(c)
				}
				b.ReportMetric(float64(total)/1e6, "MB")
			}
		})
	}
}
