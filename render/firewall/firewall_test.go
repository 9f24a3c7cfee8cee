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
			{From: 9443, To: 9443, Reason: "what was here first"},
		},
		Admits: []plan.Admit{
			{Port: 22, To: 22, Protocol: "tcp", For: "sshd", From: []string{"world"}},
			{Port: 8000, To: 8100, Protocol: "tcp", For: `the "old" store`, From: []string{"world"}},
			{Port: 53, To: 53, Address: "127.0.0.53", For: "systemd-resolved", From: []string{"world"}},
			{Port: 53, To: 53, Protocol: "udp", Address: "192.168.1.2", For: "the house's names", From: []string{"world"}},
			{Port: 9100, To: 9100, Protocol: "tcp", For: "a container of old", From: []string{"192.168.1.0/24", "fd00:1::/64"}, At: diag.Pos{File: "mesh.cue", Line: 9, Column: 5}},
			{Port: 9101, To: 9101, Protocol: "tcp", For: "another", From: []string{"network"}, At: diag.Pos{File: "mesh.cue", Line: 10, Column: 5}},
			{Port: 9102, To: 9102, Protocol: "tcp", For: "closed", From: []string{"machine"}},
			{Port: 9201, To: 9201, Protocol: "tcp", For: "the site's", From: []string{"192.168.1.0/24"}},
			{Port: 9202, To: 9202, For: "the network's", From: []string{"network"}},
			{Port: 9203, To: 9203, Protocol: "tcp", For: "ours", From: []string{"machine"}},
			{Port: 9301, To: 9301, Protocol: "tcp", For: "a VM", From: []string{"192.168.1.0/24"}},
			{Port: 9302, To: 9302, Protocol: "tcp", For: "a VM", From: []string{"network"}},
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
			n := &plan.Node{Name: "bare", Managed: true, Runtime: "podman", Admits: []plan.Admit{{Port: 22, To: 22, Protocol: "tcp", For: "sshd", From: []string{"world"}}}}
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
	slices.Reverse(n.Admits)
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
		"tcp 22 from world: sshd",
		"udp 53 from world: the house's names",
		"tcp 443 from world: proxy/https",
		"tcp 445 from 192.168.1.0/24: samba/smb",
		"tcp 631 from fd00:1::/64: printer/ipp",
		`tcp 8000-8100 from world: the "old" store`,
		"tcp 9100 from 192.168.1.0/24: a container of old",
		"tcp 9100 from fd00:1::/64: a container of old",
		"tcp 9101 from network: another",
		"tcp 9102 from machine: closed",
		"tcp 9201 from 192.168.1.0/24: the site's",
		"tcp+udp 9202 from network: the network's",
		"tcp 9203 from machine: ours",
		"tcp 9301 from 192.168.1.0/24: a VM",
		"tcp 9302 from network: a VM",
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
	n.Endpoint = ""
	n.Admits = []plan.Admit{{Port: 22, To: 22, Address: "::1", From: []string{"world"}}, {Port: 22, To: 22, Address: "sshd", From: []string{"world"}}, {Port: 22, To: 22, From: []string{"everywhere"}}}
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
		{"no ssh", func(_ *plan.Plan, n *plan.Node, _ *plan.Computed) { n.Admits, n.Reserved = n.Admits[1:], nil }, diag.WayInClosed, "the firewall closes 22/tcp of anchor"},
		{"ssh on loopback", func(_ *plan.Plan, n *plan.Node, _ *plan.Computed) { n.Admits[0].Address = "127.0.0.1" }, diag.WayInClosed, "closes 22/tcp"},
		{"ssh for the machine", func(_ *plan.Plan, n *plan.Node, _ *plan.Computed) { n.Admits[0].From = []string{"machine"} }, diag.WayInClosed, "closes 22/tcp"},
		{"ssh over udp", func(_ *plan.Plan, n *plan.Node, _ *plan.Computed) { n.Admits[0].Protocol, n.Reserved = "udp", nil }, diag.WayInClosed, "closes 22/tcp"},
		{"reserved for ssh", func(_ *plan.Plan, n *plan.Node, _ *plan.Computed) {
			n.Reserved = append(n.Reserved, plan.Reserved{From: 2222, To: 2222, Reason: "OpenSSH of old"})
		}, diag.SSHNotOpen, `2222 on anchor is reserved for "OpenSSH of old"`},
		{"reserved for ssh at an address", func(_ *plan.Plan, n *plan.Node, _ *plan.Computed) {
			n.Reserved = append(n.Reserved, plan.Reserved{From: 22, To: 22, Protocol: "udp", Reason: "ssh over udp"})
		}, diag.SSHNotOpen, "ssh over udp"},
		{"no site", func(_ *plan.Plan, n *plan.Node, _ *plan.Computed) { n.Admits[4].From = []string{"site"} }, diag.OpenFromNowhere, "house has no prefix"},
		{"no network", func(_ *plan.Plan, n *plan.Node, _ *plan.Computed) {
			n.Networks, n.Opens, n.Admits = nil, nil, n.Admits[:6]
		}, diag.OpenFromNowhere, "anchor is on none"},
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
	n.Admits[0] = plan.Admit{Port: 2222, To: 2222, Protocol: "tcp", For: "OpenSSH", From: []string{"world"}}
	if _, l := Table(p, n, plan.Computed{}); len(l) > 0 {
		t.Errorf("with ssh at another port: %v", l)
	}
	if p, n := anchor(); true {
		n.Opens, n.Networks[1].Prefix, n.Admits = nil, "", n.Admits[:1]
		if _, l := Table(p, n, plan.Computed{}); len(l) > 0 {
			t.Errorf("nothing is open to a network that is not known, and yet: %v", l)
		}
	}
}
