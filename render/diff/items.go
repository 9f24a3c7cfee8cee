package diff

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pmezard/go-difflib/difflib"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/bundle"
)

// items compares what the two declarations of a node have, by identity.
func (c *comparison) items(name addr.Node, before, after *plan.Node) {
	old, now := c.from.bundle(name), c.to.bundle(name)
	at := places(after)
	was, is := itemsOf(old), itemsOf(now)
	changed := map[bundle.ID]bool{}
	for _, item := range listed(now) {
		id := item.Identity()
		o, ok := was[id]
		switch {
		case !ok:
			changed[id] = true
			c.appears(name, old, now, item, at[id])
		case !same(o, item, old, now):
			changed[id] = true
			c.differs(name, old, now, o, item, at[id])
		}
	}
	for _, item := range listed(old) {
		if _, still := is[item.Identity()]; !still {
			c.goes(name, item, places(before)[item.Identity()])
		}
	}
	for _, item := range listed(now) {
		if u, ok := item.(*bundle.Unit); ok {
			if o, ok := was[u.ID].(*bundle.Unit); ok {
				c.unit(name, o, u, changed)
			}
		}
	}
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
				out[bundle.ID(addr.Resource{Instance: i.Name, Kind: "file", Name: r.ID.Local()}.String())] = at
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

// same says whether two items ask for the same; blobs differ in every sealing and do
// not count, generations do (REV-4).
func same(a, b bundle.Item, _, _ *bundle.Bundle) bool {
	if s, ok := a.(*bundle.Secret); ok {
		t, ok := b.(*bundle.Secret)
		if !ok {
			return false
		}
		x, y := *s, *t
		x.Sealed, y.Sealed = "", ""
		return reflect.DeepEqual(x, y)
	}
	return reflect.DeepEqual(a, b)
}

func (c *comparison) appears(name addr.Node, _, now *bundle.Bundle, item bundle.Item, at string) {
	switch i := item.(type) {
	case *bundle.File:
		c.add(name, Change{Kind: OfFile, What: "new file " + i.Path, Detail: unified("", content(now, i.Source, i.Fills)), At: at})
	case *bundle.Block:
		c.add(name, Change{Kind: OfFile, What: "new block in " + i.Path, Detail: unified("", content(now, i.Source, nil)), At: at})
	case *bundle.Unit:
		c.add(name, Change{Kind: OfUnit, What: i.Name + " " + starts(i), At: at})
	case *bundle.Secret: // said with the secret
	default:
		c.add(name, Change{Kind: OfResource, What: "new " + describe(item), At: at})
	}
}

func starts(u *bundle.Unit) string {
	if u.State == bundle.Running {
		return "starts"
	}
	return "is new and stopped"
}

func (c *comparison) goes(name addr.Node, item bundle.Item, at string) {
	switch i := item.(type) {
	case *bundle.File:
		c.add(name, Change{Kind: OfFile, What: i.Path + " goes", At: at})
	case *bundle.Block:
		c.add(name, Change{Kind: OfFile, What: "the block in " + i.Path + " goes", At: at})
	case *bundle.Unit:
		c.add(name, Change{Impact: Restart, Kind: OfUnit, What: i.Name + " stops", Because: []string{"it is no longer declared"}, At: at})
	case *bundle.Secret:
	default:
		c.add(name, Change{Kind: OfResource, What: describe(item) + " goes", At: at})
	}
}

func (c *comparison) differs(name addr.Node, old, now *bundle.Bundle, a, b bundle.Item, at string) {
	switch i := b.(type) {
	case *bundle.File:
		o, ok := a.(*bundle.File)
		if !ok {
			break
		}
		x := Change{Kind: OfFile, What: i.Path, Detail: unified(content(old, o.Source, o.Fills), content(now, i.Source, i.Fills)), At: at}
		if o.Path != i.Path {
			x.What = o.Path + " becomes " + i.Path
		}
		if o.Mode != i.Mode || o.Owner != i.Owner || o.Group != i.Group {
			x.Because = append(x.Because, fmt.Sprintf("%s %s instead of %s %s", owned(i.Owner, i.Group), i.Mode, owned(o.Owner, o.Group), o.Mode))
		}
		if x.Detail == "" && !slices.Equal(o.Fills, i.Fills) {
			x.Because = append(x.Because, "a secret in it has a new value")
		}
		if !slices.Equal(o.Validate, i.Validate) {
			x.Because = append(x.Because, "it is validated by "+strings.Join(i.Validate, " "))
		}
		c.add(name, x)
		return
	case *bundle.Block:
		if o, ok := a.(*bundle.Block); ok {
			c.add(name, Change{Kind: OfFile, What: "the block in " + i.Path, Detail: unified(content(old, o.Source, nil), content(now, i.Source, nil)), At: at})
			return
		}
	case *bundle.Unit, *bundle.Secret:
		return
	}
	c.add(name, Change{Kind: OfResource, What: describe(b) + " instead of " + describe(a), At: at})
}

func owned(owner, group string) string {
	if owner == "" {
		owner = "root"
	}
	if group != "" {
		return owner + ":" + group
	}
	return owner
}

// unit says what happens to a unit that stays, and because of what.
func (c *comparison) unit(name addr.Node, o, u *bundle.Unit, changed map[bundle.ID]bool) {
	because := func(ids []bundle.ID) []string {
		var out []string
		for _, id := range ids {
			if changed[id] {
				out = append(out, "because of "+string(id))
			}
		}
		return out
	}
	switch {
	case o.State != u.State:
		verb := "starts"
		if u.State == bundle.Stopped {
			verb = "stops"
		}
		c.add(name, Change{Impact: Restart, Kind: OfUnit, What: u.Name + " " + verb})
	case o.Enabled != u.Enabled:
		word := "starts with the machine"
		if !u.Enabled {
			word = "no longer starts with the machine"
		}
		c.add(name, Change{Kind: OfUnit, What: u.Name + " " + word})
	}
	if u.State != bundle.Running || o.State != u.State {
		return
	}
	if why := because(u.RestartOn); len(why) > 0 {
		c.add(name, Change{Impact: Restart, Kind: OfUnit, What: u.Name + " restarts", Because: why})
	} else if why := because(u.ReloadOn); len(why) > 0 {
		c.add(name, Change{Impact: Reload, Kind: OfUnit, What: u.Name + " reloads", Because: why})
	}
}

func describe(item bundle.Item) string {
	switch i := item.(type) {
	case *bundle.Package:
		if i.State == bundle.Absent {
			return "package " + i.Name + " absent"
		}
		return "package " + i.Name
	case *bundle.User:
		out := "user " + i.Name
		if len(i.Groups) > 0 {
			out += " in " + strings.Join(i.Groups, ", ")
		}
		return out
	case *bundle.Directory:
		return fmt.Sprintf("directory %s %s %s", i.Path, owned(i.Owner, i.Group), i.Mode)
	case *bundle.File:
		return "file " + i.Path
	case *bundle.Unit:
		return "unit " + i.Name
	case *bundle.Secret:
		return "secret " + i.Path
	case *bundle.Block:
		return "block in " + i.Path
	}
	return string(item.Identity())
}

// content is a file's text with the name of each secret where the machine puts it in.
func content(b *bundle.Bundle, source string, fills []bundle.Fill) string {
	e, ok := b.Entry(source)
	if !ok {
		return ""
	}
	var out strings.Builder
	from := 0
	for _, f := range fills {
		out.Write(e.Data[from:f.Offset])
		fmt.Fprintf(&out, "{%s as %s}", f.Secret, f.Encoding)
		from = f.Offset
	}
	out.Write(e.Data[from:])
	return out.String()
}

// unified is a unified diff without file names; of what is no text only that it differs.
func unified(a, b string) string {
	if a == b {
		return ""
	}
	if !utf8.ValidString(a) || !utf8.ValidString(b) || strings.ContainsRune(a+b, 0) {
		return fmt.Sprintf("binary: %d bytes instead of %d\n", len(b), len(a))
	}
	out, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: lines(a), B: lines(b), Context: 3})
	if err != nil {
		return err.Error()
	}
	return out
}

// lines splits a text for the differ; the last line says where it has no end.
func lines(s string) []string {
	if s == "" {
		return nil
	}
	out := strings.SplitAfter(s, "\n")
	if last := len(out) - 1; out[last] == "" {
		return out[:last]
	}
	out[len(out)-1] += "\n\\ no newline at the end\n"
	return out
}
