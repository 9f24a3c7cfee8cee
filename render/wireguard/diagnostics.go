package wireguard

import (
	"fmt"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
)

func noKey(w *network, m *member) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: diag.NoWireGuardKey, At: m.node.At,
		Message: fmt.Sprintf("%s is on the network %s and has no WireGuard key", m.node.Name, w.name),
		Help:    "mesh-host init " + string(m.node.Name),
	}
	if !m.node.Managed {
		d.Help = "wg genkey | tee private.key | wg pubkey"
	}
	return d
}

func noAddress(w *network, m *member) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.NoTunnelAddress, At: m.node.At,
		Message: fmt.Sprintf("%s is on the network %s and has no address there; addresses come from the mesh's network.cidr", m.node.Name, w.name),
	}
}

func sameAddress(w *network, a, b *member) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.SameTunnelAddress, At: b.node.At,
		Message: fmt.Sprintf("%s and %s both have the address %s on the network %s", a.node.Name, b.node.Name, a.addr, w.name),
		Also:    []diag.Note{{At: a.node.At, Text: string(a.node.Name) + " has it"}},
	}
}

func tooNarrow(w *network, m *member) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.TunnelTooNarrow, At: m.node.At,
		Message: fmt.Sprintf("%s has the IPv6 address %s on the network %s, and its site's mtu leaves %d bytes for the tunnel; IPv6 needs %d, so a site's mtu of %d",
			m.node.Name, m.addr, w.name, m.tunnel.MTU, smallestIPv6, smallestIPv6+overhead),
	}
}

func routesOverlap(outer, inner route) diag.Diagnostic {
	what := fmt.Sprintf("%s of %s lies within %s of %s", inner.prefix, inner.owner.node.Name, outer.prefix, outer.owner.node.Name)
	if outer.prefix == inner.prefix {
		what = fmt.Sprintf("%s and %s both have the route %s", outer.owner.node.Name, inner.owner.node.Name, inner.prefix)
	}
	return diag.Diagnostic{
		Code: diag.RoutesOverlap, At: inner.at, Message: what,
		Also: []diag.Note{{At: outer.at, Text: fmt.Sprintf("%s is behind %s", outer.prefix, outer.owner.node.Name)}},
	}
}

func routeOverNetwork(w *network, r route) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.RouteOverMesh, At: r.at,
		Message: fmt.Sprintf("the route %s of %s overlaps %s, from which the nodes of the network %s have their addresses", r.prefix, r.owner.node.Name, w.prefix, w.name),
	}
}

func routeOverNode(r route, m *member) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.RouteOverMesh, At: r.at,
		Message: fmt.Sprintf("the route %s of %s contains %s, which is the address of %s", r.prefix, r.owner.node.Name, m.addr, m.node.Name),
		Also:    []diag.Note{{At: m.node.At, Text: fmt.Sprintf("%s is %s", m.node.Name, m.addr)}},
	}
}

func routeHidden(r route, m *member) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.RouteHidden, At: r.at,
		Message: fmt.Sprintf("nodes at %s do not reach %s behind %s, because their own network is %s", siteOf(m.node), r.prefix, r.owner.node.Name, m.node.SitePrefix),
		Also:    []diag.Note{{At: m.node.At, Text: fmt.Sprintf("%s is there", m.node.Name)}},
	}
}

func endpointNobodys(m *member) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BadEndpoint, At: endpointAt(m.node),
		Message: fmt.Sprintf("the endpoint of %s is %s, and no other machine reaches this one at that address", m.node.Name, m.endpoint.Host),
	}
}

func endpointTwice(first, m *member) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.EndpointTwice, At: endpointAt(m.node),
		Message: fmt.Sprintf("%s is the endpoint of %s and of %s, and only one of them can be there", m.endpoint, first.node.Name, m.node.Name),
		Also:    []diag.Note{{At: endpointAt(first.node), Text: "the other one"}},
	}
}

func badEndpoint(m *member, err error) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BadEndpoint, At: endpointAt(m.node),
		Message: fmt.Sprintf("the endpoint of %s is no host and no host:port: %v", m.node.Name, err),
	}
}

func endpointNamedInside(m, other *member) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.EndpointInside, At: endpointAt(m.node),
		Message: fmt.Sprintf("the endpoint of %s is %s, a name that the mesh itself gives to %s, the address of %s inside the tunnel",
			m.node.Name, m.endpoint.Host, other.addr, other.node.Name),
	}
}

func endpointInside(w *network, m *member) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.EndpointInside, At: endpointAt(m.node),
		Message: fmt.Sprintf("the endpoint of %s is %s, an address inside the network %s", m.node.Name, m.endpoint.Host, w.name),
	}
}

func endpointBehindRoute(m *member, r route) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.EndpointInside, At: endpointAt(m.node),
		Message: fmt.Sprintf("the endpoint of %s is %s, which others are told to reach through the tunnel, since it lies in the route %s of %s",
			m.node.Name, m.endpoint.Host, r.prefix, r.owner.node.Name),
		Also: []diag.Note{{At: r.at, Text: "the route"}},
	}
}

// noPath says once what stands between all pairs of a network that have to reach each other.
func noPath(w *network, why obstacle, uses []use) diag.Diagnostic {
	first := uses[0]
	d := diag.Diagnostic{
		Code: why.code(), At: first.from.node.At, Help: w.mend(why),
		Message: fmt.Sprintf("%s, %s and %s are behind NAT, and %s", first, first.from.node.Name, first.to.node.Name, w.because(why)),
	}
	if more := len(uses) - 1; more > 0 {
		d.Message += fmt.Sprintf("; so it is with %d more", more)
	}
	d.Also = append(d.Also, diag.Note{At: first.to.node.At, Text: string(first.to.node.Name) + " has no endpoint either"})
	for _, u := range uses[1:] {
		d.Also = append(d.Also, diag.Note{At: u.from.node.At, Text: u.String()})
	}
	if hub := w.plan.Node(w.plan.Hub); hub != nil {
		d.Also = append(d.Also, diag.Note{At: hub.At, Text: string(hub.Name) + " holds the-hub"})
	}
	return d
}

// leftOut says once that nodes which take nothing from each other have no path.
func leftOut(w *network, why obstacle, behind []*member) diag.Diagnostic {
	var names []string
	for _, m := range behind {
		names = append(names, string(m.node.Name))
	}
	return diag.Diagnostic{
		Code: diag.NoPathUnused, At: behind[0].node.At, Help: w.mend(why),
		Message: fmt.Sprintf("%s are behind NAT and do not reach each other on the network %s, because %s", listed(names), w.name, w.because(why)),
	}
}

func (u use) String() string {
	return fmt.Sprintf("%s on %s takes %s from %s on %s", u.take.Instance, u.from.node.Name, u.take.Provision, u.take.Provider, u.to.node.Name)
}

func (o obstacle) code() diag.Code {
	switch o {
	case noHub:
		return diag.NoHub
	case hubElsewhere:
		return diag.HubElsewhere
	case hubBehindNAT, hubAtItsSite:
		return diag.HubBehindNAT
	}
	return diag.NobodyOutside
}

// because is the cause as half a sentence.
func (w *network) because(why obstacle) string {
	switch why {
	case noHub:
		return "no node is the hub"
	case hubElsewhere:
		return fmt.Sprintf("the hub %s is not on the network %s", w.plan.Hub, w.name)
	case hubBehindNAT:
		return fmt.Sprintf("the hub %s has no endpoint itself", w.plan.Hub)
	case hubAtItsSite:
		hub := w.byName[w.plan.Hub]
		return fmt.Sprintf("the endpoint of the hub %s, %s, is a private address, which only nodes of its site can call", w.plan.Hub, hub.endpoint.Host)
	}
	if slices.ContainsFunc(w.members, func(m *member) bool { return m.local }) {
		return "no node of the network has an endpoint that everybody can call: those there are are private addresses"
	}
	return "no node of the network has an endpoint"
}

// mend is the line that makes a node the hub which can be one.
func (w *network) mend(why obstacle) string {
	if why != noHub {
		return ""
	}
	for _, m := range w.members {
		if m.node.Managed && m.usable() && m.outside && m.endpoint.Port != 0 {
			return fmt.Sprintf("nodes: %s: assign: hub: {}", addrLabel(m.node.Name))
		}
	}
	return ""
}

// addrLabel is a node's name as a label of CUE, which has to be quoted where it is no identifier.
func addrLabel(n addr.Node) string {
	if strings.Contains(string(n), "-") || n[0] >= '0' && n[0] <= '9' {
		return `"` + string(n) + `"`
	}
	return string(n)
}

func noNetwork(n *plan.Node, id addr.Resource) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.TunnelWithoutNetwork, At: n.At,
		Message: fmt.Sprintf("%s on %s computes a WireGuard configuration, and %s provides no private-network there", id, n.Name, id.Instance),
	}
}

func keyPath(n *plan.Node, id addr.Resource, path string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.KeyPath, At: n.At,
		Message: fmt.Sprintf("the key of %s on %s is at %q, which cannot stand in the command that reads it", id, n.Name, path),
	}
}

func badInterface(n *plan.Node, id addr.Resource, name string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BadInterface, At: n.At,
		Message: fmt.Sprintf("%q, the interface of %s on %s, is no name of a network interface", name, id, n.Name),
	}
}

func endpointAt(n *plan.Node) diag.Pos {
	if n.EndpointAt.IsValid() {
		return n.EndpointAt
	}
	return n.At
}

func siteOf(n *plan.Node) string {
	if n.Site != "" {
		return n.Site
	}
	return string(n.Name)
}

// listed joins names as a sentence does, the first ten of them.
func listed(names []string) string {
	more := ""
	if len(names) > 10 {
		more = fmt.Sprintf(" and %d more", len(names)-10)
		return strings.Join(names[:10], ", ") + more
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
