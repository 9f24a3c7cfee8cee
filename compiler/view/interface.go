package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"meshc.dev/compiler/screen"
)

// Part is something of a module's interface: a provision, a requirement, a listen, a claim, a need or data.
type Part struct {
	Name   string    `json:"name"`
	Fields []Declare `json:"fields"`
}

// parts are what stands in a top-level struct of a module's source, each once, however often it is written.
func parts(files []*ast.File, field string) []Part {
	byName := map[string]*Part{}
	var visit func(x ast.Expr, when string)
	visit = func(x ast.Expr, when string) {
		s := structOf(x)
		if s == nil {
			return
		}
		for _, e := range s.Elts {
			switch e := e.(type) {
			case *ast.Comprehension:
				visit(e.Value, both(when, clauses(e)))
			case *ast.Field:
				name := label(e)
				p := byName[name]
				if p == nil {
					p = &Part{Name: name, Fields: []Declare{}}
					byName[name] = p
				}
				p.add(e, when)
			}
		}
	}
	for _, f := range files {
		eachField(f.Decls, field, "", visit)
	}
	out := []Part{}
	for _, name := range sortedKeys(byName) {
		out = append(out, *byName[name])
	}
	return out
}

// add takes one writing of the part. One that is no struct is told by what it says.
func (p *Part) add(f *ast.Field, when string) {
	s := structOf(f.Value)
	if s == nil {
		p.Fields = append(p.Fields, Declare{Path: "…", Type: typeOf(f.Value), If: when, Doc: comment(f)})
		return
	}
	if len(s.Elts) == 0 && when != "" {
		p.Fields = append(p.Fields, Declare{Path: "…", If: when})
	}
	var all []Declare
	declared(s, nil, when, &all)
	p.Fields = append(p.Fields, slices.DeleteFunc(all, func(d Declare) bool { return d.Path == "consumer" })...)
}

// telling is the field of each kind that stands beside the name, and what it is where nobody wrote it.
var telling = map[string]struct{ field, otherwise string }{
	"provides": {"scope", "node"},
	"requires": {"optional", ""},
	"listens":  {"port", ""},
	"claims":   {"scope", "node"},
	"needs":    {"supplied", ""},
}

func (p Part) headline(kind string) string {
	t := telling[kind]
	value := t.otherwise
	for _, f := range p.Fields {
		if f.Path == t.field && f.If == "" {
			value = strings.Trim(f.Type, `"`)
		}
	}
	if value == "" {
		return p.Name
	}
	return p.Name + " (" + t.field + " " + value + ")"
}

// scope is how far a provision answers.
func (p Part) scope() string {
	for _, f := range p.Fields {
		if f.Path == "scope" && f.If == "" {
			return strings.Trim(f.Type, `"`)
		}
	}
	return telling["provides"].otherwise
}

// told are the fields that the headline does not say.
func (p Part) told(kind string) []Declare {
	var out []Declare
	for _, f := range p.Fields {
		if f.Path != telling[kind].field || f.If != "" {
			out = append(out, f)
		}
	}
	return out
}

// Provision is something that can be required, and one module that provides it.
type Provision struct {
	Name   string `json:"provision"`
	Scope  string `json:"scope"`
	Module string `json:"module"`
}

// Provisions are what modules provide, in the order of their names.
func Provisions(ms []Module) []Provision {
	out := []Provision{}
	for _, m := range ms {
		for _, p := range m.Provides {
			out = append(out, Provision{p.Name, p.scope(), m.Name})
		}
	}
	slices.SortFunc(out, func(a, b Provision) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Module, b.Module))
	})
	return out
}

// WriteProvisions writes one line for each.
func WriteProvisions(w io.Writer, ps []Provision) error {
	t := newTable(w)
	for _, p := range ps {
		fmt.Fprintf(t, "%s\tscope %s\t%s\n", screen.Text(p.Name), screen.Text(p.Scope), p.Module)
	}
	return t.Flush()
}

type section struct {
	title string
	parts []Part
}

// interfaces are the parts of a module that it has, under the word of the language for them.
func (m Module) interfaces() []section {
	all := []section{
		{"provides", m.Provides},
		{"requires", m.Requires},
		{"listens", m.Listens},
		{"claims", m.Claims},
		{"needs", m.Needs},
		{"data", m.Data},
	}
	return slices.DeleteFunc(all, func(s section) bool { return len(s.parts) == 0 })
}

// eachField visits every writing of a top-level field, with the condition that it stands under.
func eachField(decls []ast.Decl, name, when string, visit func(x ast.Expr, when string)) {
	for _, d := range decls {
		switch d := d.(type) {
		case *ast.Comprehension:
			if s, ok := d.Value.(*ast.StructLit); ok {
				eachField(s.Elts, name, both(when, clauses(d)), visit)
			}
		case *ast.Field:
			if label(d) == name {
				visit(d.Value, when)
			}
		}
	}
}

// clauses writes what a comprehension stands under: "if settings.ssh.enabled".
func clauses(c *ast.Comprehension) string {
	var out []string
	for _, cl := range c.Clauses {
		switch cl := cl.(type) {
		case *ast.IfClause:
			out = append(out, "if "+typeOf(cl.Condition))
		case *ast.ForClause:
			names := cl.Value.Name
			if cl.Key != nil {
				names = cl.Key.Name + ", " + names
			}
			out = append(out, "for "+names+" in "+typeOf(cl.Source))
		case *ast.LetClause:
			out = append(out, "let "+cl.Ident.Name+" = "+typeOf(cl.Expr))
		default:
			out = append(out, "under a condition")
		}
	}
	return strings.Join(out, " ")
}

// both joins two conditions, either of which may be none.
func both(a, b string) string { return strings.TrimSpace(a + " " + b) }

// structOf is the struct that an expression writes: itself, closed, or with a message for what does not fit.
func structOf(x ast.Expr) *ast.StructLit {
	switch x := withoutError(x).(type) {
	case *ast.StructLit:
		return x
	case *ast.ParenExpr:
		return structOf(x.X)
	case *ast.CallExpr:
		if id, ok := x.Fun.(*ast.Ident); ok && id.Name == "close" && len(x.Args) == 1 {
			return structOf(x.Args[0])
		}
	case *ast.BinaryExpr:
		if a, b := structOf(x.X), structOf(x.Y); x.Op == token.AND && a != nil && b != nil {
			return &ast.StructLit{Elts: slices.Concat(a.Elts, b.Elts)}
		}
	}
	return nil
}

// optionalLabel is a field's name with the mark that it may be left out.
func optionalLabel(f *ast.Field) string {
	switch f.Constraint {
	case token.OPTION:
		return label(f) + "?"
	case token.NOT:
		return label(f) + "!"
	}
	return label(f)
}
