package evaluate

import (
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/cuedata"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/plan"
)

// decoder turns a module's resources into the plan's, refusing what a machine
// could not be given.
type decoder struct {
	in Inputs
	m  *load.Module
	ds diag.List
	id addr.Resource
	at diag.Pos
	v  cue.Value
	x  data.Value
	// named is where the resource names others, by what is written.
	named map[string]diag.Pos
}

func readResources(k *compiled, v cue.Value, in Inputs) (*Resources, diag.List) {
	d := &decoder{in: in, m: k.module}
	out := &Resources{}
	settings, err := cuedata.From(v.LookupPath(cue.ParsePath("settings")))
	if err != nil && v.LookupPath(cue.ParsePath("settings")).Exists() {
		d.ds = append(d.ds, missingSettings(k, v.LookupPath(cue.ParsePath("settings")), in)...)
	}
	out.Settings = settings
	d.allData(out, v.LookupPath(cue.ParsePath("data")))
	rv := v.LookupPath(cue.ParsePath("resources"))
	if !rv.Exists() {
		return out, d.ds
	}
	kinds, err := rv.Fields()
	if err != nil {
		return out, append(d.ds, d.in.fault(err, "resources of module "+d.m.Name, nil, load.ValueAt(rv))...)
	}
	for kinds.Next() {
		kind := cuedata.Label(kinds.Selector())
		names, err := kinds.Value().Fields()
		if err != nil {
			d.ds = append(d.ds, d.in.fault(err, "resources of module "+d.m.Name, []string{kind}, load.ValueAt(kinds.Value()))...)
			continue
		}
		for names.Next() {
			d.resource(out, kind, cuedata.Label(names.Selector()), names.Value())
		}
	}
	return out, d.ds
}

func (d *decoder) resource(out *Resources, kind, name string, v cue.Value) {
	d.named = map[string]diag.Pos{}
	d.id, d.at, d.v = addr.Resource{Instance: d.in.Instance, Kind: kind, Name: name}, load.KeyAt(v), v
	if HasPlaceholder(name) {
		d.ds = append(d.ds, secretShows(d.at, addr.Resource{Instance: d.in.Instance, Kind: kind, Name: "…"}, "its name"))
		return
	}
	if !addr.IsName(name) {
		d.ds = append(d.ds, resourceName(d.at, d.id))
		return
	}
	x, err := cuedata.From(v)
	if err != nil {
		if said := load.Said(v.Validate(cue.Concrete(true))); said != "" && d.in.At.IsValid() {
			d.ds = append(d.ds, moduleRefuses(d.in, said, d.at))
			return
		}
		for _, u := range unknownValue(v, kind+"."+name+" of module "+d.m.Name, err) {
			if !u.At.IsValid() {
				u.At = d.at
			}
			d.ds = append(d.ds, u)
		}
		return
	}
	d.x = x
	d.exposed(kind)
	r := plan.Resource{ID: d.id, At: d.at}
	switch kind {
	case "file":
		r.File = d.file()
	case "directory":
		d.only("path", "owner", "group", "mode")
		r.Directory = &plan.Directory{Path: d.path("path"), Owner: d.owner("owner"), Group: d.owner("group"), Mode: d.mode("0755")}
	case "block":
		d.only("path", "content", "marker")
		r.Block = &plan.Block{Path: d.path("path"), Content: []byte(d.need("content")), Marker: d.text("marker", d.in.Instance)}
		if why := badBlock(string(r.Block.Content)); why != "" {
			d.refuse("content", "it "+why)
		}
	case "package":
		d.only("name", "state")
		r.Package = &plan.Package{Name: d.text("name", name), Absent: d.oneOf("state", "present", "absent") == "absent"}
	case "user":
		r.User = d.user()
	case "unit":
		r.Unit = d.unit()
		r.Named = d.named
	case "container":
		r.Container = d.container()
		r.Named = d.named
	case "computed":
		r.Computed = d.computed()
	case "rule":
		d.only("listen", "port", "to", "protocol", "from")
		rule := Rule{Name: name, Listen: d.text("listen", ""), Port: d.int("port"), To: d.int("to"), Protocol: d.oneOf("protocol", "tcp", "udp"), From: d.need("from"), At: d.at}
		if rule.To == 0 {
			rule.To = rule.Port
		}
		out.Rules = append(out.Rules, rule)
		return
	default:
		d.ds = append(d.ds, unknownKind(d.at, d.id, diag.Nearest(kind, Kinds)))
		return
	}
	out.Items = append(out.Items, r)
}

// Kinds are the kinds of resource that a module may declare.
var Kinds = []string{"file", "directory", "block", "package", "user", "unit", "container", "rule", "computed"}

// only refuses fields that a kind of resource does not have.
func (d *decoder) only(fields ...string) {
	for _, f := range d.x.Fields() {
		if !slices.Contains(fields, f.Name) {
			d.ds = append(d.ds, unknownResourceField(d.fieldAt(f.Name), d.id, f.Name, diag.Nearest(f.Name, fields)))
		}
	}
}

// fieldAt is where a field of the resource stands.
func (d *decoder) fieldAt(name string) diag.Pos {
	if f := d.v.LookupPath(cue.MakePath(cue.Str(name))); f.Exists() {
		if at := load.ValueAt(f); at.IsValid() {
			return at
		}
	}
	return d.at
}

func (d *decoder) refuse(field, why string) {
	d.ds = append(d.ds, badResource(d.fieldAt(field), d.id, field, why))
}

func (d *decoder) text(field, otherwise string) string {
	x := d.x.Get(field)
	switch x.Kind() {
	case data.Absent:
		return otherwise
	case data.String:
		return x.Text()
	}
	d.refuse(field, "it is a string, not "+x.Kind().String())
	return otherwise
}

func (d *decoder) need(field string) string {
	if d.x.Get(field).Kind() == data.Absent {
		d.refuse(field, "it is missing")
		return ""
	}
	return d.text(field, "")
}

func (d *decoder) bool(field string, otherwise bool) bool {
	x := d.x.Get(field)
	if x.Kind() == data.Absent {
		return otherwise
	}
	if x.Kind() != data.Bool {
		d.refuse(field, "it is true or false, not "+x.Kind().String())
	}
	return x.True()
}

func (d *decoder) int(field string) int {
	x := d.x.Get(field)
	if x.Kind() == data.Absent {
		return 0
	}
	n, err := strconv.Atoi(x.Text())
	if x.Kind() != data.Int || err != nil {
		d.refuse(field, "it is a whole number")
	}
	return n
}

// oneOf reads an enumeration; its first value is the default.
func (d *decoder) oneOf(field string, values ...string) string {
	s := d.text(field, values[0])
	if !slices.Contains(values, s) {
		d.refuse(field, strconv.Quote(s)+" is not one of "+strings.Join(values, ", "))
	}
	return s
}

func (d *decoder) list(field string) []string {
	x := d.x.Get(field)
	if x.Kind() == data.Absent {
		return nil
	}
	if x.Kind() != data.List {
		d.refuse(field, "it is a list")
		return nil
	}
	for _, i := range x.Items() {
		if i.Kind() != data.String {
			d.refuse(field, "it is a list of strings")
			return nil
		}
	}
	return x.Strings()
}

// names is a list whose entries name something else, and so have places of their own.
func (d *decoder) names(field string) []string {
	out := d.list(field)
	for k, s := range out {
		if at := load.ValueAt(d.v.LookupPath(cue.MakePath(cue.Str(field), cue.Index(k)))); at.IsValid() {
			d.named[s] = at
		}
	}
	return out
}

func (d *decoder) path(field string) string {
	p := d.need(field)
	if why := BadPath(p); why != "" && p != "" {
		d.refuse(field, strconv.Quote(p)+" "+why)
	} else if under := EmptiedAtBoot(p); under != "" {
		d.ds = append(d.ds, goneAfterBoot(d.fieldAt(field), d.id, d.m.Name, p, under))
	}
	return p
}

// mode reads a file mode as four octal digits.
func (d *decoder) mode(otherwise string) string {
	m := d.text("mode", otherwise)
	if why := BadMode(m); why != "" {
		d.refuse("mode", why)
		return otherwise
	}
	if len(m) == 3 {
		m = "0" + m
	}
	return m
}

func (d *decoder) owner(field string) string {
	o := d.text(field, "")
	if why := BadOwner(o); o != "" && why != "" {
		d.refuse(field, strconv.Quote(o)+" "+why)
	}
	return o
}

func (d *decoder) refs(field string) []addr.Resource {
	var out []addr.Resource
	for _, s := range d.names(field) {
		r, err := addr.ParseLocal(d.in.Instance, s)
		if strings.Contains(s, "/") {
			r, err = addr.ParseResource(s)
		}
		if err != nil {
			d.refuse(field, err.Error())
			continue
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b addr.Resource) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(out)
}
