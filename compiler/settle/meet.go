package settle

import (
	"net/netip"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/netaddr"
)

// claim is a hold on ports of one machine that cannot move: a fixed listen, a
// mapping that an author wrote, or a reserved port.
type claim struct {
	ports    Range
	protocol string // empty for both
	binding  binding
	address  string // as it was written
	kind     claimKind
	// who takes it, "web/https" or "web/container.server"; the reason where it is reserved.
	who      string
	instance string
	at       diag.Pos
}

type claimKind int

const (
	reserved claimKind = iota
	fixed
	mapping
	assigned // only while a port that the mesh assigned is compared with the others
)

// meets says whether two claims cannot both be true: tcp and udp are two, ranges
// meet where they overlap, and a wildcard meets every address of its family.
func (c claim) meets(o claim) bool {
	return c.ports.Meets(o.ports) && (c.protocol == o.protocol || c.protocol == "" || o.protocol == "") && c.binding.meets(o.binding)
}

// String is what is taken: 443/tcp, 10.0.0.2:53/udp, 8000-8100.
func (c claim) String() string {
	s := c.ports.String()
	if c.address != "" {
		s = netaddr.Join(c.address, c.ports.From)
		if c.ports.To != c.ports.From {
			s += "-" + Range{c.ports.To, c.ports.To}.String()
		}
	}
	if c.protocol != "" {
		s += "/" + c.protocol
	}
	return s
}

// binding is where a listener binds: one address, all of IPv4, or all there are.
type binding struct {
	address netip.Addr // the zero Addr for all
}

// parseBinding reads an address to bind; empty is all of them, and so is ::, since
// a socket there takes IPv4 too unless it is told not to.
func parseBinding(s string) (binding, bool) {
	if s == "" {
		return binding{}, true
	}
	host, err := netaddr.Host(s)
	if err != nil || !netaddr.IsAddr(host) {
		return binding{}, false
	}
	a := netip.MustParseAddr(host).Unmap()
	if a == netip.IPv6Unspecified() {
		return binding{}, true
	}
	return binding{a}, true
}

// isOne says whether it is one address and no wildcard.
func (b binding) isOne() bool { return b.address.IsValid() && !b.address.IsUnspecified() }

// meets says whether the kernel would refuse the second of two that bind the same port.
func (b binding) meets(o binding) bool {
	switch {
	case !b.address.IsValid() || !o.address.IsValid():
		return true
	case b.address.IsUnspecified() || o.address.IsUnspecified(): // 0.0.0.0, since :: is all
		return b.address.Is4() && o.address.Is4()
	}
	x, y := b.address, o.address
	return x.WithZone("") == y.WithZone("") && (x.Zone() == y.Zone() || x.Zone() == "" || y.Zone() == "")
}
