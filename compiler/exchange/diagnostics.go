package exchange

import (
	"fmt"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/resolve"
)

// contributed turns what does not fit a provider into refusals that name both lines (CON-10).
func contributed(i, p *Instance, q *evaluate.Require, faults diag.List, provide *evaluate.Provide) diag.List {
	var ds diag.List
	for _, f := range faults {
		at := q.ContributesAt
		if !at.IsValid() {
			at = q.At
		}
		ds = append(ds, diag.Diagnostic{
			Code: diag.NotAccepted, At: at,
			Message: fmt.Sprintf("%s contributes to %s of %s what that does not accept: %s", i.Addr, provide.Name, p.Addr, f.Message),
			Also:    []diag.Note{{At: provide.At, Text: "this provision says what it accepts"}},
		})
	}
	return ds
}

func unknownEndpoint(i *Instance, q *evaluate.Require, name string) diag.Diagnostic {
	var known []string
	for _, l := range i.Told.Listens {
		known = append(known, l.Name)
	}
	d := diag.Diagnostic{
		Code: diag.UnknownEndpoint, At: q.ContributesAt,
		Message: fmt.Sprintf("%s contributes the endpoint %s to %s, and listens on nothing of that name", i.Addr, name, q.Provision),
	}
	if len(known) > 0 {
		d.Message += "; it listens on " + strings.Join(known, ", ")
	}
	if near := diag.Nearest(name, known); len(near) > 0 {
		d.Help = fmt.Sprintf("endpoint: %q", near[0])
	}
	return d
}

func notKnown(i *Instance, q *evaluate.Require) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.NotKnown, At: q.ContributesAt,
		Message: fmt.Sprintf("what %s contributes to %s cannot be known: it may depend on settings, ports and other bindings, and on nothing that comes later", i.Addr, q.Provision),
	}
}

func bindingCircle(i *Instance, labels []string) diag.Diagnostic {
	slices.Reverse(labels)
	return diag.Diagnostic{
		Code: diag.BindingCircle, At: i.Told.Requirement(labels[0]).ContributesAt,
		Message: fmt.Sprintf("what %s contributes depends on itself: %s", i.Addr, strings.Join(labels, " reads the binding of ")),
	}
}

func notDerived(i, p *Instance, a *resolve.Answer, ds diag.List) diag.List {
	d := ds[0]
	provide := p.Told.Provision(a.Provision)
	return diag.List{{
		Code: diag.NotKnown, At: provide.At,
		Message: fmt.Sprintf("%s cannot derive what it gives %s for %s: %s", p.Addr, i.Addr, a.Provision, d.Message),
	}}
}

// sameDerived refuses two consumers with one value of a name that must be unique (CON-4).
func sameDerived(p *Instance, provide *evaluate.Provide, given []Given) diag.List {
	var ds diag.List
	for _, name := range provide.Unique {
		first := map[string]Given{}
		for _, g := range given {
			v := g.Derived.Get(name)
			k := string(v.AppendKey(nil))
			if other, ok := first[k]; ok {
				ds = append(ds, diag.Diagnostic{
					Code: diag.SameDerived, At: g.By.At,
					Message: fmt.Sprintf("%s (%s) and %s (%s) would both have the %s %s at %s", other.By.Addr, other.Pair.Consumer.Label, g.By.Addr, g.Pair.Consumer.Label, name, v.Text(), p.Addr),
					Also:    []diag.Note{{At: other.By.At, Text: other.By.Addr.String() + " has it"}},
				})
				continue
			}
			first[k] = g
		}
	}
	return ds
}

func onlyMachine(i *Instance, l evaluate.Listen, by addr.Instance) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BeyondReach, At: l.At,
		Message: fmt.Sprintf("%s listens on %s for its own machine only, and %s reaches it from another", i.Addr, l.Name, by),
	}
}
