package load

import (
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"
)

// walker follows what is mentioned, from one question of package Reads.
type walker struct {
	reads *Reads
	// skip are labels whose fields are left out, and values says that only values count.
	skip   []string
	values bool

	seen  map[visit]bool
	found []Read
}

// deepest is how many names a path may have that is followed.
const deepest = 64

// visit is a node and the constant names below it that are meant.
type visit struct {
	node ast.Node
	path string
}

// first says whether this was not visited before.
func (w *walker) first(n ast.Node, path []string) bool {
	v := visit{n, strings.Join(path, "\x00")}
	if w.seen == nil {
		w.seen = map[visit]bool{}
	}
	if w.seen[v] {
		return false
	}
	w.seen[v] = true
	return true
}

// read notes an input. Where the module itself makes one input of another, all are read.
func (w *walker) read(at token.Pos, path []string) {
	if !w.reads.plain {
		path = nil
	}
	w.found = append(w.found, Read{strings.Join(path, "."), PosOf(at)})
}

// absolute follows names from the top of the package.
func (w *walker) absolute(at token.Pos, names []string) {
	name, path := names[0], names[1:]
	switch {
	case name == "in":
		w.read(at, path)
		return
	case len(path) > deepest: // a field that goes through itself
		w.read(at, nil)
		return
	}
	for _, under := range []string{name, ""} {
		for _, n := range w.reads.conds[under] {
			w.node(n)
		}
	}
	w.choose(w.reads.scope[name], path)
	for _, n := range w.reads.scope[""] {
		w.node(n)
	}
}

// choose follows a path into a place, of which all declarations are given: CUE unifies them.
// A path is followed where that is all there is to it: one name of something else, or
// structs with constant labels. Anything else at the place, such as a definition and what
// is given to it, may have part in every field of it, and counts whole.
func (w *walker) choose(place []ast.Node, path []string) {
	if len(place) == 1 {
		if x, ok := bare(place[0]).(ast.Expr); ok {
			if ident, names := chain(x); ident != nil {
				if w.first(x, path) {
					w.ident(ident, slices.Concat(names, path))
				}
				return
			}
		}
	}
	if len(path) > 0 {
		if fields, conds, ok := w.reads.constants(place); ok {
			for _, c := range conds {
				w.node(c)
			}
			var below []ast.Node
			for _, f := range fields {
				if name, _ := constant(f.Label); name == path[0] {
					below = append(below, f.Value)
				}
			}
			w.choose(below, path[1:])
			return
		}
	}
	for _, n := range place {
		w.node(bare(n))
	}
}

// constants are the fields of a place that is made of structs with constant labels, and the
// conditions under which some of them stand. A struct that one does not get to by such
// labels is none of these: what its own names mean here does not follow from itself.
func (r *Reads) constants(place []ast.Node) (fields []*ast.Field, conds []ast.Node, ok bool) {
	for _, n := range place {
		if x, ok := bare(n).(*ast.Ident); ok && x.Node == nil && x.Name == "_" {
			continue // anything: it adds nothing
		}
		s, isStruct := bare(n).(*ast.StructLit)
		if _, placed := r.structs[s]; !isStruct || !placed {
			return nil, nil, false
		}
		for _, e := range s.Elts {
			switch e := e.(type) {
			case *ast.Field:
				if _, ok := constant(e.Label); !ok {
					return nil, nil, false
				}
				fields = append(fields, e)
			case *ast.Comprehension:
				inner, ic, ok := r.constants([]ast.Node{e.Value})
				if !ok || e.Fallback != nil {
					return nil, nil, false
				}
				for _, c := range e.Clauses {
					conds = append(conds, c)
				}
				fields, conds = append(fields, inner...), append(conds, ic...)
			case *ast.Ellipsis:
				if e.Type != nil {
					return nil, nil, false
				}
			case *ast.LetClause, *ast.Attribute, *ast.CommentGroup: // a let counts where it is referred to
			default:
				return nil, nil, false
			}
		}
	}
	return fields, conds, true
}

// node follows everything that a piece of source mentions.
func (w *walker) node(n ast.Node) {
	if n == nil || !w.first(n, nil) {
		return
	}
	w.inside(n)
}

func (w *walker) inside(n ast.Node) {
	switch n := n.(type) {
	case *ast.Ident:
		w.ident(n, nil)
	case *ast.SelectorExpr:
		if ident, path := chain(n); ident != nil {
			w.ident(ident, path)
			return
		}
		w.node(n.X)
	case *ast.IndexExpr:
		if ident, path := chain(n); ident != nil {
			w.ident(ident, path)
			return
		}
		w.node(n.X)
		w.node(n.Index)
	case *ast.Field:
		name, ok := constant(n.Label)
		if !ok {
			w.node(n.Label)
		}
		if n.Value != nil && (!ok || !slices.Contains(w.skip, name)) {
			w.node(n.Value)
		}
	case *ast.StructLit:
		for _, e := range n.Elts {
			w.node(e)
		}
	case *ast.ListLit:
		for _, e := range n.Elts {
			w.node(e)
		}
	case *ast.Interpolation:
		for _, e := range n.Elts {
			w.node(e)
		}
	case *ast.Ellipsis:
		if n.Type != nil {
			w.node(n.Type)
		}
	case *ast.Comprehension:
		for _, c := range n.Clauses {
			w.node(c)
		}
		w.node(n.Value)
		if n.Fallback != nil {
			w.node(n.Fallback.Body)
		}
	case *ast.ForClause:
		if !w.values { // a value counts where the variable for it is referred to
			w.node(n.Source)
		}
	case *ast.IfClause:
		w.node(n.Condition)
	case *ast.LetClause, *ast.ImportDecl, *ast.Attribute, *ast.CommentGroup, *ast.BasicLit, *ast.BottomLit:
		// A let counts where it is referred to.
	case *ast.EmbedDecl:
		w.node(n.Expr)
	case *ast.ParenExpr:
		w.node(n.X)
	case *ast.UnaryExpr:
		w.node(n.X)
	case *ast.BinaryExpr:
		if w.values && asksForThere(n) {
			return
		}
		w.node(n.X)
		w.node(n.Y)
	case *ast.CallExpr:
		w.node(n.Fun)
		for _, a := range n.Args {
			w.node(a)
		}
	case *ast.SliceExpr:
		w.node(n.X)
		if n.Low != nil {
			w.node(n.Low)
		}
		if n.High != nil {
			w.node(n.High)
		}
	case *ast.Alias:
		w.node(n.Expr)
	default: // syntax that is not known here
		w.read(n.Pos(), nil)
	}
}

// ident follows an identifier, and names below what it means, to where the resolver says it leads.
func (w *walker) ident(x *ast.Ident, path []string) {
	switch n := x.Node.(type) {
	case nil: // nothing in its file: a field of another file, or a word of the language
		switch _, declared := w.reads.scope[x.Name]; {
		case declared || x.Name == "in":
			w.absolute(x.Pos(), append([]string{x.Name}, path...))
		case !harmless(x.Name):
			w.read(x.Pos(), nil)
		}
	case *ast.ImportSpec: // another package, which knows nothing of this one's fields
	case *ast.Field: // an alias of the field
		w.field(x, n, path)
	case *ast.LetClause:
		w.choose([]ast.Node{n.Expr}, path)
	case *ast.Alias:
		if f, ok := x.Scope.(*ast.Field); ok {
			w.field(x, f, path)
		} else {
			w.choose([]ast.Node{n.Expr}, path)
		}
	default:
		w.scoped(x, path)
	}
}

// scoped follows an identifier that means a field of an enclosing struct or a clause's variable.
func (w *walker) scoped(x *ast.Ident, path []string) {
	switch s := x.Scope.(type) {
	case *ast.File:
		w.absolute(x.Pos(), append([]string{x.Name}, path...))
	case *ast.StructLit:
		if at, ok := w.reads.structs[s]; ok {
			w.absolute(x.Pos(), slices.Concat(at, []string{x.Name}, path))
			return
		}
		// Where one does not get by constant names, all that can be unified with it stands
		// in what was walked on the way here.
		for _, e := range s.Elts {
			if f, ok := e.(*ast.Field); ok {
				if name, ok := constant(f.Label); ok && name == x.Name {
					w.node(f.Value)
				}
			}
		}
	case *ast.ForClause:
		if w.values && s.Key != nil && s.Key.Name == x.Name {
			return
		}
		w.node(s.Source)
	case *ast.LetClause:
		w.choose([]ast.Node{s.Expr}, path)
	case *ast.Field: // the field's name
		if _, ok := constant(s.Label); !ok {
			w.node(s.Label)
		}
	default:
		w.read(x.Pos(), nil)
	}
}

func (w *walker) field(x *ast.Ident, f *ast.Field, path []string) {
	if at, ok := w.reads.fields[f]; ok {
		w.absolute(x.Pos(), slices.Concat(at, path))
		return
	}
	if _, ok := constant(f.Label); !ok {
		w.node(f.Label)
	}
	w.node(f.Value)
}

// words are those of the language that mean no field. `self` is not among them: it means all.
var words = strings.Fields(`_ string bytes bool int float number rune uint int8 int16 int32 int64 int128
	uint8 uint16 uint32 uint64 uint128 float32 float64 error len close matchIf matchN and or div mod quo rem`)

func harmless(name string) bool {
	return slices.Contains(words, name) || strings.HasPrefix(name, "__") && slices.Contains(words, name[2:])
}

// chain takes a.b["c"] apart; the identifier is nil where it begins with something
// else or goes on by what is not constant.
func chain(x ast.Expr) (*ast.Ident, []string) {
	switch x := x.(type) {
	case *ast.Ident:
		return x, nil
	case *ast.ParenExpr:
		return chain(x.X)
	case *ast.SelectorExpr:
		ident, path := chain(x.X)
		name, ok := constant(x.Sel)
		if ident == nil || !ok {
			return nil, nil
		}
		return ident, append(slices.Clone(path), name)
	case *ast.IndexExpr:
		ident, path := chain(x.X)
		lit, ok := x.Index.(*ast.BasicLit)
		if ident == nil || !ok || lit.Kind != token.STRING {
			return nil, nil
		}
		name, err := literal.Unquote(lit.Value)
		if err != nil {
			return nil, nil
		}
		return ident, append(slices.Clone(path), name)
	}
	return nil, nil
}

// constant is a label's name where that stands in the source as it is.
func constant(l ast.Label) (string, bool) {
	if a, ok := l.(*ast.Alias); ok {
		inner, ok := a.Expr.(ast.Label)
		if !ok {
			return "", false
		}
		return constant(inner)
	}
	switch l.(type) {
	case *ast.Ident, *ast.BasicLit:
	default:
		return "", false
	}
	name, _, err := ast.LabelName(l)
	return name, err == nil
}

// bare takes parentheses and an alias off a value.
func bare(n ast.Node) ast.Node {
	for {
		switch x := n.(type) {
		case *ast.ParenExpr:
			n = x.X
		case *ast.Alias:
			n = x.Expr
		default:
			return n
		}
	}
}
