// Package origin says where a line of a rendered file comes from: the resource, the
// place in its module, and each setting, port, binding and fact that the line depends
// on. It finds out by trying: an input is given another value, the instance is
// composed and rendered again, and where the line is another then, it depends on it.
// So it is right whatever a module computes. Enter at Of.
package origin

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"meshc.dev/compiler"
	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/compose"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/exchange"
	"meshc.dev/compiler/layer"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/plan"
	"meshc.dev/render"
	"meshc.dev/render/bundle"
)

// Origin is where a file, or one line of it, comes from.
type Origin struct {
	Node     string   `json:"node"`
	Path     string   `json:"path"`
	Line     int      `json:"line,omitempty"` // 0 for the whole file
	Text     string   `json:"text,omitempty"`
	Resource string   `json:"resource"`
	Module   string   `json:"module"`
	At       string   `json:"at"` // in the module
	From     []Source `json:"from"`
}

// Source is one input that the text depends on.
type Source struct {
	Input string   `json:"input"` // "settings.app_name", "in.ports.http"
	Value string   `json:"value"`
	Said  []string `json:"said"` // who decided that: layers, a provider, the lock
}

// prober tries inputs of one instance.
type prober struct {
	r     *compiler.Result
	mesh  *render.Mesh
	node  *exchange.Node
	index int // of the instance
	path  string
	line  int
	lines []string
	text  string
}

// Of explains a file of a node, or a line of it, counted from 1; 0 asks for all of it.
func Of(r *compiler.Result, node addr.Node, path string, line int) (*Origin, error) {
	pn := r.Plan.Node(node)
	path = onMachine(node, path)
	p, b, err := open(r, pn, path)
	if err != nil {
		if o := secretAt(pn, path); o != nil && line <= 1 {
			return o, nil
		}
		return nil, err
	}
	p.line = line
	res, inst, ok := owner(b, pn, path)
	if !ok {
		return nil, nothingWrites(b, node, path)
	}
	if line > len(p.lines) {
		return nil, fmt.Errorf("%s has %d lines", path, len(p.lines))
	}
	o := &Origin{Node: string(node), Path: path, Line: line, Resource: res.ID.String(), Module: inst.Module, At: place(res.At), From: []Source{}}
	if line > 0 {
		p.text = p.lines[line-1]
		o.Text = p.text
	}
	for k, i := range p.node.Instances {
		if i.Addr.Name == inst.Name {
			p.index = k
		}
	}
	o.From = append(o.From, p.settings(inst)...)
	o.From = append(o.From, p.inputs()...)
	o.From = append(o.From, p.secrets(b, pn)...)
	if res.Computed != nil {
		o.From = append(o.From, p.computed(pn)...)
	}
	return o, nil
}

// open renders a node and finds a file of it.
func open(r *compiler.Result, n *plan.Node, path string) (*prober, *bundle.Bundle, error) {
	unsealed := *r.Plan
	unsealed.Complete = false // what is only tried is never sealed
	path = onMachine(n.Name, path)
	p := &prober{r: r, mesh: render.New(&unsealed, render.Origin{}), path: path}
	for _, x := range r.Exchanged.Nodes {
		if x.Name == n.Name {
			p.node = x
		}
	}
	b, ds := p.mesh.Node(n)
	if ds.HasErrors() {
		return nil, nil, fmt.Errorf("%s", ds[0].Message)
	}
	if b.Declaration == nil {
		return nil, nil, fmt.Errorf("%s is not managed, so nothing is declared for it", n.Name)
	}
	content, ok := contentOf(b, path)
	if !ok {
		return nil, nil, nothingWrites(b, n.Name, path)
	}
	p.lines = strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	return p, b, nil
}

// Text is a line of a rendered file, counted from 1.
func Text(r *compiler.Result, node addr.Node, path string, line int) (string, error) {
	p, _, err := open(r, r.Plan.Node(node), path)
	if err != nil {
		return "", err
	}
	if line < 1 || line > len(p.lines) {
		return "", fmt.Errorf("%s has %d lines", path, len(p.lines))
	}
	return p.lines[line-1], nil
}

// owner finds the resource that a path of the bundle comes from.
func owner(b *bundle.Bundle, n *plan.Node, path string) (plan.Resource, *plan.Instance, bool) {
	if b.Declaration == nil {
		return plan.Resource{}, nil, false
	}
	for _, item := range b.Declaration.Items {
		var id bundle.ID
		switch i := item.(type) {
		case *bundle.File:
			if i.Path == path {
				id = i.ID
			}
		case *bundle.Block:
			if i.Path == path {
				id = i.ID
			}
		}
		if id == "" {
			continue
		}
		ref, err := addr.ParseResource(string(id))
		if err != nil {
			continue
		}
		for _, i := range n.Instances {
			for _, r := range i.Resources {
				if r.ID == ref || i.Name == ref.Instance && ref.Kind == "file" && ref.Name == r.ID.Local() {
					return r, i, true
				}
			}
		}
	}
	return plan.Resource{}, nil, false
}

func contentOf(b *bundle.Bundle, path string) ([]byte, bool) {
	for _, item := range b.Declaration.Items {
		switch i := item.(type) {
		case *bundle.File:
			if i.Path == path {
				e, ok := b.Entry(i.Source)
				return e.Data, ok
			}
		case *bundle.Block:
			if i.Path == path {
				e, ok := b.Entry(i.Source)
				return e.Data, ok
			}
		}
	}
	return nil, false
}

// depends says whether the text is another once an instance's inputs are changed; known
// is false where the module refuses the change.
func (p *prober) depends(change func(i *exchange.Instance)) (depends, known bool) {
	node := *p.node
	node.Instances = slices.Clone(p.node.Instances)
	i := *p.node.Instances[p.index]
	i.Inputs.Ports, i.Inputs.Bindings = maps.Clone(i.Inputs.Ports), maps.Clone(i.Inputs.Bindings)
	i.Listens = slices.Clone(i.Listens)
	change(&i)
	node.Instances[p.index] = &i
	pn, ds := compose.Node(p.r.Exchanged, p.r.Evaluator, &node)
	if ds.HasErrors() {
		return false, false
	}
	b, rds := p.mesh.Node(pn)
	if rds.HasErrors() {
		return false, false
	}
	content, ok := contentOf(b, p.path)
	if !ok {
		return true, true
	}
	if p.line == 0 {
		return !bytes.Equal(content, []byte(strings.Join(p.lines, "\n")+"\n")), true
	}
	for line := range strings.Lines(string(content)) {
		if strings.TrimSuffix(line, "\n") == p.text {
			return false, true
		}
	}
	return true, true
}

// settings tries every setting that has a value.
func (p *prober) settings(inst *plan.Instance) []Source {
	var out []Source
	var untried []string
	merged := p.node.Instances[p.index].Settings
	inst.Settings.Walk(func(path []string, v data.Value) {
		if len(path) == 0 || v.Kind() == data.Struct || v.Kind() == data.List && len(v.Items()) == 0 {
			return
		}
		keys := slices.Clone(path)
		for k, part := range keys {
			if _, err := strconv.Atoi(part); err == nil && inst.Settings.Lookup(keys[:k]...).Kind() == data.List {
				return // an item; the list is tried whole
			}
		}
		var dep, tried bool
		try := func(other data.Value) (known bool) {
			changed := with(merged, keys, other)
			dep, known = p.depends(func(i *exchange.Instance) { i.Inputs.Settings = changed })
			tried = tried || known
			return known
		}
		for _, other := range others(v) {
			if try(other) {
				break
			}
		}
		// Of an enumeration none of those is accepted; and a module may treat one value like no other.
		for _, other := range p.named(keys[len(keys)-1], v) {
			if dep {
				break
			}
			try(other)
		}
		said := merged.At(keys...)
		switch {
		case dep:
			out = append(out, Source{Input: "settings." + strings.Join(keys, "."), Value: v.String(), Said: spoke(said, inst.Module)})
		case !tried && said != nil && len(said.Spoke) > 0:
			untried = append(untried, "settings."+strings.Join(keys, "."))
		}
	})
	if len(untried) > 0 {
		out = append(out, Source{Input: "perhaps", Value: strings.Join(untried, ", "), Said: []string{"no other value of these is accepted, so that they cannot be tried"}})
	}
	return out
}

// spoke lists the layers that set a key, the winner first.
func spoke(m *layer.Merged, module string) []string {
	if m == nil || len(m.Spoke) == 0 {
		return []string{"the default of module " + module}
	}
	var out []string
	for _, s := range m.Spoke {
		out = append(out, fmt.Sprintf("%s at %s", s.Layer, place(s.Setting.Span)))
	}
	return out
}

// others are values that a setting could have instead.
func others(v data.Value) []data.Value {
	switch v.Kind() {
	case data.Bool:
		return []data.Value{data.NewBool(!v.True())}
	case data.Int:
		n, err := strconv.ParseInt(v.Text(), 10, 64)
		if err != nil {
			return nil
		}
		return []data.Value{data.NewInt(strconv.FormatInt(n+1, 10)), data.NewInt(strconv.FormatInt(n-1, 10)), data.NewInt(strconv.FormatInt(n*2, 10))}
	case data.Float:
		return []data.Value{data.NewFloat("0.515625")}
	case data.String:
		s := v.Text()
		return []data.Value{data.NewString(s + "x"), data.NewString("x" + s), data.NewString("1" + s), data.NewString(s + "0")}
	case data.List:
		return []data.Value{data.NewList(v.Items()[1:]...), data.NewList(append(slices.Clone(v.Items()), v.Items()[0])...)}
	}
	return nil
}

// with is a merged setting with one leaf replaced or added.
func with(m *layer.Merged, path []string, v data.Value) *layer.Merged {
	out := &layer.Merged{}
	if m != nil {
		*out = *m
	} else {
		out.Won = layer.Spoken{Setting: &load.Setting{}}
	}
	if len(path) == 0 {
		out.Leaf, out.Fields = v, nil
		return out
	}
	var below *layer.Merged
	if m != nil {
		below = m.Fields[path[0]]
	}
	out.Leaf = data.Value{}
	out.Fields = map[string]*layer.Merged{}
	if m != nil {
		maps.Copy(out.Fields, m.Fields)
	}
	out.Fields[path[0]] = with(below, path[1:], v)
	return out
}

// inputs tries ports, bindings and what is known of the machine and the mesh.
func (p *prober) inputs() []Source {
	var out []Source
	try := func(input, value string, change func(*exchange.Instance), said ...string) {
		if dep, _ := p.depends(change); dep {
			out = append(out, Source{input, value, said})
		}
	}
	inst := p.node.Instances[p.index]
	for k, l := range inst.Listens {
		entry := addr.Listen{Instance: inst.Addr, Name: l.Name}
		said := fmt.Sprintf("%s has %q = %d", lock.File, entry.String(), l.Port)
		if l.Fixed {
			said = "the module fixes it"
		}
		try("in.ports."+l.Name, strconv.Itoa(l.Port), func(i *exchange.Instance) {
			i.Inputs.Ports[l.Name]++
			i.Listens[k].Port, i.Listens[k].To = l.Port+1, l.To+1
		}, said)
		try("in.addresses."+l.Name, l.Address, func(i *exchange.Instance) {
			i.Inputs.Addresses = maps.Clone(i.Inputs.Addresses)
			i.Inputs.Addresses[l.Name] = "198.51.100.99"
			i.Listens[k].Address = "198.51.100.99"
		}, "it is reached from the "+l.Reach)
	}
	for _, label := range slices.Sorted(maps.Keys(inst.Inputs.Bindings)) {
		b := inst.Inputs.Bindings[label]
		for _, f := range b.Fields() {
			alternatives := others(f.Value)
			if len(alternatives) == 0 {
				continue
			}
			try("in.bindings."+label+"."+f.Name, f.Value.String(), func(i *exchange.Instance) {
				i.Inputs.Bindings[label] = b.With(f.Name, alternatives[0])
			}, answers(inst, label)...)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(inst.Inputs.Consumers)) {
		list := inst.Inputs.Consumers[what]
		for k, c := range list.Items() {
			try("in.consumers."+what, c.Get("instance").Text()+"@"+c.Get("node").Text(), func(i *exchange.Instance) {
				i.Inputs.Consumers = maps.Clone(i.Inputs.Consumers)
				i.Inputs.Consumers[what] = data.NewList(slices.Delete(slices.Clone(list.Items()), k, k+1)...)
			}, "it requires "+what)
		}
	}
	n, m := inst.Inputs.Node, inst.Inputs.Mesh
	try("in.node.name", n.Name, func(i *exchange.Instance) { i.Inputs.Node.Name += "x" }, place(p.node.Spec.At))
	if n.Address != "" {
		try("in.node.address", n.Address, func(i *exchange.Instance) { i.Inputs.Node.Address = "198.51.100.98" }, fmt.Sprintf("%s has %q", lock.File, n.Name))
	}
	if n.Site != "" {
		try("in.node.site", n.Site, func(i *exchange.Instance) { i.Inputs.Node.Site += "x" }, place(p.node.Spec.Site.At))
	}
	try("in.mesh.domain", m.Domain, func(i *exchange.Instance) { i.Inputs.Mesh.Domain += "x" }, place(p.r.Source.Mesh.At))
	try("in.mesh.name", m.Name, func(i *exchange.Instance) { i.Inputs.Mesh.Name += "x" }, place(p.r.Source.Mesh.At))
	for _, f := range n.Facts.Fields() {
		if alternatives := others(f.Value); len(alternatives) > 0 {
			try("in.node.facts."+f.Name, f.Value.String(), func(i *exchange.Instance) {
				i.Inputs.Node.Facts = n.Facts.With(f.Name, alternatives[0])
			}, place(p.node.Spec.At))
		}
	}
	return out
}

// answers says who answers a requirement, and who was not taken.
func answers(i *exchange.Instance, label string) []string {
	a := i.Answer(label)
	if a == nil {
		return nil
	}
	by := "licence " + a.Licence
	if a.Provider != nil {
		by = a.Provider.Addr.String()
	}
	out := []string{"answered by " + by}
	if a.Pinned.IsValid() {
		out = append(out, "pinned at "+place(a.Pinned))
	}
	for _, c := range a.Others {
		out = append(out, "not taken: "+c.Name+" "+c.Why)
	}
	return out
}

func place(p diag.Pos) string {
	if !p.IsValid() {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}
