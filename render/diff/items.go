package diff

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/bundle"
)

// sides of one node: what it had and has.
type sides struct {
	name     addr.Node
	old, now *bundle.Bundle
	at       map[bundle.ID]string // in modules
	computed map[bundle.ID]bool
}

// items compares what the two declarations of a node have, by identity.
func (c *comparison) items(name addr.Node, before, after *plan.Node) {
	s := sides{name: name, old: c.from.bundle(before.Name), now: c.to.bundle(name), at: places(after), computed: computed(after)}
	said := c.added
	was, is := map[bundle.ID]bundle.Item{}, itemsOf(s.now)
	var oldOrder, newOrder []bundle.ID
	for _, item := range listed(s.old) {
		id := c.names.id(before.Name, item.Identity())
		was[id] = c.renamed(before.Name, item)
		if is[id] != nil {
			oldOrder = append(oldOrder, id)
		}
	}
	changed := map[bundle.ID]bool{}
	for _, item := range listed(s.now) {
		id := item.Identity()
		o, ok := was[id]
		if ok {
			newOrder = append(newOrder, id)
		}
		switch {
		case !ok:
			changed[id] = true
			c.appears(s, item)
		case reflect.TypeOf(o) != reflect.TypeOf(item):
			changed[id] = true
			c.goes(s, o, places(before))
			c.appears(s, item)
		default:
			changed[id] = causes(s, o, item)
			c.differs(s, o, item)
		}
	}
	for _, item := range listed(s.old) {
		if id := c.names.id(before.Name, item.Identity()); is[id] == nil {
			c.goes(s, item, places(before))
		}
	}
	for _, item := range listed(s.now) {
		if u, ok := item.(*bundle.Unit); ok {
			if o, ok := was[u.ID].(*bundle.Unit); ok {
				c.unit(s, o, u, changed)
			}
		}
	}
	if !slices.Equal(oldOrder, newOrder) && c.added == said {
		c.add(name, Change{Kind: OfResource, What: "what it has is applied in another order", Detail: unified(joined(oldOrder), joined(newOrder))})
	}
	c.unnamed(s)
	c.header(s)
	c.silence(s, said)
}

func joined(ids []bundle.ID) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(string(id) + "\n")
	}
	return b.String()
}

// renamed is an item of the first state with every identity in it as the second has it.
func (c *comparison) renamed(node addr.Node, item bundle.Item) bundle.Item {
	if len(c.names.instances) == 0 && len(c.names.nodes) == 0 {
		return item
	}
	all := func(ids []bundle.ID) []bundle.ID {
		var out []bundle.ID
		for _, id := range ids {
			out = append(out, c.names.id(node, id))
		}
		return out
	}
	switch i := item.(type) {
	case *bundle.Unit:
		u := *i
		u.ID, u.RestartOn, u.ReloadOn = c.names.id(node, i.ID), all(i.RestartOn), all(i.ReloadOn)
		return &u
	case *bundle.File:
		f := *i
		f.ID, f.Fills = c.names.id(node, i.ID), slices.Clone(i.Fills)
		for k := range f.Fills {
			f.Fills[k].Secret = c.names.id(node, f.Fills[k].Secret)
		}
		return &f
	}
	return item
}

// places are where modules declare a node's resources. Files that the compiler makes of a
// unit or container are declared where that is.
func places(n *plan.Node) map[bundle.ID]string {
	out := map[bundle.ID]string{}
	for _, i := range n.Instances {
		for _, r := range i.Resources {
			at := place(r.At)
			out[bundle.ID(r.ID.String())] = at
			if r.Unit != nil || r.Container != nil {
				out[fileOf(i, r)] = at
			}
		}
	}
	return out
}

// fileOf is the identity of the file that a unit's or container's text is in.
func fileOf(i *plan.Instance, r plan.Resource) bundle.ID {
	return bundle.ID(addr.Resource{Instance: i.Name, Kind: "file", Name: r.ID.Local()}.String())
}

func computed(n *plan.Node) map[bundle.ID]bool {
	out := map[bundle.ID]bool{}
	for _, i := range n.Instances {
		for _, r := range i.Resources {
			if r.Computed != nil {
				out[bundle.ID(r.ID.String())] = true
			}
		}
	}
	return out
}

func place(p diag.Pos) string {
	if !p.IsValid() {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

func listed(b *bundle.Bundle) []bundle.Item {
	if b == nil || b.Declaration == nil {
		return nil
	}
	return b.Declaration.Items
}

func itemsOf(b *bundle.Bundle) map[bundle.ID]bundle.Item {
	out := map[bundle.ID]bundle.Item{}
	for _, i := range listed(b) {
		out[i.Identity()] = i
	}
	return out
}

// text is what an item's file holds, and whether it has one.
func text(b *bundle.Bundle, item bundle.Item) string {
	switch i := item.(type) {
	case *bundle.File:
		return content(b, i.Source, i.Fills)
	case *bundle.Block:
		return content(b, i.Source, nil)
	}
	return ""
}

// generations are the values of the secrets in a file.
func generations(item bundle.Item) []string {
	f, ok := item.(*bundle.File)
	if !ok {
		return nil
	}
	var out []string
	for _, x := range f.Fills {
		out = append(out, fmt.Sprintf("%s %d %s", x.Secret, x.Generation, x.Encoding))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// causes says whether a difference is one on the machine, so that what depends on it restarts:
// not what a command that validates it is, or what a secret is called.
func causes(s sides, a, b bundle.Item) bool {
	if text(s.old, a) != text(s.now, b) || !slices.Equal(generations(a), generations(b)) {
		return true
	}
	return slices.ContainsFunc(fieldsDiffer(a, b), func(d string) bool {
		name, _, _ := strings.Cut(d, " ")
		return !slices.Contains([]string{"validate", "on_change", "key", "role", "restart_on", "reload_on"}, name)
	})
}

func (c *comparison) appears(s sides, item bundle.Item) {
	x := Change{Kind: OfResource, What: "new " + describe(item), Because: set(item), At: s.at[item.Identity()]}
	switch i := item.(type) {
	case *bundle.File, *bundle.Block:
		x.Kind, x.Detail, x.Computed = OfFile, unified("", text(s.now, item)), s.computed[item.Identity()]
	case *bundle.Unit:
		x.Kind, x.What = OfUnit, i.Name+" "+starts(i)
	}
	s.granted(&x, nil, item)
	if i, ok := item.(*bundle.Secret); ok && x.Impact != Access && !c.had[i.Key] {
		return // said with the secret itself
	}
	c.add(s.name, x)
}

func starts(u *bundle.Unit) string {
	out := "is new and " + string(u.State)
	switch u.State {
	case bundle.Running:
		out = "is new and starts"
	case bundle.Stopped:
		out = "is new and stays stopped"
	case bundle.Triggered:
		return "is new and waits for what starts it"
	}
	if !u.Enabled {
		out += ", not with the machine"
	}
	return out
}

func (c *comparison) goes(s sides, item bundle.Item, at map[bundle.ID]string) {
	x := Change{Kind: OfResource, What: describe(item) + " goes", At: at[item.Identity()]}
	switch i := item.(type) {
	case *bundle.File, *bundle.Block:
		x.Kind, x.What = OfFile, strings.TrimPrefix(x.What, "file ")
	case *bundle.Unit:
		x = Change{Impact: Restart, Kind: OfUnit, What: i.Name + " stops", Because: []string{"it is no longer declared"}, At: x.At}
		if i.State == bundle.Stopped {
			x = Change{Kind: OfUnit, What: i.Name + " is no longer kept stopped", Because: x.Because, At: x.At}
		}
	}
	s.granted(&x, item, nil)
	if i, ok := item.(*bundle.Secret); ok && x.Impact != Access && !c.has[i.Key] {
		return
	}
	c.add(s.name, x)
}

// differs says everything that is another of an item that stays.
func (c *comparison) differs(s sides, a, b bundle.Item) {
	x := Change{Kind: OfResource, What: describe(b), At: s.at[b.Identity()], Because: fieldsDiffer(a, b), Detail: unified(text(s.old, a), text(s.now, b))}
	switch i := b.(type) {
	case *bundle.Unit:
		x.Kind = OfUnit
		x.Because = slices.DeleteFunc(x.Because, func(d string) bool {
			name, _, _ := strings.Cut(d, " ")
			return name == "state" || name == "enabled" || name == "name" // said by unit
		})
	case *bundle.File, *bundle.Block:
		x.Kind, x.Computed = OfFile, s.computed[b.Identity()]
		x.What = strings.TrimPrefix(x.What, "file ")
		if x.Detail == "" && !slices.Equal(generations(a), generations(b)) {
			x.Because = append(x.Because, "a secret in it has a new value")
		}
	case *bundle.Secret:
		if c.newValue(i.Key) { // said with the secret
			x.Because = slices.DeleteFunc(x.Because, func(d string) bool { return strings.HasPrefix(d, "generation ") })
		}
	}
	if len(x.Because) > 0 || x.Detail != "" {
		s.granted(&x, a, b)
		c.add(s.name, x)
	}
}

// unit says what happens to a unit that stays, and because of what.
func (c *comparison) unit(s sides, o, u *bundle.Unit, changed map[bundle.ID]bool) {
	because := func(ids []bundle.ID) []string {
		var out []string
		for _, id := range ids {
			if changed[id] && id != u.ID {
				out = append(out, "because of "+string(id))
			}
		}
		return out
	}
	at := s.at[u.ID]
	if o.Name != u.Name {
		x := Change{Kind: OfUnit, What: fmt.Sprintf("%s takes the place of %s", u.Name, o.Name), At: at}
		if o.State == bundle.Running || u.State == bundle.Running {
			x.Impact, x.Because = Restart, []string{o.Name + " stops", u.Name + " " + strings.TrimPrefix(starts(u), "is new and ")}
		}
		c.add(s.name, x)
		if o.State == u.State && o.Enabled == u.Enabled {
			return
		}
	}
	enabled := ""
	if o.Enabled != u.Enabled {
		enabled = "starts with the machine"
		if !u.Enabled {
			enabled = "no longer starts with the machine"
		}
	}
	if o.State != u.State {
		x := Change{Impact: Restart, Kind: OfUnit, What: fmt.Sprintf("%s is %s instead of %s", u.Name, u.State, o.State), At: at}
		if u.State == bundle.Running {
			x.What = u.Name + " starts, it was " + string(o.State)
		} else if o.State == bundle.Running && u.State == bundle.Stopped {
			x.What = u.Name + " stops and stays stopped"
		} else if u.State == bundle.Triggered {
			x.Impact, x.What = Nothing, u.Name+" is left to what starts it, it was "+string(o.State)
		}
		if enabled != "" {
			x.What += ", and " + enabled
		}
		c.add(s.name, x)
		return
	}
	if enabled != "" {
		c.add(s.name, Change{Kind: OfUnit, What: u.Name + " " + enabled, At: at})
	}
	if u.State != bundle.Running || o.Name != u.Name {
		return
	}
	if why := because(u.RestartOn); len(why) > 0 {
		c.add(s.name, Change{Impact: Restart, Kind: OfUnit, What: u.Name + " restarts", Because: why})
	} else if why := because(u.ReloadOn); len(why) > 0 {
		c.add(s.name, Change{Impact: Reload, Kind: OfUnit, What: u.Name + " reloads", Because: why})
	}
}

// describe names an item as a person would.
func describe(item bundle.Item) string {
	switch i := item.(type) {
	case *bundle.File:
		return "file " + i.Path
	case *bundle.Block:
		return "block in " + i.Path
	case *bundle.Secret:
		return "secret " + cmp.Or(i.Path, i.Key)
	}
	for _, name := range []string{"path", "name"} {
		if s := titled(item, name); s != "" {
			return item.Kind() + " " + s
		}
	}
	return item.Kind() + " " + string(item.Identity())
}

// unnamed compares the files of a node that no bundle is applied to: they are for a person.
func (c *comparison) unnamed(s sides) {
	loose := func(b *bundle.Bundle) map[string]string {
		out := map[string]string{}
		if b != nil && b.Declaration == nil {
			for _, e := range b.Entries {
				out[e.Name] = string(e.Data)
			}
		}
		return out
	}
	a, b := loose(s.old), loose(s.now)
	for _, name := range union(a, b) {
		_, had := a[name]
		_, has := b[name]
		x := Change{Kind: OfFile, What: name + ", for a person", Detail: unified(a[name], b[name])}
		switch {
		case !had:
			x.What = "new " + x.What
		case !has:
			x.What, x.Detail = x.What+", goes", ""
		case x.Detail == "":
			continue
		}
		c.add(s.name, x)
	}
}

// header compares what a declaration says of itself.
func (c *comparison) header(s sides) {
	if listed(s.old) == nil || listed(s.now) == nil {
		return
	}
	a, b := s.old.Declaration, s.now.Declaration
	if a.Format != b.Format {
		c.add(s.name, Change{Kind: OfNode, What: fmt.Sprintf("its declaration has format %d instead of %d: mesh-host has to know it", b.Format, a.Format)})
	}
	if a.Mesh != b.Mesh {
		c.add(s.name, Change{Kind: OfNode, What: fmt.Sprintf("it is a machine of mesh %s instead of %s", b.Mesh, a.Mesh)})
	}
}

// silence shows the two declarations where they differ and nothing was said: "nothing changes"
// is never printed of a change.
func (c *comparison) silence(s sides, said int) {
	if c.added > said || listed(s.old) == nil && listed(s.now) == nil {
		return
	}
	if d := unified(c.masked(s.old), c.masked(s.now)); d != "" {
		c.add(s.name, Change{Kind: OfResource, What: "the declaration", Detail: d})
	}
}

// masked is a declaration's text without what is made anew in every sealing, and without what is said
// of secrets for all who hold them.
func (c *comparison) masked(b *bundle.Bundle) string {
	if b == nil || b.Declaration == nil {
		return ""
	}
	d := *b.Declaration
	d.Node = "" // a renamed node is said as such
	d.Items = nil
	for _, item := range b.Declaration.Items {
		if s, ok := item.(*bundle.Secret); ok {
			if !c.had[s.Key] || !c.has[s.Key] {
				continue
			}
			x := *s
			x.Sealed = ""
			if c.newValue(s.Key) {
				x.Generation = 0
			}
			item = &x
		}
		d.Items = append(d.Items, item)
	}
	return string(d.Append(nil))
}
