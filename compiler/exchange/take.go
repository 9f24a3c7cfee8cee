package exchange

import (
	"slices"
	"strconv"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/netaddr"
	"meshc.dev/compiler/resolve"
)

// take works out what each requirement of an instance is answered with, in the
// order in which contributions need each other's bindings.
func (x *exchanger) take(n *Node, i *Instance) diag.List {
	i.Inputs.Bindings = map[string]data.Value{}
	labels, ds := inOrder(i)
	for _, label := range labels {
		a := i.Answer(label)
		if a == nil {
			continue
		}
		q := i.Told.Requirement(label)
		if len(q.After) > 0 || q.AfterAll {
			// What was worked out before these were known may look whole and not be.
			told, tds := x.eval.Exchange(i.Module, i.Inputs)
			if tds.HasErrors() {
				return append(ds, tds...)
			}
			q = told.Requirement(label)
		}
		if !q.Whole {
			ds = append(ds, notKnown(i, q))
			continue
		}
		var t Taken
		var tds diag.List
		if a.Licence != "" {
			if t = x.licensed(a); spelt(t.Binding) {
				tds = diag.List{speltLicence(x.resolved.Mesh.Licences[a.Licence].At, a.Licence)}
			}
		} else {
			t, tds = x.provided(n, i, a, q)
		}
		ds = append(ds, tds...)
		if tds.HasErrors() {
			continue
		}
		i.Taken = append(i.Taken, t)
		i.Inputs.Bindings[label] = t.Binding
		if t.Secret {
			i.Inputs.Secrets = append(i.Inputs.Secrets, label)
		}
	}
	slices.SortFunc(i.Taken, func(a, b Taken) int { return compareLabels(a.Answer, b.Answer) })
	slices.Sort(i.Inputs.Secrets)
	for _, need := range i.Told.Needs {
		i.Inputs.Needs = append(i.Inputs.Needs, need.Name)
	}
	return ds
}

func compareLabels(a, b *resolve.Answer) int {
	return addr.Consumer{Label: a.Label}.Compare(addr.Consumer{Label: b.Label})
}

// inOrder puts an instance's labels in an order in which each comes after those
// whose bindings it reads; a circle is refused.
func inOrder(i *Instance) ([]string, diag.List) {
	var out []string
	state := map[string]int{} // 1: on the way, 2: done
	var circle []string
	var visit func(label string) bool
	visit = func(label string) bool {
		q := i.Told.Requirement(label)
		if q == nil || state[label] == 2 {
			return true
		}
		if state[label] == 1 {
			circle = append(circle, label)
			return false
		}
		state[label] = 1
		for _, after := range before(i, q) {
			if !visit(after) {
				circle = append(circle, label)
				return false
			}
		}
		state[label] = 2
		out = append(out, label)
		return true
	}
	for _, q := range i.Told.Requires {
		if !visit(q.Label) {
			return out, diag.List{bindingCircle(i, circle)}
		}
	}
	return out, nil
}

// before are the labels whose bindings have to be known before a requirement can contribute.
func before(i *Instance, q *evaluate.Require) []string {
	if !q.AfterAll {
		return q.After
	}
	var out []string
	for _, o := range i.Told.Requires {
		if o.Label != q.Label {
			out = append(out, o.Label)
		}
	}
	return out
}

// licensed is the binding to a licence, which needs no network and grants nothing
// but what it serves.
func (x *exchanger) licensed(a *resolve.Answer) Taken {
	l := x.resolved.Mesh.Licences[a.Licence]
	fields := append(slices.Clone(l.Serves.Fields()),
		data.Field{Name: "provision", Value: data.NewString(a.Provision)}, data.Field{Name: "licence", Value: data.NewString(a.Licence)})
	return Taken{Answer: a, Binding: data.NewStruct(fields...), Secret: l.Credential, values: data.NewStruct()}
}

// provided is the binding to an instance (CON-5), with what it derives for this consumer.
func (x *exchanger) provided(n *Node, i *Instance, a *resolve.Answer, q *evaluate.Require) (Taken, diag.List) {
	p := x.byName[a.Provider.Addr]
	provide := p.Told.Provision(a.Provision)
	t := Taken{Answer: a, Secret: provide.Credential, values: q.Contributes, derived: data.NewStruct(), at: x.nameFor(n, i, a)}
	t.Pair = addr.Pair{Provider: p.Addr, Provision: a.Provision, Consumer: addr.Consumer{Instance: i.Addr, Label: a.Label}}
	if provide.Credential {
		t.As = x.settled.Logins[t.Pair]
	}
	if spelt(q.Contributes) {
		return t, diag.List{speltContribution(i, q)}
	}
	if ds := contributed(i, p, q, x.eval.Accepts(p.Told, a.Provision, q.Contributes), provide); len(ds) > 0 {
		return t, ds
	}
	if e := q.Contributes.Get("endpoint"); e.Kind() == data.String {
		port, ok := i.Inputs.Ports[e.Text()]
		if !ok {
			return t, diag.List{unknownEndpoint(i, q, e.Text())}
		}
		t.endpoints = append(t.endpoints, e.Text())
		t.values = t.values.With("port", data.NewInt(strconv.Itoa(port)))
	}
	ports := q.Ports
	if q.PortsUnsure {
		more, ds := x.told(i, func(told *evaluate.Interface) data.Value { return told.Requirement(q.Label).Contributes })
		if ds.HasErrors() {
			return t, ds
		}
		ports = slices.Concat(ports, more)
	}
	t.endpoints = append(t.endpoints, ports...)
	str := func(name, s string) data.Field {
		if s == "" {
			return data.Field{Name: name}
		}
		return data.Field{Name: name, Value: data.NewString(s)}
	}
	if provide.Derives {
		consumer := data.NewStruct(
			str("as", t.As), str("node", string(i.Addr.Node)), str("instance", i.Addr.Name), str("module", i.Module.Name),
			str("label", a.Label), str("at", t.at), data.Field{Name: "values", Value: t.values},
		)
		derived, ds := x.eval.Derive(p.Told, a.Provision, consumer)
		if ds.HasErrors() {
			return t, notDerived(i, p, a, ds)
		}
		t.derived = derived
	}
	told := merged(provide.Serves, t.derived)
	fields := slices.Clone(told.Fields())
	fields = append(fields, str("provision", a.Provision), str("node", string(p.Addr.Node)), str("instance", p.Addr.Name), str("at", a.At), str("as", t.As))
	if port := told.Get("port"); port.Kind() == data.Int && a.At != "" {
		if n, err := strconv.Atoi(port.Text()); err == nil {
			fields = append(fields, str("hostport", netaddr.Join(a.At, n)))
		}
	}
	t.Binding = data.NewStruct(fields...)
	if spelt(t.Binding) {
		return t, diag.List{speltBinding(p, provide, i)}
	}
	return t, nil
}

// spelt says whether a value spells a placeholder, which would be filled in with a
// secret where the other end writes it into a file of its own (SEC-10).
func spelt(v data.Value) (found bool) {
	v.Walk(func(_ []string, v data.Value) {
		found = found || (v.Kind() == data.String || v.Kind() == data.Bytes) && evaluate.HasPlaceholder(v.Text())
		for _, f := range v.Fields() {
			found = found || evaluate.HasPlaceholder(f.Name)
		}
	})
	return found
}

// nameFor is the consumer's name as its provider reaches it.
func (x *exchanger) nameFor(n *Node, i *Instance, a *resolve.Answer) string {
	for _, w := range n.Node.Networks {
		if w.Network == a.Network {
			return w.Name
		}
	}
	if a.Provider.Module.Containers {
		return resolve.GatewayName(n.Spec.Runtime)
	}
	return resolve.Loopback
}

// merged is what a consumer is told of what is served to all and derived for it: of a struct
// that both speak of, the fields of both; otherwise what is derived counts.
func merged(served, derived data.Value) data.Value {
	out := served
	for _, f := range derived.Fields() {
		x := f.Value
		if s := served.Get(f.Name); s.Kind() == data.Struct && x.Kind() == data.Struct {
			x = merged(s, x)
		}
		out = out.With(f.Name, x)
	}
	return out
}
