package load

import (
	"path"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"

	"meshc.dev/compiler/diag"
)

// ignoredName says why CUE leaves a file out because of its name, or gives nothing. What begins
// with a dot is no file of a person's: editors keep such.
func ignoredName(name string) string {
	base, isCUE := strings.CutSuffix(name, ".cue")
	switch {
	case !isCUE || strings.HasPrefix(name, "."):
	case strings.HasPrefix(name, "_"):
		return "a file whose name begins with _"
	case strings.HasSuffix(base, "_tool"):
		return "a file _tool.cue, which is of the command cue cmd"
	case strings.HasSuffix(base, "_test"):
		return "a file _test.cue"
	}
	return ""
}

// leftOut says of what files a mesh has nothing, although they lie in its folder: what lacks its
// package line is refused, since nobody means it; what may lie there for something else is named.
func leftOut(t tree, tags []string) diag.List {
	var ds diag.List
	parsed := map[string]*ast.File{}
	for p, b := range t {
		if f, err := parser.ParseFile(path.Join(root, p), b, parser.ParseComments); err == nil {
			parsed[p] = f
		}
	}
	taken := imported(t, parsed)
	idle := map[string][]string{}
	for _, p := range slices.Sorted(keys(t)) {
		dir := path.Dir(p)
		f := parsed[p]
		switch {
		case strings.HasPrefix(p, "cue.mod/"), isCase(dir):
		case !taken[dir]:
			idle[dir] = append(idle[dir], p)
		case f != nil && f.PackageName() == "" && len(f.Decls) > 0:
			ds = append(ds, noPackage(p, packageOf(t, parsed, dir)))
		case f != nil && f.PackageName() == "" && !hasPackage(t, parsed, dir):
			ds = append(ds, saysNothing(p, packageOf(t, parsed, dir)))
		case f != nil:
			if why := markedOut(f, tags); why != "" {
				ds = append(ds, fileLeftOut(p, why))
			}
		}
	}
	for _, dir := range slices.Sorted(keys(idle)) {
		ds = append(ds, folderLeftOut(dir, idle[dir]))
	}
	return ds
}

// markedOut says by which attribute a file takes itself out of the build, or gives nothing. A
// condition of several words is not worked out here: it is named.
func markedOut(f *ast.File, tags []string) string {
	for _, d := range f.Decls {
		a, ok := d.(*ast.Attribute)
		if !ok {
			continue
		}
		switch key, body := a.Split(); key {
		case "ignore":
			return "a file that says @ignore()"
		case "if":
			word, not := strings.CutPrefix(strings.TrimSpace(body), "!")
			given := slices.Contains(tags, strings.TrimSpace(word))
			plain := !strings.ContainsAny(word, "!&|( ")
			if !plain || given == not {
				return "a file that says @if(" + body + "), unless that holds"
			}
		}
	}
	return ""
}

// hasPackage says whether a file of a folder has a package line, or could have one that cannot be read.
func hasPackage(t tree, parsed map[string]*ast.File, dir string) bool {
	return slices.ContainsFunc(t.under(dir), func(p string) bool {
		return path.Dir(p) == dir && (parsed[p] == nil || parsed[p].PackageName() != "" || len(parsed[p].Decls) > 0)
	})
}

// isCase says whether a folder holds a module's cases, which `modules/NAME/cases` does.
func isCase(dir string) bool {
	parts := strings.Split(dir, "/")
	return len(parts) > 2 && parts[0] == "modules" && parts[2] == "cases"
}

// imported are the folders whose files a mesh is made of: its own, its modules', and those that
// one of these imports.
func imported(t tree, parsed map[string]*ast.File) map[string]bool {
	taken := map[string]bool{}
	var take func(dir string)
	take = func(dir string) {
		if taken[dir] {
			return
		}
		taken[dir] = true
		for _, p := range t.under(dir) {
			f := parsed[p]
			if f == nil {
				continue
			}
			for spec := range f.ImportSpecs() {
				name, _, _ := strings.Cut(strings.Trim(spec.Path.Value, `"`), ":")
				for at := name; at != ""; { // HOST/MODULE/FOLDER, of which the folder is ours
					if _, at, _ = strings.Cut(at, "/"); at != "" && len(t.under(at)) > 0 {
						take(at)
					}
				}
			}
		}
	}
	take(".")
	for _, name := range t.moduleDirs() {
		take("modules/" + name)
	}
	return taken
}

// packageOf is the package of a folder: as its other files say, or as it is called otherwise.
func packageOf(t tree, parsed map[string]*ast.File, dir string) string {
	for _, p := range t.under(dir) {
		if f := parsed[p]; f != nil && f.PackageName() != "" {
			return f.PackageName()
		}
	}
	if dir == "." {
		return "mesh"
	}
	return strings.ReplaceAll(path.Base(dir), "-", "_")
}
