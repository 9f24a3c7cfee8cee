package compose

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
)

// thing is what a machine can have only once, and whose it is.
type thing struct {
	what  string // "path /etc/app.conf"
	value string // of two with equal values the second is left out
	share bool   // equal ones may be shared
}

// things that a resource puts on the machine (CLM-3).
func things(r plan.Resource) []thing {
	switch {
	case r.File != nil:
		return append([]thing{{what: "the path " + r.File.Path}}, kernelKeys(r.File)...)
	case r.Secret != nil && r.Secret.Path != "":
		return []thing{{what: "the path " + r.Secret.Path}}
	case r.Directory != nil:
		d := r.Directory
		if r.ID.Kind == "data" { // is of one instance, whoever else would declare it equally (DAT-1)
			return []thing{{what: "the path " + d.Path}}
		}
		return []thing{{what: "the path " + d.Path, value: fmt.Sprint(d.Owner, " ", d.Group, " ", d.Mode), share: true}}
	case r.Block != nil:
		return []thing{{what: fmt.Sprintf("the block %q in %s", r.Block.Marker, r.Block.Path)}, {what: "the path " + r.Block.Path, value: "block", share: true}}
	case r.Package != nil:
		return []thing{{what: "the package " + r.Package.Name, value: fmt.Sprint(r.Package.Absent), share: true}}
	case r.User != nil:
		u := *r.User
		out := []thing{{what: "the user " + u.Name, value: fmt.Sprintf("%+v", u), share: true}}
		if u.UID != 0 { // two users never share one: each would own the other's files
			out = append(out, thing{what: fmt.Sprintf("the uid %d", u.UID), value: fmt.Sprintf("%+v", u), share: true})
		}
		return out
	case r.Unit != nil:
		return []thing{{what: "the unit " + r.Unit.Name}}
	case r.Container != nil:
		return []thing{{what: "the unit " + r.Container.Unit + ".service"}, {what: "the container " + r.Container.Unit}}
	case r.Computed != nil && r.Computed.Path != "":
		if r.Computed.Kind == "hosts" {
			return []thing{{what: "the path " + r.Computed.Path, value: "block", share: true}}
		}
		return []thing{{what: "the path " + r.Computed.Path}}
	}
	return nil
}

// once refuses what two resources claim, and leaves out of two equal directories,
// packages and users the later one.
func (b *builder) once() {
	type claim struct {
		by plan.Resource
		thing
	}
	held := map[string]claim{}
	var met []collision
	module := map[string]string{} // of each instance
	b.alias = map[addr.Resource]addr.Resource{}
	for _, i := range b.out.plan.Instances {
		for _, r := range i.Resources {
			if p := pathOf(r); !isASCII(p) {
				b.refuse(pathNotASCII(b.node.Name, r, p, b.place))
			}
		}
		module[i.Name] = i.Module
		i.Resources = slices.DeleteFunc(i.Resources, func(r plan.Resource) bool {
			shared := false
			var with *plan.Resource // two meet in one thing only, however many they have in common
			for _, t := range things(r) {
				h, ok := held[t.what]
				switch {
				case !ok:
					held[t.what] = claim{r, t}
				case h.share && t.share && h.value == t.value && r.Block == nil && r.Computed == nil && r.File == nil:
					b.alias[r.ID], shared = h.by.ID, true
				case h.share && t.share && h.value == t.value:
				case with == nil || with.ID != h.by.ID:
					with = &h.by
					met = meets(met, collision{first: h.by, second: r, twins: h.by.ID.Instance != r.ID.Instance && module[h.by.ID.Instance] == i.Module, what: []string{t.what}})
				}
			}
			return shared
		})
	}
	for _, c := range met {
		if d := twice(b.node.Name, c, b.place); c.first.ID.Instance == c.second.ID.Instance {
			b.refuse(diag.List{d}.FoundAt(addr.Instance{Node: b.node.Name, Name: c.second.ID.Instance})...)
		} else {
			b.refuse(d)
		}
	}
}

// collision is what two resources both claim, or everything that two instances of one module do.
type collision struct {
	first, second plan.Resource // of the first thing
	twins         bool          // instances of one module
	what          []string
}

// meets adds a collision: that a module is not made for two instances is one fault,
// however many things these have in common.
func meets(met []collision, c collision) []collision {
	one, two := c.first.ID.Instance, c.second.ID.Instance
	for k, m := range met {
		if c.twins && m.first.ID.Instance == one && m.second.ID.Instance == two {
			if !slices.Contains(m.what, c.what[0]) {
				met[k].what = append(m.what, c.what[0])
			}
			return met
		}
	}
	return append(met, c)
}

// pathOf is the path that a resource puts something at, empty where it has none.
func pathOf(r plan.Resource) string {
	switch {
	case r.File != nil:
		return r.File.Path
	case r.Secret != nil:
		return r.Secret.Path
	case r.Directory != nil:
		return r.Directory.Path
	case r.Block != nil:
		return r.Block.Path
	case r.Computed != nil:
		return r.Computed.Path
	}
	return ""
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

// place is where the instance of a resource is assigned.
func (b *builder) place(r addr.Resource) diag.Pos {
	for _, i := range b.node.Instances {
		if i.Addr.Name == r.Instance {
			return i.At
		}
	}
	return diag.Pos{}
}

// references checks and follows restart_on and reload_on.
func (b *builder) references() {
	known := map[addr.Resource]bool{}
	for _, i := range b.out.plan.Instances {
		for _, r := range i.Resources {
			known[r.ID] = true
		}
	}
	resolve := func(of plan.Resource, module string, refs []addr.Resource) []addr.Resource {
		var out []addr.Resource
		for _, ref := range refs {
			if to, ok := b.alias[ref]; ok {
				ref = to
			}
			switch {
			case known[ref]:
				out = append(out, ref)
			case b.faulty[ref.Instance], b.maybe(ref): // an optional requirement without an answer, or one without a credential
			default:
				b.refuse(diag.List{unknownResource(of, module, ref, known)}.FoundAt(addr.Instance{Node: b.node.Name, Name: of.ID.Instance})...)
			}
		}
		return out
	}
	for _, i := range b.out.plan.Instances {
		for k, r := range i.Resources {
			switch {
			case r.Unit != nil:
				u := *r.Unit
				u.RestartOn, u.ReloadOn = resolve(r, i.Module, u.RestartOn), resolve(r, i.Module, u.ReloadOn)
				i.Resources[k].Unit = &u
			case r.Container != nil:
				c := *r.Container
				c.RestartOn, c.ReloadOn = resolve(r, i.Module, c.RestartOn), resolve(r, i.Module, c.ReloadOn)
				i.Resources[k].Container = &c
			}
		}
	}
}

// maybe says whether a reference names something that its instance could have.
func (b *builder) maybe(ref addr.Resource) bool {
	for _, i := range b.node.Instances {
		if i.Addr.Name != ref.Instance {
			continue
		}
		for _, q := range i.Told.Requires {
			if ref.Local() == "secret.requires."+q.Label || ref.Local() == "file.binds."+q.Label {
				return true
			}
		}
	}
	return false
}
