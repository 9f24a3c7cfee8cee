// Package diff says what a change of a mesh does to its machines, before anybody
// merges it. It compares two compiled states of a mesh: their resources as data, never
// text that has been through a printer; and it says first what matters most: what
// restarts, what moves, who can no longer reach whom (REV-1 … REV-5). The same change on
// many nodes is one Change. Drawing a Diff is in text.go, markdown.go and json.go; enter
// at Compare.
package diff

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/bundle"
)

// Side is one of the two states.
type Side struct {
	Name    string // of the revision, or "work tree"
	Plan    *plan.Plan
	Bundles []*bundle.Bundle // in the plan's order
	Lock    *lock.Lock       // as it would be written
	// Recovery are the keys that can open every secret.
	Recovery []string
	// Moved are the renames that this state declares.
	Moved Moved
	// Set gives the settings that a person set for an instance; it may be nil, where nobody knows.
	Set func(addr.Instance) data.Value
}

// Moved is what has a new name, by the old one.
type Moved struct {
	Nodes     map[addr.Node]addr.Node
	Instances map[addr.Instance]addr.Instance
}

// Impact is how much a change matters, the least first (REV-5).
type Impact int

// The impacts.
const (
	Nothing Impact = iota
	Reload
	Restart
	Credential
	Exposed     // to the world
	Moves       // data stays behind, moves, or is another's
	Unreachable // a node cannot be reached as before
	Access      // somebody or something gets, or loses, power over a machine
)

var impactNames = [...]string{"nothing restarts", "reload", "restart", "credential", "exposed to the world", "data left behind or moved", "node unreachable", "access"}

func (i Impact) String() string { return impactNames[i] }

// MarshalJSON writes the impact's name.
func (i Impact) MarshalJSON() ([]byte, error) { return json.Marshal(i.String()) }

// Kind is what a change is about.
type Kind string

// The kinds of change.
const (
	OfRecovery Kind = "recovery"
	OfAccess   Kind = "access"
	OfData     Kind = "data"
	OfNode     Kind = "node"
	OfInstance Kind = "instance"
	OfUnit     Kind = "unit"
	OfSecret   Kind = "secret"
	OfWay      Kind = "way"
	OfPort     Kind = "port"
	OfAddress  Kind = "address"
	OfAnswer   Kind = "answer"
	OfFile     Kind = "file"
	OfResource Kind = "resource"
)

// kindOrder is the order within one impact.
var kindOrder = []Kind{OfRecovery, OfAccess, OfData, OfNode, OfWay, OfInstance, OfUnit, OfSecret, OfPort, OfAddress, OfAnswer, OfFile, OfResource}

// Change is one thing that becomes other, on one node or on several alike.
type Change struct {
	Impact  Impact   `json:"impact"`
	Kind    Kind     `json:"kind"`
	Nodes   []string `json:"nodes"`
	What    string   `json:"what"`              // "gitea.service restarts"
	Because []string `json:"because,omitempty"` // resources, lines, whoever is told
	Detail  string   `json:"detail,omitempty"`  // a unified diff
	At      string   `json:"at,omitempty"`      // in a module: file:line
	// Reason is the way in which a change of access gives it: "sudoers", "authorized keys".
	Reason string `json:"reason,omitempty"`
	// Computed is true for a file that the compiler works out from all nodes.
	Computed bool `json:"-"`
	// Compiler is true for what becomes other only because the compiler did (REV-4).
	Compiler bool `json:"compiler,omitempty"`
}

// Diff is everything that becomes other, what matters most first.
type Diff struct {
	From    string   `json:"from"`
	To      string   `json:"to"`
	Impact  Impact   `json:"impact"`
	Changes []Change `json:"changes"`
	// Nodes are those on which anything changes, with the most that happens there.
	Nodes map[string]Impact `json:"nodes"`
	// Compiler names the versions where a change is made only by a newer meshc.
	Compiler string `json:"compiler,omitempty"`
}

// AddCompiler adds what becomes other only because another meshc built the first state:
// built is what that one wrote, and its difference from what this one makes of the same
// sources. The versions are for people.
func (d *Diff) AddCompiler(built *Diff, versions string) {
	if built.IsEmpty() {
		return
	}
	d.Compiler = versions
	for _, c := range built.Changes {
		c.Compiler = true
		d.Changes = append(d.Changes, c)
		d.Impact = max(d.Impact, c.Impact)
		for _, n := range c.Nodes {
			d.Nodes[n] = max(d.Nodes[n], c.Impact)
		}
	}
	sortChanges(d.Changes)
}

// IsEmpty says whether nothing changes.
func (d *Diff) IsEmpty() bool { return len(d.Changes) == 0 }

// Compare says what turns one state into the other.
func Compare(from, to Side) *Diff {
	c := &comparison{from: from, to: to, groups: map[string]*Change{}}
	c.had, c.has = keysOf(from.Bundles), keysOf(to.Bundles)
	c.names = renames(from.Plan, to.Plan, to.Moved)
	c.recovery()
	for _, n := range to.Plan.Nodes {
		c.node(n.Name, from.Plan.Node(c.names.before(n.Name)), n)
	}
	for _, n := range from.Plan.Nodes {
		if to.Plan.Node(c.names.node(n.Name)) == nil {
			c.node(n.Name, n, nil)
		}
	}
	c.secrets()
	return c.diff()
}

type comparison struct {
	from, to Side
	names    names
	groups   map[string]*Change
	// had and has are the secrets that either state places.
	had, has map[string]bool
	// added counts what was said, so that silence about a difference is noticed.
	added int
}

// add notes a change on a node; one that is the same elsewhere is said once (REV-3).
func (c *comparison) add(node addr.Node, x Change) {
	c.added++
	key := strings.Join([]string{string(x.Kind), x.Reason, x.What, strings.Join(x.Because, "\n"), changedLines(x.Detail)}, "\x00")
	g := c.groups[key]
	if g == nil {
		x.Nodes = nil
		g = &x
		c.groups[key] = g
	}
	g.Impact = max(g.Impact, x.Impact)
	if node != "" && !slices.Contains(g.Nodes, string(node)) {
		g.Nodes = append(g.Nodes, string(node))
	}
}

// changedLines are those of a unified diff that come or go: around them the same change may
// stand in another place of each node's file.
func changedLines(detail string) string {
	var b strings.Builder
	for line := range strings.Lines(detail) {
		if line[0] == '+' || line[0] == '-' {
			b.WriteString(line)
		}
	}
	if b.Len() == 0 {
		return detail
	}
	return b.String()
}

func (c *comparison) diff() *Diff {
	d := &Diff{From: c.from.Name, To: c.to.Name, Changes: []Change{}, Nodes: map[string]Impact{}}
	for _, g := range c.groups {
		slices.Sort(g.Nodes)
		d.Changes = append(d.Changes, *g)
		d.Impact = max(d.Impact, g.Impact)
		for _, n := range g.Nodes {
			d.Nodes[n] = max(d.Nodes[n], g.Impact)
		}
	}
	sortChanges(d.Changes)
	return d
}

func sortChanges(cs []Change) {
	slices.SortFunc(cs, func(a, b Change) int {
		return cmp.Or(
			cmp.Compare(b.Impact, a.Impact), cmp.Compare(slices.Index(kindOrder, a.Kind), slices.Index(kindOrder, b.Kind)),
			cmp.Compare(a.What, b.What), cmp.Compare(strings.Join(a.Nodes, " "), strings.Join(b.Nodes, " ")), cmp.Compare(a.Detail, b.Detail),
			cmp.Compare(strings.Join(a.Because, "\n"), strings.Join(b.Because, "\n")), cmp.Compare(a.At, b.At),
		)
	})
}

func (s Side) bundle(name addr.Node) *bundle.Bundle {
	for k, n := range s.Plan.Nodes {
		if n.Name == name {
			return s.Bundles[k]
		}
	}
	return nil
}
