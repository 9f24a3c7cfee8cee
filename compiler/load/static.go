package load

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
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
			if (r.Path == "" || slices.Contains(lateInputs, r.Input())) && !isSecret(r) {
				ds = append(ds, interfaceTooLate(r.At, m.Name, name, r.Path))
			}
		}
	}
	// What is served may depend on ports, and what is contributed on other answers too. Of all the rest
	// nothing is known yet, and a comprehension over nothing would look like an answer.
	told := func(field, of, name string, rs []Read, known ...string) {
		for _, r := range rs {
			if (r.Path == "" || slices.Contains(lateInputs, r.Input())) && !slices.Contains(known, r.Input()) && !isSecret(r) {
				ds = append(ds, toldTooLate(r.At, m.Name, field, of, name, r.Path))
			}
		}
	}
	for _, name := range reads.labels("requires") {
		told("contributes", "requirement", name, reads.Contributes(name), "ports", "bindings")
	}
	for _, name := range reads.labels("provides") {
		told("serves", "provision", name, reads.Serves(name), "ports")
		told("derives", "provision", name, reads.Derives(name), "ports")
	}
	return ds
}

// labels are the constant names in a top-level struct.
func (r *Reads) labels(top string) []string {
	var out []string
	for _, at := range r.fields {
		if len(at) == 2 && at[0] == top {
			out = append(out, at[1])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
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

// secretsComputed refuses what is done with a secret, of which the compiler has a
// placeholder only: a comparison would come out the same whatever the secret is, and what a
// function makes of the placeholder is not what it would make of the secret (SEC-10). Whether
// there is a secret at all (`!= _|_`) may be asked, and functions that put texts together
// may be given one. What goes around this is looked for where everything is evaluated, and
// once more where bytes are final.
func secretsComputed(m *Module) diag.List {
	var ds diag.List
	reads := NewReads(m.Files)
	if len(reads.scope["needs"])+len(reads.scope["requires"])+len(reads.scope[""]) == 0 {
		return nil // it has no secret
	}
	for _, f := range m.Files {
		ast.Walk(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				narrows := n.Op == token.AND && (isBound(n.X) || isBound(n.Y))
				if !narrows && !slices.Contains(comparisons, n.Op) || asksForThere(n) {
					return true
				}
				if path, ok := reads.secret(n.X, n.Y); ok {
					ds = append(ds, secretCompared(span(n), m.Name, path))
					return false
				}
			case *ast.CallExpr:
				if putsTogether(n.Fun) {
					return true
				}
				if path, ok := reads.secret(n.Args...); ok {
					ds = append(ds, secretGiven(span(n), m.Name, sourceOf(n.Fun), path))
					return false
				}
			case *ast.IndexExpr:
				if path, ok := reads.secret(n.Index); ok {
					ds = append(ds, secretCompared(span(n), m.Name, path))
					return false
				}
			}
			return true
		}, nil)
	}
	return ds
}

var comparisons = []token.Token{token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ, token.MAT, token.NMAT, token.MUL, token.QUO}

// isBound says whether an operand of & lets some texts through and not others.
func isBound(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return isBound(x.X)
	case *ast.BasicLit, *ast.Interpolation:
		return true
	case *ast.UnaryExpr:
		return slices.Contains(comparisons, x.Op)
	}
	return false
}

// asksForThere says whether a comparison asks only if something that it names is there
// (`in.secrets.x != _|_`). Of something computed, that would be a test of its value.
func asksForThere(b *ast.BinaryExpr) bool {
	for _, x := range [][2]ast.Expr{{b.X, b.Y}, {b.Y, b.X}} {
		if _, ok := x[0].(*ast.BottomLit); !ok {
			continue
		}
		if ident, _ := chain(x[1]); ident != nil {
			return true
		}
	}
	return false
}

// putsTogether says whether a function only puts together what it is given, byte by byte:
// those of package list, and strings.Join. A length is one of a list as often as of a
// text; that of a placeholder is noticed when it is evaluated.
func putsTogether(fun ast.Expr) bool {
	ident, path := chain(fun)
	if ident == nil {
		return false
	}
	spec, ok := ident.Node.(*ast.ImportSpec)
	if !ok {
		return ident.Node == nil && slices.Contains([]string{"len", "close", "and", "or"}, strings.TrimPrefix(ident.Name, "__"))
	}
	switch unquote(spec.Path.Value) {
	case "list":
		return true
	case "strings":
		return slices.Equal(path, []string{"Join"})
	}
	return false
}

// secret gives the first input by which one of the expressions holds a secret's value.
func (r *Reads) secret(xs ...ast.Expr) (string, bool) {
	for _, x := range xs {
		for _, read := range r.expr(x) {
			if read.Path == "" || isSecret(read) {
				return read.Path, true
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

// sourceOf is an expression as its author wrote it.
func sourceOf(x ast.Expr) string {
	b, err := format.Node(x)
	if err != nil {
		return "a function"
	}
	return string(b)
}
