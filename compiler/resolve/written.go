package resolve

import (
	"maps"
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/load"
)

// identities refuses two nodes with one recipient, WireGuard key or address, and a
// node and a licence with one name (SEL-11). CUE itself keeps node names apart.
func identities(m *load.Mesh) diag.List {
	var ds diag.List
	seen := map[string]addr.Node{}
	same := func(kind string, n *load.Node, t load.Text) {
		if t.Value == "" {
			return
		}
		key := kind + " " + t.Value
		if other, ok := seen[key]; ok {
			ds = append(ds, sameIdentity(kind, n, t, m.Nodes[other]))
			return
		}
		seen[key] = n.Name
	}
	for _, name := range slices.Sorted(maps.Keys(m.Nodes)) {
		n := m.Nodes[name]
		same("recipient", n, n.Recipient)
		same("wireguard", n, n.WireGuard)
		same("address", n, n.Address)
		if l := m.Licences[string(name)]; l != nil {
			ds = append(ds, nodeAndLicence(n, l))
		}
	}
	return ds
}

// references refuses sites, groups and modules that the mesh names and does not have.
func (r *resolver) references() diag.List {
	m := r.src.Mesh
	var ds diag.List
	for _, name := range r.nodes {
		n := m.Nodes[name]
		if s := n.Site; s.Value != "" && m.Sites[s.Value] == nil {
			ds = append(ds, unknownSite(s, diag.Nearest(s.Value, slices.Collect(maps.Keys(m.Sites)))))
		}
		for g, at := range n.Groups {
			if m.Groups[g] == nil {
				ds = append(ds, unknownGroup(g, at, diag.Nearest(g, slices.Collect(maps.Keys(m.Groups)))))
			}
		}
	}
	known := slices.Collect(maps.Keys(r.src.Modules))
	for _, l := range r.layers() {
		for module, s := range l.Settings {
			if r.src.Modules[module] == nil {
				ds = append(ds, settingsUnknown(module, s.At, diag.Nearest(module, known)))
			}
		}
	}
	return ds
}

// named is a layer of the mesh and the nodes it applies to.
type named struct {
	name string
	*load.Layer
	nodes []addr.Node
}

// layers are all layers of the mesh with their nodes.
func (r *resolver) layers() []named {
	m := r.src.Mesh
	out := []named{{"the mesh", &m.Layer, r.nodes}}
	for _, name := range slices.Sorted(maps.Keys(m.Groups)) {
		l := named{"group " + name, &m.Groups[name].Layer, nil}
		for _, n := range r.nodes {
			if _, in := m.Nodes[n].Groups[name]; in {
				l.nodes = append(l.nodes, n)
			}
		}
		out = append(out, l)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Sites)) {
		l := named{"site " + name, &m.Sites[name].Layer, nil}
		for _, n := range r.nodes {
			if m.Nodes[n].Site.Value == name {
				l.nodes = append(l.nodes, n)
			}
		}
		out = append(out, l)
	}
	for _, n := range r.nodes {
		out = append(out, named{"node " + string(n), &m.Nodes[n].Layer, []addr.Node{n}})
	}
	return out
}

// unused warns of settings, pins and omissions that have no effect.
func (r *resolver) unused() diag.List {
	runs, asks := map[addr.Node]map[string]bool{}, map[addr.Node]map[string]bool{}
	var ds diag.List
	for _, n := range r.nodes {
		o := r.offers[n]
		if o.faulty {
			return nil // what an unmended node would run is not known
		}
		runs[n], asks[n] = map[string]bool{}, map[string]bool{}
		for _, i := range o.instances {
			runs[n][i.Module.Name] = true
			for _, q := range i.Interface.Requires {
				asks[n][q.Provision] = true
			}
			for label, pin := range i.pins {
				if i.Interface.Requirement(label) == nil {
					ds = append(ds, pinUnused(label, "instance "+i.Addr.String(), pin.At))
				}
			}
		}
		all := map[string]bool{}
		for _, s := range r.strata(o.spec) {
			for name := range s.Assign {
				all[name] = true
			}
		}
		for name, at := range o.spec.Omit {
			if !all[name] {
				ds = append(ds, omitsNothing(name, n, at, diag.Nearest(name, slices.Collect(maps.Keys(all)))))
			}
		}
	}
	for _, l := range r.layers() {
		anywhere := func(on map[addr.Node]map[string]bool, what string) bool {
			return slices.ContainsFunc(l.nodes, func(n addr.Node) bool { return on[n][what] })
		}
		for module, s := range l.Settings {
			if r.src.Modules[module] != nil && !anywhere(runs, module) {
				ds = append(ds, settingsNowhere(module, l.name, s.At))
			}
		}
		for provision, pin := range l.Pins {
			if !anywhere(asks, provision) {
				ds = append(ds, pinUnused(provision, l.name, pin.At))
			}
		}
	}
	return ds
}
