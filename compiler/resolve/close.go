package resolve

import (
	"cmp"
	"maps"
	"slices"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/load"
)

// offer is one node closed under its own requirements.
type offer struct {
	spec      *load.Node
	instances []*Instance // assigned ones by name, then brought ones by name
	networks  []Network
	problems  problems
	ghosts    []string
	faulty    bool
}

func (o *offer) say(ds ...diag.Diagnostic) {
	for _, d := range ds {
		o.problems = append(o.problems, problem{node: o.spec.Name, diagnostic: d})
	}
}

func (o *offer) instance(name string) *Instance {
	for _, i := range o.instances {
		if i.Addr.Name == name {
			return i
		}
	}
	return nil
}

// close brings in what a node's instances require of their own machine, round by
// round: in each, every requirement that exactly one module of the catalogue can
// answer brings that module, all of them at once, so that no order matters (SEL-3). A
// module is brought at most once, so it ends.
func (r *resolver) close(n *load.Node) *offer {
	o := &offer{spec: n}
	assigned := r.assigned(n)
	for _, name := range slices.Sorted(maps.Keys(assigned)) {
		r.assign(o, name, assigned[name])
	}
	fixed := len(o.instances)
	for {
		wanted := r.wantedModules(o)
		if len(wanted) == 0 {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			w := wanted[name]
			i, ds := r.newInstance(n, name, w.module, nil)
			i.Brought, i.At = w.causes, w.at
			i.Inputs.At = w.at
			o.say(ds...)
			o.instances = append(o.instances, i)
		}
	}
	slices.SortFunc(o.instances[fixed:], func(a, b *Instance) int { return cmp.Compare(a.Addr.Name, b.Addr.Name) })
	for _, i := range o.instances {
		o.faulty = o.faulty || i.Interface == nil
	}
	r.answerOnNode(o)
	r.networks(o)
	return o
}

func (r *resolver) assign(o *offer, name string, assigns []placed) {
	for _, a := range assigns[1:] {
		if a.Module != assigns[0].Module {
			o.say(twoModules(name, assigns[0], a))
			return
		}
	}
	a := assigns[len(assigns)-1]
	m := r.src.Modules[a.Module]
	if m == nil {
		near := diag.Nearest(a.Module, slices.Collect(maps.Keys(r.src.Modules)))
		for _, n := range near {
			o.ghosts = append(o.ghosts, slices.Collect(maps.Keys(r.src.Modules[n].Provides))...)
		}
		o.faulty = true
		o.say(unknownModule(a, name, near))
		return
	}
	i, ds := r.newInstance(o.spec, name, m, assigns)
	o.say(ds...)
	o.instances = append(o.instances, i)
}

// want is a module that requirements of a node bring in.
type want struct {
	module *load.Module
	causes []Cause
	at     diag.Pos
}

// wantedModules are those that the next round brings in.
func (r *resolver) wantedModules(o *offer) map[string]*want {
	out := map[string]*want{}
	for _, q := range r.open(o) {
		if r.isWide(q.require.Provision) {
			continue
		}
		pin, pinned := r.pin(o, q.by, q.require.Label, q.require.Provision)
		on := r.onNode(o, q)
		if pinned {
			on = pinnedTo(o, pin.Value, on)
		}
		if len(on) > 0 || q.require.Optional {
			continue
		}
		modules, _ := r.catalogue(o, q)
		if pinned {
			modules = slices.DeleteFunc(modules, func(m *load.Module) bool { return m.Name != pin.Value && pin.Value != string(o.spec.Name) })
		}
		if len(modules) != 1 || o.instance(modules[0].Name) != nil {
			continue
		}
		w := out[modules[0].Name]
		if w == nil {
			w = &want{module: modules[0], at: q.by.At}
			out[modules[0].Name] = w
		}
		w.causes = append(w.causes, Cause{q.by.Addr.Name, q.require.Provision})
	}
	return out
}

// pinnedTo are those of a node's instances that a pin means: one by its name, with or
// without the node, or the node's own, whichever that is.
func pinnedTo(o *offer, pin string, on []*Instance) []*Instance {
	return slices.DeleteFunc(slices.Clone(on), func(i *Instance) bool {
		return pin != i.Addr.Name && pin != i.Addr.String() && pin != string(o.spec.Name)
	})
}

// question is a requirement and who asks.
type question struct {
	by      *Instance
	require *evaluate.Require
}

// open lists a node's requirements, by instance and label.
func (r *resolver) open(o *offer) []question {
	var out []question
	for _, i := range o.instances {
		if i.Interface == nil {
			continue
		}
		for k := range i.Interface.Requires {
			out = append(out, question{i, &i.Interface.Requires[k]})
		}
	}
	slices.SortFunc(out, func(a, b question) int {
		return cmp.Or(cmp.Compare(a.by.Addr.Name, b.by.Addr.Name), cmp.Compare(a.require.Label, b.require.Label))
	})
	return out
}

// onNode are the instances of the node that answer a requirement there.
func (r *resolver) onNode(o *offer, q question) []*Instance {
	var out []*Instance
	for _, i := range o.instances {
		if i.Interface == nil {
			continue
		}
		if p := i.Interface.Provision(q.require.Provision); p != nil && p.Scope == "node" && r.matches(q.require, i.Interface, p) == "" {
			out = append(out, i)
		}
	}
	return out
}

// isWide says whether a provision is answered beyond the node: where the modules that
// offer it are of both kinds, the wide ones count once one of them is assigned anywhere.
func (r *resolver) isWide(provision string) bool {
	node, wide := false, false
	for _, m := range r.byWhat[provision] {
		if r.scopeOf(m, provision) == "node" {
			node = true
		} else {
			wide = wide || r.direct[m.Name]
		}
	}
	return wide || !node
}

// catalogue are the modules that could be brought in for a requirement, and why others cannot.
func (r *resolver) catalogue(o *offer, q question) (fit []*load.Module, others []Candidate) {
	for _, m := range r.byWhat[q.require.Provision] {
		if r.scopeOf(m, q.require.Provision) != "node" {
			continue
		}
		if _, omitted := o.spec.Omit[m.Name]; omitted {
			others = append(others, Candidate{m.Name, "is omitted here"})
			continue
		}
		i, ds := r.newInstance(o.spec, m.Name, m, nil)
		if ds.HasErrors() {
			// Its own settings are at fault; it still is a candidate, and says so once it is brought in.
			fit = append(fit, m)
			continue
		}
		p := i.Interface.Provision(q.require.Provision)
		if p == nil {
			others = append(others, Candidate{m.Name, "does not provide it with these settings"})
			continue
		}
		if why := r.matches(q.require, i.Interface, p); why != "" {
			others = append(others, Candidate{m.Name, why})
			continue
		}
		fit = append(fit, m)
	}
	return fit, others
}

// answerOnNode answers the requirements that the node itself can answer, and
// refuses those that it had to.
func (r *resolver) answerOnNode(o *offer) {
	for _, q := range r.open(o) {
		q.by.Answers = slices.Clip(q.by.Answers)
		on := r.onNode(o, q)
		pin, pinned := r.pin(o, q.by, q.require.Label, q.require.Provision)
		if pinned {
			switch chosen := pinnedTo(o, pin.Value, on); {
			case len(chosen) > 0 || pin.Value == string(o.spec.Name):
				on = chosen
			case r.isWide(q.require.Provision) || r.src.Mesh.Licences[pin.Value] != nil || q.require.Optional && len(on) == 0:
				continue // answered beyond the node, or not at all
			default:
				o.problems = append(o.problems, pinElsewhere(r, o, q, pin, names(on)))
				continue
			}
		}
		switch {
		case len(on) == 1:
			q.by.Answers = append(q.by.Answers, r.localAnswer(o, q, on[0]))
		case len(on) > 1 && q.require.Unread:
			q.by.Beside = append(q.by.Beside, on...)
		case len(on) > 1 && q.require.Optional:
			o.say(leftOutOptional(q, names(on)))
		case len(on) > 1:
			o.problems = append(o.problems, severalAnswers(r, o, q, on))
		case q.require.Optional || r.isWide(q.require.Provision):
		default:
			r.refuseOnNode(o, q)
		}
	}
}

func (r *resolver) localAnswer(o *offer, q question, by *Instance) Answer {
	a := Answer{Label: q.require.Label, Provision: q.require.Provision, Provider: by, Provide: by.Interface.Provision(q.require.Provision)}
	if pin, ok := r.pin(o, q.by, q.require.Label, q.require.Provision); ok {
		a.Pinned = pin.At
	}
	for _, m := range r.byWhat[q.require.Provision] {
		if m != by.Module {
			a.Others = append(a.Others, Candidate{m.Name, "is not on this node"})
		}
	}
	return a
}

// refuseOnNode says why nothing on a node answers a requirement.
func (r *resolver) refuseOnNode(o *offer, q question) {
	for _, i := range o.instances {
		if _, could := i.Module.Provides[q.require.Provision]; could && i.Interface == nil {
			return // it would answer, were its own fault mended
		}
	}
	if slices.Contains(o.ghosts, q.require.Provision) {
		return
	}
	modules, others := r.catalogue(o, q)
	for _, c := range others {
		if c.Why == "is omitted here" && len(modules) == 0 {
			o.say(omittedButNeeded(q, c.Name, o.spec.Omit[c.Name]))
			return
		}
	}
	if len(modules) > 1 {
		o.problems = append(o.problems, severalModules(r, o, q, modules))
		return
	}
	if len(others) > 0 {
		o.problems = append(o.problems, noMatch(o, q, others))
		return
	}
	o.problems = append(o.problems, nothingAnswers(r, o, q, nil))
}

// provisions are the names of all that any module provides.
func (r *resolver) provisions() []string { return slices.Sorted(maps.Keys(r.byWhat)) }

func names(is []*Instance) []string {
	var out []string
	for _, i := range is {
		out = append(out, i.Addr.String())
	}
	return out
}

// networks finds the private networks of a node, from what that node alone runs (SCP-5).
func (r *resolver) networks(o *offer) {
	for _, i := range o.instances {
		if i.Interface == nil {
			continue
		}
		p := i.Interface.Provision("private-network")
		if p == nil {
			continue
		}
		n := Network{Instance: i, Network: p.Serves.Get("network").Text(), Name: p.Serves.Get("name").Text()}
		if n.Network == "" || n.Name == "" {
			o.say(networkServes(i, p))
			continue
		}
		o.networks = append(o.networks, n)
	}
	preferred := func(n Network) int {
		if claimsMeshNetwork(n.Instance) || slices.ContainsFunc(n.Instance.Answers, func(a Answer) bool { return claimsMeshNetwork(a.Provider) }) {
			return 0
		}
		return 1
	}
	slices.SortFunc(o.networks, func(a, b Network) int {
		return cmp.Or(cmp.Compare(preferred(a), preferred(b)), cmp.Compare(a.Network, b.Network))
	})
}

// claimsMeshNetwork says whether an instance holds the claim to be the mesh's network. A network
// has it itself, or of what it requires for that (mesh-addressing).
func claimsMeshNetwork(i *Instance) bool {
	return i != nil && i.Interface != nil && slices.ContainsFunc(i.Interface.Claims, func(c evaluate.Claim) bool { return c.Name == meshNetworkClaim })
}

// trialNode resolves one node as if it were written otherwise, against what the
// others offer, and gives the codes of what is still wrong with it (DIA-3).
func (r *resolver) trialNode(n *load.Node) problems {
	t := *r
	t.offers = maps.Clone(r.offers)
	t.found = nil
	// What is assigned here only to try it may be of a kind that nothing was of before.
	t.direct = maps.Clone(r.direct)
	for _, a := range n.Layer.Assign {
		t.direct[a.Module] = true
	}
	o := t.close(n)
	if r.wide != nil {
		t.offers[n.Name] = o
		t.ghosts = map[string]bool{}
		t.collectOffers()
		t.bind(o)
	}
	t.nodeClaims(o)
	return append(o.problems, t.found...)
}

// with is a node with one more assignment or pin.
func with(n *load.Node, assign, provision, pin string) *load.Node {
	c := *n
	c.Layer.Assign, c.Layer.Pins = maps.Clone(n.Layer.Assign), maps.Clone(n.Layer.Pins)
	if assign != "" {
		if c.Layer.Assign == nil {
			c.Layer.Assign = map[string]*load.Assign{}
		}
		c.Layer.Assign[assign] = &load.Assign{Module: assign, At: n.At, ModuleAt: n.At}
	}
	if provision != "" {
		if c.Layer.Pins == nil {
			c.Layer.Pins = map[string]load.Text{}
		}
		c.Layer.Pins[provision] = load.Text{Value: pin, At: n.At}
	}
	return &c
}
