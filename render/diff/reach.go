package diff

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/firewall"
)

// door is everything that one listen, rule or opening lets in: its ways differ only in from where
// and by which port.
type door struct {
	what  string // whose, and whether in a container
	ports []string
	from  []string
	// each is a port and from where, since two ports of one may be reached differently.
	each []string
	// wide are those of each that the world reaches.
	wide []string
}

// ways compares from where a node is reached, from the same data as the firewall's rules: one line
// for each whose reach or port is another.
func (c *comparison) ways(name addr.Node, before, after *plan.Node) {
	a, b := c.doors(name, before), doors(after)
	would := ""
	if !hasFirewall(after) {
		would = ", were there a firewall"
	}
	for _, what := range union(a, b) {
		o, d := a[what], b[what]
		from, ports := orNone(strings.Join(d.from, ", ")), strings.Join(d.ports, ", ")
		x := Change{Kind: OfWay}
		switch {
		case o.what == "":
			x.What = fmt.Sprintf("%s becomes reachable from %s at %s%s", what, from, ports, would)
		case d.what == "":
			x.What = fmt.Sprintf("%s is no longer reachable (from %s, at %s)%s", what, strings.Join(o.from, ", "), strings.Join(o.ports, ", "), would)
		case !slices.Equal(o.from, d.from):
			x.What = fmt.Sprintf("%s is reachable from %s instead of %s, at %s%s", what, from, strings.Join(o.from, ", "), ports, would)
		case !slices.Equal(o.ports, d.ports):
			x.What = fmt.Sprintf("%s is reachable at %s instead of %s, from %s%s", what, ports, strings.Join(o.ports, ", "), from, would)
		case !slices.Equal(o.each, d.each):
			x.What = fmt.Sprintf("%s is reachable otherwise: %s instead of %s%s", what, strings.Join(d.each, ", "), strings.Join(o.each, ", "), would)
		default:
			continue
		}
		// A port more that the world reaches is one more thing that is exposed.
		if !within(d.wide, o.wide) {
			x.Impact = Exposed
		}
		c.add(name, x)
	}
	if hasFirewall(before) && !hasFirewall(after) {
		c.add(name, Change{Impact: Exposed, Kind: OfWay, What: "everything that listens becomes reachable, since the firewall is gone"})
	}
}

func (c *comparison) doors(name addr.Node, before *plan.Node) map[string]door {
	out := map[string]door{}
	for what, d := range doors(before) {
		if i, listen, ok := strings.Cut(what, "/"); ok {
			if now := c.names.instance(addr.Instance{Name: i, Node: before.Name}); now.Node == name {
				what = now.Name + "/" + listen
			}
		}
		d.what = what
		out[what] = d
	}
	return out
}

func doors(n *plan.Node) map[string]door {
	out := map[string]door{}
	for _, w := range firewall.Ways(n) {
		if w.From == "machine" {
			continue
		}
		ports := fmt.Sprint(w.Port)
		if w.To != w.Port {
			ports = fmt.Sprintf("%d-%d", w.Port, w.To)
		}
		what := w.For
		if w.Open {
			what += " (open)"
		}
		d := out[what]
		d.what = what
		port := cmp.Or(w.Protocol, "tcp+udp") + " " + ports
		if w.Address.IsValid() {
			port += " of " + w.Address.String()
		}
		d.ports, d.from, d.each = append(d.ports, port), append(d.from, w.From), append(d.each, port+" from "+w.From)
		if wide([]string{w.From}) {
			d.wide = append(d.wide, port)
		}
		out[what] = d
	}
	for what, d := range out {
		slices.Sort(d.ports)
		slices.Sort(d.from)
		slices.Sort(d.each)
		d.each = slices.Compact(d.each)
		d.ports, d.from = slices.Compact(d.ports), slices.Compact(d.from)
		out[what] = d
	}
	return out
}

func within(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// wide says whether something is open to the world: said so, or by a prefix of more than any one
// owner has. What cannot be read counts as wide.
func wide(from []string) bool {
	return slices.ContainsFunc(from, func(f string) bool {
		switch f {
		case "machine", "site", "network":
			return false
		}
		p, err := netip.ParsePrefix(f)
		if err != nil {
			return true
		}
		if p.Addr().IsPrivate() && p.Bits() >= 8 {
			return false
		}
		return p.Addr().Is4() && p.Bits() < 12 || p.Addr().Is6() && p.Bits() < 24
	})
}

func hasFirewall(n *plan.Node) bool {
	for _, i := range n.Instances {
		for _, r := range i.Resources {
			if r.Computed != nil && r.Computed.Kind == "firewall" {
				return true
			}
		}
	}
	return false
}
