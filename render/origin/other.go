package origin

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/plan"
	"meshc.dev/render"
	"meshc.dev/render/bundle"
)

// named are other values of a setting that its module names: those of an enumeration, and whatever else
// stands where a field of that name does.
func (p *prober) named(key string, v data.Value) []data.Value {
	if v.Kind() != data.String {
		return nil
	}
	var out []data.Value
	seen := map[string]bool{v.Text(): true}
	for _, f := range p.node.Instances[p.index].Module.Files {
		ast.Walk(f, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok {
				return true
			}
			if label, _, err := ast.LabelName(field.Label); err != nil || label != key {
				return true
			}
			ast.Walk(field.Value, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if s, err := strconv.Unquote(lit.Value); err == nil && !seen[s] {
						seen[s] = true
						out = append(out, data.NewString(s))
					}
				}
				return true
			}, nil)
			return true
		}, nil)
	}
	return out
}

// onMachine is a path as the machine has it, of one that may begin in the folder of bundles: dist/board/files/etc/x,
// board/files/etc/x and files/etc/x are /etc/x.
func onMachine(node addr.Node, arg string) string {
	p := path.Clean(strings.ReplaceAll(arg, `\`, "/"))
	parts := strings.Split(p, "/")
	for k, part := range parts {
		if part == "files" && k+1 < len(parts) && (k == 0 && !strings.HasPrefix(p, "/") || k > 0 && parts[k-1] == string(node)) {
			return "/" + strings.Join(parts[k+1:], "/")
		}
	}
	if !strings.HasPrefix(p, "/") {
		return "/" + p
	}
	return p
}

// nothingWrites names the nearest file that something does write.
func nothingWrites(b *bundle.Bundle, node addr.Node, p string) error {
	var known []string
	for _, item := range b.Declaration.Items {
		switch i := item.(type) {
		case *bundle.File:
			known = append(known, i.Path)
		case *bundle.Block:
			known = append(known, i.Path)
		case *bundle.Secret:
			known = append(known, i.Path)
		}
	}
	near := diag.Nearest(p, known)
	if len(near) == 0 {
		for _, k := range known {
			if k != "" && path.Base(k) == path.Base(p) {
				near = append(near, k)
			}
		}
	}
	if len(near) > 0 {
		return fmt.Errorf("nothing of %s writes %s; did you mean %s?", node, p, strings.Join(near, ", "))
	}
	return fmt.Errorf("nothing of %s writes %s", node, p)
}

// secretAt explains a file that holds one secret and nothing else.
func secretAt(n *plan.Node, p string) *Origin {
	for _, i := range n.Instances {
		for _, r := range i.Resources {
			if r.Secret != nil && r.Secret.Path == p {
				return &Origin{
					Node: string(n.Name), Path: p, Resource: r.ID.String(), Module: i.Module, At: place(r.At),
					From: []Source{secret("its content", r.Secret)},
				}
			}
		}
	}
	return nil
}

// secret says what a secret is, and never its value.
func secret(input string, s *plan.Secret) Source {
	said := []string{fmt.Sprintf("generation %d in %s", s.Generation, lock.File)}
	if s.Generation == 0 {
		said = []string{"it has yet to be made: `meshc lock`"}
	}
	if s.Supplied {
		said = append(said, "a person supplies it: `meshc accept`")
	}
	return Source{Input: input, Value: "a secret, " + s.Key, Said: append(said, "`meshc holders` says who can open it")}
}

// secrets are those that the machine puts into the line, or anywhere where the whole file is asked for.
func (p *prober) secrets(b *bundle.Bundle, n *plan.Node) []Source {
	var out []Source
	for _, item := range b.Declaration.Items {
		f, ok := item.(*bundle.File)
		if !ok || f.Path != p.path {
			continue
		}
		e, _ := b.Entry(f.Source)
		for _, x := range f.Fills {
			if at := 1 + strings.Count(string(e.Data[:x.Offset]), "\n"); p.line > 0 && at != p.line {
				continue
			}
			for _, i := range n.Instances {
				for _, r := range i.Resources {
					if r.Secret == nil || bundle.ID(r.ID.String()) != x.Secret {
						continue
					}
					s := secret("in."+inputOf(r.ID.Name)+"."+string(x.Encoding), r.Secret)
					if !slices.ContainsFunc(out, func(o Source) bool { return o.Input == s.Input }) {
						out = append(out, s)
					}
				}
			}
		}
	}
	return out
}

// inputOf is what a module calls a secret: requires.database is secrets.database, needs.key is needs.key.
func inputOf(name string) string {
	if label, ok := strings.CutPrefix(name, "requires."); ok {
		return "secrets." + label
	}
	return name
}

// computed tries what the compiler works out such a file from: every machine's addresses, names and keys, and
// what this one lets in. A machine whose values stand nowhere in the file is not tried.
func (p *prober) computed(n *plan.Node) []Source {
	var out []Source
	text := strings.Join(p.lines, "\n")
	for _, other := range p.r.Plan.Nodes {
		try := func(what, value, said string, change func(*plan.Node)) {
			if value != "" && strings.Contains(text, value) && p.without(n, other, change) {
				out = append(out, Source{what + " of " + string(other.Name), value, []string{said}})
			}
		}
		at := place(other.At)
		try("the endpoint", other.Endpoint, place(other.EndpointAt), func(n *plan.Node) { n.Endpoint = "198.51.100.97" })
		try("the WireGuard key", other.WireGuard, at, func(n *plan.Node) { n.WireGuard = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=" })
		if other.Address.IsValid() {
			try("the address", other.Address.String(), fmt.Sprintf("%s has %q", lock.File, other.Name), func(n *plan.Node) {
				n.Address = n.Address.Next()
				for k := range n.Networks {
					if n.Networks[k].Address == other.Address.String() {
						n.Networks[k].Address = n.Address.String()
					}
				}
			})
		}
		for k, w := range other.Networks {
			try("the name", w.Name, w.Instance+" names it so", func(n *plan.Node) { n.Networks[k].Name += "x" })
		}
		for k, r := range other.Routes {
			said := at
			if k < len(other.RoutesAt) {
				said = place(other.RoutesAt[k])
			}
			try("a route", r.String(), said, func(n *plan.Node) { n.Routes = slices.Delete(n.Routes, k, k+1) })
		}
	}
	for k, o := range n.Opens {
		if p.without(n, n, func(n *plan.Node) { n.Opens = slices.Delete(n.Opens, k, k+1) }) {
			out = append(out, Source{"the way in " + o.Instance + "/" + o.Name, fmt.Sprintf("%s %d from %s", o.Protocol, o.Port, o.From), []string{"who takes something from it decides how far it is reached; a rule says so itself"}})
		}
	}
	for k, r := range n.Reserved {
		if p.without(n, n, func(n *plan.Node) { n.Reserved = slices.Delete(n.Reserved, k, k+1) }) {
			out = append(out, Source{"the reserved port", strconv.Itoa(r.From), []string{r.Reason + " at " + place(r.At)}})
		}
	}
	return out
}

// without says whether the text is another once a machine is changed.
func (p *prober) without(of, changed *plan.Node, change func(*plan.Node)) bool {
	again := *p.r.Plan
	again.Complete = false
	again.Nodes = slices.Clone(p.r.Plan.Nodes)
	k := slices.Index(again.Nodes, changed)
	if k < 0 {
		return false
	}
	x := *changed
	x.Networks, x.Routes = slices.Clone(x.Networks), slices.Clone(x.Routes)
	x.Opens, x.Reserved = slices.Clone(x.Opens), slices.Clone(x.Reserved)
	change(&x)
	again.Nodes[k] = &x
	if of == changed {
		of = &x
	}
	b, ds := render.New(&again, render.Origin{}).Node(of)
	if ds.HasErrors() {
		return false
	}
	content, ok := contentOf(b, p.path)
	if !ok {
		return true
	}
	now := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	if p.line == 0 {
		return !slices.Equal(now, p.lines)
	}
	return !slices.Contains(now, p.text)
}
