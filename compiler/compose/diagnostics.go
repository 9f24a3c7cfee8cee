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

// twice names both instances and where each is assigned.
func twice(node addr.Node, what string, first, second plan.Resource, place func(addr.Resource) diag.Pos) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: diag.ResourceTwice, At: place(second.ID), Message: fmt.Sprintf("on %s, %s and %s both claim %s", diag.Nodes, first.ID, second.ID, what),
		On: []string{string(node)},
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
