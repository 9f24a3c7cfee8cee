package evaluate

import (
	"slices"
	"sync"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"

	"meshc.dev/compiler/cuedata"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/load"
)

// CUE evaluates modules with CUE itself, each question with one fill, and
// instances whose inputs are equal once.
type CUE struct {
	ctx *cue.Context
	// alone says that every question is evaluated for itself, even where an equal one was answered.
	alone bool

	mu      sync.Mutex
	modules map[*load.Module]*compiled

	*Cache
}

// Cache holds answers by what they depend on. Evaluators of several compilations can share
// one: what did not change between two states of a mesh is then evaluated once.
type Cache struct {
	interfaces kept[*Interface]
	exchanges  kept[*Interface]
	resources  kept[*Resources]
}

// NewCUE makes an evaluator for modules of one context; the cache is its own where none is given.
func NewCUE(ctx *cue.Context, shared *Cache) *CUE {
	if shared == nil {
		shared = &Cache{}
	}
	return &CUE{ctx: ctx, modules: map[*load.Module]*compiled{}, Cache: shared}
}

// Alone is the same evaluator without sharing: slower, and the measure of what sharing must not change.
func (c *CUE) Alone() *CUE {
	return &CUE{ctx: c.ctx, alone: true, modules: map[*load.Module]*compiled{}, Cache: &Cache{}}
}

// compiled is what is worked out once for a module.
type compiled struct {
	module    *load.Module
	value     cue.Value
	ds        diag.List
	settings  cue.Value // closed: an unknown key is refused at any depth
	exchange  []string  // inputs that the interface reads, with serves and contributes
	resources []string  // inputs that the resources read
	secrets   bool      // resources read secrets or needs
	reads     *load.Reads
	once      sync.Once

	// CUE finishes a value when it is first looked at, so that what several nodes share is
	// looked at by one at a time: asking guards settings.
	asking sync.Mutex
}

func (c *CUE) compiled(m *load.Module) *compiled {
	c.mu.Lock()
	k := c.modules[m]
	if k == nil {
		k = &compiled{module: m}
		c.modules[m] = k
	}
	c.mu.Unlock()
	k.once.Do(func() {
		k.value, k.ds = m.Value()
		if k.ds.HasErrors() {
			return
		}
		k.reads = load.NewReads(m.Files)
		k.exchange = paths(k.reads.Of("settings", "requires", "provides", "claims", "listens", "needs"))
		k.resources = paths(k.reads.Of("settings", "resources", "data"))
		for _, p := range k.resources {
			k.secrets = k.secrets || p == "" || first(p) == "secrets" || first(p) == "needs"
		}
		// A value that passes through a definition is closed at every depth, and stays
		// open where its author wrote `...`; plain embedding would leave all of it open.
		s := k.value.LookupPath(cue.ParsePath("settings"))
		if s.Exists() {
			k.settings = c.ctx.CompileString("#S: _").FillPath(cue.ParsePath("#S"), s).LookupPath(cue.ParsePath("#S"))
		} else {
			k.settings = c.ctx.CompileString("#S: {}").LookupPath(cue.ParsePath("#S"))
		}
	})
	return k
}

// Interface implements Evaluator.
func (c *CUE) Interface(m *load.Module, in Inputs) (*Interface, diag.List) {
	k := c.compiled(m)
	if k.ds.HasErrors() {
		return nil, k.ds
	}
	in.Ports, in.Bindings, in.Secrets, in.Needs = nil, nil, nil, nil
	return c.ask(&c.interfaces, "interface", k, in, c.checkSettings)
}

// Exchange implements Evaluator. Settings were checked when the interface was asked for.
func (c *CUE) Exchange(m *load.Module, in Inputs) (*Interface, diag.List) {
	k := c.compiled(m)
	if k.ds.HasErrors() {
		return nil, k.ds
	}
	if !slices.ContainsFunc(k.exchange, later) && !c.alone {
		return c.Interface(m, in)
	}
	return c.ask(&c.exchanges, "exchange", k, in, func(*compiled, Inputs) diag.List { return nil })
}

// ask gives a kept interface, or fills the module and reads it. What only resources may
// read is left out. Answers with faults are not kept: the places of settings differ.
func (c *CUE) ask(answers *kept[*Interface], question string, k *compiled, in Inputs, check func(*compiled, Inputs) diag.List) (*Interface, diag.List) {
	in.Addresses, in.Consumers, in.Secrets, in.Needs = nil, nil, nil, nil
	key := in.key(k.module, k.exchange, question)
	if i, ok := answers.get(key); ok && !c.alone {
		return i, nil
	}
	if ds := check(k, in); ds.HasErrors() {
		return nil, ds
	}
	i, ds := readInterface(k, c.fill(k.value, in, placed), in)
	c.keep(i, k, in)
	if !ds.HasErrors() {
		answers.put(key, i)
	}
	return i, ds
}

// Resources implements Evaluator.
func (c *CUE) Resources(m *load.Module, in Inputs) (*Resources, diag.List) {
	k := c.compiled(m)
	if k.ds.HasErrors() {
		return nil, k.ds
	}
	key := in.key(m, k.resources, "resources")
	if r, ok := c.resources.get(key); ok && !c.alone {
		return r, nil
	}
	v := c.fill(k.value, in, placed)
	r, ds := readResources(k, v, in)
	if k.secrets && !ds.HasErrors() && len(in.Secrets)+len(in.Needs) > 0 {
		ds = append(ds, transformed(k, v, c.fill(k.value, in, compared))...)
	}
	if !ds.HasErrors() {
		r.Reads = k.resources
		c.resources.put(key, r)
	}
	return r, ds
}

// keep lets an answer be asked further, by filling the module again when that happens.
func (c *CUE) keep(i *Interface, k *compiled, in Inputs) {
	i.ctx, i.asking = c.ctx, &sync.Mutex{}
	if slices.ContainsFunc(i.Provides, func(p Provide) bool { return p.Derives || p.Accepts }) {
		i.value = sync.OnceValue(func() cue.Value { return c.fill(k.value, in, placed) })
	}
}

// later says whether an input is known only once everything is settled.
func later(path string) bool {
	switch f := first(path); f {
	case "mesh", "instance":
		return false
	case "node":
		return path == "node" || path == "node.address"
	}
	return true
}

// fill gives a module its settings and inputs in one step; every further fill
// would evaluate the whole module again.
func (c *CUE) fill(base cue.Value, in Inputs, m marks) cue.Value {
	x := &ast.StructLit{Elts: []ast.Decl{
		cuedata.Field("settings", in.Settings.Expr()),
		cuedata.Field("in", in.expr(m)),
	}}
	return base.Unify(c.ctx.BuildExpr(x))
}

// expr is the inputs as CUE syntax; what is not known yet is left out.
func (in Inputs) expr(m marks) *ast.StructLit {
	str := func(s string) data.Value { return data.NewString(s) }
	optional := func(name, s string) data.Field {
		if s == "" {
			return data.Field{Name: name}
		}
		return data.Field{Name: name, Value: str(s)}
	}
	facts := in.Node.Facts
	if facts.Kind() != data.Struct {
		facts = data.NewStruct()
	}
	node := data.NewStruct(
		data.Field{Name: "name", Value: str(in.Node.Name)}, optional("site", in.Node.Site), optional("address", in.Node.Address),
		optional("endpoint", in.Node.Endpoint), data.Field{Name: "runtime", Value: str(in.Node.Runtime)},
		data.Field{Name: "facts", Value: facts},
	)
	mesh := data.NewStruct(data.Field{Name: "name", Value: str(in.Mesh.Name)}, data.Field{Name: "domain", Value: str(in.Mesh.Domain)})
	s := &ast.StructLit{Elts: []ast.Decl{
		cuedata.Field("mesh", cuedata.Expr(mesh)), cuedata.Field("node", cuedata.Expr(node)),
		cuedata.Field("instance", ast.NewString(in.Instance)),
	}}
	add := func(name string, v data.Value) { s.Elts = append(s.Elts, cuedata.Field(name, cuedata.Expr(v))) }
	if in.Ports != nil {
		add("ports", ports(in.Ports))
	}
	if in.Addresses != nil {
		add("addresses", texts(in.Addresses))
	}
	if in.Bindings != nil {
		add("bindings", values(in.Bindings))
	}
	if in.Consumers != nil {
		add("consumers", values(in.Consumers))
	}
	if in.Secrets != nil {
		add("secrets", placeholders("requires.", in.Secrets, m))
	}
	if in.Needs != nil {
		add("needs", placeholders("needs.", in.Needs, m))
	}
	return s
}

func placeholders(kind string, names []string, m marks) data.Value {
	var fields []data.Field
	for _, n := range names {
		var encodings []data.Field
		for _, e := range Encodings {
			encodings = append(encodings, data.Field{Name: e, Value: data.NewString(placeholder(kind+n, e, m))})
		}
		fields = append(fields, data.Field{Name: n, Value: data.NewStruct(encodings...)})
	}
	return data.NewStruct(fields...)
}

// Accepts implements Evaluator. The values are checked without the places of the
// consumer's module, which its caller knows.
func (c *CUE) Accepts(of *Interface, provision string, values data.Value) diag.List {
	p := of.Provision(provision)
	if p == nil || !p.Accepts {
		return nil
	}
	// The answer may be another evaluator's, out of a shared cache, and so of its context:
	// in this one, what it refers to in the schema could not be found.
	ctx := of.ctx
	of.asking.Lock()
	defer of.asking.Unlock()
	shape := ctx.CompileString("#S: _").FillPath(cue.ParsePath("#S"), of.value().LookupPath(cue.MakePath(cue.Str("provides"), cue.Str(provision), cue.Str("accepts")))).LookupPath(cue.ParsePath("#S"))
	return load.Checker{Subject: "the contribution", Unknown: notAccepted, Missing: notContributed}.
		Check(shape, ctx.BuildExpr(cuedata.Expr(values)))
}

// Derive implements Evaluator. Only the provision is filled, which is equal to
// filling the whole module and five times cheaper.
func (c *CUE) Derive(of *Interface, provision string, consumer data.Value) (data.Value, diag.List) {
	path := cue.MakePath(cue.Str("provides"), cue.Str(provision))
	of.asking.Lock()
	defer of.asking.Unlock()
	v := of.value().LookupPath(path)
	filled := v.FillPath(cue.ParsePath("consumer"), of.ctx.BuildExpr(cuedata.Expr(consumer)))
	derives := filled.LookupPath(cue.ParsePath("derives"))
	out, err := cuedata.From(derives)
	if err != nil {
		return out, unknownValue(derives, "derives of "+provision, err)
	}
	return out, nil
}
