package view

import (
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
	Provides []Part    `json:"provides"`
	Requires []Part    `json:"requires"`
	Listens  []Part    `json:"listens"`
	Claims   []Part    `json:"claims"`
	Needs    []Part    `json:"needs"`
	Data     []Part    `json:"data"`
	Settings []Declare `json:"settings"`
}

// Declare is a setting, or a field of an interface: its path, what it is or may be, under which condition
// it is there, and what its author says of it.
type Declare struct {
	Path string `json:"path"`
	Type string `json:"type"`
	If   string `json:"if,omitempty"`
	Doc  string `json:"doc"`
}

// OfModule reads a module's page from its source.
func OfModule(m *load.Module) Module {
	out := Module{Name: m.Name, Summary: m.Summary, Builtin: m.Builtin, Settings: []Declare{}}
	out.Provides = parts(m.Files, "provides")
	out.Requires = parts(m.Files, "requires")
	out.Listens = parts(m.Files, "listens")
	out.Claims = parts(m.Files, "claims")
	out.Needs = parts(m.Files, "needs")
	out.Data = parts(m.Files, "data")
	for _, f := range m.Files {
		eachField(f.Decls, "settings", "", func(x ast.Expr, when string) {
			declared(x, nil, when, &out.Settings)
		})
	}
	return out
}

// declared lists what stands below a struct, with what stands in comments above it.
func declared(x ast.Expr, path []string, when string, out *[]Declare) {
	s := structOf(x)
	if s == nil {
		return
	}
	for _, e := range s.Elts {
		switch e := e.(type) {
		case *ast.Ellipsis:
			*out = append(*out, Declare{Path: strings.Join(append(path[:len(path):len(path)], "…"), "."), If: when, Doc: "any other key"})
		case *ast.EmbedDecl:
			if !isError(e.Expr) {
				*out = append(*out, Declare{Path: strings.Join(append(path[:len(path):len(path)], "…"), "."), Type: typeOf(e.Expr), If: when})
			}
		case *ast.Comprehension:
			declared(e.Value, path, both(when, clauses(e)), out)
		case *ast.Field:
			p := append(path[:len(path):len(path)], optionalLabel(e))
			inner := structOf(e.Value)
			if inner != nil && len(inner.Elts) > 0 && !onlyPattern(inner) {
				if doc := comment(e); doc != "" {
					*out = append(*out, Declare{strings.Join(p, "."), "", when, doc})
				}
				declared(inner, p, when, out)
				continue
			}
			*out = append(*out, Declare{strings.Join(p, "."), typeOf(e.Value), when, comment(e)})
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

// WriteCatalog writes one line a module.
func WriteCatalog(w io.Writer, ms []Module) error {
	t := newTable(w)
	for _, m := range ms {
		fmt.Fprintf(t, "%s\t%s\t%s\n", m.Name, screen.Text(m.Summary), m.whose())
	}
	return t.Flush()
}

func (m Module) whose() string {
	if m.Builtin {
		return ""
	}
	return "(of this mesh)"
}

// WriteModule writes a module's page.
func WriteModule(w io.Writer, m Module) error {
	fmt.Fprintf(w, "%s: %s\n", m.Name, screen.Text(m.Summary))
	for _, s := range m.interfaces() {
		fmt.Fprintf(w, "\n%s\n", s.title)
		for _, p := range s.parts {
			fmt.Fprintf(w, "  %s\n", screen.Text(p.headline(s.title)))
			for _, f := range p.told(s.title) {
				writeDeclare(w, "      ", f)
			}
		}
	}
	if len(m.Settings) > 0 {
		fmt.Fprintf(w, "\nsettings\n")
	}
	for _, s := range m.Settings {
		writeDeclare(w, "  ", s)
	}
	return nil
}

func writeDeclare(w io.Writer, indent string, d Declare) {
	fmt.Fprintf(w, "%s%s%s%s\n", indent, screen.Text(d.Path), screen.Text(prefixed(": ", d.Type)), screen.Text(prefixed("  ", d.If)))
	if d.Doc != "" {
		fmt.Fprintf(w, "%s    %s\n", indent, screen.Text(d.Doc))
	}
}

func prefixed(p, s string) string {
	if s == "" {
		return ""
	}
	return p + s
}
