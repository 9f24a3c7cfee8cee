// Package plan is the compiler's result as data: what every machine runs, who
// takes what from whom, and the resources each instance puts on its machine.
// `plan --json`, bundles, diffs and reports are all made from it and from nothing
// else (BLD-3). Everything is sorted, and nothing in it is changed once made.
package plan

import (
	"net/netip"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
)

// Plan is a whole mesh.
type Plan struct {
	Mesh   string
	Domain string
	Nodes  []*Node // by name
	// Complete says whether every secret was made; where it is false the bundles
	// have places for secrets and no blobs.
	Complete bool
	// Hub is the holder of the mesh claim the-hub, through which nodes behind NAT
	// reach each other; empty where nobody holds it.
	Hub addr.Node
	// Network is the range from which nodes have addresses; the zero Prefix where there is none.
	Network netip.Prefix
	// Roots are certificate authorities' roots, PEM, by the instance that provides them.
	Roots []Root
}

// Root is the root certificate of a certificate authority in the mesh.
type Root struct {
	Authority addr.Instance
	PEM       string
}

// Node finds a node by name, or gives nil.
func (p *Plan) Node(name addr.Node) *Node {
	for _, n := range p.Nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// Node is one machine.
type Node struct {
	Name       addr.Node
	At         diag.Pos
	Site       string
	Managed    bool
	Runtime    string // podman or docker
	Recipient  string
	WireGuard  string // public key
	Endpoint   string // host or host:port as written, or empty behind NAT
	EndpointAt diag.Pos
	Address    netip.Addr // on the mesh's private network; the zero Addr where the mesh has none
	MTU        int        // of the site's way out
	SitePrefix netip.Prefix
	Routes     []netip.Prefix
	RoutesAt   []diag.Pos // one for each of Routes, where they are known
	Reserved   []Reserved
	Networks   []Network   // private networks the node is on, preferred first
	Instances  []*Instance // in the order in which they are applied (SEL-8)
	Takes      []Take
	Gives      []Give
	// Opens are the ways in that instances have, before any firewall: what a firewall
	// computation lets through, and what a plan lists where there is none (CMP-5).
	Opens []Open
	// Admits is what the mesh's layers open besides, with the default for sshd.
	Admits []Admit
}

// Admit is a port that a person opened.
type Admit struct {
	Address  string // empty for every address
	Port, To int
	Protocol string // tcp, udp, or empty for both
	For      string
	// From is machine, network, world, prefixes, or "site" where the node's site has no prefix.
	From []string
	At   diag.Pos
}

// Reserved is a port that the machine uses for something else.
type Reserved struct {
	Address  string // empty for every address
	From, To int
	Protocol string // tcp, udp, or empty for both
	Reason   string
	At       diag.Pos
}

// Network is a private network a node is on (SCP-5).
type Network struct {
	Instance  string // that provides it on this node
	Network   string // equal on every node of the network
	Name      string // the node's name there
	Address   string // the node's address there, where the mesh knows it
	Interface string // through which it is reached, where the module says so
	Prefix    string // its range, where the module says so
}

// Instance is one running of a module.
type Instance struct {
	Name      string
	Module    string
	Because   []string // "assigned", or "i3 requires display-server"
	Settings  data.Value
	Listens   []Listen // by name
	Data      []Data   // by label
	Resources []Resource
	// After are the instances after whose units its own start, also at boot (SEL-8).
	After []string
}

// Data is what has to survive its instance (DAT-1). Its directories are resources of the instance too.
type Data struct {
	Label        string
	At           diag.Pos // in the module
	Paths        []string
	Owner, Group string
	// DumpCommand takes it consistently into DumpFile; both are empty where files can be copied as they are.
	DumpCommand []string
	DumpFile    string
	Exclude     []string
}

// Listen is a port that was settled, and how far it is reached.
type Listen struct {
	Name     string
	Inside   int // inside a container
	Port, To int // on the machine; To equals Port where it is no range
	Protocol string
	Address  string // to bind: 127.0.0.1, a network address, or 0.0.0.0
	Reach    string // machine, network or world
	Fixed    bool
}

// Take is what an instance takes from elsewhere; Node and Provider are empty where a licence answers.
type Take struct {
	Instance, Label, Provision string
	Node                       addr.Node
	Provider                   string
	As                         string
	Licence                    string
	At                         string
	HostPort                   string
	// Binding is what the consumer is told; nothing in it is secret.
	Binding data.Value
	// Optional says that the instance works without it.
	Optional bool
}

// Give is what another instance takes from here.
type Give struct {
	Provider, Provision string
	Node                addr.Node
	Instance            string
	Label               string
	As                  string
}

// Open is one way in to the machine.
type Open struct {
	Instance string
	Name     string // of the listen or rule, for a comment
	Port, To int
	Protocol string
	From     string // machine, network, world, or a prefix
	// Container is true where the port is a mapping into a container listening on Inside:
	// such traffic is forwarded, not delivered to the machine.
	Container bool
	Inside    int
	Address   string
}
