package load

import (
	"fmt"
	"iter"
	"maps"
	"slices"

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
			if slices.Contains(lateInputs, r.Input()) {
				ds = append(ds, interfaceTooLate(r.At, m.Name, name, r.Path))
			}
		}
	}
	return ds
}

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
