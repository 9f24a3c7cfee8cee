package load

import (
	"cmp"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"meshc.dev/compiler/diag"
)

// Read is one input that a module's source refers to.
type Read struct {
	Path string // below `in`: "ports.http"; empty for all of it
	At   diag.Pos
}

// Input is the first name of the path: ports, node, bindings; empty for all of `in`.
func (r Read) Input() string {
	first, _, _ := strings.Cut(r.Path, ".")
	return first
}

// Reads finds, from a module's source alone, which inputs each of its fields can
// depend on. It may name more than an evaluation looks at, never less: answers are
// shared by it, and what is known when is judged by it.
//
// Why that is sound: inputs reach a module through its field `in` and no other way, so
// each use of them begins with an identifier that means this field, whatever it is
// called there. What an identifier means is taken from CUE's own resolver, never from
// its spelling: an alias, a let, a hidden copy, a field of an enclosing struct, a field of
// another file. From the fields in question, everything that is mentioned is followed,
// with the conditions under which it stands. A chain of constant names (in.node.name,
// in["node"].name, x.name where x is a copy of in.node) is followed to what it names;
// whatever else is done with `in`, and any syntax that is not known here, reads all of it.
//
// A path is followed into a place only where all that is declared of the place are structs
// with constant labels, or it is one name of something else. Where a definition, a pattern
// or anything computed takes part, whatever is declared there counts whole: CUE unifies
// it, so that a field of the one may be made of what the other is given.
type Reads struct {
	scope map[string][]ast.Node // top-level names to what they are declared as; "" for those that are not constant
	conds map[string][]ast.Node // top-level names to the conditions they stand under
	// fields and structs say by which constant names one gets to them from the top.
	fields  map[*ast.Field][]string
	structs map[*ast.StructLit][]string
	// plain says that the module makes no input of another one: it declares nothing of its
	// field `in` but types.
	plain bool
}

// NewReads prepares the files of one module, as the parser gave them: it resolves what
// identifiers mean within a file.
func NewReads(files []*ast.File) *Reads {
	r := &Reads{
		scope: map[string][]ast.Node{}, conds: map[string][]ast.Node{},
		fields: map[*ast.Field][]string{}, structs: map[*ast.StructLit][]string{},
	}
	for _, f := range files {
		for _, d := range f.Decls {
			r.declare(d, nil)
		}
	}
	r.plain = r.plainInputs(files)
	return r
}

// plainInputs looks at everything that can say something of the field `in`.
func (r *Reads) plainInputs(files []*ast.File) bool {
	if len(r.conds["in"]) > 0 || slices.ContainsFunc(r.scope["in"], func(n ast.Node) bool { return !plainType(n) }) {
		return false
	}
	foreign := func(n ast.Node) bool {
		e, ok := n.(*ast.EmbedDecl)
		return ok && ofImport(e.Expr)
	}
	if !slices.ContainsFunc(r.scope[""], func(n ast.Node) bool { return !foreign(n) }) {
		return true
	}
	// What is embedded, or has a name that is not constant, may be a field `in` too.
	plain := true
	for _, f := range files {
		ast.Walk(f, func(n ast.Node) bool {
			if f, ok := n.(*ast.Field); ok {
				name, ok := constant(f.Label)
				plain = plain && ok && (name != "in" || len(r.fields[f]) == 1)
			}
			return plain
		}, nil)
	}
	return plain
}

// plainType says whether a declaration is made of types and literals.
func plainType(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Ident:
		return n.Node == nil && harmless(n.Name)
	case *ast.BasicLit:
		return true
	case *ast.StructLit:
		return !slices.ContainsFunc(n.Elts, func(e ast.Decl) bool {
			switch e := e.(type) {
			case *ast.Field:
				_, ok := constant(e.Label)
				return !ok || !plainType(e.Value)
			case *ast.Ellipsis:
				return e.Type != nil && !plainType(e.Type)
			case *ast.CommentGroup:
				return false
			}
			return true
		})
	case ast.Expr:
		return ofImport(n)
	}
	return false
}

// ofImport says whether an expression is a name of another package.
func ofImport(x ast.Expr) bool {
	ident, _ := chain(x)
	if ident == nil {
		return false
	}
	_, ok := ident.Node.(*ast.ImportSpec)
	return ok
}

func (r *Reads) declare(d ast.Decl, conds []ast.Node) {
	under := func(name string, n ast.Node) {
		r.scope[name] = append(r.scope[name], n)
		r.conds[name] = append(r.conds[name], conds...)
	}
	switch d := d.(type) {
	case *ast.Field:
		name, ok := constant(d.Label)
		if !ok {
			under("", d) // a pattern or a computed name: any field may be meant
			return
		}
		r.place(d, []string{name})
		under(name, d.Value)
	case *ast.Comprehension:
		conds = slices.Clone(conds)
		for _, c := range d.Clauses {
			conds = append(conds, c)
		}
		s, ok := d.Value.(*ast.StructLit)
		if !ok || d.Fallback != nil {
			under("", d)
			return
		}
		r.structs[s] = nil
		for _, e := range s.Elts {
			r.declare(e, conds)
		}
	case *ast.EmbedDecl, *ast.Ellipsis:
		under("", d)
	case *ast.LetClause, *ast.ImportDecl, *ast.Package, *ast.Attribute, *ast.CommentGroup:
		// A let counts where it is referred to.
	default:
		under("", d)
	}
}

// place notes by which names one gets to a field and to what is in it.
func (r *Reads) place(f *ast.Field, at []string) {
	r.fields[f] = at
	s, ok := bare(f.Value).(*ast.StructLit)
	if !ok {
		return
	}
	r.within(s, at)
}

func (r *Reads) within(s *ast.StructLit, at []string) {
	r.structs[s] = at
	for _, e := range s.Elts {
		switch e := e.(type) {
		case *ast.Field:
			if name, ok := constant(e.Label); ok {
				r.place(e, append(slices.Clone(at), name))
			}
		case *ast.Comprehension: // what stands under a condition stands in the struct around it
			if inner, ok := e.Value.(*ast.StructLit); ok {
				r.within(inner, at)
			}
		}
	}
}

// Of gives every input that a top-level field can depend on, sorted by path, each once.
func (r *Reads) Of(fields ...string) []Read {
	w := walker{reads: r}
	for _, f := range fields {
		w.absolute(token.NoPos, []string{f})
	}
	return w.result()
}

// Interface is Of without what may depend on later inputs: contributes, serves and derives.
func (r *Reads) Interface(field string) []Read {
	w := walker{reads: r, skip: []string{"contributes", "serves", "derives"}}
	w.absolute(token.NoPos, []string{field})
	return w.result()
}

// Contributes gives the inputs that a requirement's contributes reads.
func (r *Reads) Contributes(label string) []Read { return r.at("requires", label, "contributes") }

// Serves gives the inputs that what a provision serves reads.
func (r *Reads) Serves(provision string) []Read { return r.at("provides", provision, "serves") }

// Derives gives the inputs that what a provision derives for a consumer reads.
func (r *Reads) Derives(provision string) []Read { return r.at("provides", provision, "derives") }

func (r *Reads) at(path ...string) []Read {
	w := walker{reads: r}
	w.absolute(token.NoPos, path)
	return w.result()
}

// expr gives the inputs whose values an expression can depend on. That an input is there
// at all (`!= _|_`) and the names that a comprehension goes through are no values.
func (r *Reads) expr(x ast.Node) []Read {
	w := walker{reads: r, values: true}
	w.node(x)
	return w.result()
}

func (w *walker) result() []Read {
	slices.SortFunc(w.found, func(a, b Read) int { return cmp.Or(cmp.Compare(a.Path, b.Path), a.At.Compare(b.At)) })
	return slices.CompactFunc(w.found, func(a, b Read) bool { return a.Path == b.Path })
}
