package load

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"

	"meshc.dev/compiler/diag"
)

// structDefaults finds a starred struct in a module's settings: setting one of
// its keys would change what the others are (SET-1).
func structDefaults(m *Module) diag.List {
	var ds diag.List
	for _, d := range topFields(m.Files, "settings") {
		ast.Walk(d, func(n ast.Node) bool {
			if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.MUL {
				if s, ok := u.X.(*ast.StructLit); ok && len(s.Elts) > 0 {
					ds = append(ds, defaultStruct(span(u), m.Name))
				}
			}
			return true
		}, nil)
	}
	return ds
}

// topFields are the values of a package's field of one name.
func topFields(files []*ast.File, name string) []ast.Node {
	var out []ast.Node
	var visit func(d ast.Decl)
	visit = func(d ast.Decl) {
		switch d := d.(type) {
		case *ast.Field:
			if label, _, _ := ast.LabelName(d.Label); label == name {
				out = append(out, d.Value)
			}
		case *ast.Comprehension:
			if s, ok := d.Value.(*ast.StructLit); ok {
				for _, e := range s.Elts {
					visit(e)
				}
			}
		}
	}
	for _, f := range files {
		for _, d := range f.Decls {
			visit(d)
		}
	}
	return out
}

// lateInterface refuses an interface that reads what is known only after it:
// it would change silently once that is filled in.
func lateInterface(m *Module) diag.List {
	var ds diag.List
	reads := NewReads(m.Files)
	for _, name := range []string{"claims", "listens", "needs", "requires", "provides"} {
		for _, r := range reads.Interface(name) {
			if slices.Contains(lateInputs, r.Input()) && !isSecret(r) {
				ds = append(ds, interfaceTooLate(r.At, m.Name, name, r.Path))
			}
		}
	}
	return ds
}

// secretsOutside refuses secrets anywhere but in a module's resources: what it tells
// others, what it is called and where it listens is there for everybody to read (SEC-10).
func secretsOutside(m *Module) diag.List {
	var ds diag.List
	reads := NewReads(m.Files)
	for _, name := range []string{"claims", "listens", "needs", "requires", "provides", "settings", "data"} {
		for _, r := range reads.Of(name) {
			if isSecret(r) {
				ds = append(ds, secretOutside(r.At, m.Name, name, r.Path))
			}
		}
	}
	return ds
}

// secretsCompared refuses comparisons with a secret, of which the compiler has a
// placeholder only: they would come out the same whatever the secret is (SEC-10).
// Whether there is a secret at all (`!= _|_`) may be asked.
func secretsCompared(m *Module) diag.List {
	var ds diag.List
	reads := NewReads(m.Files)
	for _, f := range m.Files {
		ast.Walk(f, func(n ast.Node) bool {
			b, ok := n.(*ast.BinaryExpr)
			if !ok || !slices.Contains(comparisons, b.Op) || isBottom(b.X) || isBottom(b.Y) {
				return true
			}
			for _, x := range []ast.Expr{b.X, b.Y} {
				if path, ok := reads.secret(x, 0); ok {
					ds = append(ds, secretCompared(span(b), m.Name, path))
					return false
				}
			}
			return true
		}, nil)
	}
	return ds
}

var comparisons = []token.Token{token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ, token.MAT, token.NMAT}

func isBottom(x ast.Expr) bool {
	_, ok := x.(*ast.BottomLit)
	return ok
}

// secret gives the input that an expression is a secret by, also through other
// fields' names, inside a text, and as what a function is given.
func (r *Reads) secret(x ast.Expr, depth int) (string, bool) {
	if p, ok := x.(*ast.ParenExpr); ok {
		return r.secret(p.X, depth)
	}
	if t, ok := x.(*ast.Interpolation); ok {
		for _, e := range t.Elts {
			if path, ok := r.secret(e, depth); ok {
				return path, true
			}
		}
		return "", false
	}
	if call, ok := x.(*ast.CallExpr); ok {
		for _, a := range call.Args {
			if path, ok := r.secret(a, depth); ok {
				return path, true
			}
		}
		return "", false
	}
	ident, path := chain(x)
	if ident == nil || depth > 20 {
		return "", false
	}
	if ident.Name == "in" {
		read := Read{Path: strings.Join(path, ".")}
		return read.Path, isSecret(read) && len(path) > 2
	}
	for _, n := range r.scope[ident.Name] {
		for _, part := range within(n, path) {
			if e, ok := part.(ast.Expr); ok {
				if path, ok := r.secret(e, depth+1); ok {
					return path, true
				}
			}
		}
	}
	return "", false
}

// isSecret says whether an input is a secret, or all of them.
func isSecret(r Read) bool { return r.Input() == "secrets" || r.Input() == "needs" }

// lateInputs are the inputs that are filled in after the interface was read.
var lateInputs = []string{"ports", "addresses", "bindings", "secrets", "needs", "consumers"}

func keys[K comparable, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }

func unquote(s string) string {
	out, err := literal.Unquote(s)
	if err != nil {
		return s
	}
	return out
}

func plainf(format string, args []any) string {
	return internals.ReplaceAllString(fmt.Sprintf(format, args...), "")
}

func plainArg(args []any) string {
	if len(args) == 0 {
		return ""
	}
	return fmt.Sprint(args[0])
}
