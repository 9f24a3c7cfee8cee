// Package render makes bundles of a plan: every file as bytes, containers as units
// of their runtime, computed resources from the whole plan, and a declaration of what the
// machine is to have, in the order in which it is applied. It decides nothing that a
// plan does not say; what a format or a machine cannot carry is refused. Enter at New.
package render

import (
	"slices"
	"sync"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/parallel"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/bundle"
	"meshc.dev/render/hosts"
	"meshc.dev/render/seal"
	"meshc.dev/render/trust"
	"meshc.dev/render/wireguard"
)

// Origin is where bundles come from, for their provenance.
type Origin struct {
	Commit  string
	Serial  int64
	Version string
}

// Mesh renders the nodes of one plan. It can be used by several goroutines.
type Mesh struct {
	plan   *plan.Plan
	origin Origin
	tunnel *wireguard.Mesh
	names  *hosts.Mesh
	roots  []byte
	ds     diag.List
	// files holds the bytes of files that several instances share, by *plan.File.
	files *sync.Map
}

// New works out what all nodes of a plan share.
func New(p *plan.Plan, o Origin) *Mesh {
	m := &Mesh{plan: p, origin: o, files: &sync.Map{}, tunnel: wireguard.New(p), names: hosts.New(p)}
	roots, ds := trust.Bundle(p)
	m.roots = roots
	m.ds = slices.Concat(ds, m.tunnel.Check(), m.names.Check())
	return m
}

// Share lets two meshes that were compiled with one cache render a file that both
// have once.
func (m *Mesh) Share(with *Mesh) { m.files = with.files }

// All renders every node, in the order of the plan. Each fault is said once.
func (m *Mesh) All() ([]*bundle.Bundle, diag.List) {
	out := make([]*bundle.Bundle, len(m.plan.Nodes))
	faults := make([]diag.List, len(m.plan.Nodes))
	parallel.Each(len(out), func(i int) { out[i], faults[i] = m.Node(m.plan.Nodes[i]) })
	return out, append(m.ds, slices.Concat(faults...)...).Sorted()
}

// Node renders one node; what is wrong with the mesh as a whole is said by All.
func (m *Mesh) Node(n *plan.Node) (*bundle.Bundle, diag.List) {
	l := &lowering{mesh: m, node: n}
	of := map[bundle.ID]plan.Resource{} // what an item was made from
	for _, i := range n.Instances {
		l.instance = i
		for _, r := range i.Resources {
			had, held, said := len(l.items), len(l.entries), len(l.ds)
			l.resource(r)
			for _, e := range l.entries[held:] {
				if len(e.Data) > bundle.MaxFile {
					l.ds = append(l.ds, tooLarge(r, len(e.Data)))
				}
			}
			for _, item := range l.items[had:] {
				of[item.Identity()] = r
			}
			copy(l.ds[said:], l.ds[said:].FoundAt(addr.Instance{Node: n.Name, Name: i.Name}))
		}
	}
	if l.ds.HasErrors() {
		return nil, l.ds
	}
	d := &bundle.Declaration{Mesh: m.plan.Mesh, Node: string(n.Name), Items: l.items}
	d.Format = d.FormatNeeded()
	if l.ds = append(l.ds, notItems(n, of, d.Check())...); l.ds.HasErrors() {
		return nil, l.ds
	}
	if !n.Managed {
		b, err := bundle.NewUnmanaged(m.plan.Mesh, string(n.Name), l.entries)
		if err != nil {
			l.ds = append(l.ds, notABundle(n, err))
		}
		return b, l.ds
	}
	o := bundle.Origin{Complete: m.plan.Complete, Commit: m.origin.Commit, Serial: m.origin.Serial, Version: m.origin.Version}
	if r, err := seal.ParseRecipient(n.Recipient); err == nil {
		o.Recipient = r.Fingerprint()
	}
	b, err := bundle.New(d, l.entries, o)
	l.ds = append(l.ds, notItems(n, of, err)...)
	return b, l.ds
}
