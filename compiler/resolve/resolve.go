// Package resolve works out what every node runs and who answers whom. Each node
// is closed first, on its own: what is assigned to it, and what that brings in from the
// catalogue (offers). Then what nodes require from each other is bound to what
// they offer, claims are checked, and each node's instances are put in order. Nothing
// here depends on the order of anything in the mesh, and ports, addresses and logins
// are not known yet: package settle gives those. Enter at Resolve.
package resolve

import (
	"maps"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/layer"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/parallel"
)

// Resolved is a mesh in which every requirement has its answer.
type Resolved struct {
	Mesh  *load.Mesh
	Nodes []*Node // by name
	// Hub is the node that holds the mesh claim the-hub, or empty.
	Hub addr.Node
}

// Node finds a node by name, or gives nil.
func (r *Resolved) Node(name addr.Node) *Node {
	i, ok := slices.BinarySearchFunc(r.Nodes, name, func(n *Node, name addr.Node) int { return strings.Compare(string(n.Name), string(name)) })
	if !ok {
		return nil
	}
	return r.Nodes[i]
}

// Node is a machine and what it runs.
type Node struct {
	Name      addr.Node
	Spec      *load.Node
	Instances []*Instance // in the order in which they are applied
	Networks  []Network   // preferred first
	Open      []Open      // by key
}

// Instance finds an instance by name, or gives nil.
func (n *Node) Instance(name string) *Instance {
	for _, i := range n.Instances {
		if i.Addr.Name == name {
			return i
		}
	}
	return nil
}

// Network is a private network that a node is on.
type Network struct {
	Instance *Instance
	Network  string
	Name     string
}

// Instance is one running of a module on a node.
type Instance struct {
	Addr      addr.Instance
	Module    *load.Module
	At        diag.Pos // where it is assigned, or where what brought it in is
	Assigned  bool
	Brought   []Cause // who required it, where it was not assigned
	Settings  *layer.Merged
	Inputs    evaluate.Inputs
	Interface *evaluate.Interface // nil where the module refused
	Answers   []Answer            // by label
	After     []*Instance         // the private network and names of its node, where it uses them
	// Beside are those of the node that satisfy, several at once, a requirement which reads
	// nothing of its answer; they are told nothing either.
	Beside []*Instance
	pins   map[string]load.Text
}

// Cause is a requirement that brought an instance in.
type Cause struct {
	Instance  string
	Provision string
}

// Because says why the instance is there, as a plan shows it.
func (i *Instance) Because() []string {
	if i.Assigned {
		return []string{"assigned"}
	}
	var out []string
	for _, c := range i.Brought {
		out = append(out, c.Instance+" requires "+c.Provision)
	}
	return out
}

// Answer finds the answer to a requirement by label, or gives nil.
func (i *Instance) Answer(label string) *Answer {
	for k := range i.Answers {
		if i.Answers[k].Label == label {
			return &i.Answers[k]
		}
	}
	return nil
}

// Answer is who answers a requirement: an instance, or a licence.
type Answer struct {
	Label, Provision string
	Provider         *Instance
	Provide          *evaluate.Provide
	Licence          string
	// Network is the one that both ends are on; empty on one machine that has none, and for a licence.
	Network string
	// At is the provider's name as the consumer reaches it (SCP-6).
	At string
	// Pinned says where a person decided this, if anywhere.
	Pinned diag.Pos
	// Others are the candidates that were not taken, and why (SEL-9).
	Others []Candidate
}

// Candidate is something that could have answered a requirement.
type Candidate struct {
	Name string // an instance@node, a module, or a licence
	Why  string // it was not taken
}

type resolver struct {
	src    *load.Source
	eval   evaluate.Evaluator
	nodes  []addr.Node
	offers map[addr.Node]*offer
	wide   map[string][]*Instance // provisions of site and mesh scope to those that offer them
	ghosts map[string]bool        // provisions that something unknown or faulty may have meant to provide
	byWhat map[string][]*load.Module
	direct map[string]bool // modules assigned anywhere
	found  problems
}

// Resolve answers every requirement of a mesh, or says why it cannot be. The
// result is as whole as the diagnostics allow.
func Resolve(src *load.Source, eval evaluate.Evaluator) (*Resolved, diag.List) {
	r := &resolver{
		src: src, eval: eval, offers: map[addr.Node]*offer{}, ghosts: map[string]bool{},
		nodes: slices.Sorted(maps.Keys(src.Mesh.Nodes)),
	}
	r.index()
	ds := identities(src.Mesh)
	ds = append(ds, r.references()...)

	// What a node offers is decided from what that node alone runs, so that one
	// node's refusal makes no other node's answer wrong (SEL-6).
	offers := make([]*offer, len(r.nodes))
	parallel.Each(len(r.nodes), func(i int) { offers[i] = r.close(src.Mesh.Nodes[r.nodes[i]]) })
	for i, name := range r.nodes {
		r.offers[name] = offers[i]
	}
	r.collectOffers()

	parallel.Each(len(r.nodes), func(i int) { r.bind(offers[i]) })
	r.claims()
	for _, o := range offers {
		r.found = append(r.found, o.problems...)
	}
	ds = append(ds, r.unused()...)
	ds = append(ds, r.found.diagnostics(len(r.nodes))...)

	out := &Resolved{Mesh: src.Mesh}
	for _, o := range offers {
		n := &Node{Name: o.spec.Name, Spec: o.spec, Networks: o.networks, Instances: ordered(o.instances)}
		open, ods := r.opened(o.spec)
		n.Open, ds = open, append(ds, ods...)
		for _, i := range n.Instances {
			if i.Interface == nil {
				continue
			}
			for _, c := range i.Interface.Claims {
				if c.Name == hubClaim && c.Scope == "mesh" {
					out.Hub = n.Name
				}
			}
		}
		out.Nodes = append(out.Nodes, n)
	}
	return out, ds
}

// hubClaim is the mesh claim of the node that relays for those behind NAT (CMP-1).
const hubClaim = "the-hub"

// meshNetworkClaim is held by the network that is preferred where two ends share several (CMP-4).
const meshNetworkClaim = "the-mesh-network"

// index notes which modules name which provision, and which are assigned anywhere.
func (r *resolver) index() {
	r.byWhat, r.direct = map[string][]*load.Module{}, map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(r.src.Modules)) {
		m := r.src.Modules[name]
		for p := range m.Provides {
			r.byWhat[p] = append(r.byWhat[p], m)
		}
	}
	m := r.src.Mesh
	layers := []load.Layer{m.Layer}
	for _, s := range m.Sites {
		layers = append(layers, s.Layer)
	}
	for _, g := range m.Groups {
		layers = append(layers, g.Layer)
	}
	for _, n := range m.Nodes {
		layers = append(layers, n.Layer)
	}
	for _, l := range layers {
		for _, a := range l.Assign {
			r.direct[a.Module] = true
		}
	}
}

// collectOffers lists who offers what beyond its own node, ordered by node and instance.
func (r *resolver) collectOffers() {
	r.wide = map[string][]*Instance{}
	for _, name := range r.nodes {
		for _, i := range r.offers[name].instances {
			if i.Interface == nil {
				for p := range i.Module.Provides {
					r.ghosts[p] = true
				}
				continue
			}
			for _, p := range i.Interface.Provides {
				if p.Scope != "node" {
					r.wide[p.Name] = append(r.wide[p.Name], i)
				}
			}
		}
		for _, g := range r.offers[name].ghosts {
			r.ghosts[g] = true
		}
	}
	for _, is := range r.wide {
		slices.SortFunc(is, func(a, b *Instance) int { return a.Addr.Compare(b.Addr) })
	}
}
