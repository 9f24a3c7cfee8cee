package evaluate

import (
	"maps"
	"slices"
	"strings"

	"cuelang.org/go/cue"

	"meshc.dev/compiler/cuedata"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/load"
)

// reader reads fields of a filled module and collects what is wrong with them.
// The schema's defaults are given here, since a module is filled without it.
type reader struct {
	module string
	ds     diag.List
}

func (r *reader) each(v cue.Value, f func(name string, v cue.Value)) {
	if !v.Exists() {
		return
	}
	it, err := v.Fields()
	if err != nil {
		r.ds = append(r.ds, load.Translate(err, "module "+r.module, nil, load.ValueAt(v))...)
		return
	}
	for it.Next() {
		f(cuedata.Label(it.Selector()), it.Value())
	}
}

// get reads a field as data; absent where it is not there.
func (r *reader) get(v cue.Value, path ...string) data.Value {
	for _, p := range path {
		v = v.LookupPath(cue.MakePath(cue.Str(p)))
	}
	if !v.Exists() {
		return data.Value{}
	}
	x, err := cuedata.From(v)
	if err != nil {
		r.ds = append(r.ds, unknownValue(v, strings.Join(path, "."), err)...)
	}
	return x
}

// known reads what is known already of a value. What never can be is refused.
func (r *reader) known(v cue.Value) (known data.Value, whole bool) {
	known, whole = cuedata.Known(v)
	if !whole {
		_, err := cuedata.From(v)
		r.ds = append(r.ds, load.Rounded(err)...)
	}
	return known, whole
}

func (r *reader) text(v cue.Value, otherwise string, path ...string) string {
	if x := r.get(v, path...); x.Kind() == data.String {
		return x.Text()
	}
	return otherwise
}

func readInterface(k *compiled, v cue.Value, in Inputs) (*Interface, diag.List) {
	r := &reader{module: k.module.Name}
	i := &Interface{}
	var whole bool
	i.Settings, whole = cuedata.Known(v.LookupPath(cue.ParsePath("settings")))
	if i.Settings.Kind() == data.Absent {
		i.Settings, whole = data.NewStruct(), true
	}
	if !whole && !readsLate(k) {
		r.ds = append(r.ds, missingSettings(k, v.LookupPath(cue.ParsePath("settings")), in)...)
	}
	if r.ds.HasErrors() {
		return i, r.ds
	}
	r.each(v.LookupPath(cue.ParsePath("listens")), func(name string, v cue.Value) { i.Listens = append(i.Listens, r.listen(name, v)) })
	r.each(v.LookupPath(cue.ParsePath("claims")), func(name string, v cue.Value) {
		i.Claims = append(i.Claims, Claim{name, r.text(v, "node", "scope"), load.KeyAt(v)})
	})
	r.each(v.LookupPath(cue.ParsePath("needs")), func(name string, v cue.Value) { i.Needs = append(i.Needs, r.need(name, v)) })
	r.each(v.LookupPath(cue.ParsePath("requires")), func(label string, v cue.Value) {
		q := r.require(k, label, v)
		q.Ports, q.PortsUnsure = listens(k.reads.Contributes(label))
		i.Requires = append(i.Requires, q)
	})
	r.each(v.LookupPath(cue.ParsePath("provides")), func(name string, v cue.Value) {
		p := r.provide(name, v)
		serves, unsure := listens(k.reads.Serves(name))
		derives, any := listens(k.reads.Derives(name))
		if any { // what is derived depends on who asks, so that it is not tried
			for _, l := range i.Listens {
				derives = append(derives, l.Name)
			}
		}
		p.Ports, p.PortsUnsure = slices.Compact(slices.Sorted(slices.Values(slices.Concat(serves, derives)))), unsure
		i.Provides = append(i.Provides, p)
	})
	slices.SortFunc(i.Listens, func(a, b Listen) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(i.Claims, func(a, b Claim) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(i.Needs, func(a, b Need) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(i.Requires, func(a, b Require) int { return strings.Compare(a.Label, b.Label) })
	slices.SortFunc(i.Provides, func(a, b Provide) int { return strings.Compare(a.Name, b.Name) })
	return i, r.ds
}

// readsLate says whether the settings' defaults read inputs that come later.
func readsLate(k *compiled) bool {
	for _, rd := range k.reads.Of("settings") {
		if slices.Contains([]string{"ports", "addresses", "bindings", "consumers", "secrets", "needs", ""}, rd.Input()) {
			return true
		}
	}
	return false
}

func (r *reader) listen(name string, v cue.Value) Listen {
	l := Listen{
		Name: name, At: load.KeyAt(v), Protocol: r.text(v, "tcp", "protocol"), Address: r.text(v, "", "address"),
		Reach: r.text(v, "needed", "reach"), Fixed: r.get(v, "fixed").True(),
	}
	l.Port = r.int(v, "port")
	l.To = l.Port
	if to := r.int(v, "to"); to != 0 {
		l.To = to
	}
	return l
}

func (r *reader) int(v cue.Value, field string) int {
	f := v.LookupPath(cue.MakePath(cue.Str(field)))
	if !f.Exists() {
		return 0
	}
	f, _ = f.Default()
	n, err := f.Int64()
	if err != nil {
		r.ds = append(r.ds, unknownValue(f, field, err)...)
	}
	return int(n)
}

func (r *reader) target(v cue.Value) *Target {
	if !v.Exists() {
		return nil
	}
	return &Target{Path: r.text(v, "", "path"), Owner: r.text(v, "", "owner"), Group: r.text(v, "", "group"), Mode: r.text(v, "", "mode"), At: load.ValueAt(v.LookupPath(cue.ParsePath("path"))), ModeAt: load.ValueAt(v.LookupPath(cue.ParsePath("mode")))}
}

func (r *reader) need(name string, v cue.Value) Need {
	n := Need{
		Name: name, At: load.KeyAt(v), Target: *r.target(v), Scope: r.text(v, "node", "scope"),
		Supplied: r.get(v, "supplied").True(), Format: r.text(v, "password", "format"), Length: 32,
	}
	if l := r.int(v, "length"); l != 0 {
		n.Length = l
	}
	return n
}

func (r *reader) require(k *compiled, label string, v cue.Value) Require {
	q := Require{
		Label: label, At: load.KeyAt(v), Provision: r.text(v, label, "provision"), Optional: r.get(v, "optional").True(),
		Binds: r.target(v.LookupPath(cue.ParsePath("binds"))), Secret: r.target(v.LookupPath(cue.ParsePath("secret"))),
		Contributes: data.NewStruct(), Whole: true,
	}
	if w := v.LookupPath(cue.ParsePath("where")); w.Exists() {
		q.Where = conditions(w, nil)
	}
	if c := v.LookupPath(cue.ParsePath("contributes")); c.Exists() {
		q.ContributesAt = load.ValueAt(c)
		q.Contributed = map[string]diag.Pos{}
		if it, err := c.Fields(); err == nil {
			for it.Next() {
				q.Contributed[cuedata.Label(it.Selector())] = load.ValueAt(it.Value())
			}
		}
		q.Contributes, q.Whole = r.known(c)
		if q.Contributes.Kind() == data.Absent {
			q.Contributes = data.NewStruct()
		}
	}
	for _, rd := range k.reads.Contributes(label) {
		switch p := strings.SplitN(rd.Path, ".", 3); {
		case p[0] == "bindings" && len(p) > 1:
			q.After = append(q.After, p[1])
		case p[0] == "bindings" || p[0] == "":
			q.AfterAll = true
		}
	}
	slices.Sort(q.After)
	q.After = slices.Compact(q.After)
	q.Unread = len(q.Where) == 0 && q.Binds == nil && q.Secret == nil && !q.ContributesAt.IsValid() &&
		!v.LookupPath(cue.ParsePath("contributes")).Exists() && !readsAnswer(k, label)
	return q
}

// readsAnswer says whether a module may read anything of the answer to a requirement.
func readsAnswer(k *compiled, label string) bool {
	reads := k.reads.Of("settings", "listens", "claims", "needs", "requires", "provides", "observes", "data", "resources")
	return slices.ContainsFunc(reads, func(rd load.Read) bool {
		switch p := strings.SplitN(rd.Path, ".", 3); p[0] {
		case "bindings", "secrets":
			return len(p) == 1 || p[1] == label
		case "":
			return true
		}
		return false
	})
}

// listens are those whose ports are read, in order; unsure says that there may be more, which
// does not follow from the source.
func listens(reads []load.Read) (names []string, unsure bool) {
	for _, rd := range reads {
		switch p := strings.SplitN(rd.Path, ".", 3); {
		case p[0] == "ports" && len(p) > 1:
			names = append(names, p[1])
		case p[0] == "ports" || p[0] == "":
			unsure = true
		}
	}
	slices.Sort(names)
	return slices.Compact(names), unsure
}

// conditions takes a `where` apart into its leaves.
func conditions(v cue.Value, path []string) []Condition {
	if v.IncompleteKind() == cue.StructKind {
		var out []Condition
		it, err := v.Fields()
		if err != nil {
			return nil
		}
		for it.Next() {
			out = append(out, conditions(it.Value(), slices.Concat(path, []string{cuedata.Label(it.Selector())}))...)
		}
		return out
	}
	c := Condition{Path: path, At: load.ValueAt(v)}
	if x, err := cuedata.From(v); err == nil {
		c.Value, c.Text = x, strings.Join(path, ".")+": "+x.String()
	} else {
		c.Want, c.Text = v, strings.Join(path, ".")+": "+load.Format(v)
	}
	return []Condition{c}
}

func (r *reader) provide(name string, v cue.Value) Provide {
	p := Provide{
		Name: name, At: load.KeyAt(v), Scope: r.text(v, "node", "scope"), Credential: r.get(v, "credential").True(),
		Receives: r.target(v.LookupPath(cue.ParsePath("receives"))), Secrets: r.target(v.LookupPath(cue.ParsePath("secrets"))),
		Derives: v.LookupPath(cue.ParsePath("derives")).Exists(), Accepts: v.LookupPath(cue.ParsePath("accepts")).Exists(), AcceptsAt: load.KeyAt(v.LookupPath(cue.ParsePath("accepts"))),
		Serves: data.NewStruct(), Whole: true,
	}
	if s := v.LookupPath(cue.ParsePath("serves")); s.Exists() {
		p.Serves, p.Whole = r.known(s)
		if p.Serves.Kind() == data.Absent {
			p.Serves = data.NewStruct()
		}
		r.ds = append(r.ds, reservedNames(name, "serves", s)...)
	}
	if u := r.get(v, "unique"); u.Kind() == data.List {
		p.Unique = u.Strings()
	}
	if d := v.LookupPath(cue.ParsePath("derives")); d.Exists() {
		r.ds = append(r.ds, reservedNames(name, "derives", d)...)
	}
	return p
}

// bindingNames are what a binding says of itself; nothing served or derived may have such a name.
var bindingNames = map[string]bool{
	"provision": true, "node": true, "instance": true, "at": true, "as": true, "hostport": true, "licence": true, "note": true,
}

func reservedNames(provision, field string, v cue.Value) diag.List {
	var ds diag.List
	it, err := v.Fields()
	if err != nil {
		return nil
	}
	for it.Next() {
		if name := cuedata.Label(it.Selector()); bindingNames[name] {
			ds = append(ds, reservedName(load.KeyAt(it.Value()), provision, field, name, slices.Sorted(maps.Keys(bindingNames))))
		}
	}
	return ds
}
