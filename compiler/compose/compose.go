// Package compose asks every instance for its resources, now that all its inputs
// are known, adds the files that the compiler writes for it (bindings, credentials,
// lists of consumers), holds what a machine can have only once against each other,
// and so makes the plan. Enter at Compose.
package compose

import (
	"net/netip"
	"path"
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/exchange"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/parallel"
	"meshc.dev/compiler/plan"
	"meshc.dev/compiler/settle"
	"meshc.dev/compiler/vault"
)

// Composed is the plan, and what settling has to know of it besides.
type Composed struct {
	Plan *plan.Plan
	// Mappings are port mappings that authors wrote whole, which are claims too (PRT-4).
	Mappings []settle.Mapping
	// Secrets are those that the plan places; package vault decides on each.
	Secrets vault.Demand
}

type composer struct {
	x    *exchange.Exchanged
	eval evaluate.Evaluator
	mesh *load.Mesh
}

// Compose makes the plan.
func Compose(x *exchange.Exchanged, eval evaluate.Evaluator) (*Composed, diag.List) {
	c := &composer{x: x, eval: eval, mesh: x.Resolved.Mesh}
	p := &plan.Plan{Mesh: c.mesh.Name, Domain: c.mesh.Domain, Hub: x.Resolved.Hub}
	if net, err := netip.ParsePrefix(c.mesh.CIDR.Value); err == nil {
		p.Network = net.Masked()
	}
	nodes := make([]composedNode, len(x.Nodes))
	parallel.Each(len(nodes), func(k int) { nodes[k] = c.node(x.Nodes[k]) })

	out := &Composed{Plan: p}
	var ds diag.List
	for _, n := range nodes {
		p.Nodes = append(p.Nodes, n.plan)
		out.Mappings = append(out.Mappings, n.mappings...)
		ds = append(ds, n.ds...)
	}
	p.Roots = c.roots()
	out.Secrets = c.secrets(p)
	return out, ds
}

// Node makes one node's part of the plan, from inputs that may be others than those
// that were exchanged: to see what depends on them. What it refuses is its own business.
func Node(x *exchange.Exchanged, eval evaluate.Evaluator, n *exchange.Node) (*plan.Node, diag.List) {
	c := &composer{x: x, eval: eval, mesh: x.Resolved.Mesh}
	out := c.node(n)
	return out.plan, out.ds
}

// composedNode is what one node came to.
type composedNode struct {
	plan     *plan.Node
	mappings []settle.Mapping
	ds       diag.List
}

func (c *composer) node(n *exchange.Node) composedNode {
	s := n.Spec
	out := composedNode{plan: &plan.Node{
		Name: n.Name, At: s.At, Site: s.Site.Value, Managed: s.Managed, Runtime: s.Runtime, Recipient: s.Recipient.Value,
		WireGuard: s.WireGuard.Value, Endpoint: s.Endpoint.Value, EndpointAt: s.Endpoint.At, Address: n.Address, MTU: 1500,
		Reserved: c.x.Settled.Reserved[n.Name], Admits: c.x.Settled.Open[n.Name], Networks: n.Networks,
	}}
	if site := c.mesh.Sites[s.Site.Value]; site != nil {
		out.plan.MTU = site.MTU
		if prefix, err := netip.ParsePrefix(site.Prefix.Value); err == nil {
			out.plan.SitePrefix = prefix.Masked()
		}
	}
	for _, r := range s.Routes {
		if prefix, err := netip.ParsePrefix(r.Value); err == nil {
			out.plan.Routes = append(out.plan.Routes, prefix.Masked())
			out.plan.RoutesAt = append(out.plan.RoutesAt, r.At)
		}
	}
	b := &builder{composer: c, node: n, out: &out, faulty: map[string]bool{}}
	for _, i := range n.Instances {
		b.instance(i)
	}
	b.gives()
	b.runtime()
	b.once()
	b.references()
	b.attend()
	return out
}

// builder makes one node's part of the plan.
type builder struct {
	*composer
	node *exchange.Node
	out  *composedNode
	// alias leads from a resource that equals an earlier one to that one.
	alias map[addr.Resource]addr.Resource
	// faulty instances lack some of their resources: references to those are not at fault.
	faulty map[string]bool
}

func (b *builder) refuse(ds ...diag.Diagnostic) { b.out.ds = append(b.out.ds, ds...) }

func (b *builder) instance(i *exchange.Instance) {
	res, ds := b.eval.Resources(i.Module, i.Inputs)
	b.refuse(ds...)
	if ds.HasErrors() {
		b.faulty[i.Addr.Name] = true
	}
	if res == nil {
		res = &evaluate.Resources{}
	}
	p := &plan.Instance{Name: i.Addr.Name, Module: i.Module.Name, Because: i.Because(), Settings: res.Settings, Listens: i.Listens, Data: res.Data}
	for _, first := range i.After {
		p.After = append(p.After, first.Addr.Name)
	}
	before := len(b.out.ds)
	p.Resources = append(b.written(i), slices.Clone(res.Items)...)
	b.publish(i, p)
	b.opens(i, p, res.Rules)
	copy(b.out.ds[before:], b.out.ds[before:].FoundAt(i.Addr))
	slices.SortStableFunc(p.Resources, compareResources)
	for _, t := range i.Taken {
		take := plan.Take{Instance: i.Addr.Name, Label: t.Answer.Label, Provision: t.Answer.Provision, As: t.As, Licence: t.Answer.Licence, Optional: i.Told.Requirement(t.Answer.Label).Optional, Binding: t.Binding}
		if t.Answer.Provider != nil {
			take.Node, take.Provider, take.At = t.Answer.Provider.Addr.Node, t.Answer.Provider.Addr.Name, t.Answer.At
			take.HostPort = t.Binding.Get("hostport").Text()
		}
		b.out.plan.Takes = append(b.out.plan.Takes, take)
	}
	b.out.plan.Instances = append(b.out.plan.Instances, p)
}

func (b *builder) gives() {
	for _, i := range b.node.Instances {
		for _, p := range i.Told.Provides {
			for _, g := range i.Given[p.Name] {
				b.out.plan.Gives = append(b.out.plan.Gives, plan.Give{
					Provider: i.Addr.Name, Provision: p.Name, Node: g.By.Addr.Node, Instance: g.By.Addr.Name, Label: g.Pair.Consumer.Label, As: g.As,
				})
			}
		}
	}
}

// kindOrder is the order in which an instance's resources are applied: what
// others stand on first.
var kindOrder = []string{"package", "user", "directory", "data", "secret", "file", "block", "computed", "container", "unit"}

func compareResources(a, b plan.Resource) int {
	if d := rank(a) - rank(b); d != 0 {
		return d
	}
	if a.ID.Name < b.ID.Name {
		return -1
	}
	return 1
}

// rank is where a resource's kind stands in kindOrder. A unit that others of its instance are started by, or lie
// on, comes before all of those: a socket cannot be bound once its service runs.
func rank(r plan.Resource) int {
	at := 10 * slices.Index(kindOrder, r.ID.Kind)
	if r.Unit == nil {
		return at
	}
	before := 10 * slices.Index(kindOrder, "container")
	switch path.Ext(r.Unit.Name) {
	case ".mount", ".automount", ".swap":
		return before - 2
	case ".socket", ".path", ".timer":
		return before - 1
	}
	return at
}
