package diff

import (
	"fmt"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/firewall"
)

func (c *comparison) node(name addr.Node) {
	before, after := c.from.Plan.Node(name), c.to.Plan.Node(name)
	switch {
	case before == nil:
		c.add(name, Change{Impact: Nothing, Kind: OfNode, What: "new node", Because: running(after)})
		return
	case after == nil:
		c.add(name, Change{Impact: Unreachable, Kind: OfNode, What: "node is gone; what it ran stays on the machine until it is taken down", Because: running(before)})
		return
	}
	c.instances(name, before, after)
	c.items(name, before, after)
	c.ports(name, before, after)
	c.identity(name, before, after)
	c.answers(name, before, after)
	c.ways(name, before, after)
}

func running(n *plan.Node) []string {
	var out []string
	for _, i := range n.Instances {
		out = append(out, "runs "+i.Name)
	}
	return out
}

// instances that come and go; one that has data and turns up elsewhere moves.
func (c *comparison) instances(name addr.Node, before, after *plan.Node) {
	for _, i := range after.Instances {
		was := instance(before, i.Name)
		switch {
		case was == nil:
			c.add(name, Change{Impact: Nothing, Kind: OfInstance, What: i.Name + " is new (" + i.Module + ")", Because: i.Because})
		case was.Module != i.Module:
			c.add(name, Change{Impact: Moves, Kind: OfInstance, What: fmt.Sprintf("%s is module %s instead of %s", i.Name, i.Module, was.Module)})
		}
	}
	for _, i := range before.Instances {
		if instance(after, i.Name) != nil {
			continue
		}
		x := Change{Impact: Restart, Kind: OfInstance, What: i.Name + " is gone (" + i.Module + ")"}
		if data := dataOf(i); len(data) > 0 {
			x.Impact = Moves
			for _, p := range data {
				x.Because = append(x.Because, "its data stays in "+p)
			}
			for _, n := range c.to.Plan.Nodes {
				if o := instance(n, i.Name); o != nil && o.Module == i.Module && instance(c.from.Plan.Node(n.Name), i.Name) == nil {
					x.What = fmt.Sprintf("%s moves to %s, and its data does not", i.Name, n.Name)
				}
			}
		}
		c.add(name, x)
	}
}

func instance(n *plan.Node, name string) *plan.Instance {
	if n == nil {
		return nil
	}
	for _, i := range n.Instances {
		if i.Name == name {
			return i
		}
	}
	return nil
}

// dataOf lists where an instance keeps data: its containers' volumes and its folders
// under /var/lib, /srv and /home.
func dataOf(i *plan.Instance) []string {
	var out []string
	add := func(p string) {
		for _, under := range []string{"/var/lib/", "/srv/", "/home/", "/data/"} {
			if strings.HasPrefix(p, under) && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	for _, r := range i.Resources {
		switch {
		case r.Directory != nil:
			add(r.Directory.Path)
		case r.Container != nil:
			for _, v := range r.Container.Volumes {
				source, _, _ := strings.Cut(v, ":")
				if strings.HasPrefix(source, "/") {
					add(source)
				} else if source != "" {
					out = append(out, "the volume "+source)
				}
			}
		}
	}
	return out
}

// ports that moved, with everyone who is told.
func (c *comparison) ports(name addr.Node, before, after *plan.Node) {
	for _, i := range after.Instances {
		was := instance(before, i.Name)
		if was == nil {
			continue
		}
		for _, l := range i.Listens {
			for _, o := range was.Listens {
				if o.Name != l.Name || o.Port == l.Port && o.Protocol == l.Protocol && o.Address == l.Address {
					continue
				}
				x := Change{Impact: Restart, Kind: OfPort, What: fmt.Sprintf("%s/%s listens on %s instead of %s", i.Name, l.Name, socket(l), socket(o))}
				for _, g := range after.Gives {
					if g.Provider == i.Name {
						x.Because = append(x.Because, fmt.Sprintf("%s@%s is told", g.Instance, g.Node))
					}
				}
				for _, t := range after.Takes {
					if t.Instance == i.Name && t.Provider != "" {
						x.Because = append(x.Because, fmt.Sprintf("%s@%s is told", t.Provider, t.Node))
					}
				}
				slices.Sort(x.Because)
				x.Because = slices.Compact(x.Because)
				c.add(name, x)
			}
		}
	}
}

func socket(l plan.Listen) string {
	port := fmt.Sprint(l.Port)
	if l.To != l.Port {
		port = fmt.Sprintf("%d-%d", l.Port, l.To)
	}
	return fmt.Sprintf("%s/%s at %s", port, l.Protocol, l.Address)
}

// identity is what others reach a node by.
func (c *comparison) identity(name addr.Node, before, after *plan.Node) {
	moved := func(what, a, b string, impact Impact) {
		if a != b {
			c.add(name, Change{Impact: impact, Kind: OfAddress, What: fmt.Sprintf("%s is %s instead of %s", what, orNone(b), orNone(a))})
		}
	}
	address := func(n *plan.Node) string {
		if n.Address.IsValid() {
			return n.Address.String()
		}
		return ""
	}
	moved("its address", address(before), address(after), Unreachable)
	moved("its endpoint", before.Endpoint, after.Endpoint, Unreachable)
	moved("its WireGuard key", before.WireGuard, after.WireGuard, Unreachable)
	moved("its recipient", before.Recipient, after.Recipient, Credential)
	moved("its site", before.Site, after.Site, Nothing)
	networks := func(n *plan.Node) []string {
		var out []string
		for _, w := range n.Networks {
			out = append(out, w.Network)
		}
		slices.Sort(out)
		return out
	}
	a, b := networks(before), networks(after)
	for _, w := range a {
		if !slices.Contains(b, w) {
			c.add(name, Change{Impact: Unreachable, Kind: OfAddress, What: "it is no longer on the network " + w})
		}
	}
	for _, w := range b {
		if !slices.Contains(a, w) {
			c.add(name, Change{Impact: Nothing, Kind: OfAddress, What: "it joins the network " + w})
		}
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// answers that a requirement gets from somebody else now.
func (c *comparison) answers(name addr.Node, before, after *plan.Node) {
	by := func(t plan.Take) string {
		if t.Licence != "" {
			return "licence " + t.Licence
		}
		return t.Provider + "@" + string(t.Node)
	}
	was := map[[2]string]plan.Take{}
	for _, t := range before.Takes {
		was[[2]string{t.Instance, t.Label}] = t
	}
	for _, t := range after.Takes {
		o, ok := was[[2]string{t.Instance, t.Label}]
		delete(was, [2]string{t.Instance, t.Label})
		what := fmt.Sprintf("%s takes %s from %s", t.Instance, t.Provision, by(t))
		switch {
		case !ok:
			c.add(name, Change{Impact: Nothing, Kind: OfAnswer, What: what})
		case by(o) != by(t):
			c.add(name, Change{Impact: Restart, Kind: OfAnswer, What: what + " instead of " + by(o)})
		}
	}
	for _, t := range was {
		if instance(after, t.Instance) != nil {
			c.add(name, Change{Impact: Restart, Kind: OfAnswer, What: fmt.Sprintf("%s no longer takes %s from %s", t.Instance, t.Provision, by(t))})
		}
	}
}

// ways in that open and close, from the same data as the firewall's rules.
func (c *comparison) ways(name addr.Node, before, after *plan.Node) {
	a, b := ways(before), ways(after)
	would := ""
	if !hasFirewall(after) {
		would = ", were there a firewall"
	}
	for _, w := range b {
		if !slices.Contains(a, w) {
			c.add(name, Change{Impact: Nothing, Kind: OfWay, What: "becomes reachable: " + w + would})
		}
	}
	for _, w := range a {
		if !slices.Contains(b, w) {
			c.add(name, Change{Impact: Restart, Kind: OfWay, What: "becomes unreachable: " + w + would})
		}
	}
	if hasFirewall(before) && !hasFirewall(after) {
		c.add(name, Change{Impact: Nothing, Kind: OfWay, What: "becomes reachable: everything that listens, since the firewall is gone"})
	}
}

func ways(n *plan.Node) []string {
	var out []string
	for _, w := range firewall.Ways(n) {
		out = append(out, w.String())
	}
	return out
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
