package resolve

import (
	"maps"
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/layer"
	"meshc.dev/compiler/load"
)

// stratum is one layer as it applies to a node.
type stratum struct {
	rank layer.Rank
	name string
	*load.Layer
}

// strata are the layers of a node, the weakest first; its groups are of one rank.
func (r *resolver) strata(n *load.Node) []stratum {
	m := r.src.Mesh
	out := []stratum{{layer.Mesh, "mesh", &m.Layer}}
	for _, g := range slices.Sorted(maps.Keys(n.Groups)) {
		if group := m.Groups[g]; group != nil {
			out = append(out, stratum{layer.Group, "group " + g, &group.Layer})
		}
	}
	if s := m.Sites[n.Site.Value]; s != nil {
		out = append(out, stratum{layer.Site, "site " + n.Site.Value, &s.Layer})
	}
	return append(out, stratum{layer.Node, "node " + string(n.Name), &n.Layer})
}

// placed is an assignment and the layer it stands in.
type placed struct {
	stratum stratum
	*load.Assign
}

// assigned gives what the layers assign to a node and it does not omit, by instance. One
// that no bundle is applied to runs what it is assigned itself, and of what all are assigned
// only what is for such nodes too: it would be asked for the rest for ever.
func (r *resolver) assigned(n *load.Node) map[string][]placed {
	out := map[string][]placed{}
	for _, s := range r.strata(n) {
		for name, a := range s.Assign {
			if !n.Managed && s.rank != layer.Node && !r.isForUnmanaged(n, name, a) {
				continue
			}
			if _, omitted := n.Omit[name]; !omitted {
				out[name] = append(out[name], placed{s, a})
			}
		}
	}
	return out
}

// isForUnmanaged says whether what a layer assigns is for an unmanaged node too: its module
// says so, or the node assigns the same instance itself.
func (r *resolver) isForUnmanaged(n *load.Node, name string, a *load.Assign) bool {
	if own := n.Layer.Assign[name]; own != nil {
		return true
	}
	m := r.src.Modules[a.Module]
	return m == nil || m.Unmanaged // one that there is not is refused
}

// newInstance makes an instance from its assignments; there are none where it is brought in.
func (r *resolver) newInstance(n *load.Node, name string, m *load.Module, assigns []placed) (*Instance, diag.List) {
	i := &Instance{Addr: addr.Instance{Name: name, Node: n.Name}, Module: m, Assigned: len(assigns) > 0, pins: map[string]load.Text{}}
	var layers []layer.Layer
	for _, s := range r.strata(n) {
		if set := s.Settings[m.Name]; set != nil {
			layers = append(layers, layer.Layer{Rank: s.rank, Name: s.name, Setting: set})
		}
	}
	for _, a := range assigns {
		i.At = a.At
		if a.Settings != nil {
			layers = append(layers, layer.Layer{Rank: layer.Instance + a.stratum.rank, Name: "instance " + name + " (" + a.stratum.name + ")", Setting: a.Settings})
		}
		for label, pin := range a.Pins {
			i.pins[label] = pin
		}
	}
	var ds diag.List
	i.Settings, ds = layer.Merge(i.Addr, m.Name, layers)
	i.Inputs = r.inputs(n, i)
	if ds.HasErrors() {
		return i, ds
	}
	i.Interface, ds = r.eval.Interface(m, i.Inputs)
	if ds.HasErrors() {
		i.Interface = nil
	}
	return i, ds
}

// inputs are what an instance may read before anything is settled.
func (r *resolver) inputs(n *load.Node, i *Instance) evaluate.Inputs {
	return evaluate.Inputs{
		Mesh:     evaluate.Mesh{Name: r.src.Mesh.Name, Domain: r.src.Mesh.Domain},
		Node:     evaluate.Node{Name: string(n.Name), Site: n.Site.Value, Endpoint: n.Endpoint.Value, Runtime: n.Runtime, Facts: n.Facts},
		Instance: i.Addr.Name, Settings: i.Settings, At: i.At,
	}
}

// pin finds who a person chose for a requirement: at the instance by label, then
// at the strongest layer by provision. Two groups that disagree are reported.
func (r *resolver) pin(o *offer, i *Instance, label, provision string) (load.Text, bool) {
	if p, ok := i.pins[label]; ok {
		return p, true
	}
	strata := r.strata(o.spec)
	slices.Reverse(strata)
	for k, s := range strata {
		p, ok := s.Pins[provision]
		if !ok {
			continue
		}
		for _, other := range strata[k+1:] {
			if q, ok := other.Pins[provision]; ok && other.rank == s.rank && q.Value != p.Value {
				o.say(groupsPinApart(provision, s.name, p, other.name, q))
			}
		}
		return p, true
	}
	return load.Text{}, false
}
