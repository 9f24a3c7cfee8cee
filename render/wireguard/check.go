package wireguard

import (
	"net/netip"
	"slices"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/netaddr"
)

// checkMembers looks at each node by itself: its key, its address, its MTU.
func (w *network) checkMembers() diag.List {
	var l diag.List
	holder := map[netip.Addr]*member{}
	for _, m := range w.members {
		if m.node.WireGuard == "" {
			l = append(l, noKey(w, m))
		}
		if !m.addr.IsValid() {
			l = append(l, noAddress(w, m))
			continue
		}
		if m.addr.Is6() && m.tunnel.Instance != "" && m.tunnel.MTU < smallestIPv6 {
			l = append(l, tooNarrow(w, m))
		}
		// The mesh's own addresses are compared where nodes are (SEL-11); a module may serve others.
		if first := holder[m.addr]; first == nil {
			holder[m.addr] = m
		} else if first.addr != first.node.Address || m.addr != m.node.Address {
			l = append(l, sameAddress(w, first, m))
		}
	}
	return l
}

// checkRoutes finds AllowedIPs that would overlap: of two equal ones the kernel
// silently keeps the last, and of two that overlap nobody remembers which wins.
func (w *network) checkRoutes() diag.List {
	var l diag.List
	var all []route
	refused := map[netip.Prefix]bool{}
	for _, m := range w.members {
		for _, r := range m.routes {
			if d, bad := w.overMesh(r); bad {
				l = append(l, d)
				refused[r.prefix] = true
			}
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, compareRoutes)
	var around []route // those sorted before that cover the one at hand, the widest first
	for _, r := range all {
		for len(around) > 0 && !covers(around[len(around)-1].prefix, r.prefix) {
			around = around[:len(around)-1]
		}
		if len(around) > 0 { // of another node: those within one's own are not kept
			outer := around[len(around)-1]
			// What lies within a route that is refused already may be right.
			if !refused[outer.prefix] || outer.prefix == r.prefix {
				l = append(l, routesOverlap(outer, r))
			}
		}
		around = append(around, r)
	}
	return append(l, w.hiddenRoutes(all)...)
}

// overMesh refuses a route that takes addresses of the network itself.
func (w *network) overMesh(r route) (diag.Diagnostic, bool) {
	if w.prefix.IsValid() && w.prefix.Overlaps(r.prefix) {
		return routeOverNetwork(w, r), true
	}
	for _, m := range w.members {
		if m.addr.IsValid() && r.prefix.Contains(m.addr) {
			return routeOverNode(r, m), true
		}
	}
	return diag.Diagnostic{}, false
}

// hiddenRoutes warns of a route to a network that another site has under the same
// addresses: nodes there reach their own.
func (w *network) hiddenRoutes(all []route) diag.List {
	var l diag.List
	for _, r := range all {
		said := map[string]bool{}
		for _, m := range w.members {
			if m.node.Site == r.owner.node.Site || said[m.node.Site] || !covers(m.node.SitePrefix, r.prefix) {
				continue
			}
			said[m.node.Site] = true
			l = append(l, routeHidden(r, m))
		}
	}
	return l
}

// checkEndpoints finds endpoints that are none, and those that lead into the tunnel
// which they are to carry.
func (w *network) checkEndpoints() diag.List {
	names := map[string]*member{}
	for _, m := range w.members {
		if m.addr.IsValid() && m.net.Name != "" {
			names[m.net.Name] = m
		}
	}
	for _, m := range w.members {
		if short := shortName(m.net.Name); m.addr.IsValid() && short != "" && names[short] == nil {
			names[short] = m
		}
	}
	var l diag.List
	held := map[netaddr.Endpoint]*member{}
	for _, m := range w.members {
		if m.node.Endpoint == "" {
			continue
		}
		// A private address is one at its own site: two sites can have it.
		if first := held[m.endpoint]; first != nil && m.endpoint.Port != 0 && (!m.local || first.atSite(m.node)) {
			l = append(l, endpointTwice(first, m))
			continue
		}
		held[m.endpoint] = m
		if m.endpoint.Port == 0 {
			_, err := netaddr.ParseEndpoint(m.node.Endpoint, defaultPort)
			l = append(l, badEndpoint(m, err))
			continue
		}
		host := m.endpoint.Host
		if other := names[host]; other != nil {
			l = append(l, endpointNamedInside(m, other))
			continue
		}
		a, err := netip.ParseAddr(host)
		if err != nil {
			continue
		}
		if a = a.Unmap(); a.IsLoopback() || a.IsUnspecified() || a.IsMulticast() {
			l = append(l, endpointNobodys(m))
		} else if w.inside(a) {
			l = append(l, endpointInside(w, m))
		} else if r, ok := w.loop(m, a); ok {
			l = append(l, endpointBehindRoute(m, r))
		}
	}
	return l
}

// inside says whether an address is one of the network's own.
func (w *network) inside(a netip.Addr) bool {
	return w.prefix.Contains(a) || slices.ContainsFunc(w.members, func(m *member) bool { return m.addr == a })
}

// loop finds the route that sends what is meant for an endpoint into the very tunnel
// that goes there: a route of the node itself, or at the hub one of those it forwards to.
func (w *network) loop(m *member, a netip.Addr) (route, bool) {
	for _, o := range w.members {
		if o != m && (m != w.hub || o.outside) || m.local && m.node.Site != "" && o == m {
			continue
		}
		for _, r := range o.routes {
			if _, refused := w.overMesh(r); !refused && r.prefix.Contains(a) {
				return r, true
			}
		}
	}
	return route{}, false
}

// shortName is a name's first label, where it has others.
func shortName(name string) string {
	for i := range len(name) {
		if name[i] == '.' {
			return name[:i]
		}
	}
	return ""
}
