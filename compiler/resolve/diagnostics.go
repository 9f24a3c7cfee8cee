package resolve

import (
	"fmt"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/load"
)

func severalModules(r *resolver, o *offer, q question, modules []*load.Module) problem {
	what := q.require.Provision
	var can []string
	for _, m := range modules {
		can = append(can, m.Name)
	}
	k := fmt.Sprintf("several-modules %s %v", what, can)
	return problem{node: o.spec.Name, key: k, asks: &q, say: func(h having) diag.Diagnostic {
		d := diag.Diagnostic{Code: diag.SeveralModules, At: h.at(), Also: h.also()}
		for _, m := range can {
			if d.Help == "" && r.mends(o, k, m, "", "") {
				d.Help = h.line(fmt.Sprintf("assign: %s: {}", key(m)))
			}
		}
		d.Message = fmt.Sprintf("%s, which %s could each answer", h.want(what), enumerate(can))
		return d
	}}
}

// nothingAnswers names what could be assigned, and gives the line where one machine asks
// and could run that itself.
func nothingAnswers(r *resolver, o *offer, q question, candidates []Candidate) problem {
	what := q.require.Provision
	k := fmt.Sprintf("nothing-answers %s %v", what, candidates)
	return problem{node: o.spec.Name, key: k, asks: &q, say: func(h having) diag.Diagnostic {
		d := diag.Diagnostic{Code: diag.NothingAnswers, At: h.at(), Also: h.also()}
		d.Message = h.want(what) + ", and nothing answers it"
		near := diag.Nearest(what, r.provisions())
		switch {
		case len(candidates) > 0:
			var lines []string
			for _, c := range candidates {
				lines = append(lines, c.Name+" "+c.Why)
			}
			d.Message += ": " + strings.Join(lines, "; ")
			for _, m := range r.byWhat[what] {
				if len(h.nodes) == 1 && d.Help == "" && r.mends(o, k, m.Name, "", "") {
					d.Help = h.line(fmt.Sprintf("assign: %s: {}", key(m.Name)))
				}
			}
		case len(near) > 0:
			d.Message += "; the nearest that something provides is " + enumerate(near)
		default:
			d.Message = h.want(what) + ", which no module provides and no licence answers"
		}
		return d
	}}
}

func severalAnswers(r *resolver, o *offer, q question, by []*Instance) problem {
	what := q.require.Provision
	can := names(by)
	here := !slices.ContainsFunc(by, func(i *Instance) bool {
		return i.Addr.Node != o.spec.Name || i.Interface.Provision(what).Scope != "node"
	})
	if here { // so that nodes which run the same are one fault, and have one line that mends it
		for k, i := range by {
			can[k] = i.Addr.Name
		}
	}
	k := fmt.Sprintf("several-answers %s %v", what, can)
	return problem{node: o.spec.Name, key: k, asks: &q, say: func(h having) diag.Diagnostic {
		d := diag.Diagnostic{Code: diag.SeveralAnswers, At: h.at(), Also: h.also()}
		for _, i := range by {
			pin := string(i.Addr.Node)
			for _, other := range by {
				if other != i && other.Addr.Node == i.Addr.Node {
					pin = i.Addr.String()
				}
			}
			text := i.Addr.String()
			if here {
				pin, text = i.Addr.Name, i.Addr.Name
			}
			if d.Help == "" && !slices.ContainsFunc(h.nodes, func(n addr.Node) bool { return !r.mends(r.offers[n], k, "", what, pin) }) {
				d.Help = h.line(fmt.Sprintf("pins: %s: %q", key(what), pin))
			}
			d.Also = append(d.Also, diag.Note{At: i.At, Text: text + " could answer"})
		}
		d.Message = fmt.Sprintf("%s, which %s could each answer", h.want(what), enumerate(can))
		return d
	}}
}

func licenceNotChosen(r *resolver, o *offer, q question, by []option, licences []string) problem {
	what := q.require.Provision
	k := fmt.Sprintf("licence %s %v %v", what, licences, names(instancesOf(by)))
	return problem{node: o.spec.Name, key: k, asks: &q, say: func(h having) diag.Diagnostic {
		d := diag.Diagnostic{Code: diag.LicenceNotChosen, At: h.at(), Also: h.also()}
		var can []string
		for _, l := range licences {
			can = append(can, "the licence "+l)
			d.Also = append(d.Also, diag.Note{At: r.src.Mesh.Licences[l].At, Text: "this licence answers " + what})
			if d.Help == "" && r.mends(o, k, "", what, l) {
				d.Help = h.line(fmt.Sprintf("pins: %s: %q", key(what), l))
			}
		}
		can = append(can, names(instancesOf(by))...)
		d.Message = fmt.Sprintf("%s, and has not chosen: a licence is never chosen silently; it could be %s", h.want(what), strings.Join(can, " or "))
		return d
	}}
}

func noMatch(o *offer, q question, others []Candidate) problem {
	var asks, why []string
	for _, c := range q.require.Where {
		asks = append(asks, c.Text)
	}
	for _, c := range others {
		why = append(why, c.Name+" "+c.Why)
	}
	k := fmt.Sprintf("no-match %s %v %v", q.require.Provision, asks, others)
	return problem{node: o.spec.Name, key: k, asks: &q, say: func(h having) diag.Diagnostic {
		return diag.Diagnostic{
			Code: diag.NoMatch, At: h.at(), Also: h.also(),
			Message: fmt.Sprintf("%s where %s: %s", h.want(q.require.Provision), strings.Join(asks, ", "), strings.Join(why, "; ")),
		}
	}}
}

// far is a provider that is out of reach, and the networks it is on.
type far struct{ name, on string }

func noSharedNetwork(o *offer, q question, mine string, others []far) problem {
	var them []string
	for _, f := range others {
		them = append(them, f.name+" (on "+f.on+")")
	}
	k := fmt.Sprintf("no-network %s %v %s", q.require.Provision, others, mine)
	return problem{node: o.spec.Name, key: k, asks: &q, say: func(h having) diag.Diagnostic {
		has, are := " has", " is on "
		if len(them) > 1 {
			has = " have"
		}
		if len(h.nodes) > 1 {
			are = " are on "
		}
		return diag.Diagnostic{
			Code: diag.NoSharedNetwork, At: h.at(), Also: h.also(),
			Message: fmt.Sprintf("%s, which %s%s, and there is no private network in common: %s%s%s", h.want(q.require.Provision), enumerate(them), has, onNodes(h.nodes), are, mine),
		}
	}}
}

func whereTooLate(q question, others []Candidate) diag.Diagnostic {
	at := q.require.At
	for _, c := range q.require.Where {
		if c.At.IsValid() && strings.Contains(others[0].Why, " "+strings.Join(c.Path, ".")+" ") {
			at = c.At
		}
	}
	return diag.Diagnostic{
		Code: diag.WhereTooLate, At: at,
		Message: fmt.Sprintf("requirement %s of module %s asks for something that is known only once ports are assigned: %s %s", q.require.Label, q.by.Module.Name, others[0].Name, others[0].Why),
	}
}

func omittedButNeeded(q question, module string, at diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.OmittedButNeeded, At: at,
		Message: fmt.Sprintf("%s omits %s, and %s there requires %s, which only %s would answer", q.by.Addr.Node, module, q.by.Addr.Name, q.require.Provision, module),
		Also:    []diag.Note{{At: q.by.At, Text: q.by.Addr.Name + " is here"}},
	}
}

// pinElsewhere is about what is answered on the node itself: a pin names an instance of
// it, or a module to bring.
func pinElsewhere(r *resolver, o *offer, q question, pin load.Text, on []string) problem {
	what := q.require.Provision
	k := fmt.Sprintf("pin-elsewhere %s %s %v", what, pin.Value, pin.At)
	return problem{node: o.spec.Name, key: k, say: func(h having) diag.Diagnostic {
		d := diag.Diagnostic{Code: diag.PinElsewhere, At: pin.At}
		d.Message = fmt.Sprintf("%s is pinned to %s for %s on %s, and that is no instance there which answers it, nor a module that could be brought", what, pin.Value, q.by.Addr.Name, onNodes(h.nodes))
		if len(on) > 0 {
			d.Message += fmt.Sprintf("; on %s it is answered by %s", o.spec.Name, enumerate(on))
		}
		var can []string
		for _, n := range h.nodes {
			for _, i := range r.offers[n].instances {
				if _, provides := i.Module.Provides[what]; provides {
					can = append(can, i.Addr.Name)
				}
			}
		}
		for _, m := range r.byWhat[what] {
			can = append(can, m.Name)
		}
		d.Help = r.pinThatMends(q, pin, k, append(diag.Nearest(pin.Value, can), can...))
		return d
	}}
}

// pinThatMends is the first of the values that mends a pin on every node that its line
// touches, quoted; empty where none does.
func (r *resolver) pinThatMends(q question, pin load.Text, without string, values []string) string {
	if _, own := q.by.pins[q.require.Label]; own {
		return "" // it is said at the instance, which is not tried
	}
	var touched []*offer
	for _, n := range r.nodes {
		o := r.offers[n]
		if slices.ContainsFunc(r.open(o), func(q question) bool {
			p, ok := r.pin(o, q.by, q.require.Label, q.require.Provision)
			return ok && p == pin
		}) {
			touched = append(touched, o)
		}
	}
	var tried []string
	for _, v := range values {
		if slices.Contains(tried, v) {
			continue
		}
		tried = append(tried, v)
		if !slices.ContainsFunc(touched, func(o *offer) bool { return !r.mends(o, without, "", q.require.Provision, v) }) {
			return fmt.Sprintf("%q", v)
		}
	}
	return ""
}

func pinNotThere(r *resolver, o *offer, q question, pin load.Text, by []*Instance, beyond []Candidate) problem {
	k := fmt.Sprintf("pin-elsewhere %s %s %v", q.require.Provision, pin.Value, pin.At)
	return problem{node: o.spec.Name, key: k, say: func(h having) diag.Diagnostic {
		d := diag.Diagnostic{Code: diag.PinElsewhere, At: pin.At}
		d.Message = fmt.Sprintf("%s is pinned to %s for %s on %s, and %s does not provide it", q.require.Provision, pin.Value, q.by.Addr.Name, onNodes(h.nodes), pin.Value)
		for _, c := range beyond {
			if strings.HasSuffix(c.Name, "@"+pin.Value) || c.Name == pin.Value {
				d.Message += ": " + c.Name + " " + c.Why
			}
		}
		if len(by) > 0 {
			d.Message += "; " + enumerate(names(by)) + provide(len(by))
			var values []string
			for _, i := range by {
				values = append(values, string(i.Addr.Node), i.Addr.String())
			}
			d.Help = r.pinThatMends(q, pin, k, values)
		}
		return d
	}}
}

func provide(n int) string {
	if n == 1 {
		return " does"
	}
	return " do"
}

func pinUnknown(q question, pin load.Text, near []string) problem {
	return problem{node: q.by.Addr.Node, key: fmt.Sprintf("pin-unknown %v", pin), say: func(having) diag.Diagnostic {
		d := diag.Diagnostic{
			Code: diag.PinUnknown, At: pin.At,
			Message: fmt.Sprintf("%s is pinned to %q, which is neither a node, nor instance@node, nor a licence", q.require.Provision, pin.Value),
		}
		if len(near) > 0 {
			d.Message += "; did you mean " + near[0] + "?"
			d.Help = fmt.Sprintf("%q", near[0])
		}
		return d
	}}
}

func licenceElsewhere(q question, pin load.Text, l *load.Licence) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.PinElsewhere, At: pin.At, Message: fmt.Sprintf("%s is pinned to the licence %s, which answers %s", q.require.Provision, pin.Value, l.Answers.Value),
		Also: []diag.Note{{At: l.Answers.At, Text: "it answers this"}},
	}
}

func groupsPinApart(provision, a string, p load.Text, b string, q load.Text) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.GroupsDisagree, At: p.At, Message: fmt.Sprintf("%s and %s pin %s to different answers, and neither is stronger", b, a, provision),
		Also: []diag.Note{{At: q.At, Text: b + " pins it here"}},
	}
}

func groupsOpenApart(node addr.Node, port, a string, p load.Open, b string, q load.Open) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.GroupsDisagree, At: q.At, On: []string{string(node)},
		Message: fmt.Sprintf("%s and %s open %s differently for %s, and neither is stronger", a, b, port, diag.Nodes),
		Also:    []diag.Note{{At: p.At, Text: a + " opens it here"}},
	}
}

func leftOutOptional(q question, on []string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.LeftOutOptional, At: q.by.At,
		Message: fmt.Sprintf("%s would take %s, which %s could each answer; it is left out until one is chosen", q.by.Addr, q.require.Provision, enumerate(on)),
		Help:    fmt.Sprintf("nodes: %s: pins: %s: %q", key(string(q.by.Addr.Node)), key(q.require.Provision), on[0]),
	}
}

func claimHeldTwice(scope, where string, first, second holder) problem {
	k := fmt.Sprintf("claim %s %s %s %s %v %v", scope, second.claim.Name, first.by.Addr.Name, second.by.Addr.Name, first.by.At, second.by.At)
	if scope != "node" {
		k += first.by.Addr.String() + second.by.Addr.String()
	}
	return problem{node: second.by.Addr.Node, key: k, say: func(h having) diag.Diagnostic {
		d := diag.Diagnostic{Code: diag.ClaimHeldTwice, At: second.by.At}
		on := "on " + onNodes(h.nodes) + " too"
		help := "a node can have one of them; remove one of these lines"
		switch scope {
		case "site":
			on, help = fmt.Sprintf("on %s, and %s is on %s, both at site %s", second.by.Addr.Node, first.by.Addr.Name, first.by.Addr.Node, where), "a site can have one of them; remove one of these lines"
		case "mesh":
			on, help = fmt.Sprintf("on %s, and %s is on %s", second.by.Addr.Node, first.by.Addr.Name, first.by.Addr.Node), "a mesh can have one of them; remove one of these lines"
		}
		d.Message = fmt.Sprintf("%s claims %s %s", holds(second.by), second.claim.Name, on)
		d.Also = []diag.Note{{At: first.by.At, Text: holds(first.by) + " holds it"}}
		if first.by.At != second.by.At {
			d.Help = help
		}
		return d
	}}
}

// holds names an instance, and what brought it in where nobody assigned it.
func holds(i *Instance) string {
	if i.Assigned || len(i.Brought) == 0 {
		return i.Addr.Name
	}
	return i.Brought[0].Instance + " brings " + i.Addr.Name + ", which"
}

func twoModules(name string, a, b placed) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.TwoModules, At: b.ModuleAt, Message: fmt.Sprintf("instance %s is module %s in %s and module %s in %s", name, a.Module, a.stratum.name, b.Module, b.stratum.name),
		Also: []diag.Note{{At: a.ModuleAt, Text: "the other assignment"}},
	}
}

func unknownModule(a placed, instance string, near []string) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.UnknownModule, At: a.ModuleAt, Message: fmt.Sprintf("there is no module %s", a.Module)}
	if len(near) == 0 {
		d.Message += ", neither built in nor in modules/; `meshc catalog` lists those there are"
		return d
	}
	d.Message += "; did you mean " + strings.Join(near, ", ") + "?"
	d.Help = key(near[0])
	if a.Module != instance {
		d.Help = fmt.Sprintf("%q", near[0])
	}
	return d
}

func unknownSite(s load.Text, near []string) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.UnknownSite, At: s.At, Message: fmt.Sprintf("the mesh has no site %s", s.Value), Help: fmt.Sprintf("sites: %s: {}", key(s.Value))}
	if len(near) > 0 {
		d.Message += "; did you mean " + near[0] + "?"
		d.Help = fmt.Sprintf("%q", near[0])
	}
	return d
}

func unknownGroup(g string, at diag.Pos, near []string) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.UnknownGroup, At: at, Message: fmt.Sprintf("the mesh has no group %s", g), Help: fmt.Sprintf("groups: %s: {}", key(g))}
	if len(near) > 0 {
		d.Message += "; did you mean " + near[0] + "?"
		d.Help = key(near[0])
	}
	return d
}

func settingsUnknown(module string, at diag.Pos, near []string) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.UnknownModule, At: at, Message: fmt.Sprintf("these settings are for a module %s, which there is not", module)}
	if len(near) > 0 {
		d.Message += "; did you mean " + near[0] + "?"
		d.Help = key(near[0])
	}
	return d
}

func sameIdentity(kind string, n *load.Node, t load.Text, other *load.Node) diag.Diagnostic {
	what, at := map[string]string{"recipient": "the recipient", "wireguard": "the WireGuard key", "address": "the address"}[kind], other.Recipient.At
	switch kind {
	case "wireguard":
		at = other.WireGuard.At
	case "address":
		at = other.Address.At
	}
	d := diag.Diagnostic{
		Code: diag.SameIdentity, At: t.At, Message: fmt.Sprintf("%s and %s have %s in common; each machine has its own", other.Name, n.Name, what),
		Also: []diag.Note{{At: at, Text: string(other.Name) + " has it here"}},
	}
	if kind != "address" {
		d.Help = "mesh-host init " + string(n.Name)
	}
	return d
}

func nodeAndLicence(n *load.Node, l *load.Licence) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.SameIdentity, At: l.At, Message: fmt.Sprintf("%s is the name of a node and of a licence, and a pin could mean either", n.Name),
		Also: []diag.Note{{At: n.At, Text: "the node"}},
	}
}

func settingsNowhere(module, where string, at diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.SettingsNowhere, At: at, Message: fmt.Sprintf("%s has settings for %s, which runs on none of its nodes", where, module)}
}

func omitsNothing(name string, node addr.Node, at diag.Pos, near []string) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.OmitNothing, At: at, Message: fmt.Sprintf("%s omits %s, which nothing assigns to it", node, name)}
	if len(near) > 0 {
		d.Message += "; did you mean " + near[0] + "?"
	}
	return d
}

func pinUnused(what, where string, at diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.PinUnused, At: at, Message: fmt.Sprintf("%s pins %s, which nothing there requires", where, what)}
}

func networkServes(i *Instance, p *evaluate.Provide) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.NetworkServes, At: p.At,
		Message: fmt.Sprintf("%s provides private-network and does not serve network and name, which must be known without ports", i.Addr),
	}
}
