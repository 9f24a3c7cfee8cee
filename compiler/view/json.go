// Package view shows what was compiled to a person or a program: the plan, why a
// thing is as it is, and what would stop without it. It reads results of the
// compiler and changes none.
package view

import (
	"encoding/json"

	"meshc.dev/compiler/plan"
)

// Plan is what `plan --json` prints. Programs read it: fields may be added, never
// renamed or removed.
type Plan struct {
	Mesh  string          `json:"mesh"`
	Nodes map[string]Node `json:"nodes"`
}

// Node is one machine of a Plan.
type Node struct {
	Site      string              `json:"site,omitempty"`
	Address   string              `json:"address,omitempty"`
	Instances map[string]Instance `json:"instances"`
	Order     []string            `json:"order"`
	Takes     []Take              `json:"takes"`
	Gives     []Give              `json:"gives"`
	Resources []Resource          `json:"resources"`
	// Opens are the ways in, whether or not a firewall holds everything else out.
	Opens    []Open `json:"opens"`
	Firewall bool   `json:"firewall"`
}

// Open is one way in.
type Open struct {
	Port int `json:"port"`
	// To is the end of a range, and equals Port where it is none.
	To       int    `json:"to"`
	Protocol string `json:"protocol,omitempty"` // tcp, udp, or empty for both
	From     string `json:"from"`               // machine, site, network, world, or a prefix
	For      string `json:"for"`
	Address  string `json:"address,omitempty"` // the one that it is open at; empty for all
	// By is "open" where a person opened it, else empty.
	By string `json:"by,omitempty"`
}

// Instance is one running of a module.
type Instance struct {
	Module    string          `json:"module"`
	Because   []string        `json:"because"`
	Settings  json.RawMessage `json:"settings"`
	Ports     map[string]int  `json:"ports"`
	Resources []string        `json:"resources,omitempty"`
	// Data is where it keeps what has to survive it, by label.
	Data map[string][]string `json:"data,omitempty"`
}

// Take is what an instance takes, from a node or a licence.
type Take struct {
	Instance  string `json:"instance"`
	Label     string `json:"label"`
	Provision string `json:"provision"`
	Node      string `json:"node,omitempty"`
	Provider  string `json:"provider,omitempty"`
	As        string `json:"as,omitempty"`
	At        string `json:"at,omitempty"`
	HostPort  string `json:"hostport,omitempty"`
	Licence   string `json:"licence,omitempty"`
}

// Give is what another instance takes from here.
type Give struct {
	Provider  string `json:"provider"`
	Provision string `json:"provision"`
	Node      string `json:"node"`
	Instance  string `json:"instance"`
	Label     string `json:"label"`
	As        string `json:"as,omitempty"`
}

// Resource is one thing on the machine.
type Resource struct {
	ID         string `json:"id"`
	Kind       string `json:"kind"`
	Path       string `json:"path,omitempty"`
	Name       string `json:"name,omitempty"`
	Generation int    `json:"generation,omitempty"`
	Secret     string `json:"secret,omitempty"`
	// Recipient is the fingerprint of the key that this machine's copy is sealed to.
	Recipient string `json:"recipient,omitempty"`
	// Content of a file or block, with the names of secrets where the machine fills them in;
	// only where it was asked for.
	Content string `json:"content,omitempty"`
}

// OfPlan gives the nodes of a plan that are asked for; all where none is named.
func OfPlan(p *plan.Plan, nodes ...string) Plan {
	out := Plan{Mesh: p.Mesh, Nodes: map[string]Node{}}
	wanted := map[string]bool{}
	for _, n := range nodes {
		wanted[n] = true
	}
	for _, n := range p.Nodes {
		if len(nodes) == 0 || wanted[string(n.Name)] {
			out.Nodes[string(n.Name)] = ofNode(n)
		}
	}
	return out
}

func ofNode(n *plan.Node) Node {
	out := Node{Site: n.Site, Instances: map[string]Instance{}, Order: []string{}, Takes: []Take{}, Gives: []Give{}, Resources: []Resource{}, Opens: []Open{}}
	if n.Address.IsValid() {
		out.Address = n.Address.String()
	}
	for _, i := range n.Instances {
		settings, err := i.Settings.MarshalJSON()
		if err != nil || string(settings) == "null" {
			settings = []byte("{}")
		}
		v := Instance{Module: i.Module, Because: i.Because, Settings: settings, Ports: map[string]int{}}
		for _, l := range i.Listens {
			v.Ports[l.Name] = l.Port
		}
		for _, d := range i.Data {
			if v.Data == nil {
				v.Data = map[string][]string{}
			}
			v.Data[d.Label] = d.Paths
		}
		out.Instances[i.Name] = v
		out.Order = append(out.Order, i.Name)
		for _, r := range i.Resources {
			out.Resources = append(out.Resources, ofResource(r))
		}
	}
	for _, t := range n.Takes {
		out.Takes = append(out.Takes, Take{t.Instance, t.Label, t.Provision, string(t.Node), t.Provider, t.As, t.At, t.HostPort, t.Licence})
	}
	for _, g := range n.Gives {
		out.Gives = append(out.Gives, Give{g.Provider, g.Provision, string(g.Node), g.Instance, g.Label, g.As})
	}
	return out
}

func ofResource(r plan.Resource) Resource {
	out := Resource{ID: r.ID.String(), Kind: r.ID.Kind}
	switch {
	case r.File != nil:
		out.Path = r.File.Path
	case r.Directory != nil:
		out.Path = r.Directory.Path
	case r.Block != nil:
		out.Path = r.Block.Path
	case r.Secret != nil:
		out.Path, out.Generation, out.Secret, out.Recipient = r.Secret.Path, r.Secret.Generation, r.Secret.Key, r.Secret.Recipient
	case r.Package != nil:
		out.Name = r.Package.Name
	case r.User != nil:
		out.Name = r.User.Name
	case r.Unit != nil:
		out.Name = r.Unit.Name
	case r.Container != nil:
		out.Name = r.Container.Unit + ".service"
	case r.Computed != nil:
		out.Path = r.Computed.Path
	}
	return out
}
