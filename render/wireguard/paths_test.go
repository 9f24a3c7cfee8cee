package wireguard

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"meshc.dev/compiler/plan"
)

// peer is what a configuration says of another node.
type peer struct {
	endpoint, keepalive string
	allowed             []netip.Prefix
}

// peersOf reads a configuration as wg does; peers are found by their keys.
func peersOf(t *testing.T, p *plan.Plan, text string) map[string]*peer {
	t.Helper()
	names := map[string]string{}
	for _, n := range p.Nodes {
		names[n.WireGuard] = string(n.Name)
	}
	out := map[string]*peer{}
	var at *peer
	for line := range strings.SplitSeq(text, "\n") {
		key, value, _ := strings.Cut(line, " = ")
		switch key {
		case "PublicKey":
			at = &peer{}
			if names[value] == "" || out[names[value]] != nil {
				t.Fatalf("an unknown key, or one twice: %s", value)
			}
			out[names[value]] = at
		case "Endpoint":
			at.endpoint = value
		case "PersistentKeepalive":
			at.keepalive = value
		case "AllowedIPs":
			for s := range strings.SplitSeq(value, ", ") {
				at.allowed = append(at.allowed, netip.MustParsePrefix(s))
			}
		}
	}
	return out
}

// next is the peer that a configuration sends an address to.
func next(peers map[string]*peer, a netip.Addr) string {
	for name, p := range peers {
		if slices.ContainsFunc(p.allowed, func(r netip.Prefix) bool { return r.Contains(a) }) {
			return name
		}
	}
	return ""
}

// randomMesh has up to twelve nodes, some behind NAT, some with networks behind them,
// and a hub or none.
func randomMesh(r *rand.Rand) *plan.Plan {
	var nodes []*plan.Node
	var open []string
	for i := range 2 + r.IntN(11) {
		name := fmt.Sprintf("n%d", i)
		var change []func(*plan.Node)
		if r.IntN(3) == 0 {
			change = append(change, endpoint([]string{"203.0.113.7", "vpn.example", "[2001:db8::1]:99"}[r.IntN(3)]))
			open = append(open, name)
		}
		for j := range r.IntN(3) {
			change = append(change, routes(fmt.Sprintf("10.%d.%d.0/24", 20+i, j)))
		}
		nodes = append(nodes, node(name, i+1, change...))
	}
	hub := ""
	if len(open) > 0 && r.IntN(4) > 0 {
		hub = open[r.IntN(len(open))]
	}
	return mesh(hub, nodes...)
}

// CMP-1, O21, O23, O24: in any mesh a packet from one node to another, or to a network
// behind it, is sent on by each peer on its way, taken by the next one as coming from
// where it comes from, and every step has one end that can be called and, behind NAT,
// keeps the way open. Only nodes behind NAT without a hub have no way.
func TestPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		p := randomMesh(r)
		configs := map[string]map[string]*peer{}
		for _, n := range p.Nodes {
			configs[string(n.Name)] = peersOf(t, p, config(t, p, n))
		}
		for _, from := range p.Nodes {
			checkPeers(t, p, from, configs)
			for _, to := range p.Nodes {
				if from == to {
					continue
				}
				for _, a := range append([]netip.Addr{to.Address}, hostsBehind(to)...) {
					way := follow(configs, string(from.Name), from.Address, a, string(to.Name))
					var want []string
					switch {
					case from.Endpoint != "" || to.Endpoint != "":
						want = []string{string(to.Name)}
					case p.Hub != "":
						want = []string{string(p.Hub), string(to.Name)}
					}
					if !slices.Equal(way, want) {
						t.Fatalf("from %s to %s of %s: by %v, want %v, in %s", from.Name, a, to.Name, way, want, describe(p))
					}
				}
			}
		}
	}
}

// follow sends a packet from a node and gives the nodes that take it; nothing where
// it is lost.
func follow(configs map[string]map[string]*peer, at string, source, target netip.Addr, end string) []string {
	var way []string
	for len(way) < 3 {
		hop := next(configs[at], target)
		if hop == "" || next(configs[hop], source) != at {
			return nil // sent to nobody, or thrown away as coming from somebody else
		}
		way = append(way, hop)
		if hop == end {
			return way
		}
		at = hop
	}
	return nil
}

// checkPeers looks at one node's file: nothing overlaps, and keepalive is where it
// belongs.
func checkPeers(t *testing.T, p *plan.Plan, n *plan.Node, configs map[string]map[string]*peer) {
	t.Helper()
	var all []netip.Prefix
	for name, peer := range configs[string(n.Name)] {
		for _, a := range peer.allowed {
			if slices.ContainsFunc(all, a.Overlaps) {
				t.Fatalf("%s: %s overlaps another of its AllowedIPs", n.Name, a)
			}
			all = append(all, a)
		}
		other := configs[name][string(n.Name)]
		if other == nil {
			t.Fatalf("%s has the peer %s, which does not have it", n.Name, name)
		}
		if peer.endpoint == "" && other.endpoint == "" {
			t.Fatalf("neither %s nor %s can call the other", n.Name, name)
		}
		if want := n.Endpoint == "" && peer.endpoint != ""; (peer.keepalive != "") != want {
			t.Fatalf("%s to %s: keepalive %q, behind NAT is %v", n.Name, name, peer.keepalive, n.Endpoint == "")
		}
		if (peer.endpoint != "") != hasEndpoint(p, name) {
			t.Fatalf("%s: the endpoint of %s is %q", n.Name, name, peer.endpoint)
		}
	}
}

func hasEndpoint(p *plan.Plan, name string) bool {
	return slices.ContainsFunc(p.Nodes, func(n *plan.Node) bool { return string(n.Name) == name && n.Endpoint != "" })
}

func hostsBehind(n *plan.Node) []netip.Addr {
	var out []netip.Addr
	for _, r := range n.Routes {
		out = append(out, r.Addr().Next())
	}
	return out
}

func describe(p *plan.Plan) string {
	var b strings.Builder
	for _, n := range p.Nodes {
		fmt.Fprintf(&b, "%s(%s) ", n.Name, n.Endpoint)
	}
	return b.String() + "hub " + string(p.Hub)
}

// CMP-1, T16: a node never goes through the tunnel for a network behind a node of its own site, and one
// at another place does, unless it has the network itself.
func TestOwnSite(t *testing.T) {
	p := mesh("anchor",
		node("anchor", 1, endpoint("a.example"), site("house", "192.168.1.0/24"), routes("192.168.1.0/24", "192.168.1.128/25", "10.13.0.0/24")),
		node("board", 2, site("house", "192.168.1.0/24")),
		node("cabin", 3, site("cabin", "192.168.0.0/16")),
		node("shed", 4, site("shed", "192.168.1.0/25")),
	)
	for name, want := range map[string]string{
		"board": "10.86.0.1/32, 10.86.0.3/32, ", "cabin": "10.86.0.1/32, 10.13.0.0/24, ", "shed": "10.86.0.1/32, 10.13.0.0/24, 192.168.1.0/24, ",
	} {
		for _, n := range p.Nodes {
			if got := config(t, p, n); string(n.Name) == name && !strings.Contains(got, "AllowedIPs = "+want) {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
}

// CMP-1, T16: that holds for a site whose prefix is not known, also through the hub.
func TestOwnSiteWithoutPrefix(t *testing.T) {
	at := func(name string) func(*plan.Node) { return func(n *plan.Node) { n.Site = name } }
	p := mesh("hub",
		node("hub", 1, endpoint("203.0.113.7")),
		node("b", 2, at("house"), routes("192.168.77.0/24")),
		node("n", 3, at("house")),
		node("far", 4, at("cabin")),
		node("nowhere", 5),
	)
	for _, n := range p.Nodes {
		got := strings.Contains(config(t, p, n), "192.168.77.0/24")
		if want := n.Name == "hub" || n.Name == "far" || n.Name == "nowhere"; got != want {
			t.Errorf("%s: %v, want %v\n%s", n.Name, got, want, config(t, p, n))
		}
	}
}

// peerOf is the [Peer] that a node has for another one, or empty.
func peerOf(t *testing.T, p *plan.Plan, of, for_ string) string {
	t.Helper()
	for _, n := range p.Nodes {
		if string(n.Name) == of {
			_, rest, _ := strings.Cut(config(t, p, n), "\n# "+for_+"\n")
			peer, _, _ := strings.Cut(rest, "\n#")
			return peer
		}
	}
	t.Fatal("no node", of)
	return ""
}

// CMP-1, T38: a private endpoint is called by the nodes of its site alone, which then talk directly and not through
// the hub; for everybody else the node is behind NAT, and keeps its way to the hub open.
func TestPrivateEndpoint(t *testing.T) {
	for _, private := range []string{"192.168.1.7", "10.1.2.3:4500", "172.16.9.9", "100.64.3.4", "fd12::7", "[fe80::7]:51820"} {
		p := mesh("vps",
			node("vps", 1, endpoint("203.0.113.7")),
			node("nas", 2, endpoint(private), site("house", "192.168.1.0/24")),
			node("desk", 3, site("house", "192.168.1.0/24")),
			node("far", 4, site("cabin", "192.168.2.0/24"), takes("nas")),
		)
		if l := New(p).Check(); len(l) > 0 {
			t.Errorf("%s: %v", private, l)
		}
		host, _, _ := strings.Cut(strings.Trim(private, "[]"), "]")
		host, _, _ = strings.Cut(host, ":4500")
		if got := peerOf(t, p, "vps", "nas"); strings.Contains(got, "Endpoint") || !strings.Contains(got, "10.86.0.2/32") {
			t.Errorf("%s: the hub has of it\n%s", private, got)
		}
		if got := peerOf(t, p, "nas", "vps"); !strings.Contains(got, "Endpoint = 203.0.113.7:51820") || !strings.Contains(got, "PersistentKeepalive") || !strings.Contains(got, "10.86.0.4/32") || strings.Contains(got, "10.86.0.3/32") {
			t.Errorf("%s: it has of the hub\n%s", private, got)
		}
		if got := peerOf(t, p, "desk", "nas"); !strings.Contains(got, "Endpoint = ") || !strings.Contains(got, host) || !strings.Contains(got, "PersistentKeepalive") {
			t.Errorf("%s: its neighbour has of it\n%s", private, got)
		}
		if got := peerOf(t, p, "nas", "desk"); got == "" || strings.Contains(got, "Endpoint") || strings.Contains(got, "PersistentKeepalive") {
			t.Errorf("%s: it has of its neighbour\n%s", private, got)
		}
		if got := peerOf(t, p, "desk", "vps"); strings.Contains(got, "10.86.0.2/32") {
			t.Errorf("%s: its neighbour goes through the hub to it\n%s", private, got)
		}
		if got := peerOf(t, p, "far", "nas"); got != "" {
			t.Errorf("%s: one elsewhere calls it\n%s", private, got)
		}
		if got := peerOf(t, p, "far", "vps"); !strings.Contains(got, "10.86.0.2/32") {
			t.Errorf("%s: one elsewhere does not reach it through the hub\n%s", private, got)
		}
	}
	// A hub that only its site can call is none for the others.
	p := mesh("nas",
		node("nas", 2, endpoint("192.168.1.7"), site("house", "192.168.1.0/24")),
		node("desk", 3, site("house", "192.168.1.0/24")),
		node("far", 4, site("cabin", "192.168.2.0/24"), takes("nas")),
	)
	if l := New(p).Check(); len(l) != 1 || !strings.Contains(l[0].Message, "192.168.1.7, is a private address") {
		t.Errorf("%v", l)
	}
	// Where nobody says where nodes are, they are at one place.
	p = mesh("", node("a", 1, endpoint("192.168.1.7")), node("b", 2), node("c", 3, endpoint("192.168.1.9")))
	if got := peerOf(t, p, "a", "c"); !strings.Contains(got, "Endpoint = 192.168.1.9") || strings.Contains(got, "PersistentKeepalive") {
		t.Errorf("%s", got)
	}
}
