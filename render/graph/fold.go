package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/plan"
)

// fold puts machines together until there are few enough boxes: first those of a site
// that are alike, then each site whole, then all sites beyond the first. It says what it
// did. A machine that a change marks is put together only with those marked the same.
func (b *builder) fold(most int) string {
	if len(b.boxes) <= most {
		return ""
	}
	b.together(func(n *plan.Node) string { return b.likeness(n) })
	if len(b.boxes) <= most {
		return "machines of a site that run the same, and take the same from the same, are one box"
	}
	b.together(func(n *plan.Node) string { return b.boxOf[n.Name].Impact })
	if len(b.boxes) <= most {
		return "the machines of a site are one box"
	}
	b.together(func(*plan.Node) string { return "" })
	if len(b.boxes) <= most {
		return "the machines of a site are one box, marked with the most that changes on one of them"
	}
	b.otherSites(most)
	return fmt.Sprintf("the machines of a site are one box, and the sites after the first %d are one together", most-1)
}

// likeness is equal for two machines that would look alike in the picture.
func (b *builder) likeness(n *plan.Node) string {
	var parts []string
	for _, i := range n.Instances {
		parts = append(parts, "runs "+i.Name+" "+i.Module)
	}
	for _, t := range n.Takes {
		from := string(t.Node)
		if t.Node == n.Name {
			from = "itself"
		}
		parts = append(parts, "takes "+t.Instance+" "+t.Provision+" "+t.Provider+" "+from+" "+t.Licence)
	}
	for _, g := range n.Gives {
		// To whom is not looked at: what gives the same is alike whoever takes it.
		parts = append(parts, fmt.Sprint("gives ", g.Provider, " ", g.Provision, " ", g.Node != n.Name))
	}
	slices.Sort(parts)
	x := b.boxOf[n.Name]
	parts = append(slices.Compact(parts), x.Impact, fmt.Sprint(x.Hub, x.Managed, x.Networks, x.Endpoint != ""))
	return strings.Join(parts, "\n")
}

// together makes one box of the machines of a site for which key gives the same.
func (b *builder) together(key func(*plan.Node) string) {
	groups := map[[2]string][]*plan.Node{}
	for _, n := range b.plan.Nodes {
		k := [2]string{n.Site, key(n)}
		groups[k] = append(groups[k], n)
	}
	before := b.boxOf
	var gone []*Box
	for _, x := range b.boxes {
		if x.Kind == Gone {
			gone = append(gone, x)
		}
	}
	b.boxOf, b.boxes, b.sites = map[addr.Node]*Box{}, map[string]*Box{}, map[string]*Site{}
	// by their first machine, so that the order is the mesh's
	for _, nodes := range slices.SortedFunc(maps.Values(groups), func(x, y []*plan.Node) int { return strings.Compare(string(x[0].Name), string(y[0].Name)) }) {
		b.put(nodes[0].Site, b.several(nodes, before))
	}
	slices.SortFunc(gone, func(x, y *Box) int { return strings.Compare(x.ID, y.ID) })
	for _, x := range gone {
		b.put("", x)
	}
}

// several is one box for machines; what only some of them run is left out.
func (b *builder) several(nodes []*plan.Node, before map[addr.Node]*Box) *Box {
	first := before[nodes[0].Name]
	if len(nodes) == 1 && first.Kind == Machine {
		return first
	}
	x := &Box{ID: "from-" + word(string(nodes[0].Name)), Kind: Several, Managed: true}
	common := talking(nodes[0])
	for _, n := range nodes {
		of := before[n.Name]
		x.Nodes = append(x.Nodes, string(n.Name))
		x.Hub = x.Hub || of.Hub
		runs := map[string]bool{}
		for _, i := range n.Instances {
			runs[i.Name] = true
		}
		common = slices.DeleteFunc(common, func(name string) bool { return !runs[name] })
		for _, k := range of.Networks {
			if !slices.Contains(x.Networks, k) {
				x.Networks = append(x.Networks, k)
			}
		}
	}
	slices.Sort(x.Networks)
	x.Instances = common
	x.Title = fmt.Sprintf("%d nodes", len(nodes))
	x.Address = x.Nodes[0] + " … " + x.Nodes[len(x.Nodes)-1]
	return b.marked(x)
}

// otherSites puts what is beyond the first sites into one box.
func (b *builder) otherSites(most int) {
	names := slices.Sorted(maps.Keys(b.sites))
	var nodes []string
	var kept int
	rest := &Box{ID: "other-sites", Kind: Several, Managed: true}
	for _, name := range names {
		if kept+len(b.sites[name].Boxes) < most {
			kept += len(b.sites[name].Boxes)
			continue
		}
		for _, x := range b.sites[name].Boxes {
			nodes = append(nodes, x.Nodes...)
			rest.Hub = rest.Hub || x.Hub
			delete(b.boxes, x.ID)
		}
		delete(b.sites, name)
	}
	slices.Sort(nodes)
	rest.Nodes, rest.Title = nodes, fmt.Sprintf("%d nodes of other sites", len(nodes))
	b.put("", b.marked(rest))
}
