package view

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/token"

	"meshc.dev/compiler/load"
	"meshc.dev/compiler/screen"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Module is a module as `meshc catalog` shows it, read from its source.
type Module struct {
	Name     string    `json:"name"`
	Summary  string    `json:"summary"`
	Builtin  bool      `json:"builtin"`
	Provides []string  `json:"provides"`
	Requires []string  `json:"requires"`
	Listens  []string  `json:"listens"`
	Claims   []string  `json:"claims"`
	Needs    []string  `json:"needs"`
	Settings []Declare `json:"settings"`
}

// Declare is a setting: its path, what it may be, and what its author says of it.
type Declare struct {
	Path string `json:"path"`
	Type string `json:"type"`
	Doc  string `json:"doc"`
}

// OfModule reads a module's page from its source.
func OfModule(m *load.Module) Module {
	out := Module{Name: m.Name, Summary: m.Summary, Builtin: m.Builtin, Settings: []Declare{}}
	out.Provides = entries(m.Files, "provides", "scope")
	out.Requires = entries(m.Files, "requires", "optional")
	out.Listens = entries(m.Files, "listens", "port")
	out.Claims = entries(m.Files, "claims", "scope")
	out.Needs = entries(m.Files, "needs", "supplied")
	for _, f := range m.Files {
		for _, d := range f.Decls {
			if field, ok := d.(*ast.Field); ok && label(field) == "settings" {
				declared(field.Value, nil, &out.Settings)
			}
		}
	}
	return out
}

// declared lists settings below a struct, with what stands in comments above them.
func declared(x ast.Expr, path []string, out *[]Declare) {
	s, ok := x.(*ast.StructLit)
	if !ok {
		return
	}
	for _, e := range s.Elts {
		switch e := e.(type) {
		case *ast.Ellipsis:
			*out = append(*out, Declare{Path: strings.Join(append(path, "…"), "."), Type: "", Doc: "any other key"})
		case *ast.Field:
			p := append(path[:len(path):len(path)], label(e))
			inner, isStruct := e.Value.(*ast.StructLit)
			if isStruct && len(inner.Elts) > 0 && !onlyPattern(inner) {
				if doc := comment(e); doc != "" {
					*out = append(*out, Declare{strings.Join(p, "."), "", doc})
				}
				declared(inner, p, out)
				continue
			}
			*out = append(*out, Declare{strings.Join(p, "."), typeOf(e.Value), comment(e)})
		}
	}
}

func onlyPattern(s *ast.StructLit) bool {
	for _, e := range s.Elts {
		f, ok := e.(*ast.Field)
		if !ok {
			return false
		}
		if _, isList := f.Label.(*ast.ListLit); !isList {
			return false
		}
	}
	return true
}

// typeOf writes a setting's type on one line, without the messages for what does not fit.
func typeOf(x ast.Expr) string {
	if isError(x) {
		return "kept by the module"
	}
	b, err := format.Node(withoutError(x), format.Simplify())
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(b)), " ")
}

// withoutError drops `| error("…")` from a choice.
func withoutError(x ast.Expr) ast.Expr {
	b, ok := x.(*ast.BinaryExpr)
	if !ok || b.Op != token.OR {
		return x
	}
	if isError(b.Y) {
		return withoutError(b.X)
	}
	return x
}

func isError(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := call.Fun.(*ast.Ident)
	return ok && id.Name == "error"
}

func comment(f *ast.Field) string {
	var lines []string
	for _, g := range ast.Comments(f) {
		if g.Doc {
			lines = append(lines, strings.TrimSpace(g.Text()))
		}
	}
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}

func label(f *ast.Field) string {
	if l, ok := f.Label.(*ast.ListLit); ok {
		return typeOf(l)
	}
	name, _, _ := ast.LabelName(f.Label)
	return name
}

// entries names what stands in a top-level struct, with one telling field each.
func entries(files []*ast.File, field, telling string) []string {
	out := []string{}
	var visit func(d ast.Decl)
	visit = func(d ast.Decl) {
		switch d := d.(type) {
		case *ast.Comprehension:
			if s, ok := d.Value.(*ast.StructLit); ok {
				for _, e := range s.Elts {
					visit(e)
				}
			}
		case *ast.Field:
			s, ok := d.Value.(*ast.StructLit)
			if label(d) != field || !ok {
				return
			}
			for _, e := range s.Elts {
				if f, ok := e.(*ast.Field); ok {
					out = append(out, entry(f, telling))
				}
			}
		}
	}
	for _, f := range files {
		for _, d := range f.Decls {
			visit(d)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func entry(f *ast.Field, telling string) string {
	s, ok := f.Value.(*ast.StructLit)
	if !ok {
		return label(f)
	}
	for _, e := range s.Elts {
		if g, ok := e.(*ast.Field); ok && label(g) == telling {
			return fmt.Sprintf("%s (%s %s)", label(f), telling, strings.Trim(typeOf(g.Value), `"`))
		}
	}
	return label(f)
}

// WriteCatalog writes one line a module.
func WriteCatalog(w io.Writer, ms []Module) error {
	t := newTable(w)
	for _, m := range ms {
		own := ""
		if !m.Builtin {
			own = "(of this mesh)"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", m.Name, screen.Text(m.Summary), own)
	}
	return t.Flush()
}

// WriteModule writes a module's page.
func WriteModule(w io.Writer, m Module) error {
	fmt.Fprintf(w, "%s: %s\n", m.Name, screen.Text(m.Summary))
	for _, s := range []struct {
		title string
		items []string
	}{{"provides", m.Provides}, {"requires", m.Requires}, {"listens", m.Listens}, {"claims", m.Claims}, {"needs", m.Needs}} {
		if len(s.items) > 0 {
			fmt.Fprintf(w, "\n%s\n", s.title)
			for _, i := range s.items {
				fmt.Fprintf(w, "  %s\n", screen.Text(i))
			}
		}
	}
	if len(m.Settings) > 0 {
		fmt.Fprintf(w, "\nsettings\n")
	}
	for _, s := range m.Settings {
		fmt.Fprintf(w, "  %s%s\n", screen.Text(s.Path), cmp.Or(prefixed(": ", s.Type), ""))
		if s.Doc != "" {
			fmt.Fprintf(w, "      %s\n", s.Doc)
		}
	}
	return nil
}

func prefixed(p, s string) string {
	if s == "" {
		return ""
	}
	return p + s
}
