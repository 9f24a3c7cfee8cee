package wireguard

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
)

func unnamed(n *plan.Node)  { n.WireGuard = "" }
func homeless(n *plan.Node) { n.Address, n.Networks[0].Address = netip.Addr{}, "" }

// elsewhere puts a node on another network than the WireGuard one.
func elsewhere(n *plan.Node) {
	n.Networks = []plan.Network{{Instance: "lan", Network: "lan:house", Name: "x.house"}}
	n.Instances = nil
}

// alsoLan puts a node on the house's network too, where it has another name.
func alsoLan(n *plan.Node) {
	n.Networks = append(n.Networks, plan.Network{Instance: "lan", Network: "lan:house", Name: string(n.Name) + ".house"})
}

func address(a string) func(*plan.Node) {
	return func(n *plan.Node) { n.Networks[0].Address = a }
}

// overLan makes the last thing that a node takes come over the house's network.
func overLan(n *plan.Node) {
	t := &n.Takes[len(n.Takes)-1]
	t.At = string(t.Node) + ".house"
}

// CMP-1, O21, O24: what is wrong with a mesh is found, for its own reason and no other, once
// however many nodes it touches, at a place of the mesh, and everybody is named.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		mesh *plan.Plan
		want []string // code and message
	}{
		{"well", home(), nil},

		// keys and addresses
		{"no key", mesh("", node("a", 1, unnamed), node("b", 2, endpoint("b.example")), node("c", 3, endpoint("c.example"))), []string{
			"E0501 a is on the network wireguard:home and has no WireGuard key",
		}},
		{"no address", mesh("", node("a", 1, homeless), node("b", 2, endpoint("b.example"))), []string{
			"E0502 a is on the network wireguard:home and has no address there; addresses come from the mesh's network.cidr",
		}},
		{"one address, served", mesh("", node("a", 1, address("10.9.0.1"), endpoint("a.example")), node("b", 2, address("10.9.0.1"))), []string{
			"E0503 a and b both have the address 10.9.0.1 on the network wireguard:home",
		}},
		{"one address, of the mesh", mesh("", node("a", 1, endpoint("a.example")), node("b", 1)), nil}, // SEL-11 says it
		{"narrow", mesh("", node("a", 1, address("fd86::1"), func(n *plan.Node) { n.MTU = 1359 })), []string{
			"E0504 a has the IPv6 address fd86::1 on the network wireguard:home, and its site's mtu leaves 1279 bytes for the tunnel; IPv6 needs 1280, so a site's mtu of 1360",
		}},
		{"just wide enough", mesh("", node("a", 1, address("fd86::1"), func(n *plan.Node) { n.MTU = 1360 })), nil},

		// routes
		{"equal routes", mesh("", node("a", 1, endpoint("a.example"), routes("10.13.0.0/24")), node("b", 2, endpoint("b.example"), routes("10.13.0.9/24")), node("c", 3)), []string{
			"E0505 a and b both have the route 10.13.0.0/24",
		}},
		{"contained", mesh("", node("a", 1, endpoint("a.example"), routes("10.13.0.0/24", "10.12.0.0/24")), node("c", 3, routes("10.13.0.128/25"))), []string{
			"E0505 10.13.0.128/25 of c lies within 10.13.0.0/24 of a",
		}},
		{"contained, the other way", mesh("", node("a", 1, endpoint("a.example"), routes("10.13.0.128/25")), node("c", 3, routes("10.13.0.0/24"))), []string{
			"E0505 10.13.0.128/25 of a lies within 10.13.0.0/24 of c",
		}},
		{"contained at its beginning", mesh("", node("a", 1, endpoint("a.example"), routes("10.12.0.0/24")), node("c", 3, routes("10.12.0.0/16"))), []string{
			"E0505 10.12.0.0/24 of a lies within 10.12.0.0/16 of c",
		}},
		{"three", mesh("", node("a", 1, endpoint("a.example"), routes("10.12.0.0/14")), node("b", 2, endpoint("b.example"), routes("10.13.0.0/16")), node("c", 3, routes("10.13.7.0/24", "10.16.0.0/24"))), []string{
			"E0505 10.13.0.0/16 of b lies within 10.12.0.0/14 of a",
			"E0505 10.13.7.0/24 of c lies within 10.13.0.0/16 of b",
		}},
		{"of one node", mesh("", node("a", 1, endpoint("a.example"), routes("10.13.0.0/24", "10.13.0.128/25", "10.13.0.0/24")), node("b", 2)), nil},
		{"everything, twice", mesh("", node("a", 1, endpoint("a.example"), routes("0.0.0.0/0")), node("b", 2, endpoint("b.example"), routes("0.0.0.0/0"))), []string{
			"E0506 the route 0.0.0.0/0 of a overlaps 10.86.0.0/16, from which the nodes of the network wireguard:home have their addresses",
			"E0505 a and b both have the route 0.0.0.0/0",
			"E0506 the route 0.0.0.0/0 of b overlaps 10.86.0.0/16, from which the nodes of the network wireguard:home have their addresses",
		}},
		{"everything, with an address outside", mesh("", node("a", 1, endpoint("203.0.113.7"), routes("0.0.0.0/0")), node("b", 2)), []string{
			"E0506 the route 0.0.0.0/0 of a overlaps 10.86.0.0/16, from which the nodes of the network wireguard:home have their addresses",
		}},
		{"everything, and a part of it", mesh("", node("a", 1, endpoint("a.example"), routes("0.0.0.0/0")), node("b", 2, routes("10.13.0.0/24"))), []string{
			"E0506 the route 0.0.0.0/0 of a overlaps 10.86.0.0/16, from which the nodes of the network wireguard:home have their addresses",
		}},
		{"everything of IPv6", mesh("", node("a", 1, endpoint("a.example"), routes("::/0")), node("b", 2)), nil},
		{"within the mesh", mesh("", node("a", 1, endpoint("a.example"), routes("10.86.7.0/24")), node("b", 2)), []string{
			"E0506 the route 10.86.7.0/24 of a overlaps 10.86.0.0/16, from which the nodes of the network wireguard:home have their addresses",
		}},
		{"over a node", mesh("", node("a", 1, endpoint("a.example"), routes("10.9.0.0/24")), node("b", 2, address("10.9.0.7"))), []string{
			"E0506 the route 10.9.0.0/24 of a contains 10.9.0.7, which is the address of b",
		}},
		{"another site's", mesh("anchor", node("anchor", 1, endpoint("a.example"), site("house", "192.168.1.0/24"), routes("192.168.1.0/24")),
			node("b", 2, site("cabin", "192.168.0.0/16")), node("c", 3, site("cabin", "192.168.0.0/16")), node("d", 4, site("house", "192.168.1.0/24"))), []string{
			"W0507 nodes at cabin do not reach 192.168.1.0/24 behind anchor, because their own network is 192.168.0.0/16",
		}},

		// endpoints
		{"no host", mesh("", node("a", 1, endpoint("2001:db8::7:99:1:2:3:4:5")), node("b", 2), node("c", 3, endpoint("c.example"))), []string{
			`E0508 the endpoint of a is no host and no host:port: "2001:db8::7:99:1:2:3:4:5" is no IPv6 address; with a port behind it, it is written [2001:db8::1]:51820`,
		}},
		{"own name", mesh("", node("a", 1, endpoint("A.home.mesh:51820")), node("b", 2, endpoint("b.example"))), []string{
			"E0509 the endpoint of a is a.home.mesh, a name that the mesh itself gives to 10.86.0.1, the address of a inside the tunnel",
		}},
		{"another's name, short", mesh("", node("a", 1, endpoint("b")), node("b", 2, endpoint("b.example"))), []string{
			"E0509 the endpoint of a is b, a name that the mesh itself gives to 10.86.0.2, the address of b inside the tunnel",
		}},
		{"own address", mesh("", node("a", 1, endpoint("10.86.0.1")), node("b", 2, endpoint("b.example"))), []string{
			"E0509 the endpoint of a is 10.86.0.1, an address inside the network wireguard:home",
		}},
		{"own route", mesh("", node("a", 1, endpoint("192.168.1.2"), routes("192.168.1.0/24")), node("b", 2, endpoint("b.example"))), []string{
			"E0509 the endpoint of a is 192.168.1.2, which others are told to reach through the tunnel, since it lies in the route 192.168.1.0/24 of a",
		}},
		{"another's route", mesh("", node("a", 1, endpoint("192.168.1.2")), node("b", 2, endpoint("b.example"), routes("192.168.1.0/24"))), nil},
		{"the hub behind whom it forwards to", mesh("a", node("a", 1, endpoint("192.168.1.2")), node("b", 2, routes("192.168.1.0/24"))), []string{
			"E0509 the endpoint of a is 192.168.1.2, which others are told to reach through the tunnel, since it lies in the route 192.168.1.0/24 of b",
		}},

		// paths
		{"no hub", mesh("", node("a", 1, endpoint("a.example")), node("d", 2), node("g", 3, takes("d"))), []string{
			"E0510 app on g takes database from store on d, g and d are behind NAT, and no node is the hub",
		}},
		{"no hub, twice", mesh("", node("a", 1, endpoint("a.example")), node("d", 2), node("f", 3, takes("d")), node("g", 4, takes("d"), takes("a"))), []string{
			"E0510 app on f takes database from store on d, f and d are behind NAT, and no node is the hub; so it is with 1 more",
		}},
		{"a hub", mesh("a", node("a", 1, endpoint("a.example")), node("d", 2), node("g", 3, takes("d"))), nil},
		{"hub elsewhere", mesh("h", node("a", 1, endpoint("a.example")), node("d", 2), node("g", 3, takes("d")), node("h", 4, elsewhere)), []string{
			"E0511 app on g takes database from store on d, g and d are behind NAT, and the hub h is not on the network wireguard:home",
		}},
		{"hub behind NAT", mesh("h", node("a", 1, endpoint("a.example")), node("d", 2), node("g", 3, takes("d")), node("h", 4)), []string{
			"E0512 app on g takes database from store on d, g and d are behind NAT, and the hub h has no endpoint itself",
		}},
		{"nobody could be the hub", mesh("", node("d", 2), node("g", 3, takes("d"))), []string{
			"E0513 app on g takes database from store on d, g and d are behind NAT, and no node of the network has an endpoint",
		}},
		{"the hub has no key", mesh("a", node("a", 1, endpoint("a.example"), unnamed), node("d", 2), node("g", 3, takes("d"))), []string{
			"E0501 a is on the network wireguard:home and has no WireGuard key",
		}},
		{"the hub's endpoint is none", mesh("a", node("a", 1, endpoint("a_b")), node("d", 2), node("g", 3, takes("d"))), []string{
			`E0508 the endpoint of a is no host and no host:port: "a_b" in "a_b" is not letters, digits and inner hyphens`,
		}},
		{"from one that is outside", mesh("", node("a", 1, endpoint("a.example"), takes("d")), node("d", 2)), nil},
		{"unused", mesh("", node("a", 1, endpoint("a.example")), node("d", 2), node("e", 3, takes("a")), node("g", 4)), []string{
			"W0514 d, e and g are behind NAT and do not reach each other on the network wireguard:home, because no node is the hub",
		}},
		{"over another network", mesh("", node("a", 1, endpoint("a.example")), node("d", 2, alsoLan), node("g", 3, alsoLan, takes("d"), overLan)), []string{
			"W0514 d and g are behind NAT and do not reach each other on the network wireguard:home, because no node is the hub",
		}},
		{"alone behind NAT", mesh("", node("a", 1, endpoint("a.example")), node("d", 2)), nil},
	} {
		got := New(c.mesh).Check()
		var said []string
		for _, d := range got {
			said = append(said, string(d.Code)+" "+d.Message)
			if !d.At.IsValid() {
				t.Errorf("%s: %s has no place", c.name, d.Code)
			}
		}
		if strings.Join(said, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, strings.Join(said, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// CMP-1: what is said ends in a line that mends it, where there is one.
func TestHelp(t *testing.T) {
	for _, c := range []struct {
		mesh *plan.Plan
		help string
	}{
		{mesh("", node("a", 1, unnamed)), "mesh-host init a"},
		{mesh("", node("a", 1, unnamed, func(n *plan.Node) { n.Managed = false })), "wg genkey | tee private.key | wg pubkey"},
		{mesh("", node("a-1", 1, endpoint("a.example")), node("d", 2), node("g", 3, takes("d"))), `nodes: "a-1": assign: hub: {}`},
		{mesh("", node("d", 2), node("g", 3, takes("d"))), ""},
	} {
		l := New(c.mesh).Check()
		if len(l) != 1 || l[0].Help != c.help {
			t.Errorf("want %q: %+v", c.help, l)
		}
	}
	// The line was right: with it nothing is said.
	p := mesh("", node("a-1", 1, endpoint("a.example")), node("d", 2), node("g", 3, takes("d")))
	p.Hub = "a-1"
	if l := New(p).Check(); len(l) > 0 {
		t.Error(l)
	}
}

// CMP-1: diagnostics point at the route and the endpoint, where the plan knows the places.
func TestPlaces(t *testing.T) {
	here := diag.Pos{File: "mesh.cue", Line: 99, Column: 3}
	p := mesh("", node("a", 1, endpoint("a_b"), func(n *plan.Node) { n.EndpointAt = here }))
	if l := New(p).Check(); len(l) != 1 || l[0].At != here {
		t.Error(l)
	}
	p = mesh("", node("a", 1, endpoint("a.example"), routes("10.13.0.0/24")), node("b", 2, routes("10.1.0.0/24", "10.13.0.0/24"), func(n *plan.Node) { n.RoutesAt = []diag.Pos{{}, here} }))
	if l := New(p).Check(); len(l) != 1 || l[0].At != here || l[0].Also[0].At != p.Nodes[0].At {
		t.Error(l)
	}
}

// CMP-1: Check of a large mesh says one thing of many pairs, and names the first ten.
func TestManyBehindNAT(t *testing.T) {
	var nodes []*plan.Node
	for i := range 40 {
		nodes = append(nodes, node(fmt.Sprintf("n%02d", i), i+1))
	}
	l := New(mesh("", nodes...)).Check()
	if len(l) != 1 || l[0].Code != diag.NoPathUnused || !strings.HasPrefix(l[0].Message, "n00, n01, n02, n03, n04, n05, n06, n07, n08, n09 and 30 more are behind NAT") {
		t.Error(l)
	}
}
