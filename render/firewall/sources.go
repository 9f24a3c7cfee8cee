package firewall

import (
	"net/netip"
	"slices"
	"strings"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/netaddr"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/wireguard"
)

// source is how packets of a private network are told from others.
type source struct {
	name   string // the network's
	iface  string // empty where it is not known
	prefix netip.Prefix
	addr   netip.Addr // this node's there, where it is known
}

// match asks for both where both are known: the interface because an address can be
// forged, the range because other traffic can come in by the same interface.
func (s source) match() string {
	var parts []string
	if s.iface != "" {
		parts = append(parts, "iifname "+quoted(s.iface))
	}
	if s.prefix.IsValid() {
		parts = append(parts, family(s.prefix.Addr())+" saddr "+s.prefix.String())
	}
	return strings.Join(parts, " ")
}

// findSources works out what "network" is on this node. A network of which neither
// interface nor range is known opens nothing, and that is said where something was
// to be opened.
func (t *table) findSources(p *plan.Plan) diag.List {
	if len(t.where(func(w Way) bool { return w.From == "network" })) == 0 {
		return nil
	}
	var l diag.List
	for _, w := range t.node.Networks {
		s := source{name: w.Network, iface: w.Interface}
		i := slices.IndexFunc(t.tunnels, func(tun wireguard.Tunnel) bool { return tun.Instance == w.Instance })
		if s.iface == "" && i >= 0 {
			s.iface = t.tunnels[i].Interface
		}
		a, err := netip.ParseAddr(w.Address)
		if err == nil {
			s.addr = a
		}
		if w.Prefix != "" {
			r, err := netip.ParsePrefix(w.Prefix)
			if err != nil {
				l = append(l, badPrefix(t.node, w))
				continue
			}
			s.prefix = r.Masked()
		} else if s.addr.IsValid() {
			// An address shows which of the known ranges it is, the mesh's or the site's.
			for _, known := range []netip.Prefix{p.Network, t.node.SitePrefix} {
				if known.Contains(a) {
					s.prefix = known.Masked()
					break
				}
			}
		}
		switch {
		case s.iface != "" && !netaddr.IsInterface(s.iface):
			l = append(l, badInterface(t.node, w.Instance, s.iface))
		case s.iface == "" && !s.prefix.IsValid():
			l = append(l, networkUnknown(t.node, w))
		default:
			t.sources = append(t.sources, s)
		}
	}
	return l
}

// findBridges takes the interfaces that containers are behind, and looks at every
// name that will stand in a rule.
func (t *table) findBridges() diag.List {
	t.bridges = t.computed.Bridges
	if len(t.bridges) == 0 {
		// Podman numbers its bridges from podman0, Docker has docker0; it names others br-
		// and twelve digits, which here could be anybody's.
		t.bridges = []string{"podman*"}
		if t.node.Runtime == "docker" {
			t.bridges = []string{"docker0"}
		}
	}
	var l diag.List
	for _, i := range slices.Concat(t.bridges, t.computed.Trusted) {
		if !isPattern(i) {
			l = append(l, badInterface(t.node, "the firewall", i))
		}
	}
	for _, tun := range t.tunnels {
		if !netaddr.IsInterface(tun.Interface) {
			l = append(l, badInterface(t.node, tun.Instance, tun.Interface))
		}
	}
	return l
}

// isPattern says whether s names an interface, or with "*" at the end all that
// begin so.
func isPattern(s string) bool {
	begin, star := strings.CutSuffix(s, "*")
	return netaddr.IsInterface(s) || star && len(s) <= 15 && netaddr.IsInterface(begin)
}

// fromNowhere refuses what a person opened to a network that the node is not on
// or of which nothing is known, or to a site of which no prefix is known: it would be closed, and read as open.
func (t *table) fromNowhere() diag.List {
	var l diag.List
	for _, a := range t.node.Admits {
		switch {
		case slices.Contains(a.From, "site"):
			l = append(l, noSitePrefix(t.node, a))
		case slices.Contains(a.From, "network") && len(t.sources) == 0:
			l = append(l, noNetwork(t.node, a))
		}
	}
	return l
}
