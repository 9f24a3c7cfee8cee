package diff

import (
	"fmt"
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/plan"
)

// node compares a node with itself; one of the two is nil where it comes or goes.
func (c *comparison) node(name addr.Node, before, after *plan.Node) {
	if after == nil {
		x := Change{Impact: Unreachable, Kind: OfNode, What: "node is gone; what it ran stays on the machine until it is taken down", Because: running(before)}
		if n := c.sameMachine(before); n != nil {
			x.Because = append(x.Because, fmt.Sprintf("%s has its key, so it seems to be renamed: with `%s` it keeps its address, ports, logins and credentials", n.Name, movedLine(name, n.Name)))
		}
		c.add(name, x)
		for _, i := range before.Instances {
			c.left(before, i)
		}
		return
	}
	if before == nil {
		c.add(name, Change{Kind: OfNode, What: "new node", Because: running(after)})
		before = &plan.Node{Name: name, Managed: after.Managed, Address: after.Address, Endpoint: after.Endpoint, WireGuard: after.WireGuard, Recipient: after.Recipient, Site: after.Site, Runtime: after.Runtime}
	} else if before.Name != name {
		c.add(name, Change{Kind: OfNode, What: fmt.Sprintf("node %s is called %s", before.Name, name)})
	}
	if before.Managed != after.Managed {
		what := "no bundle is applied to it any more: it is unmanaged"
		if after.Managed {
			what = "bundles are applied to it from now on: it is managed"
		}
		c.add(name, Change{Kind: OfNode, What: what})
	}
	c.instances(name, before, after)
	c.items(name, before, after)
	c.ports(name, before, after)
	c.identity(name, before, after)
	c.answers(name, before, after)
	c.databases(name, before, after)
	c.ways(name, before, after)
}

// sameMachine proposes the line that makes a node that goes and one that comes one machine, where
// they have the same keys (T25: nobody copies a machine's key to another).
func (c *comparison) sameMachine(gone *plan.Node) *plan.Node {
	for _, n := range c.to.Plan.Nodes {
		if c.from.Plan.Node(n.Name) != nil {
			continue
		}
		same := n.Recipient != "" && n.Recipient == gone.Recipient || n.WireGuard != "" && n.WireGuard == gone.WireGuard
		if same {
			return n
		}
	}
	return nil
}

// movedLine is what a mesh says of a node that has another name.
func movedLine(old, now addr.Node) string { return fmt.Sprintf("moved: nodes: %q: %q", old, now) }

func running(n *plan.Node) []string {
	var out []string
	for _, i := range n.Instances {
		out = append(out, "runs "+i.Name)
	}
	return out
}

// instances that come and go; one that has data and turns up elsewhere moves.
func (c *comparison) instances(name addr.Node, before, after *plan.Node) {
	kept := map[string]bool{}
	for _, was := range before.Instances {
		now := c.names.instance(addr.Instance{Name: was.Name, Node: before.Name})
		i := instance(after, now.Name)
		if now.Node != name || i == nil {
			c.add(name, Change{Kind: OfInstance, What: was.Name + " is gone (" + was.Module + ")"})
			c.left(before, was)
			continue
		}
		kept[i.Name] = true
		if was.Name != i.Name {
			c.add(name, Change{Kind: OfInstance, What: fmt.Sprintf("%s is called %s", was.Name, i.Name)})
		}
		if was.Module != i.Module {
			c.add(name, Change{Impact: Moves, Kind: OfInstance, What: fmt.Sprintf("%s is module %s instead of %s", i.Name, i.Module, was.Module)})
		}
		c.data(name, was, i)
	}
	for _, i := range after.Instances {
		if !kept[i.Name] {
			c.add(name, Change{Kind: OfInstance, What: i.Name + " is new (" + i.Module + ")", Because: i.Because})
		}
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

// ports that moved, with everyone who is told.
func (c *comparison) ports(name addr.Node, before, after *plan.Node) {
	for _, i := range after.Instances {
		was := c.was(before, i.Name, name)
		if was == nil {
			continue
		}
		for _, l := range i.Listens {
			for _, o := range was.Listens {
				if o.Name != l.Name || o.Port == l.Port && o.Protocol == l.Protocol && o.Address == l.Address {
					continue
				}
				x := Change{Kind: OfPort, What: fmt.Sprintf("%s/%s listens on %s instead of %s", i.Name, l.Name, socket(l), socket(o))}
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

// was is the instance that has a name now, as it was.
func (c *comparison) was(before *plan.Node, now string, node addr.Node) *plan.Instance {
	for _, i := range before.Instances {
		if c.names.instance(addr.Instance{Name: i.Name, Node: before.Name}) == (addr.Instance{Name: now, Node: node}) {
			return i
		}
	}
	return nil
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
	moved("its runtime", before.Runtime, after.Runtime, Nothing)
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
