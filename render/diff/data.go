package diff

import (
	"fmt"
	"slices"
	"strconv"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
)

// LeftBehind warns of everything that a change does to data: what it moves, leaves where it was, or
// has another program read (DAT-1); it refuses that a moved instance loses its own where a setting
// keeps it. Of both sides only plans are needed, and what was set on the second.
func LeftBehind(from, to Side) diag.List {
	c := &comparison{from: from, to: to, groups: map[string]*Change{}, names: renames(from.Plan, to.Plan, to.Moved)}
	var ds diag.List
	for _, before := range from.Plan.Nodes {
		after := to.Plan.Node(c.names.node(before.Name))
		if after == nil && c.sameMachine(before) != nil {
			continue // it is on the same machine still
		}
		for _, was := range before.Instances {
			now := c.names.instance(addr.Instance{Name: was.Name, Node: before.Name})
			if is := instance(after, now.Name); is != nil && now.Node == after.Name {
				if held := c.held(after, addr.Instance{Name: was.Name, Node: before.Name}, was, is); len(held) > 0 {
					ds = append(ds, held...)
					continue
				}
				c.data(after.Name, was, is)
			} else {
				c.left(before, was)
			}
		}
		if after != nil {
			c.databases(after.Name, before, after)
		}
	}
	for _, gone := range from.Plan.Nodes {
		if to.Plan.Node(c.names.node(gone.Name)) == nil {
			if n := c.sameMachine(gone); n != nil {
				ds = append(ds, renamedUnsaid(gone, n))
			}
		}
	}
	for _, x := range c.diff().Changes {
		ds = append(ds, dataLeft(c.place(x.Nodes), x))
	}
	return ds
}

// held refuses a move after which an instance has its data elsewhere only since a setting that nobody set follows its name.
func (c *comparison) held(after *plan.Node, old addr.Instance, was, is *plan.Instance) diag.List {
	a, b := was.Keeps(), is.Keeps()
	if was.Name == is.Name || c.to.Set == nil {
		return nil
	}
	if len(a) != len(b) {
		a, b = nil, nil // nobody can say which is which
	}
	now := addr.Instance{Name: is.Name, Node: after.Name}
	set := c.to.Set(now)
	// follows finds the setting that has a value and that nobody set.
	follows := func(value string) (setting []string) {
		is.Settings.Walk(func(path []string, v data.Value) {
			said := set
			for _, name := range path {
				said = said.Get(name)
			}
			if v.Kind() == data.String && v.String() == value && setting == nil && said.Kind() == data.Absent {
				setting = slices.Clone(path)
			}
		})
		return setting
	}
	var ds diag.List
	for k := range a {
		if a[k] == b[k] || slices.Contains(b, a[k]) {
			continue
		}
		if setting := follows(data.NewString(b[k]).String()); setting != nil {
			ds = append(ds, movedData(after.At, old, now, setting, strconv.Quote(a[k]), strconv.Quote(b[k])))
		}
	}
	had, has := c.takes(after.Name, c.from.Plan.Node(old.Node), c.names), c.takes(after.Name, after, names{})
	for _, key := range union(had, has) {
		if len(had[key]) != 1 || len(has[key]) != 1 || has[key][0].Instance != is.Name {
			continue
		}
		o, t := had[key][0], has[key][0]
		if o.As == "" || answeredBy(o) != answeredBy(t) || !c.keeps(o) {
			continue
		}
		x, y := o.Stored(), t.Stored()
		for _, k := range union(x, y) {
			if x[k] == y[k] || x[k] == "" {
				continue
			}
			if setting := follows(y[k]); setting != nil {
				ds = append(ds, movedData(after.At, old, now, setting, x[k], y[k]))
			}
		}
	}
	return ds
}

// place is where a node stands in the mesh; where it is gone, where the mesh's first does.
func (c *comparison) place(nodes []string) diag.Pos {
	for _, name := range nodes {
		if n := c.to.Plan.Node(addr.Node(name)); n != nil {
			return n.At
		}
	}
	return anyPlace(c.to.Plan)
}

// anyPlace is where a mesh's first node stands.
func anyPlace(p *plan.Plan) diag.Pos {
	for _, n := range p.Nodes {
		return n.At
	}
	return diag.Pos{}
}

// left says of an instance that goes where its data stays.
func (c *comparison) left(before *plan.Node, i *plan.Instance) {
	data := i.Keeps()
	if len(data) == 0 {
		return
	}
	name := c.names.node(before.Name)
	x := Change{Impact: Moves, Kind: OfData, What: "data of " + i.Name + " stays behind"}
	for _, p := range data {
		x.Because = append(x.Because, "its data stays in "+p)
	}
	now := c.names.instance(addr.Instance{Name: i.Name, Node: before.Name})
	for _, n := range c.to.Plan.Nodes {
		o := instance(n, now.Name)
		if o == nil || o.Module != i.Module || n.Name == name || instance(c.from.Plan.Node(c.names.before(n.Name)), now.Name) != nil {
			continue
		}
		x.What = fmt.Sprintf("%s moves to %s, and its data does not", i.Name, n.Name)
		for _, p := range o.Keeps() {
			x.Because = append(x.Because, fmt.Sprintf("it begins anew in %s of %s", p, n.Name))
		}
	}
	c.add(name, x)
}

// data says of an instance that stays whether it keeps its data elsewhere, and so begins anew, or
// another version is to read what it has.
func (c *comparison) data(name addr.Node, was, is *plan.Instance) {
	a, b := was.Keeps(), is.Keeps()
	x := Change{Impact: Moves, Kind: OfData, What: "data of " + is.Name + " stays behind"}
	for _, p := range a {
		if !slices.Contains(b, p) {
			x.Because = append(x.Because, "its data stays in "+p)
		}
	}
	if len(x.Because) > 0 {
		for _, p := range b {
			if !slices.Contains(a, p) {
				x.Because = append(x.Because, "it begins anew in "+p)
			}
		}
		if was.Name != is.Name {
			x.Because = append(x.Because, fmt.Sprintf("it was called %s, and where it keeps its data follows the name", was.Name))
		}
		c.add(name, x)
	}
	if len(a) == 0 {
		return
	}
	old, now := was.Versions(), is.Versions()
	for _, what := range union(old, now) {
		if old[what] != "" && now[what] != "" && old[what] != now[what] {
			c.add(name, Change{
				Impact: Moves, Kind: OfData, What: fmt.Sprintf("data of %s is read by another major version: %s %s instead of %s", is.Name, what, now[what], old[what]),
				Because: []string{"what it has may have to be converted first, and cannot be read by the older one afterwards"},
			})
		}
	}
}

// databases says of a consumer whether what it stored with a provider that keeps data is in another
// place now: another provider, or another name with the same one.
func (c *comparison) databases(name addr.Node, before, after *plan.Node) {
	was, is := c.takes(name, before, c.names), c.takes(name, after, names{})
	for _, key := range union(was, is) {
		if len(was[key]) != 1 || len(is[key]) != 1 {
			continue
		}
		o, t := was[key][0], is[key][0]
		if o.As == "" || !c.keeps(o) {
			continue
		}
		x := Change{Impact: Moves, Kind: OfData}
		if answeredBy(o) != answeredBy(t) {
			x.What = fmt.Sprintf("%s has its %s with %s instead of %s, and what is in the old one stays there", t.Instance, asked(t), answeredBy(t), answeredBy(o))
			c.add(name, x)
			continue
		}
		a, b := o.Stored(), t.Stored()
		for _, k := range union(a, b) {
			if a[k] != b[k] {
				x.Because = append(x.Because, fmt.Sprintf("%s is %s instead of %s", k, orNone(b[k]), orNone(a[k])))
			}
		}
		if len(x.Because) > 0 {
			x.What = fmt.Sprintf("%s has another %s with %s, and what is in the old one stays there", t.Instance, asked(t), answeredBy(t))
			c.add(name, x)
		}
	}
}

// keeps says whether the provider of an answer keeps data.
func (c *comparison) keeps(t plan.Take) bool {
	for _, n := range c.from.Plan.Nodes {
		for _, i := range n.Instances {
			if c.names.instance(addr.Instance{Name: i.Name, Node: n.Name}) == (addr.Instance{Name: t.Provider, Node: t.Node}) {
				return len(i.Keeps()) > 0
			}
		}
	}
	return false
}
