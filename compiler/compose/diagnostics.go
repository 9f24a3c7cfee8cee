package compose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/exchange"
	"meshc.dev/compiler/plan"
)

func noCredentialPlace(i *exchange.Instance, p *evaluate.Provide) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.NoCredentialPlace, At: p.At, Message: fmt.Sprintf("%s gives credentials for %s and says no directory for them", i.Addr, p.Name),
		Help: fmt.Sprintf("provides: %s: secrets: path: \"/etc/%s/consumers.d\"", p.Name, i.Module.Name),
	}
}

func secretReadable(id addr.Resource, at diag.Pos, mode string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.BadResource, At: at, Message: fmt.Sprintf("mode of %s: it is a secret, and with %s everybody on the machine could read it", id, mode), Help: `"0600"`}
}

func badTarget(id addr.Resource, at diag.Pos, why string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.BadResource, At: at, Message: fmt.Sprintf("%s: %s", id, why)}
}

func unknownListen(r plan.Resource, name string, ls []plan.Listen) diag.Diagnostic {
	var known []string
	for _, l := range ls {
		known = append(known, l.Name)
	}
	d := diag.Diagnostic{Code: diag.UnknownListen, At: named(r, name), Message: fmt.Sprintf("%s publishes %s, which is none of its listens", r.ID, name)}
	if len(known) > 0 {
		d.Message += " (" + strings.Join(known, ", ") + ")"
	}
	if near := diag.Nearest(name, known); len(near) > 0 {
		d.Help = fmt.Sprintf("%q", near[0])
	}
	return d
}

func badMapping(r plan.Resource, s string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.UnknownListen, At: named(r, s), Message: fmt.Sprintf("%s publishes %q, which is neither a listen nor a mapping such as \"127.0.0.1:8080:80\" with a port of the machine", r.ID, s)}
}

func badFrom(i *exchange.Instance, r evaluate.Rule) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.BadResource, At: r.At, Message: fmt.Sprintf("rule %s of %s opens to %q, which is neither machine, network, world nor a prefix", r.Name, i.Addr, r.From)}
}

func unknownRuleListen(i *exchange.Instance, r evaluate.Rule) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.UnknownListen, At: r.At, Message: fmt.Sprintf("rule %s of %s opens the listen %s, which it does not have", r.Name, i.Addr, r.Listen)}
}

// pathNotASCII shows a path by its characters' numbers, since the eye takes one for another.
func pathNotASCII(node addr.Node, r plan.Resource, path string, place func(addr.Resource) diag.Pos) diag.Diagnostic {
	at := r.At
	if !at.IsValid() {
		at = place(r.ID)
	}
	return diag.Diagnostic{
		Code: diag.PathNotASCII, At: at, On: []string{string(node)},
		Message: fmt.Sprintf("%s on %s has the path %s", r.ID, diag.Nodes, strconv.QuoteToASCII(path)),
	}
}

// notPublished speaks of the module, so that several instances of it say it once.
func notPublished(i *exchange.Instance, listen string) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: diag.Unpublished, At: i.At,
		Message: fmt.Sprintf("the listen %s of module %s is reached, and none of its containers publishes it: nothing answers at its port", listen, i.Module.Name),
		Help:    fmt.Sprintf("publishes: [%q]", listen),
	}
	for _, l := range i.Told.Listens {
		if l.Name == listen && l.At.IsValid() {
			d.At = l.At
		}
	}
	return d
}

// ruleOpensNothing speaks of the module, as notPublished does; bound is the one network that the
// listen is reached over, where it is not the machine alone.
func ruleOpensNothing(i *exchange.Instance, r evaluate.Rule, bound string, said bool) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: diag.RuleOpensNo, At: r.At, On: []string{string(i.Addr.Node)},
		Message: fmt.Sprintf("rule %s of module %s opens its listen %s to %s, and on %s that is bound to ", r.Name, i.Module.Name, r.Listen, r.From, diag.Nodes),
	}
	switch {
	case said:
		d.Message += "an address where this changes nothing"
		return d
	case bound != "":
		d.Message += "its address on " + bound + ", since only others there need it"
	default:
		d.Message += "the machine alone, since nobody elsewhere needs it"
	}
	d.Help = fmt.Sprintf("listens: %s: reach: \"world\"", r.Listen)
	if r.From == "network" {
		d.Help = fmt.Sprintf("listens: %s: reach: \"network\"", r.Listen)
	}
	return d
}

// goneAfterBoot speaks of the module too.
func goneAfterBoot(id addr.Resource, at diag.Pos, path, under string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.GoneAfterBoot, At: at,
		Message: fmt.Sprintf("%s is %s, and what is below %s is gone after each boot, until the next apply", id.Local(), path, under),
	}
}

// secretUnnoticed, secretUnreadable and timerStarts speak of the module, so that several instances of it say it once.
func secretUnnoticed(r plan.Resource, module string, s sensitive, restart []addr.Resource) diag.Diagnostic {
	var all []string
	for _, other := range append(slices.Clone(restart), s.id) {
		name := other.String()
		if other.Instance == r.ID.Instance {
			name = other.Local()
		}
		all = append(all, strconv.Quote(name))
	}
	return diag.Diagnostic{
		Code: diag.SecretUnnoticed, At: r.At,
		Message: fmt.Sprintf("%s of module %s reads %s, and neither restart_on nor reload_on names it: it goes on with the old secret after a new one was made", r.ID.Local(), module, s.id.Local()),
		Help:    "restart_on: [" + strings.Join(all, ", ") + "]",
	}
}

func secretUnreadable(r plan.Resource, module string, s sensitive, user string) diag.Diagnostic {
	owner := s.owner
	if owner == "" {
		owner = "root"
	}
	return diag.Diagnostic{
		Code: diag.SecretUnreadable, At: r.At,
		Message: fmt.Sprintf("%s of module %s runs as %s and is given %s, which belongs to %s with mode %s: it cannot read it", r.ID.Local(), module, user, s.id.Local(), owner, s.mode),
		Help:    fmt.Sprintf("owner: %q", user),
	}
}

func timerStarts(r plan.Resource, module, timer string) diag.Diagnostic {
	what := "starts it, and waits for it, at every apply"
	if r.Unit.State == "stopped" {
		what = "kills it at every apply, in the middle of its work"
	}
	return diag.Diagnostic{
		Code: diag.TimerStarts, At: r.At,
		Message: fmt.Sprintf("%s of module %s is started by %s, and as %s the machine %s", r.ID.Local(), module, timer, r.Unit.State, what),
		Help:    `state: "triggered"`,
	}
}

// twice names both instances and where each is assigned; two resources of one instance are its module's fault.
func twice(node addr.Node, c collision, place func(addr.Resource) diag.Pos) diag.Diagnostic {
	first, second := c.first, c.second
	if own := first.ID.Instance == second.ID.Instance; own && second.At.IsValid() && !strings.HasPrefix(second.At.File, "catalog/") {
		d := diag.Diagnostic{Code: diag.ResourceTwice, At: second.At, Message: fmt.Sprintf("%s and %s both claim %s", first.ID, second.ID, c.what[0])}
		if first.At != second.At {
			d.Also = []diag.Note{{At: first.At, Text: first.ID.String() + " claims it"}}
		}
		return d
	}
	d := diag.Diagnostic{
		Code: diag.ResourceTwice, At: place(second.ID), Message: fmt.Sprintf("on %s, %s and %s both claim %s", diag.Nodes, first.ID, second.ID, c.what[0]),
		On: []string{string(node)},
	}
	if more := c.what[1:]; len(more) > 0 {
		const most = 3
		of := slices.Clone(c.what[:min(len(c.what), most)])
		if n := len(c.what) - most; n > 0 {
			of = append(of, fmt.Sprintf("%d more", n))
		}
		d.Message = fmt.Sprintf("on %s, %s and %s both claim %s and %s", diag.Nodes, first.ID.Instance, second.ID.Instance, strings.Join(of[:len(of)-1], ", "), of[len(of)-1])
	}
	if at := place(first.ID); at != d.At {
		d.Also = append(d.Also, diag.Note{At: at, Text: first.ID.Instance + " is assigned here"})
	}
	return d
}

// named is where a resource names something.
func named(r plan.Resource, what string) diag.Pos {
	if at, ok := r.Named[what]; ok {
		return at
	}
	return r.At
}

// unknownResource speaks of the module where it named one of its own, so that several instances of it say it once.
func unknownResource(of plan.Resource, module string, ref addr.Resource, known map[addr.Resource]bool) diag.Diagnostic {
	own := of.ID.Instance == ref.Instance
	var names []string
	for k := range known {
		switch {
		case own && k.Instance == ref.Instance:
			names = append(names, k.Local())
		case !own:
			names = append(names, k.String())
		}
	}
	slices.Sort(names)
	d := diag.Diagnostic{Code: diag.UnknownResource, At: named(of, ref.String()), Message: fmt.Sprintf("%s depends on %s, which does not exist on its node", of.ID, ref)}
	written := ref.String()
	if own {
		written = ref.Local()
		d.At = named(of, written)
		d.Message = fmt.Sprintf("%s of module %s depends on %s, which it does not have", of.ID.Local(), module, written)
	}
	if near := diag.Nearest(written, names); len(near) > 0 {
		d.Message += "; did you mean " + near[0] + "?"
		d.Help = fmt.Sprintf("%q", near[0])
	}
	return d
}
