// Package graph is the picture of a mesh: its sites with their machines, what each runs,
// and who takes what from whom. Of makes it from a plan, as data; Dot, Mermaid and SVG print
// it. The places in an SVG are worked out by package graphviz, the drawing is here.
//
// A picture stays readable however large the mesh is: what two machines share is one line,
// and where there are too many machines, those of a site that are alike are drawn as one
// box, or each site as one (fold.go).
package graph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/diff"
)

// Graph is a picture before it is drawn.
type Graph struct {
	Mesh     string
	Sites    []Site // by name; boxes of no site are in the one without a name, which comes last
	Edges    []Edge // by From, then To
	Networks []Network
	// Folded says how machines were put together, for a person; empty where each has a box.
	Folded string
}

// Site is a place with its machines.
type Site struct {
	Name  string
	Boxes []*Box
}

// Kind is what a box stands for.
type Kind string

// The kinds of box.
const (
	Machine Kind = "node"
	Several Kind = "several" // machines that are alike, or those of a site
	Licence Kind = "licence" // an account outside of the mesh
	Gone    Kind = "gone"    // a machine that the change takes out of the mesh
)

// Box is one machine, or several.
type Box struct {
	ID        string // one word, unique within the picture
	Kind      Kind
	Title     string
	Nodes     []string // the machines, by name
	Address   string
	Endpoint  string
	Hub       bool
	Managed   bool
	Instances []string // those that give or take something elsewhere first
	Networks  []int    // into Graph.Networks
	// Gives is what so many take from here that it is no line to each: "metrics to 39 nodes".
	Gives []string
	// Impact is the most that a change does to one of the machines; empty where it does nothing to them.
	Impact string
	// Rank orders impacts, the least first.
	Rank int
}

// Network is a private network.
type Network struct {
	Name   string
	Prefix string
	Nodes  int // how many are on it
}

// Edge is everything that the machines of one box take from another.
type Edge struct {
	From, To string // IDs of boxes: who takes, and from whom
	Takes    []Take // by provision
}

// Take is one provision on an edge.
type Take struct {
	Provision string
	// Ends are "gitea@board from postgres@anchor", with the login where there is one.
	Ends []End
}

// End is a consumer and its provider.
type End struct {
	Consumer, Provider string // instance@node; for a licence its name
	As                 string // the login
	Optional           bool
}

func (e End) String() string {
	s := e.Consumer + " takes it from " + e.Provider
	if e.As != "" {
		s += " as " + e.As
	}
	if e.Optional {
		s += ", and works without"
	}
	return s
}

// Options of a picture.
type Options struct {
	// Diff marks the machines that it changes, where it is not nil.
	Diff *diff.Diff
	// MostBoxes is how many boxes are drawn before machines are put together; DefaultBoxes where it is 0.
	MostBoxes int
}

// DefaultBoxes is about as many as fit on a page that is still read.
const DefaultBoxes = 40

// Of makes the picture of a plan.
func Of(p *plan.Plan, o Options) *Graph {
	networks, onNetworks := networksOf(p)
	b := &builder{plan: p, options: o, boxOf: map[addr.Node]*Box{}, boxes: map[string]*Box{}, sites: map[string]*Site{}}
	for _, n := range p.Nodes {
		b.put(n.Site, b.machine(n, onNetworks[n.Name]))
	}
	if o.Diff != nil {
		for _, name := range slices.Sorted(maps.Keys(o.Diff.Nodes)) {
			if p.Node(addr.Node(name)) == nil {
				b.put("", b.marked(&Box{ID: "gone-" + word(name), Kind: Gone, Title: name, Nodes: []string{name}}))
			}
		}
	}
	g := &Graph{Mesh: p.Mesh, Networks: networks}
	g.Folded = b.fold(cmp.Or(o.MostBoxes, DefaultBoxes))
	g.Edges = b.withoutCommon(b.edges())
	for _, name := range slices.Sorted(maps.Keys(b.sites)) {
		if name != "" {
			g.Sites = append(g.Sites, *b.sites[name])
		}
	}
	if s := b.sites[""]; s != nil {
		g.Sites = append(g.Sites, *s)
	}
	return g
}

type builder struct {
	plan    *plan.Plan
	options Options
	sites   map[string]*Site
	boxes   map[string]*Box // by ID
	boxOf   map[addr.Node]*Box
}

func (b *builder) put(site string, x *Box) {
	s := b.sites[site]
	if s == nil {
		s = &Site{Name: site}
		b.sites[site] = s
	}
	s.Boxes = append(s.Boxes, x)
	b.boxes[x.ID] = x
	for _, n := range x.Nodes {
		b.boxOf[addr.Node(n)] = x
	}
}

func (b *builder) machine(n *plan.Node, networks []int) *Box {
	x := &Box{
		ID: "node-" + word(string(n.Name)), Kind: Machine, Title: string(n.Name), Nodes: []string{string(n.Name)},
		Endpoint: n.Endpoint, Hub: b.plan.Hub == n.Name, Managed: n.Managed, Instances: talking(n), Networks: networks,
	}
	if n.Address.IsValid() {
		x.Address = n.Address.String()
	}
	return b.marked(x)
}

func (b *builder) marked(x *Box) *Box {
	if b.options.Diff == nil {
		return x
	}
	for _, n := range x.Nodes {
		if impact, ok := b.options.Diff.Nodes[n]; ok && (x.Impact == "" || int(impact) > x.Rank) {
			x.Impact, x.Rank = impact.String(), int(impact)
		}
	}
	return x
}

// talking lists a machine's instances, those first that have to do with other machines.
func talking(n *plan.Node) []string {
	elsewhere := map[string]bool{}
	for _, t := range n.Takes {
		elsewhere[t.Instance] = elsewhere[t.Instance] || t.Node != n.Name
	}
	for _, g := range n.Gives {
		elsewhere[g.Provider] = elsewhere[g.Provider] || g.Node != n.Name
	}
	var first, rest []string
	for _, i := range n.Instances {
		if elsewhere[i.Name] {
			first = append(first, i.Name)
		} else {
			rest = append(rest, i.Name)
		}
	}
	slices.Sort(first)
	slices.Sort(rest)
	return append(first, rest...)
}

func networksOf(p *plan.Plan) ([]Network, map[addr.Node][]int) {
	found := map[string]*Network{}
	for _, n := range p.Nodes {
		for _, w := range n.Networks {
			x := found[w.Network]
			if x == nil {
				x = &Network{Name: w.Network}
				found[w.Network] = x
			}
			x.Prefix = cmp.Or(x.Prefix, w.Prefix)
			x.Nodes++
		}
	}
	names := slices.Sorted(maps.Keys(found))
	var out []Network
	for _, name := range names {
		out = append(out, *found[name])
	}
	on := map[addr.Node][]int{}
	for _, n := range p.Nodes {
		for _, w := range n.Networks {
			k := slices.Index(names, w.Network)
			if !slices.Contains(on[n.Name], k) {
				on[n.Name] = append(on[n.Name], k)
			}
		}
		slices.Sort(on[n.Name])
	}
	return out, on
}

// edges gathers what is taken from elsewhere, one edge for each two boxes and direction.
func (b *builder) edges() []Edge {
	type pair struct{ from, to string }
	gathered := map[pair]map[string][]End{}
	for _, n := range b.plan.Nodes {
		for _, t := range n.Takes {
			if t.Node == n.Name {
				continue
			}
			end := End{Consumer: t.Instance + "@" + string(n.Name), Provider: t.Provider + "@" + string(t.Node), As: t.As, Optional: t.Optional}
			var to *Box
			if t.Licence != "" {
				end.Provider = "licence " + t.Licence
				to = b.licence(t.Licence)
			} else if to = b.boxOf[t.Node]; to == nil {
				continue
			}
			p := pair{b.boxOf[n.Name].ID, to.ID}
			if p.from == p.to {
				continue
			}
			if gathered[p] == nil {
				gathered[p] = map[string][]End{}
			}
			gathered[p][t.Provision] = append(gathered[p][t.Provision], end)
		}
	}
	var out []Edge
	for p, by := range gathered {
		e := Edge{From: p.from, To: p.to}
		for _, provision := range slices.Sorted(maps.Keys(by)) {
			ends := by[provision]
			slices.SortFunc(ends, func(x, y End) int {
				return cmp.Or(cmp.Compare(x.Consumer, y.Consumer), cmp.Compare(x.Provider, y.Provider))
			})
			e.Takes = append(e.Takes, Take{provision, ends})
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(x, y Edge) int { return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To)) })
	return out
}

// withoutCommon takes out what most of the boxes take from one other, and says it in that
// one's box: so many lines to one place show nothing but themselves.
func (b *builder) withoutCommon(edges []Edge) []Edge {
	const few = 8
	type given struct{ to, provision string }
	takers, nodes := map[given]int{}, map[given]map[string]bool{}
	for _, e := range edges {
		for _, t := range e.Takes {
			g := given{e.To, t.Provision}
			takers[g]++
			if nodes[g] == nil {
				nodes[g] = map[string]bool{}
			}
			for _, end := range t.Ends {
				_, node, _ := strings.Cut(end.Consumer, "@")
				nodes[g][node] = true
			}
		}
	}
	common := func(to, provision string) bool {
		n := takers[given{to, provision}]
		return n >= few && n >= len(b.boxes)/2
	}
	var out []Edge
	for _, e := range edges {
		e.Takes = slices.DeleteFunc(e.Takes, func(t Take) bool { return common(e.To, t.Provision) })
		if len(e.Takes) > 0 {
			out = append(out, e)
		}
	}
	for g := range takers {
		if common(g.to, g.provision) {
			x := b.boxes[g.to]
			x.Gives = append(x.Gives, fmt.Sprintf("gives %s to %s", g.provision, plural(len(nodes[g]), "node")))
			slices.Sort(x.Gives)
		}
	}
	return out
}

// word makes an identifier of a name; a name that compiled is one already.
func word(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r)) {
			return r
		}
		return '-'
	}, name)
}

func (b *builder) licence(name string) *Box {
	id := "licence-" + word(name)
	if b.boxes[id] == nil {
		b.put("", &Box{ID: id, Kind: Licence, Title: name})
	}
	return b.boxes[id]
}

// Labels say what is on an edge in a few lines: "database as gitea_board", "metrics × 12".
func (e Edge) Labels() []string {
	const most = 4
	var out []string
	for k, t := range e.Takes {
		if k == most-1 && len(e.Takes) > most {
			return append(out, fmt.Sprintf("+ %d more", len(e.Takes)-k))
		}
		switch {
		case len(t.Ends) > 1:
			out = append(out, fmt.Sprintf("%s × %d", t.Provision, len(t.Ends)))
		case t.Ends[0].As != "":
			out = append(out, t.Provision+" as "+cut(t.Ends[0].As, 20))
		default:
			out = append(out, t.Provision)
		}
	}
	return out
}

// Credential says whether anything on the edge is taken with a login.
func (e Edge) Credential() bool {
	return slices.ContainsFunc(e.Takes, func(t Take) bool {
		return slices.ContainsFunc(t.Ends, func(x End) bool { return x.As != "" })
	})
}

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
