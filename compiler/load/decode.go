package load

import (
	"net/netip"

	"cuelang.org/go/cue"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/cuedata"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
)

var domainName = re(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$`)

// decoder turns the mesh's value into Go data. It marks as faulty what does not
// have the schema's form and leaves to the Checker to say so; ds is what the
// schema cannot express.
type decoder struct {
	faulty bool
	ds     diag.List
	read   *Mesh
}

// isFaulty decodes a mesh and says whether that failed.
func (d *decoder) isFaulty(v cue.Value) bool {
	d.read = d.mesh(v)
	return d.faulty
}

// each calls f for every field of a struct.
func (d *decoder) each(v cue.Value, f func(name string, v cue.Value)) {
	if !v.Exists() {
		return
	}
	it, err := v.Fields()
	if err != nil {
		d.faulty = true
		return
	}
	for it.Next() {
		f(cuedata.Label(it.Selector()), it.Value())
	}
}

func (d *decoder) text(v cue.Value) Text {
	v2, _ := v.Default()
	s, err := v2.String()
	if err != nil {
		d.faulty = true
	}
	return Text{s, valueAt(v)}
}

func (d *decoder) int(v cue.Value) int {
	v, _ = v.Default()
	i, err := v.Int64()
	if err != nil {
		d.faulty = true
	}
	return int(i)
}

func (d *decoder) bool(v cue.Value) bool {
	v, _ = v.Default()
	b, err := v.Bool()
	if err != nil {
		d.faulty = true
	}
	return b
}

func (d *decoder) data(v cue.Value) data.Value {
	x, err := cuedata.From(v)
	if err != nil {
		d.faulty = true
		d.ds = append(d.ds, Rounded(err)...)
	}
	return x
}

// name checks a key that must be a name.
func (d *decoder) name(s string) string {
	if !addr.IsName(s) {
		d.faulty = true
	}
	return s
}

func (d *decoder) mesh(v cue.Value) *Mesh {
	m := &Mesh{
		Ports: Ports{From: 20000, To: 29999},
		Sites: map[string]*Site{}, Groups: map[string]*Group{}, Nodes: map[addr.Node]*Node{}, Licences: map[string]*Licence{},
		Moved: Moved{map[string]Text{}, map[string]Text{}},
	}
	d.each(v, func(name string, v cue.Value) {
		before := d.faulty
		d.faulty = false
		defer func() {
			m.Lacks = m.Lacks || d.faulty && name != "nodes"
			d.faulty = d.faulty || before
		}()
		switch name {
		case "name":
			t := d.text(v)
			m.Name, m.At = d.name(t.Value), t.At
		case "domain":
			t := d.text(v)
			m.Domain = t.Value
			if !domainName.MatchString(t.Value) { // every node's name would be at fault
				d.ds = append(d.ds, badAddress(t, "a domain such as home.mesh: labels of letters, digits and inner hyphens, with a dot between them"))
			}
		case "meshc":
			m.Requires = d.text(v)
		case "network":
			d.each(v, func(name string, v cue.Value) {
				if name != "cidr" {
					d.faulty = true
					return
				}
				m.CIDR = d.text(v)
			})
		case "ports":
			m.Ports.At = valueAt(v)
			d.each(v, func(name string, v cue.Value) {
				switch name {
				case "from":
					m.Ports.From = d.int(v)
				case "to":
					m.Ports.To = d.int(v)
				default:
					d.faulty = true
				}
			})
		case "sites":
			d.each(v, func(name string, v cue.Value) { m.Sites[d.name(name)] = d.site(v) })
		case "groups":
			d.each(v, func(name string, v cue.Value) {
				g := &Group{At: keyAt(v)}
				d.each(v, func(name string, v cue.Value) { d.layer(&g.Layer, name, v) })
				m.Groups[d.name(name)] = g
			})
		case "nodes":
			d.each(v, func(name string, v cue.Value) { m.Nodes[addr.Node(d.name(name))] = d.node(addr.Node(name), v) })
		case "licences":
			d.each(v, func(name string, v cue.Value) { m.Licences[d.name(name)] = d.licence(v) })
		case "recovery":
			m.Recovery = d.texts(v)
		case "moved":
			d.each(v, func(name string, v cue.Value) {
				switch name {
				case "nodes":
					d.each(v, func(name string, v cue.Value) { m.Moved.Nodes[name] = d.keyed(v) })
				case "instances":
					d.each(v, func(name string, v cue.Value) { m.Moved.Instances[name] = d.keyed(v) })
				default:
					d.faulty = true
				}
			})
		default:
			d.layer(&m.Layer, name, v)
		}
	})
	if m.Domain == "" {
		m.Domain = m.Name + ".mesh"
	}
	if m.CIDR.Value != "" {
		if _, err := netip.ParsePrefix(m.CIDR.Value); err != nil {
			d.ds = append(d.ds, badAddress(m.CIDR, "an address range such as 10.86.0.0/16"))
		}
	}
	if len(m.Nodes) == 0 && !d.faulty {
		d.ds = append(d.ds, noNodes(m.At))
	}
	return m
}

// said is a text that says something: empty is not the same as left out.
func (d *decoder) said(v cue.Value, want string) Text {
	t := d.text(v)
	if t.Value == "" && v.IncompleteKind() == cue.StringKind {
		d.ds = append(d.ds, badAddress(t, want+"; leave the line out where there is none"))
	}
	return t
}

// keyed is a text whose place is its key, where a `moved` is read from left to right.
func (d *decoder) keyed(v cue.Value) Text {
	t := d.text(v)
	t.At = keyAt(v)
	return t
}

func (d *decoder) texts(v cue.Value) []Text {
	it, err := v.List()
	if err != nil {
		d.faulty = true
		return nil
	}
	var out []Text
	for it.Next() {
		out = append(out, d.text(it.Value()))
	}
	return out
}

func (d *decoder) site(v cue.Value) *Site {
	s := &Site{At: keyAt(v), MTU: 1500}
	d.each(v, func(name string, v cue.Value) {
		switch name {
		case "prefix":
			s.Prefix = d.text(v)
			if _, err := netip.ParsePrefix(s.Prefix.Value); err != nil {
				d.ds = append(d.ds, badAddress(s.Prefix, "an address range such as 192.168.1.0/24"))
			}
		case "mtu":
			s.MTU = d.int(v)
		default:
			d.layer(&s.Layer, name, v)
		}
	})
	return s
}

func (d *decoder) licence(v cue.Value) *Licence {
	l := &Licence{At: keyAt(v), Credential: true, Serves: data.NewStruct()}
	d.each(v, func(name string, v cue.Value) {
		switch name {
		case "answers":
			l.Answers = d.text(v)
		case "serves":
			l.Serves = d.data(v)
		case "credential":
			l.Credential = d.bool(v)
		default:
			d.faulty = true
		}
	})
	return l
}

func (d *decoder) layer(l *Layer, name string, v cue.Value) {
	switch name {
	case "assign":
		l.Assign = map[string]*Assign{}
		d.each(v, func(name string, v cue.Value) {
			before := d.faulty
			d.faulty = false
			if a := d.assign(d.name(name), v); !d.faulty { // a misspelt `module:` would be taken for none
				l.Assign[name] = a
			}
			d.faulty = d.faulty || before
		})
	case "settings":
		l.Settings = map[string]*Setting{}
		d.each(v, func(name string, v cue.Value) { l.Settings[name] = d.setting(v) })
	case "pins":
		l.Pins = d.pins(v)
	case "open":
		l.Open = map[string]Open{}
		d.each(v, func(name string, v cue.Value) { l.Open[name] = d.open(v) })
	default:
		d.faulty = true
	}
}

func (d *decoder) open(v cue.Value) Open {
	o := Open{At: keyAt(v)}
	d.each(v, func(name string, v cue.Value) {
		switch name {
		case "for":
			o.For = d.text(v)
		case "from":
			o.FromAt = valueAt(v)
			if v.IncompleteKind() != cue.ListKind {
				o.From = []string{d.text(v).Value}
				return
			}
			for _, t := range d.texts(v) {
				o.From = append(o.From, t.Value)
			}
		default:
			d.faulty = true
		}
	})
	return o
}

func (d *decoder) pins(v cue.Value) map[string]Text {
	out := map[string]Text{}
	d.each(v, func(name string, v cue.Value) { out[name] = d.text(v) })
	return out
}

func (d *decoder) assign(instance string, v cue.Value) *Assign {
	a := &Assign{Module: instance, At: keyAt(v), ModuleAt: keyAt(v)}
	d.each(v, func(name string, v cue.Value) {
		switch name {
		case "module":
			t := d.text(v)
			a.Module, a.ModuleAt = t.Value, t.At
		case "settings":
			a.Settings = d.setting(v)
		case "pins":
			a.Pins = d.pins(v)
		default:
			d.faulty = true
		}
	})
	return a
}

func (d *decoder) setting(v cue.Value) *Setting {
	s := &Setting{At: keyAt(v), Pos: v.Pos(), Span: valueAt(v)}
	if v.IncompleteKind() != cue.StructKind {
		s.Leaf = d.data(v)
		return s
	}
	s.Fields = map[string]*Setting{}
	d.each(v, func(name string, v cue.Value) { s.Fields[name] = d.setting(v) })
	return s
}

func (d *decoder) node(name addr.Node, v cue.Value) *Node {
	n := &Node{
		Name: name, At: keyAt(v), Groups: map[string]diag.Pos{}, Omit: map[string]diag.Pos{}, Reserved: map[string]Text{},
		Facts: data.NewStruct(), Runtime: "podman", Managed: true, Outgoing: Text{Value: "32768-60999"},
	}
	d.each(v, func(name string, v cue.Value) {
		switch name {
		case "site":
			n.Site = d.text(v)
		case "groups":
			d.each(v, func(name string, v cue.Value) { n.Groups[name] = keyAt(v) })
		case "recipient":
			n.Recipient = d.text(v)
		case "wireguard":
			n.WireGuard = d.text(v)
		case "endpoint":
			n.Endpoint = d.said(v, "a name or an address, such as \"198.51.100.7\"")
		case "address":
			n.Address = d.said(v, "an address, such as \"10.86.0.7\"")
		case "routes":
			n.Routes = d.texts(v)
			for _, r := range n.Routes {
				if _, err := netip.ParsePrefix(r.Value); err != nil {
					d.ds = append(d.ds, badAddress(r, "an address range such as 10.13.0.0/24"))
				}
			}
		case "omit":
			d.each(v, func(name string, v cue.Value) { n.Omit[name] = keyAt(v) })
		case "runtime":
			n.Runtime = d.text(v).Value
		case "facts":
			n.Facts = d.data(v)
		case "managed":
			n.Managed = d.bool(v)
		case "reserved":
			d.each(v, func(name string, v cue.Value) {
				switch name {
				case "ports":
					d.each(v, func(name string, v cue.Value) {
						n.Reserved[name] = Text{d.text(v).Value, keyAt(v)}
					})
				case "outgoing":
					n.Outgoing = d.text(v)
				default:
					d.faulty = true
				}
			})
		default:
			d.layer(&n.Layer, name, v)
		}
	})
	return n
}
