package load

import (
	"cuelang.org/go/cue/token"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
)

// Mesh is what mesh.cue and the files beside it say, decoded. Maps are keyed as
// in the mesh; whoever walks one sorts its keys.
type Mesh struct {
	At       diag.Pos
	Name     string
	Domain   string
	Requires Text // the compilers this mesh accepts, "meshc:"
	CIDR     Text
	Ports    Ports
	Layer    Layer
	Sites    map[string]*Site
	Groups   map[string]*Group
	Nodes    map[addr.Node]*Node
	Licences map[string]*Licence
	Recovery []Text
	Moved    Moved
	// Lacks says that something besides its nodes could not be read.
	Lacks bool
}

// Text is a string and where it stands.
type Text struct {
	Value string
	At    diag.Pos
}

// Ports is the pool from which ports are assigned, both ends included.
type Ports struct {
	From, To int
	At       diag.Pos
}

// Layer is what a mesh, group, site or node each can say.
type Layer struct {
	Assign   map[string]*Assign
	Settings map[string]*Setting // by module
	Pins     map[string]Text     // by provision
	Open     map[string]Open     // by port, as written
}

// Open is a port that the firewall lets in besides what modules ask for.
type Open struct {
	For  Text
	From []string // machine, site, network, world, or prefixes
	At   diag.Pos // of the port
	// FromAt is where it says from where.
	FromAt diag.Pos
}

// Assign is one instance of a module.
type Assign struct {
	Module   string // the instance's name where nothing else is said
	ModuleAt diag.Pos
	Settings *Setting        // nil where there are none
	Pins     map[string]Text // by the requirement's label
	At       diag.Pos
}

// Setting is a tree of what one layer sets: a leaf with a value, or fields. A list is a leaf.
type Setting struct {
	At     diag.Pos  // of the key
	Pos    token.Pos // of the value, for CUE
	Span   diag.Pos  // of the value
	Leaf   data.Value
	Fields map[string]*Setting // nil for a leaf
}

// Site is a place.
type Site struct {
	Layer  Layer
	Prefix Text
	MTU    int
	At     diag.Pos
}

// Group is a set of nodes.
type Group struct {
	Layer Layer
	At    diag.Pos
}

// Node is a machine.
type Node struct {
	Name      addr.Node
	At        diag.Pos
	Site      Text
	Groups    map[string]diag.Pos
	Recipient Text
	WireGuard Text
	Endpoint  Text
	Address   Text
	Routes    []Text
	Layer     Layer
	Omit      map[string]diag.Pos
	Runtime   string
	Facts     data.Value
	Reserved  map[string]Text // ports to reason
	Outgoing  Text
	Managed   bool
}

// Licence answers a provision from outside the mesh.
type Licence struct {
	Answers    Text
	Serves     data.Value
	Credential bool
	At         diag.Pos
}

// Moved is what has a new name, by the old one.
type Moved struct {
	Nodes     map[string]Text
	Instances map[string]Text
}
