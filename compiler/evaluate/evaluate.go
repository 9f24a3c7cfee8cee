// Package evaluate asks a module what it declares for one instance: first its
// interface, from settings and the machine; then what it serves and contributes,
// with ports; then its resources, with everything. Each question has explicit inputs, and
// the module's source tells which of them it reads: instances for which those are
// equal share one answer. CUE gives the answers (type CUE); a compiled form can
// stand beside it behind the interface Evaluator.
package evaluate

import (
	"sync"

	"cuelang.org/go/cue"

	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/layer"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/plan"
)

// Evaluator answers what a module declares. It is safe for use by several goroutines.
type Evaluator interface {
	// Interface answers from settings, mesh, node and instance alone.
	Interface(m *load.Module, in Inputs) (*Interface, diag.List)
	// Exchange answers what is served and contributed, once ports and some bindings are known.
	Exchange(m *load.Module, in Inputs) (*Interface, diag.List)
	// Derive answers what a provision derives for one consumer of an instance.
	Derive(of *Interface, provision string, consumer data.Value) (data.Value, diag.List)
	// Accepts holds what a consumer contributes against the type that a provision accepts.
	Accepts(of *Interface, provision string, values data.Value) diag.List
	// Resources answers everything the instance puts on its machine.
	Resources(m *load.Module, in Inputs) (*Resources, diag.List)
}

// Inputs are all that an evaluation may read.
type Inputs struct {
	Mesh     Mesh
	Node     Node
	Instance string
	// Settings the layers came to, before the module's defaults; nil where nothing is set.
	Settings *layer.Merged
	At       diag.Pos // where the instance is assigned, for messages

	Ports     map[string]int
	Addresses map[string]string
	Bindings  map[string]data.Value
	Secrets   []string // labels whose credential the instance is given
	Needs     []string
	Consumers map[string]data.Value // by provision: a list of consumers
}

// Mesh is in.mesh.
type Mesh struct{ Name, Domain string }

// Node is in.node; what is empty is absent there.
type Node struct {
	Name, Site, Address, Endpoint, Runtime string
	Facts                                  data.Value
}

// Interface is what a module declares before it is known who answers it.
type Interface struct {
	Settings data.Value // with defaults
	Listens  []Listen
	Requires []Require
	Provides []Provide
	Claims   []Claim
	Needs    []Need

	// value is the filled module again, for what is still to be asked of it: some hundred
	// kilobytes, which only a provider that somebody takes from comes to need.
	value  func() cue.Value
	ctx    *cue.Context // the value's
	asking *sync.Mutex  // held while value is looked at, which finishes it
}

// Listen is a port that the module listens on.
type Listen struct {
	Name     string
	Port, To int
	Protocol string
	Address  string
	Fixed    bool
	Reach    string
	At       diag.Pos
}

// Require is a requirement. Contributes holds what is known of it; Whole says that is all of it.
type Require struct {
	Label, Provision string
	Where            []Condition
	Contributes      data.Value
	Whole            bool
	ContributesAt    diag.Pos
	Contributed      map[string]diag.Pos // where each value that it contributes stands, by its name
	Optional         bool
	Binds, Secret    *Target
	At               diag.Pos
	// After lists the labels whose bindings contributes reads; AfterAll says that it may read any.
	After    []string
	AfterAll bool
	// Ports lists the listens whose ports it tells its provider: those that the provider may
	// reach. Where PortsUnsure, there may be more, which its source does not say.
	Ports       []string
	PortsUnsure bool
	// Unread says that the module takes nothing of the answer and tells it nothing: somebody
	// has to be there, and it does not matter who, nor how many.
	Unread bool
}

// Condition is one value that a requirement asks of what is served.
type Condition struct {
	Path  []string
	Value data.Value // what it has to be, or
	Want  cue.Value  // what it has to fit, where that is no single value
	Text  string     // as a person reads it
	At    diag.Pos
}

// Provide is a provision. Serves holds what is known of it; Whole says that is all of it.
type Provide struct {
	Name, Scope       string
	Credential        bool
	Serves            data.Value
	Whole             bool
	Accepts           bool // something narrower than anything
	AcceptsAt         diag.Pos
	Receives, Secrets *Target
	Derives           bool
	Unique            []string
	// Ports lists the listens whose ports it serves or derives: those that a consumer may
	// reach. Where PortsUnsure, it may serve more, which its source does not say.
	Ports       []string
	PortsUnsure bool
	At          diag.Pos
}

// Provision finds a provision by name, or gives nil.
func (i *Interface) Provision(name string) *Provide {
	for k := range i.Provides {
		if i.Provides[k].Name == name {
			return &i.Provides[k]
		}
	}
	return nil
}

// Requirement finds a requirement by label, or gives nil.
func (i *Interface) Requirement(label string) *Require {
	for k := range i.Requires {
		if i.Requires[k].Label == label {
			return &i.Requires[k]
		}
	}
	return nil
}

// Claim is a name that only one instance may hold in a scope.
type Claim struct {
	Name, Scope string
	At          diag.Pos
}

// Need is a secret of the module's own.
type Need struct {
	Name     string
	Target   Target
	Scope    string
	Supplied bool
	Format   string
	Length   int
	At       diag.Pos
}

// Target is a file that the compiler writes for the module.
type Target struct {
	Path, Owner, Group, Mode string
	At, ModeAt               diag.Pos // of the path, and of the mode where one is given
}

// Resources are an instance's resources, by kind and name.
type Resources struct {
	Items []plan.Resource
	Rules []Rule
	// Data by label; its directories are among Items.
	Data []plan.Data
	// Settings are the instance's settings with every default, now that all is known.
	Settings data.Value
	// Reads lists the inputs that the answer depends on besides settings: "node.name", "ports".
	Reads []string
}

// Rule opens a port.
type Rule struct {
	Name     string
	Listen   string // or Port and To
	Port, To int
	Protocol string
	From     string
	At       diag.Pos
}
