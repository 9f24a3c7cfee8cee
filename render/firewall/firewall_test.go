package firewall

import (
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

// tunnelOf is an instance with a WireGuard interface.
func tunnelOf(name, iface string) *plan.Instance {
	return &plan.Instance{Name: name, Module: "mesh-wireguard", Resources: []plan.Resource{{
		ID:       addr.Resource{Instance: name, Kind: "computed", Name: "peers"},
		Computed: &plan.Computed{Kind: "wireguard", Interface: iface},
	}}}
}

func meshNetwork(name, address string) plan.Network {
	return plan.Network{Instance: "mesh-wireguard", Network: "wireguard:home", Name: name + ".home.mesh", Address: address, Interface: "wg0"}
}

// anchor has one of everything: it is the hub, has networks behind it, containers and
// programs of its own, open to everybody that a port can be open to.
func anchor() (*plan.Plan, *plan.Node) {
	n := &plan.Node{
		Name: "anchor", At: diag.Pos{File: "mesh.cue", Line: 7, Column: 5}, Managed: true, Runtime: "podman",
		Site: "house", SitePrefix: netip.MustParsePrefix("192.168.1.0/24"), MTU: 1492,
		Endpoint: "203.0.113.7", WireGuard: "key", Address: netip.MustParseAddr("10.86.0.1"),
		Routes:   []netip.Prefix{netip.MustParsePrefix("10.13.0.0/24"), netip.MustParsePrefix("fd13::/64")},
		Networks: []plan.Network{meshNetwork("anchor", "10.86.0.1"), {Instance: "lan", Network: "lan:house", Name: "anchor.house", Prefix: "192.168.1.0/24"}},
		Reserved: []plan.Reserved{
			{From: 22, To: 22, Reason: "sshd"},
			{From: 8000, To: 8100, Protocol: "tcp", Reason: `the "old" store`},
			{From: 53, To: 53, Address: "127.0.0.53", Reason: "systemd-resolved"},
			{From: 53, To: 53, Protocol: "udp", Address: "192.168.1.2", Reason: "the house's names"},
		},
		Instances: []*plan.Instance{tunnelOf("mesh-wireguard", "wg0")},
		Opens: []plan.Open{
			{Instance: "proxy", Name: "https", Port: 443, To: 443, Protocol: "tcp", From: "world"},
			{Instance: "postgres", Name: "postgres", Port: 20000, To: 20000, Protocol: "tcp", From: "network", Container: true, Inside: 5432, Address: "10.86.0.1"},
			{Instance: "gitea", Name: "http", Port: 20311, To: 20311, Protocol: "tcp", From: "machine", Container: true, Inside: 3000},
			{Instance: "gitea", Name: "ssh", Port: 20312, To: 20312, Protocol: "tcp", From: "world", Container: true, Inside: 2222},
			{Instance: "node-exporter", Name: "metrics", Port: 20400, To: 20400, Protocol: "tcp", From: "network"},
			{Instance: "redis", Name: "redis", Port: 20500, To: 20500, Protocol: "tcp", From: "machine", Address: "127.0.0.1"},
			{Instance: "turn", Name: "media", Port: 40000, To: 49999, Protocol: "udp", From: "world"},
			{Instance: "samba", Name: "smb", Port: 445, To: 445, Protocol: "tcp", From: "192.168.1.0/24"},
			{Instance: "printer", Name: "ipp", Port: 631, To: 631, Protocol: "tcp", From: "fd00:1::/64", Container: true, Inside: 631},
		},
	}
	return &plan.Plan{Mesh: "home", Hub: "anchor", Network: netip.MustParsePrefix("10.86.0.0/16"), Nodes: []*plan.Node{n}}, n
}

// goldens are nodes whose files are kept in testdata.
func goldens() map[string]func() (*plan.Plan, *plan.Node, plan.Computed) {
	return map[string]func() (*plan.Plan, *plan.Node, plan.Computed){
		"anchor": func() (*plan.Plan, *plan.Node, plan.Computed) {
			p, n := anchor()
			return p, n, plan.Computed{Kind: "firewall"}
		},
		"docker-strict": func() (*plan.Plan, *plan.Node, plan.Computed) {
			p, n := anchor()
			n.Runtime, n.Endpoint, p.Hub, n.Routes = "docker", "", "", nil
			return p, n, plan.Computed{Kind: "firewall", Forward: "drop", Log: true, Ping: 5, Trusted: []string{"virbr*"}, Bridges: []string{"docker0", "br-lan"}}
		},
		"bare": func() (*plan.Plan, *plan.Node, plan.Computed) {
			n := &plan.Node{Name: "bare", Managed: true, Runtime: "podman", Reserved: []plan.Reserved{{From: 22, To: 22, Reason: "sshd"}}}
			return &plan.Plan{Mesh: "home", Nodes: []*plan.Node{n}}, n, plan.Computed{Kind: "firewall"}
		},
	}
}

// CMP-5, BLD-8, O20, O19, O26: every rule of a node is one file, with ranges as ranges.
func TestGolden(t *testing.T) {
	for name, make := range goldens() {
		p, n, c := make()
		got, l := Table(p, n, c)
		if len(l) > 0 {
			t.Errorf("%s: %v", name, l)
		}
		file := filepath.Join("testdata", name+".nft")
		if update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s: run make golden and read the diff; got\n%s", file, got)
		}
	}
}

// BLD-1: the order in which instances open their ports is not seen.
func TestOrder(t *testing.T) {
	p, n := anchor()
	want, _ := Table(p, n, plan.Computed{})
	slices.Reverse(n.Opens)
	slices.Reverse(n.Reserved)
	if got, _ := Table(p, n, plan.Computed{}); string(got) != string(want) {
		t.Errorf("the reverse order gives\n%s", got)
	}
}

// CMP-5: the plan of a node without a firewall lists what would be opened.
func TestWays(t *testing.T) {
	_, n := anchor()
	ways := Ways(n)
	var got []string
	for _, w := range ways {
		got = append(got, w.String())
	}
	want := []string{
		"tcp+udp 22 from world: sshd",
		"udp 53 from world: the house's names",
		"tcp 443 from world: proxy/https",
		"tcp 445 from 192.168.1.0/24: samba/smb",
		"tcp 631 from fd00:1::/64: printer/ipp",
		`tcp 8000-8100 from world: the "old" store`,
		"tcp 20000 from network: postgres/postgres",
		"tcp 20311 from machine: gitea/http",
		"tcp 20312 from world: gitea/ssh",
		"tcp 20400 from network: node-exporter/metrics",
		"udp 40000-49999 from world: turn/media",
		"udp 51820 from world: mesh-wireguard, from the tunnels' other ends",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// BLD-8: the tunnels' port is open where somebody calls it, and once.
func TestTunnelPort(t *testing.T) {
	_, n := anchor()
	count := func() (c int) {
		for _, w := range Ways(n) {
			if w.Port == 51820 {
				c++
			}
		}
		return c
	}
	n.Opens = append(n.Opens, plan.Open{Instance: "mesh-wireguard", Name: "wireguard", Port: 51820, To: 51820, Protocol: "udp", From: "world"})
	if got := count(); got != 1 {
		t.Errorf("with the module's own listen the port is open %d times", got)
	}
	n.Opens, n.Endpoint = nil, ""
	if got := count(); got != 0 {
		t.Error("the port of a node behind NAT is open to the world")
	}
}

// BLD-8: what is bound to loopback, or cannot be read, is open to nobody.
func TestClosed(t *testing.T) {
	_, n := anchor()
	n.Endpoint, n.Reserved = "", []plan.Reserved{{From: 22, To: 22, Address: "::1"}, {From: 22, To: 22, Address: "sshd"}}
	n.Opens = []plan.Open{
		{Port: 80, Protocol: "tcp", From: "world", Address: "127.0.0.1"},
		{Port: 80, Protocol: "tcp", From: "world", Address: "eth0"},
		{Port: 80, Protocol: "tcp", From: "world", Address: "fe80::1%eth0"},
		{Port: 80, Protocol: "tcp", From: "everywhere"},
		{Port: 80, Protocol: "tcp", From: "10.0.0.1"},
	}
	if got := Ways(n); len(got) > 0 {
		t.Error(got)
	}
}

// CMP-5: what cannot be rendered as it was meant is refused, and what would be closed is said.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*plan.Plan, *plan.Node, *plan.Computed)
		code   diag.Code
		says   string
	}{
		{"range", func(_ *plan.Plan, n *plan.Node, _ *plan.Computed) { n.Networks[1].Prefix = "house" }, diag.NetworkRange, `lan@anchor serves "house" as the range`},
		{"interface", func(_ *plan.Plan, n *plan.Node, _ *plan.Computed) {
			n.Networks[0].Interface = "wg0\"; flush ruleset; \""
		}, diag.BadInterface, "mesh-wireguard on anchor"},
		{"bridge", func(_ *plan.Plan, _ *plan.Node, c *plan.Computed) { c.Bridges = []string{"a b"} }, diag.BadInterface, `"a b"`},
		{"trusted", func(_ *plan.Plan, _ *plan.Node, c *plan.Computed) { c.Trusted = []string{"*"} }, diag.BadInterface, `"*"`},
		{"unknown network", func(_ *plan.Plan, n *plan.Node, _ *plan.Computed) { n.Networks[1].Prefix = "" }, diag.NetworkUnknown, "lan@anchor serves neither interface nor range of the network lan:house"},
		{"no ssh", func(_ *plan.Plan, n *plan.Node, _ *plan.Computed) { n.Reserved = n.Reserved[1:] }, diag.WayInClosed, "the firewall of anchor closes port 22"},
		{"ssh on loopback", func(_ *plan.Plan, n *plan.Node, _ *plan.Computed) { n.Reserved[0].Address = "127.0.0.1" }, diag.WayInClosed, "closes port 22"},
		{"ssh over udp", func(_ *plan.Plan, n *plan.Node, _ *plan.Computed) { n.Reserved[0].Protocol = "udp" }, diag.WayInClosed, "closes port 22"},
	} {
		p, n := anchor()
		var computed plan.Computed
		c.change(p, n, &computed)
		b, l := Table(p, n, computed)
		if len(l) != 1 || l[0].Code != c.code || !strings.Contains(l[0].Message, c.says) || !l[0].At.IsValid() {
			t.Errorf("%s: %+v", c.name, l)
			continue
		}
		if l.HasErrors() != (b == nil) {
			t.Errorf("%s: refused %v, and %d bytes", c.name, l.HasErrors(), len(b))
		}
	}
	p, n := anchor()
	n.Reserved = []plan.Reserved{{From: 2222, To: 2222, Reason: "OpenSSH"}}
	if _, l := Table(p, n, plan.Computed{}); len(l) > 0 {
		t.Errorf("with ssh at another port: %v", l)
	}
	if p, n := anchor(); true {
		n.Opens, n.Networks[1].Prefix = nil, ""
		if _, l := Table(p, n, plan.Computed{}); len(l) > 0 {
			t.Errorf("nothing is open to a network that is not known, and yet: %v", l)
		}
	}
}
