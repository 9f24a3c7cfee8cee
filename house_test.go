package meshc_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// update says to rewrite docs/diagnostics.md: UPDATE=1 go test, or make golden.
var update = os.Getenv("UPDATE") != ""

const module = "meshc.dev/"

// floors are the folders of the module from the ground up. A package imports only
// from floors below its own, or from an earlier folder of its own floor, or from
// within its own folder. A new package gets a place here, and a line in ARCHITECTURE.md.
var floors = [][]string{
	// what both the compiler and the machine's program need stands on the ground
	{"schema", "catalog", "meshes", "render/seal"},
	{"compiler/data", "compiler/folder", "compiler/addr", "compiler/netaddr", "compiler/screen", "compiler/diag", "compiler/cuedata", "compiler/parallel", "compiler/work", "compiler/unit"},
	{"compiler/plan", "compiler/diag/show"},
	{
		"compiler/load", "compiler/layer", "compiler/evaluate", "compiler/lock", "compiler/history", "compiler/vault",
		"compiler/resolve", "compiler/settle", "compiler/exchange", "compiler/compose",
	},
	{"compiler"},
	{"compiler/view"},
	{"render/sshsig", "render/bundle"},
	{"render/sink", "render/container", "render/hosts", "render/trust", "render/wireguard", "render/firewall"},
	{"render"},
	{"render/origin", "render/diff", "render/graph", "render/report", "render/build"},
	{"host"},
	{"cmd/mesh-host", "cmd/meshc", "testdata/tools"},
}

// stages are the steps of a compilation. What one of them does is called by
// package compiler alone; the others know its results as types.
var stages = map[string]string{
	"compiler/load":     "Load",
	"compiler/resolve":  "Resolve",
	"compiler/settle":   "Settle",
	"compiler/exchange": "Exchange",
	"compiler/compose":  "Compose",
}

// goFile is one parsed Go file of the module, tests included.
type goFile struct {
	path   string // from the top of the repository, with slashes
	syntax *ast.File
	fset   *token.FileSet
	source []byte
}

func (f goFile) folder() string { return path.Dir(f.path) }
func (f goFile) isTest() bool   { return strings.HasSuffix(f.path, "_test.go") }

func (f goFile) imports() []string {
	var out []string
	for _, i := range f.syntax.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		out = append(out, p)
	}
	return out
}

// files lists the repository's files of a kind; hidden folders, cue.mod and what
// a build writes are left out.
func files(t *testing.T, suffix string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && p != "." && (name[0] == '.' || name == "cue.mod" || name == "dist" || name == "bin") {
			return fs.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(name, suffix) {
			out = append(out, filepath.ToSlash(p))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func goFiles(t *testing.T) []goFile {
	t.Helper()
	var out []goFile
	for _, p := range files(t, ".go") {
		source, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		syntax, err := parser.ParseFile(fset, p, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, goFile{p, syntax, fset, source})
	}
	return out
}

// floor finds the place of a folder in floors: its floor, and its place on it.
func floor(folder string) (int, int, bool) {
	for dir := folder; dir != "."; dir = path.Dir(dir) {
		for i, f := range floors {
			if j := slices.Index(f, dir); j >= 0 {
				// a folder under compiler or render stands for itself, not for what it lies in
				if dir != folder && (dir == "compiler" || dir == "render") {
					return 0, 0, false
				}
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

func TestImportsGoOneWay(t *testing.T) {
	lost := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.isTest() || f.folder() == "." {
			continue
		}
		here, place, ok := floor(f.folder())
		if !ok {
			lost[f.folder()] = true
			continue
		}
		for _, imported := range f.imports() {
			there, ours := strings.CutPrefix(imported, module)
			if !ours {
				continue
			}
			floorThere, placeThere, ok := floor(there)
			if ok && (floorThere > here || floorThere == here && placeThere > place) {
				t.Errorf("%s imports %s, which stands above it: imports go one way (floors in house_test.go)", f.path, there)
			}
		}
	}
	for folder := range lost {
		t.Errorf("give %s a place in floors in house_test.go, and a line in ARCHITECTURE.md", folder)
	}
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range slices.Concat(floors...) {
		if !bytes.Contains(text, []byte("("+folder+")")) {
			t.Errorf("ARCHITECTURE.md does not say what %s is for: link to it", folder)
		}
	}
}

// Whatever is imported from elsewhere has a reason in ARCHITECTURE.md, and what has a reason is imported.
func TestDependenciesHaveReasons(t *testing.T) {
	_, section, _ := strings.Cut(readFile(t, "ARCHITECTURE.md"), "## Dependencies")
	unused := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z0-9.]+/[^` ]+)`").FindAllStringSubmatch(section, -1) {
		unused[m[1]] = true
	}
	reasons := slices.Collect(maps.Keys(unused))
	for _, f := range goFiles(t) {
		for _, imported := range f.imports() {
			host, _, _ := strings.Cut(imported, "/")
			if !strings.Contains(host, ".") || strings.HasPrefix(imported, module) {
				continue
			}
			i := slices.IndexFunc(reasons, func(r string) bool { return strings.HasPrefix(imported+"/", r+"/") })
			if i < 0 {
				t.Errorf("%s imports %s, which ARCHITECTURE.md gives no reason for", f.path, imported)
				continue
			}
			delete(unused, reasons[i])
		}
	}
	for r := range unused {
		t.Errorf("ARCHITECTURE.md gives a reason for %s, which nothing imports", r)
	}
}

// The host's program links neither CUE nor the compiler: the whole of what it
// imports is followed.
func TestHostLinksNoCompiler(t *testing.T) {
	imports := map[string][]string{}
	for _, f := range goFiles(t) {
		if !f.isTest() {
			imports[f.folder()] = append(imports[f.folder()], f.imports()...)
		}
	}
	allowed := []string{"host", "cmd/mesh-host", "render/bundle", "render/seal", "render/sshsig"}
	var follow func(folder string, way []string)
	seen := map[string]bool{}
	follow = func(folder string, way []string) {
		if seen[folder] {
			return
		}
		seen[folder] = true
		way = append(slices.Clone(way), folder)
		for _, imported := range imports[folder] {
			if strings.HasPrefix(imported, "cuelang.org/") {
				t.Errorf("%s reaches CUE: %s imports %s", way[0], strings.Join(way, " → "), imported)
			}
			there, ours := strings.CutPrefix(imported, module)
			if !ours {
				continue
			}
			if !slices.ContainsFunc(allowed, func(a string) bool { return strings.HasPrefix(there+"/", a+"/") }) {
				t.Errorf("%s imports %s: a machine needs only %s", strings.Join(way, " → "), there, strings.Join(allowed, ", "))
				continue
			}
			follow(there, way)
		}
	}
	for folder := range imports {
		if strings.HasPrefix(folder+"/", "host/") || strings.HasPrefix(folder+"/", "cmd/mesh-host/") {
			follow(folder, nil)
		}
	}
}

// Only package compiler runs stages: another stage may know a result, never make one.
func TestOnlyCompilerRunsStages(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.isTest() || f.folder() == "compiler" || !strings.HasPrefix(f.folder(), "compiler/") {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if !ok {
				return true
			}
			for stage, entry := range stages {
				if path.Base(stage) == pkg.Name && sel.Sel.Name == entry && slices.Contains(f.imports(), module+stage) {
					t.Errorf("%s runs %s.%s: only package compiler knows two stages at once", f.fset.Position(call.Pos()), pkg.Name, entry)
				}
			}
			return true
		})
	}
}

func TestPackageComments(t *testing.T) {
	said := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.isTest() {
			continue
		}
		text := f.syntax.Doc.Text()
		said[f.folder()] = said[f.folder()] || strings.HasPrefix(text, "Package ") || strings.HasPrefix(text, "Command ")
		if text != "" && f.syntax.Name.Name != "main" && !strings.HasPrefix(text, "Package "+f.syntax.Name.Name+" ") {
			t.Errorf("%s: a package comment begins \"Package %s …\"", f.path, f.syntax.Name.Name)
		}
	}
	for folder, ok := range said {
		if !ok {
			t.Errorf("%s has no package comment: say what it is, what it leaves to whom, and where to enter", folder)
		}
	}
}

func TestFilesStayShort(t *testing.T) {
	const most = 600
	for _, f := range goFiles(t) {
		if n := bytes.Count(f.source, []byte("\n")); !f.isTest() && n > most {
			t.Errorf("%s has %d lines, more than %d: it does two jobs", f.path, n, most)
		}
	}
}

// A library has no say over the process, and nothing happens on import.
func TestOnlyMainExits(t *testing.T) {
	exits := []string{"os.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln", "syscall.Exit"}
	for _, f := range goFiles(t) {
		if f.isTest() {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Name.Name == "init" && n.Recv == nil {
					t.Errorf("%s: an init function: list implementations in a function instead", f.fset.Position(n.Pos()))
				}
			case *ast.SelectorExpr:
				pkg, _ := n.X.(*ast.Ident)
				if f.syntax.Name.Name != "main" && pkg != nil && slices.Contains(exits, pkg.Name+"."+n.Sel.Name) {
					t.Errorf("%s: %s.%s outside package main: return an error", f.fset.Position(n.Pos()), pkg.Name, n.Sel.Name)
				}
			}
			return true
		})
	}
}

// unfinished finds words that say a thing is not done. (A stub resolver is a thing of its own.)
var unfinished = regexp.MustCompile(`(?i)\b(TODO|FIXME|XXX|stub(bed)?)\b( resolver| listener)?`)

func TestNothingIsLeftUnfinished(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.isTest() {
			continue
		}
		for _, group := range f.syntax.Comments {
			for _, c := range group.List {
				for _, m := range unfinished.FindAllStringSubmatch(c.Text, -1) {
					if m[3] == "" {
						t.Errorf("%s: %q: finish it, or open an issue and put its rule into docs/not-built.md", f.fset.Position(c.Pos()), m[0])
					}
				}
			}
		}
	}
}
