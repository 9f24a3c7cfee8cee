package wireguard

import (
	"net/netip"
	"strings"
)

// forwarding gives the lines with which the hub, or a node that networks are
// behind, lets packets through.
//
// They are commands of the interface and no file in /etc/sysctl.d. Such a file is
// read when the machine starts, so that the first apply would need a restart; it
// stays when the node is the hub no more; and it could only make the machine a router
// on every interface. For IPv4 the kernel asks the interface on which a packet comes
// in, so that the hub needs the tunnel alone, which does not exist before it is up.
// For IPv6 there is one switch for the machine; it also ends the taking of router
// advertisements, which where they were taken has to be asked for anew (accept_ra 2),
// or the machine loses its own address.
func (w *network) forwarding(self *member) []string {
	hub := self == w.hub
	var four, six bool // whether there is a route of that family behind the node
	for _, r := range self.routes {
		if r.prefix.Addr().Is4() {
			four = true
		} else {
			six = true
		}
	}
	if !hub && !four && !six {
		return nil
	}
	carries4, carries6 := w.families()
	var out []string
	switch {
	case four:
		out = append(out, "PostUp = sysctl -q -w net/ipv4/ip_forward=1")
	case hub && carries4:
		out = append(out, "PostUp = sysctl -q -w net/ipv4/conf/%i/forwarding=1")
	}
	if six || hub && carries6 {
		out = append(out,
			`PostUp = for f in /proc/sys/net/ipv6/conf/*/accept_ra; do if [ "$(cat "$f")" = 1 ]; then echo 2 > "$f"; fi; done`,
			"PostUp = sysctl -q -w net/ipv6/conf/all/forwarding=1")
	}
	if self.node.Runtime == "docker" {
		out = append(out, throughDocker(self, hub, carries4, carries6)...)
	}
	return out
}

// families says which kinds of address go through the tunnels.
func (w *network) families() (four, six bool) {
	for _, m := range w.members {
		four = four || m.addr.Is4()
		six = six || m.addr.Is6()
		for _, r := range m.routes {
			four = four || r.prefix.Addr().Is4()
			six = six || r.prefix.Addr().Is6()
		}
	}
	return four, six
}

// throughDocker lets the tunnel's packets past Docker, which drops whatever is
// forwarded on a machine where it was the first to switch forwarding on. No rule of
// ours elsewhere can undo that; DOCKER-USER is the chain that it leaves to others. A
// failure leaves the tunnel up: without it nobody could come to mend it.
func throughDocker(self *member, hub, four, six bool) []string {
	var out []string
	for _, f := range []struct {
		program string
		carried bool
		is      func(netip.Addr) bool
	}{{"iptables", four, netip.Addr.Is4}, {"ip6tables", six, netip.Addr.Is6}} {
		var rules []string
		if hub && f.carried {
			rules = append(rules, `"-i %i -o %i"`)
		}
		for _, r := range self.routes {
			if f.is(r.prefix.Addr()) {
				rules = append(rules, `"-i %i -d `+r.prefix.String()+`"`, `"-o %i -s `+r.prefix.String()+`"`)
			}
		}
		if len(rules) == 0 {
			continue
		}
		tables := f.program + " -w "
		each := "for rule in " + strings.Join(rules, " ") + "; do "
		out = append(out,
			"PostUp = "+tables+"-N DOCKER-USER 2>/dev/null || true; "+each+tables+"-C DOCKER-USER $rule -j ACCEPT 2>/dev/null || "+
				tables+"-I DOCKER-USER $rule -j ACCEPT || true; done",
			"PostDown = "+each+tables+"-D DOCKER-USER $rule -j ACCEPT 2>/dev/null || true; done")
	}
	return out
}
