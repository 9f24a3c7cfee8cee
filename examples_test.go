package meshc_test

import (
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"meshc.dev/compiler"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/load"
	"meshc.dev/render"
)

// fileLine begins another file within an example: a comment with its path.
var fileLine = regexp.MustCompile(`(?m)^// (\S+\.(?:cue|hcl))\n`)

// importLine is hoisted to where imports stand.
var importLine = regexp.MustCompile(`(?m)^import ".*"\n`)

// exampleFiles makes a mesh of an example of compiler/diag. What stands before the
// first file line is mesh.cue. A file that has no package clause gets what every mesh
// or module begins with.
func exampleFiles(text string) fstest.MapFS {
	out := fstest.MapFS{}
	add := func(name, body string) {
		dir := path.Base(path.Dir(name))
		switch {
		case path.Ext(name) != ".cue" || regexp.MustCompile(`(?m)^package `).MatchString(body):
		case strings.HasPrefix(name, "modules/"):
			imports := strings.Join(importLine.FindAllString(body, -1), "")
			body = importLine.ReplaceAllString(body, "")
			body = "package " + strings.ReplaceAll(dir, "-", "_") + "\n\nimport \"meshc.dev/schema\"\n" + imports + "\nschema.#Module\n\nin: _\n\n" +
				unless(body, "name: ", "name: \""+dir+"\"\n") + unless(body, "summary: ", "summary: \"an example\"\n") + "\n" + body
		default:
			body = "package mesh\n\nimport \"meshc.dev/schema\"\n\nschema.#Mesh\n\n" + unless(body, "name: ", "name: \"home\"\n") + body
		}
		out[name] = &fstest.MapFile{Data: []byte(body + "\n")}
	}
	name := "mesh.cue"
	for {
		m := fileLine.FindStringSubmatchIndex(text)
		if m == nil {
			add(name, text)
			return out
		}
		if m[0] > 0 || name != "mesh.cue" {
			add(name, text[:m[0]])
		}
		name, text = text[m[2]:m[3]], text[m[1]:]
	}
}

// unless gives a line that the body has not at its top level.
func unless(body, field, line string) string {
	if strings.HasPrefix(body, field) || strings.Contains(body, "\n"+field) {
		return ""
	}
	return line
}

// DIA-2: what explain calls wrong is refused with that very code, and what it calls right is accepted.
func TestExamplesOfCodes(t *testing.T) {
	for _, i := range diag.All() {
		// what a shell or git has to do with it is tried by scripts, and so is what takes
		// keys, a history and a sealed store
		if i.Wrong == "" || strings.HasPrefix(i.Wrong, "$ ") || strings.HasPrefix(string(i.Code[1:]), "06") {
			continue
		}
		t.Run(string(i.Code), func(t *testing.T) {
			t.Parallel()
			said := compileExample(i.Wrong)
			if _, ok := said[i.Code]; !ok {
				t.Errorf("the wrong example is not refused with %s (%s), but:\n%s", i.Code, i.Title, list(said))
			}
			if at := said[i.Code].At; !at.IsValid() {
				t.Errorf("the wrong example of %s (%s) is refused without a place", i.Code, i.Title)
			}
			delete(said, i.Code)
			if refused(said) {
				t.Errorf("the wrong example is refused for more than %s (%s):\n%s", i.Code, i.Title, list(said))
			}
			said = compileExample(i.Right)
			if _, ok := said[i.Code]; ok || refused(said) {
				t.Errorf("the right example of %s (%s) is not right:\n%s", i.Code, i.Title, list(said))
			}
		})
	}
}

// compileExample is everything that check does with a mesh, short of secrets.
func compileExample(text string) map[diag.Code]diag.Diagnostic {
	out := map[diag.Code]diag.Diagnostic{}
	in := compiler.Input{FS: exampleFiles(text), Options: load.Options{Version: "0.3.0"}}
	if lock, err := fs.ReadFile(in.FS, "mesh.lock.hcl"); err == nil {
		in.Lock = lock
	}
	result, ds := compiler.Compile(in)
	if !ds.HasErrors() {
		_, more := render.New(result.Plan, render.Origin{}).All()
		ds = append(ds, more...)
	}
	for _, d := range ds {
		out[d.Code] = d
	}
	return out
}

func refused(said map[diag.Code]diag.Diagnostic) bool {
	return diag.List(slices.Collect(maps.Values(said))).HasErrors()
}

func list(said map[diag.Code]diag.Diagnostic) string {
	var b strings.Builder
	for _, d := range said {
		b.WriteString(string(d.Code) + " " + d.At.String() + ": " + d.Message + "\n")
	}
	return b.String()
}
