// Package wireguard works out the WireGuard configuration of every node from the
// whole plan (CMP-1).
//
// Two nodes are peers where at least one of them has an endpoint: the other dials
// it, and keeps the way open where it is behind NAT itself. Two nodes behind NAT
// reach each other through the hub: the addresses of the one stand among the
// AllowedIPs that the other has for the hub, and the hub forwards. So no peer is
// without an endpoint at both ends, and no address stands at two peers.
//
// New works out what all nodes of a network share; Check finds what is wrong with
// the mesh as a whole, once; Config then writes one node's file and can be called
// for many nodes at the same time. Which keys and addresses are doubles is not
// looked at here (SEL-11), and neither is who answers whom.
package wireguard

import (
	"cmp"
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
)

// What holds where a module says nothing else.
const (
	defaultInterface = "wg0"
	defaultPort      = 51820
	defaultKeepalive = 25 // seconds; below the 30 after which the quickest NATs forget
	defaultKey       = "/var/lib/mesh-host/wireguard.key"

	// overhead is what WireGuard puts around a packet, at its worst: 40 bytes of IPv6, 8 of
	// UDP, 16 of its own header and 16 of authentication.
	overhead = 80
	// smallestIPv6 is the MTU below which an interface carries no IPv6 (RFC 8200).
	smallestIPv6 = 1280
	ethernet     = 1500
)

// Mesh is what a plan's nodes share of its WireGuard networks. It does not change
// once made.
type Mesh struct {
	plan     *plan.Plan
	networks []*network // by name
}

// New works out the WireGuard networks of a plan: those that an instance with a
// computed resource of that kind provides.
func New(p *plan.Plan) *Mesh {
	tunnels := map[string]map[addr.Node]Tunnel{}
	for _, n := range p.Nodes {
		for _, t := range Tunnels(n) {
			if t.Network.Network == "" {
				continue // Config refuses it
			}
			if tunnels[t.Network.Network] == nil {
				tunnels[t.Network.Network] = map[addr.Node]Tunnel{}
			}
			tunnels[t.Network.Network][n.Name] = t
		}
	}
	m := &Mesh{plan: p}
	for name, at := range tunnels {
		m.networks = append(m.networks, newNetwork(p, name, at))
	}
	slices.SortFunc(m.networks, func(a, b *network) int { return cmp.Compare(a.name, b.name) })
	return m
}

// Check finds what is wrong with the networks as a whole, each thing once however
// many nodes it touches.
func (m *Mesh) Check() diag.List {
	var l diag.List
	for _, w := range m.networks {
		l = append(l, w.checkMembers()...)
		l = append(l, w.checkRoutes()...)
		l = append(l, w.checkEndpoints()...)
		l = append(l, w.checkPaths()...)
	}
	return l.Sorted()
}

// Tunnel is a WireGuard interface of a node.
type Tunnel struct {
	Instance  string
	Interface string
	Port      int          // it listens on
	MTU       int          // of the interface
	Network   plan.Network // zero where the instance provides no private network
}

// Tunnels lists the WireGuard interfaces that a node's instances have.
func Tunnels(n *plan.Node) []Tunnel {
	var out []Tunnel
	for _, i := range n.Instances {
		for _, r := range i.Resources {
			if r.Computed != nil && r.Computed.Kind == "wireguard" {
				out = append(out, tunnel(n, i.Name, *r.Computed))
			}
		}
	}
	return out
}

func tunnel(n *plan.Node, instance string, c plan.Computed) Tunnel {
	t := Tunnel{
		Instance:  instance,
		Interface: cmp.Or(c.Interface, defaultInterface),
		Port:      cmp.Or(c.Port, defaultPort),
		MTU:       cmp.Or(n.MTU, ethernet) - overhead,
	}
	if i := slices.IndexFunc(n.Networks, func(w plan.Network) bool { return w.Instance == instance }); i >= 0 {
		t.Network = n.Networks[i]
	}
	return t
}

// Path is where a node's configuration belongs: wg-quick takes the interface's
// name from the file's.
func Path(c plan.Computed) string {
	return cmp.Or(c.Path, "/etc/wireguard/"+cmp.Or(c.Interface, defaultInterface)+".conf")
}
