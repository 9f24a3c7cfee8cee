package wireguard

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/netaddr"
	"meshc.dev/compiler/plan"
)

// network is one WireGuard network: its members, and the parts of configurations
// that are the same for all of them.
type network struct {
	plan   *plan.Plan
	name   string
	prefix netip.Prefix // its range; the zero Prefix where none is known
	// members are all nodes on it, by name, and byName the same ones.
	members []*member
	byName  map[addr.Node]*member
	// hub forwards between those behind NAT; nil where there is none that they can reach.
	hub *member
	// size is about how long the peers of a node with an endpoint are together, and
	// sizeBehind those of one behind NAT.
	size, sizeBehind int
}

// member is a node on the network.
type member struct {
	node   *plan.Node
	net    plan.Network
	tunnel Tunnel
	addr   netip.Addr // the zero Addr where it has none
	// endpoint is where it can be reached from outside; port 0 behind NAT, and where what
	// was written is none.
	endpoint netaddr.Endpoint
	// outside says that it has an endpoint for everybody, also where that cannot be read. Local says
	// that its endpoint is a private address, which only nodes of its site can call.
	outside, local bool
	routes         []route
	// block is its [Peer] up to AllowedIPs, called the same with its endpoint, and allowed
	// the list behind that for a peer that is not at its site.
	block, called, allowed string
}

// reaches says whether a node can call another one, and direct whether either can. Nodes
// without a site count as at one place: nothing is known that speaks against it.
func reaches(from, to *member) bool { return to.outside || to.local && from.atSite(to.node) }

func direct(a, b *member) bool { return reaches(a, b) || reaches(b, a) }

// atSite says whether a node is where another one is.
func (m *member) atSite(n *plan.Node) bool { return m.node.Site == n.Site }

// path says whether two nodes have a way to each other: their own, or the hub's.
func (w *network) path(a, b *member) bool {
	return direct(a, b) || w.hub != nil && a != w.hub && b != w.hub && direct(a, w.hub) && direct(b, w.hub)
}

// route is a network behind a node.
type route struct {
	prefix netip.Prefix
	owner  *member
	at     diag.Pos
}

func newNetwork(p *plan.Plan, name string, tunnels map[addr.Node]Tunnel) *network {
	w := &network{plan: p, name: name, byName: map[addr.Node]*member{}}
	for _, n := range p.Nodes {
		i := slices.IndexFunc(n.Networks, func(net plan.Network) bool { return net.Network == name })
		if i < 0 {
			continue
		}
		m := newMember(n, n.Networks[i], tunnels[n.Name])
		w.members = append(w.members, m)
		w.byName[n.Name] = m
	}
	slices.SortFunc(w.members, func(a, b *member) int { return cmp.Compare(a.node.Name, b.node.Name) })
	w.prefix = rangeOf(p, w.members)
	if h := w.byName[p.Hub]; h != nil && h.usable() && h.endpoint.Port != 0 {
		w.hub = h
	}
	for _, m := range w.members {
		whole := len(m.called) + len(m.allowed) + 1
		w.size += whole
		if m.outside {
			w.sizeBehind += whole + len("PersistentKeepalive = 65535\n")
		} else {
			w.sizeBehind += len(m.allowed) + 2
		}
	}
	return w
}

func newMember(n *plan.Node, net plan.Network, t Tunnel) *member {
	m := &member{node: n, net: net, tunnel: t}
	if a, err := netip.ParseAddr(net.Address); err == nil {
		m.addr = a
	} else if net.Address == "" {
		m.addr = n.Address
	}
	if n.Endpoint != "" {
		if e, err := netaddr.ParseEndpoint(n.Endpoint, cmp.Or(t.Port, defaultPort)); err == nil {
			m.endpoint = e
		}
		m.local = private(m.endpoint.Host)
		m.outside = !m.local
	}
	m.routes = routesOf(m)
	if !m.usable() {
		return m
	}
	var b strings.Builder
	b.WriteString("\n# " + string(n.Name) + "\n[Peer]\nPublicKey = " + n.WireGuard + "\n")
	m.block = b.String() + "AllowedIPs = "
	m.called = m.block
	if m.endpoint.Port != 0 {
		m.called = b.String() + "Endpoint = " + m.endpoint.String() + "\nAllowedIPs = "
	}
	m.allowed = m.allowedFor(nil)
	return m
}

// shared is the range that providers give to those behind their own NAT (RFC 6598).
var shared = netip.MustParsePrefix("100.64.0.0/10")

// private says whether a host is an address that is known at its own site alone.
func private(host string) bool {
	a, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	a = a.Unmap()
	return a.IsPrivate() || a.IsLinkLocalUnicast() || shared.Contains(a)
}

// routesOf gives a node's routes as prefixes without host bits, sorted, without
// those that another of them covers: within one peer they say nothing more.
func routesOf(m *member) []route {
	var all []route
	for i, r := range m.node.Routes {
		if !r.IsValid() {
			continue
		}
		at := m.node.At
		if i < len(m.node.RoutesAt) {
			at = m.node.RoutesAt[i]
		}
		all = append(all, route{r.Masked(), m, at})
	}
	slices.SortStableFunc(all, compareRoutes)
	var out []route
	for _, r := range all {
		if !slices.ContainsFunc(out, func(o route) bool { return covers(o.prefix, r.prefix) }) {
			out = append(out, r)
		}
	}
	return out
}

// compareRoutes orders routes so that a prefix stands before those within it.
func compareRoutes(a, b route) int {
	return cmp.Or(a.prefix.Addr().Compare(b.prefix.Addr()), cmp.Compare(a.prefix.Bits(), b.prefix.Bits()),
		cmp.Compare(a.owner.node.Name, b.owner.node.Name))
}

// covers says whether every address of inner is one of outer.
func covers(outer, inner netip.Prefix) bool {
	return outer.IsValid() && inner.IsValid() && outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())
}

// rangeOf is the range of a network: what its module serves, or the mesh's where
// its nodes have their addresses from that.
func rangeOf(p *plan.Plan, members []*member) netip.Prefix {
	for _, m := range members {
		if r, err := netip.ParsePrefix(m.net.Prefix); err == nil {
			return r.Masked()
		}
	}
	for _, m := range members {
		if m.addr.IsValid() && p.Network.IsValid() && p.Network.Contains(m.addr) {
			return p.Network.Masked()
		}
	}
	return netip.Prefix{}
}

// usable says whether others can have it as a peer at all.
func (m *member) usable() bool { return m.node.WireGuard != "" && m.addr.IsValid() }

// allowedFor lists a member's addresses as another node sees them. Routes of a node at the
// same site are left out, and one that lies in the other's own site is: that node is on the
// network already, and wg-quick would take it away from it.
func (m *member) allowedFor(other *plan.Node) string {
	var b strings.Builder
	b.WriteString(single(m.addr))
	for _, r := range m.routes {
		if other != nil && (other.Site != "" && m.atSite(other) || covers(other.SitePrefix, r.prefix)) {
			continue
		}
		b.WriteString(", " + r.prefix.String())
	}
	return b.String()
}

func single(a netip.Addr) string { return netip.PrefixFrom(a, a.BitLen()).String() }
