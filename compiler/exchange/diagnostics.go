package exchange

import (
	"fmt"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/resolve"
)

// contributed turns what does not fit a provider into refusals that name both lines (CON-10).
func contributed(i, p *Instance, q *evaluate.Require, faults diag.List, provide *evaluate.Provide) diag.List {
	var ds diag.List
	accepts := provide.At
	if at := provide.AcceptsAt; at.IsValid() {
		accepts = at
	}
	for _, f := range faults {
		ds = append(ds, diag.Diagnostic{
			Code: diag.NotAccepted, At: contributedAt(q, f.Message), On: []string{string(i.Addr.Node)},
			Message: fmt.Sprintf("%s on %s contributes to %s of %s what that does not accept: %s", i.Addr.Name, diag.Nodes, provide.Name, p.Addr, f.Message),
			Also:    []diag.Note{{At: accepts, Text: "this is what it accepts"}},
		})
	}
	return ds
}

// contributedAt is where the value stands that a fault speaks of, whose message begins with its name.
func contributedAt(q *evaluate.Require, message string) diag.Pos {
	name := message[:max(0, strings.IndexAny(message+" ", " .["))]
	if at, ok := q.Contributed[name]; ok && at.IsValid() {
		return at
	}
	if q.ContributesAt.IsValid() {
		return q.ContributesAt
	}
	return q.At
}

func unknownEndpoint(i *Instance, q *evaluate.Require, name string) diag.Diagnostic {
	var known []string
	for _, l := range i.Told.Listens {
		known = append(known, l.Name)
	}
	d := diag.Diagnostic{
		Code: diag.UnknownEndpoint, At: contributedAt(q, "endpoint"), On: []string{string(i.Addr.Node)},
		Message: fmt.Sprintf("%s on %s contributes the endpoint %s to %s, and listens on nothing of that name", i.Addr.Name, diag.Nodes, name, q.Provision),
	}
	if len(known) > 0 {
		d.Message += "; it listens on " + strings.Join(known, ", ")
	}
	if near := diag.Nearest(name, known); len(near) > 0 {
		d.Help = fmt.Sprintf("%q", near[0])
	}
	return d
}

func speltContribution(i *Instance, q *evaluate.Require) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.SpeltPlaceholder, At: q.ContributesAt,
		Message: fmt.Sprintf("what %s contributes to %s spells a placeholder for a secret; only a module can place a secret, and only its own", i.Addr, q.Provision),
	}
}

func speltBinding(p *Instance, provide *evaluate.Provide, i *Instance) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.SpeltPlaceholder, At: provide.At,
		Message: fmt.Sprintf("what %s serves or derives as %s for %s spells a placeholder for a secret; only a module can place a secret, and only its own", p.Addr, provide.Name, i.Addr),
	}
}

func speltLicence(at diag.Pos, name string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.SpeltPlaceholder, At: at,
		Message: fmt.Sprintf("what the licence %s serves spells a placeholder for a secret; only a module can place a secret, and only its own", name),
	}
}

func notKnown(i *Instance, q *evaluate.Require) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.NotKnown, At: q.ContributesAt,
		Message: fmt.Sprintf("what %s on %s contributes to %s cannot be known: it may depend on settings, ports and other bindings, and on nothing that comes later", i.Addr.Name, diag.Nodes, q.Provision),
		On:      []string{string(i.Addr.Node)},
	}
}

func bindingCircle(i *Instance, labels []string) diag.Diagnostic {
	slices.Reverse(labels)
	return diag.Diagnostic{
		Code: diag.BindingCircle, At: i.Told.Requirement(labels[0]).ContributesAt,
		Message: fmt.Sprintf("what %s on %s contributes depends on itself: %s", i.Addr.Name, diag.Nodes, strings.Join(labels, " reads the binding of ")),
		On:      []string{string(i.Addr.Node)},
	}
}

func notDerived(i, p *Instance, a *resolve.Answer, ds diag.List) diag.List {
	d := ds[0]
	provide := p.Told.Provision(a.Provision)
	return diag.List{{
		Code: diag.NotKnown, At: provide.At,
		Message: fmt.Sprintf("%s cannot derive what it gives %s on %s for %s: %s", p.Addr, i.Addr.Name, diag.Nodes, a.Provision, d.Message),
		On:      []string{string(i.Addr.Node)},
	}}
}

// sameDerived refuses consumers with one value of a name that must be unique, once for
// each value (CON-4).
func sameDerived(p *Instance, provide *evaluate.Provide, given []Given) diag.List {
	var ds diag.List
	for _, name := range provide.Unique {
		var values []string
		by := map[string][]Given{}
		for _, g := range given {
			if g.Derived.Get(name).Kind() == data.Absent {
				continue
			}
			v := string(g.Derived.Get(name).AppendKey(nil))
			if by[v] == nil {
				values = append(values, v)
			}
			by[v] = append(by[v], g)
		}
		for _, v := range values {
			if len(by[v]) > 1 {
				ds = append(ds, oneName(p, name, by[v]))
			}
		}
	}
	return ds
}

func oneName(p *Instance, name string, given []Given) diag.Diagnostic {
	given = slices.SortedStableFunc(slices.Values(given), func(a, b Given) int { return a.By.At.Compare(b.By.At) })
	var who []string
	for _, g := range given {
		w := g.By.Addr.String()
		if g.Pair.Consumer.Label != g.Pair.Provision {
			w += " (" + g.Pair.Consumer.Label + ")"
		}
		who = append(who, w)
	}
	end := len(given) - 1
	d := diag.Diagnostic{
		Code: diag.SameDerived, At: given[end].By.At,
		Message: fmt.Sprintf("%s and %s would have one %s at %s: %s", strings.Join(who[:end], ", "), who[end], name, p.Addr, plainly(given[end].Derived.Get(name))),
	}
	for k, g := range given[:end] {
		if g.By.At != d.At {
			d.Also = append(d.Also, diag.Note{At: g.By.At, Text: who[k] + " has it"})
		}
	}
	return d
}

// plainly writes a value as a person reads it: a text as it is, anything else as JSON.
func plainly(v data.Value) string {
	if v.Kind() == data.String && v.Text() != "" {
		return v.Text()
	}
	return v.String()
}

func onlyMachine(i *Instance, l evaluate.Listen, by addr.Instance) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BeyondReach, At: l.At, On: []string{string(by.Node)},
		Message: fmt.Sprintf("%s listens on %s for its own machine only, and %s reaches it from %s", i.Addr, l.Name, by.Name, diag.Nodes),
	}
}
