package load

import (
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"meshc.dev/compiler/diag"
)

// unknownNames finds what a module reads of its inputs and settings that is not there: CUE would only
// say that something in a text has no value. What is asked for with `!= _|_` somewhere may be absent.
func unknownNames(m *Module) diag.List {
	n := names{module: m, asked: map[string]bool{}}
	for _, f := range m.Files {
		ast.Walk(f, n.ask, nil)
	}
	for _, f := range m.Files {
		for _, d := range f.Decls {
			ast.Walk(d, n.read, nil)
		}
	}
	return n.ds
}

type names struct {
	module *Module
	asked  map[string]bool
	ds     diag.List
}

func (n *names) ask(x ast.Node) bool {
	b, ok := x.(*ast.BinaryExpr)
	if !ok || b.Op != token.EQL && b.Op != token.NEQ || !isNothing(b.X) && !isNothing(b.Y) {
		return true
	}
	for _, e := range []ast.Expr{b.X, b.Y} {
		if ident, path := selected(e); ident != nil {
			n.asked[strings.Join(append([]string{ident.Name}, path...), ".")] = true
		}
	}
	return true
}

// read looks at one selection; those within it are parts of it.
func (n *names) read(x ast.Node) bool {
	e, ok := x.(ast.Expr)
	if !ok {
		return true
	}
	switch e.(type) {
	case *ast.SelectorExpr, *ast.IndexExpr:
	default:
		return true
	}
	ident, path := selected(e)
	if ident == nil || len(path) == 0 || ident.Name != "in" && ident.Name != "settings" || !n.top(ident) {
		return true
	}
	at := []string{ident.Name}
	known, closed := n.known(at)
	for _, p := range path {
		if !closed {
			return true
		}
		whole := strings.Join(append(slices.Clone(at), p), ".")
		if !slices.Contains(known, p) {
			if !n.asked[whole] {
				n.ds = append(n.ds, unknownName(span(e), n.module.Name, strings.Join(at, "."), p, known))
			}
			return false
		}
		at = append(at, p)
		known, closed = n.known(at)
	}
	return true
}

// top says whether a name is that of the module's own field.
func (n *names) top(ident *ast.Ident) bool {
	for _, f := range n.module.Files {
		found := false
		ast.Walk(f, func(x ast.Node) bool {
			switch x := x.(type) {
			case *ast.Field:
				label, _, _ := ast.LabelName(x.Label)
				found = found || label == ident.Name && !slices.Contains(f.Decls, ast.Decl(x)) && x.Value != nil && !n.inTopComprehension(f, x)
			case *ast.LetClause:
				found = found || x.Ident.Name == ident.Name
			case *ast.ForClause:
				found = found || x.Key != nil && x.Key.Name == ident.Name || x.Value != nil && x.Value.Name == ident.Name
			}
			return !found
		}, nil)
		if found {
			return false
		}
	}
	return true
}

func (n *names) inTopComprehension(f *ast.File, field *ast.Field) bool {
	for _, d := range f.Decls {
		if c, ok := d.(*ast.Comprehension); ok {
			if s, ok := c.Value.(*ast.StructLit); ok && slices.Contains(s.Elts, ast.Decl(field)) {
				return true
			}
		}
	}
	return false
}

// known lists the names inside of an input or a setting, and says whether there are no others.
func (n *names) known(path []string) (out []string, closed bool) {
	if path[0] == "settings" {
		return labels(topFields(n.module.Files, "settings"), path[1:])
	}
	if len(path) == 1 {
		return inputFields()
	}
	of := map[string]string{"ports": "listens", "addresses": "listens", "bindings": "requires", "secrets": "requires", "needs": "needs", "consumers": "provides"}
	switch field := of[path[1]]; {
	case len(path) != 2:
		return nil, false
	case field != "":
		return labels(topFields(n.module.Files, field), nil)
	}
	return inputFields(path[1])
}

// labels are the names of the fields of structs that hold nothing but fields.
func labels(structs []ast.Node, path []string) (out []string, closed bool) {
	for _, x := range structs {
		s, ok := x.(*ast.StructLit)
		if !ok {
			return nil, false
		}
		for _, d := range s.Elts {
			switch f := d.(type) {
			case *ast.Field:
				label, _, err := ast.LabelName(f.Label)
				if _, pattern := f.Label.(*ast.ListLit); err != nil || pattern {
					return nil, false
				}
				out = append(out, label)
			case *ast.CommentGroup, *ast.Attribute:
			default:
				return nil, false
			}
		}
	}
	if len(path) == 0 {
		return out, true
	}
	var inner []ast.Node
	for _, x := range structs {
		for _, d := range x.(*ast.StructLit).Elts {
			if f, ok := d.(*ast.Field); ok {
				if label, _, _ := ast.LabelName(f.Label); label == path[0] {
					inner = append(inner, f.Value)
				}
			}
		}
	}
	return labels(inner, path[1:])
}

// inputFields are the names inside of `in`, or of one of its structs that have always the same.
func inputFields(path ...string) (out []string, closed bool) {
	f, err := parser.ParseFile("schema.cue", looseSchema())
	if err != nil {
		panic(err) // a constant of this package
	}
	for _, x := range topFields([]*ast.File{f}, "#Module") {
		s := x.(*ast.StructLit)
		in := s.Elts[0].(*ast.Field)
		return labels([]ast.Node{in.Value}, path)
	}
	return nil, false
}

func unknownName(at diag.Pos, module, inside, name string, known []string) diag.Diagnostic {
	known = slices.Compact(slices.Sorted(slices.Values(known)))
	d := diag.Diagnostic{Code: diag.UnknownReference, At: at, Message: fmt.Sprintf("%s of module %s has no %s", inside, module, name)}
	switch near := diag.Nearest(name, known); {
	case len(near) > 0:
		d.Message += orNearest(near)
		if len(near) == 1 {
			d.Help = dotted(append(strings.Split(inside, "."), near[0]))
		}
	case len(known) == 0:
		d.Message += ": it is empty; " + declares(inside)
	default:
		d.Message += "; it has " + strings.Join(known, ", ") + declaresToo(inside)
	}
	return d
}

// declares says by what a name comes into an input or into settings.
func declares(inside string) string {
	switch inside {
	case "in.ports", "in.addresses":
		return "a port is there under the name that `listens` gives it"
	case "in.bindings", "in.secrets":
		return "an answer is there under the label that `requires` gives it"
	case "in.needs":
		return "a secret of the module's own is there under the name that `needs` gives it"
	case "in.consumers":
		return "consumers are there under the name that `provides` gives a provision"
	}
	return "a setting is there once `settings` declares it"
}

func declaresToo(inside string) string {
	if inside == "in" || inside == "in.node" || inside == "in.mesh" {
		return ""
	}
	return "; " + declares(inside)
}

func isNothing(x ast.Expr) bool {
	_, ok := x.(*ast.BottomLit)
	return ok
}

// selected takes a selection apart: the name it begins with, and the names that are selected
// one after the other, up to what is selected by something computed.
func selected(x ast.Expr) (ident *ast.Ident, path []string) {
	switch x := x.(type) {
	case *ast.Ident:
		return x, nil
	case *ast.ParenExpr:
		return selected(x.X)
	case *ast.SelectorExpr:
		ident, path = selected(x.X)
		if label, _, err := ast.LabelName(x.Sel); err == nil && ident != nil {
			return ident, append(path, label)
		}
	case *ast.IndexExpr:
		ident, path = selected(x.X)
		if lit, ok := x.Index.(*ast.BasicLit); ok && lit.Kind == token.STRING && ident != nil {
			return ident, append(path, unquote(lit.Value))
		}
	}
	return nil, nil
}
