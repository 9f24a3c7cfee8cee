package load

import (
	"cmp"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"

	"meshc.dev/compiler/diag"
)

// Read is one input that a module's source refers to.
type Read struct {
	Path string // below `in`: "ports.http"; empty for all of it
	At   diag.Pos
}

// Input is the first name of the path: ports, node, bindings.
func (r Read) Input() string {
	first, _, _ := strings.Cut(r.Path, ".")
	return first
}

// Reads finds, from a module's source alone, which inputs each of its fields
// refers to, directly or through other fields. It may name more than an
// evaluation would look at, never less: results are kept by it (see package evaluate).
type Reads struct {
	scope map[string][]ast.Node // top-level names to what they are declared as
	conds map[string][]ast.Node // top-level names to the conditions they stand under
}

// NewReads prepares the files of one module.
func NewReads(files []*ast.File) *Reads {
	r := &Reads{scope: map[string][]ast.Node{}, conds: map[string][]ast.Node{}}
	for _, f := range files {
		for _, d := range f.Decls {
			r.declare(d, nil)
		}
	}
	return r
}

func (r *Reads) declare(d ast.Decl, conds []ast.Node) {
	switch d := d.(type) {
	case *ast.Field:
		name, _, err := ast.LabelName(d.Label)
		if err != nil {
			name = "" // a pattern or a computed name: any field may be meant
		}
		r.scope[name] = append(r.scope[name], d.Value)
		r.conds[name] = append(r.conds[name], conds...)
		if a := d.Label; err != nil {
			r.scope[name] = append(r.scope[name], a)
		}
	case *ast.LetClause:
		r.scope[d.Ident.Name] = append(r.scope[d.Ident.Name], d.Expr)
	case *ast.Comprehension:
		conds = slices.Clone(conds)
		for _, c := range d.Clauses {
			conds = append(conds, c)
		}
		if s, ok := d.Value.(*ast.StructLit); ok {
			for _, e := range s.Elts {
				r.declare(e, conds)
			}
		}
	case *ast.EmbedDecl:
		r.scope[""] = append(r.scope[""], d.Expr)
	}
}

// Of gives every input that a top-level field refers to, sorted by path, each once.
func (r *Reads) Of(fields ...string) []Read {
	w := walker{reads: r, seen: map[ast.Node]bool{}}
	for _, f := range append(fields, "") {
		w.top(f)
	}
	return w.result()
}

// Interface is Of without what may depend on later inputs: contributes, serves and derives.
func (r *Reads) Interface(field string) []Read {
	w := walker{reads: r, seen: map[ast.Node]bool{}, skip: []string{"contributes", "serves", "derives"}}
	w.top(field)
	return w.result()
}

type walker struct {
	reads *Reads
	seen  map[ast.Node]bool
	skip  []string
	found []Read
}

func (w *walker) result() []Read {
	slices.SortFunc(w.found, func(a, b Read) int { return cmp.Or(cmp.Compare(a.Path, b.Path), a.At.Compare(b.At)) })
	return slices.CompactFunc(w.found, func(a, b Read) bool { return a.Path == b.Path })
}

func (w *walker) top(name string) {
	for _, n := range w.reads.scope[name] {
		w.node(n)
	}
	for _, n := range w.reads.conds[name] {
		w.node(n)
	}
}

func (w *walker) node(n ast.Node) {
	if n == nil || w.seen[n] {
		return
	}
	w.seen[n] = true
	ast.Walk(n, w.before, nil)
}

func (w *walker) before(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Field:
		name, _, err := ast.LabelName(n.Label)
		if err != nil {
			w.node(n.Label)
		}
		if !slices.Contains(w.skip, name) {
			w.node(n.Value)
		}
		return false
	case *ast.SelectorExpr:
		ident, path := chain(n)
		if ident == nil {
			return true
		}
		w.refer(ident, path)
		return false
	case *ast.Ident:
		w.refer(n, nil)
		return false
	}
	return true
}

// refer follows a reference: to the inputs, or to a field of the module.
func (w *walker) refer(ident *ast.Ident, path []string) {
	if ident.Name == "in" {
		w.found = append(w.found, Read{strings.Join(path, "."), PosOf(ident.Pos())})
		return
	}
	nodes, ok := w.reads.scope[ident.Name]
	if !ok {
		return
	}
	for _, n := range w.reads.conds[ident.Name] {
		w.node(n)
	}
	for _, n := range nodes {
		for _, part := range within(n, path) {
			w.node(part)
		}
	}
}

// within gives the parts of a declaration that a path below it can mean.
func within(n ast.Node, path []string) []ast.Node {
	s, ok := n.(*ast.StructLit)
	if !ok || len(path) == 0 {
		return []ast.Node{n}
	}
	var out []ast.Node
	for _, e := range s.Elts {
		f, ok := e.(*ast.Field)
		if !ok {
			out = append(out, e)
			continue
		}
		switch name, _, err := ast.LabelName(f.Label); {
		case err != nil:
			out = append(out, f)
		case name == path[0]:
			out = append(out, within(f.Value, path[1:])...)
		}
	}
	return out
}

// chain takes a.b.c apart; the identifier is nil where it begins with something else.
func chain(x ast.Expr) (*ast.Ident, []string) {
	switch x := x.(type) {
	case *ast.Ident:
		return x, nil
	case *ast.SelectorExpr:
		ident, path := chain(x.X)
		name, _, err := ast.LabelName(x.Sel)
		if ident == nil || err != nil {
			return nil, nil
		}
		return ident, append(path, name)
	}
	return nil, nil
}
