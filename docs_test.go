package meshc_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"meshc.dev/compiler/diag"
)

var (
	ruleName = regexp.MustCompile(`\b[A-Z]{3}-[0-9]+\b`)
	ruleText = regexp.MustCompile(`(?m)^- \*\*([A-Z]{3}-[0-9]+)\*\* `)
)

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// rules are the rules of docs/rules.md, each with the tests that name it.
func rules(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, m := range ruleText.FindAllStringSubmatch(readFile(t, "docs/rules.md"), -1) {
		if _, twice := out[m[1]]; twice {
			t.Errorf("docs/rules.md has %s twice", m[1])
		}
		out[m[1]] = nil
	}
	if len(out) == 0 {
		t.Fatal("docs/rules.md has no rules of the form \"- **SET-1** …\"")
	}
	return out
}

// claims finds which test says that it holds which rule: on the first comment line
// above a test or fuzz function, or on the first line of a script.
func claims(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	add := func(line, who string) {
		for _, rule := range ruleName.FindAllString(line, -1) {
			out[rule] = append(out[rule], who)
		}
	}
	for _, f := range goFiles(t) {
		if !f.isTest() {
			continue
		}
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil || !strings.HasPrefix(fn.Name.Name, "Test") && !strings.HasPrefix(fn.Name.Name, "Fuzz") {
				continue
			}
			add(fn.Doc.List[0].Text, f.path+" "+fn.Name.Name)
		}
	}
	for _, p := range append(files(t, ".txtar"), files(t, ".txt")...) {
		first, _, _ := strings.Cut(readFile(t, p), "\n")
		if strings.HasPrefix(first, "#") {
			add(first, p)
		}
	}
	return out
}

func TestEveryRuleHasATest(t *testing.T) {
	known, named := rules(t), claims(t)
	notBuilt := map[string]bool{}
	for _, rule := range ruleName.FindAllString(readFile(t, "docs/not-built.md"), -1) {
		notBuilt[rule] = true
		if _, ok := known[rule]; !ok {
			t.Errorf("docs/not-built.md names %s, which docs/rules.md does not have", rule)
		}
		if by := named[rule]; len(by) > 0 {
			t.Logf("%s is on docs/not-built.md, and %s says it holds it: take it off the list once it is built", rule, by[0])
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(known)) {
		if len(named[rule]) == 0 && !notBuilt[rule] {
			t.Errorf("no test names %s: write \"// %s: …\" above the test that holds it, or put it on docs/not-built.md", rule, rule)
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(named)) {
		if _, ok := known[rule]; !ok && isRuleSeries(known, rule) {
			t.Errorf("%s names %s, which docs/rules.md does not have", named[rule][0], rule)
		}
	}
}

// isRuleSeries says whether any rule begins with the same letters; UTF-8 and the like are none.
func isRuleSeries(known map[string][]string, rule string) bool {
	for k := range known {
		if k[:4] == rule[:4] {
			return true
		}
	}
	return false
}

var link = regexp.MustCompile(`\]\(([^()\s]+)\)`)

func TestLinksResolve(t *testing.T) {
	for _, p := range files(t, ".md") {
		for _, m := range link.FindAllStringSubmatch(withoutCode(readFile(t, p)), -1) {
			target := m[1]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(target, "#")
			to := p
			if file != "" {
				to = path.Join(path.Dir(p), file)
			}
			if _, err := fs.Stat(os.DirFS("."), to); err != nil {
				t.Errorf("%s links to %s, which is not there", p, target)
				continue
			}
			if anchor != "" && strings.HasSuffix(to, ".md") && !slices.Contains(anchors(readFile(t, to)), anchor) {
				t.Errorf("%s links to %s, but %s has no such heading", p, target, to)
			}
		}
	}
}

var fence = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]+`")

func withoutCode(s string) string { return fence.ReplaceAllString(s, "") }

// anchors are what GitHub calls the headings of a page.
func anchors(s string) []string {
	var out []string
	for line := range strings.Lines(fence.ReplaceAllStringFunc(s, func(m string) string {
		if strings.HasPrefix(m, "```") {
			return ""
		}
		return strings.Trim(m, "`")
	})) {
		heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || line[0] != '#' {
			continue
		}
		out = append(out, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(heading)))
	}
	return out
}

var codeForm = regexp.MustCompile(`^[EW]0[1-7][0-9][0-9]$`)

// DIA-2: each code is tied to a rule and explained.
func TestEveryCodeIsExplained(t *testing.T) {
	known := rules(t)
	seen := map[diag.Code]bool{}
	for _, i := range diag.All() {
		if seen[i.Code] {
			t.Errorf("%s is declared twice in compiler/diag/codes_*.go", i.Code)
		}
		seen[i.Code] = true
		if !codeForm.MatchString(string(i.Code)) {
			t.Errorf("%q is no code: E or W and four digits, the first two its stage's (codes.go)", i.Code)
		}
		if _, ok := known[i.Rule]; !ok {
			t.Errorf("%s holds rule %q, which docs/rules.md does not have", i.Code, i.Rule)
		}
		if i.Title == "" || i.Title != strings.TrimRight(i.Title, ".") || strings.ContainsAny(i.Title, "%\n") {
			t.Errorf("%s: the title %q is to be one terse line without values and full stop", i.Code, i.Title)
		}
		var missing []string
		for _, part := range []struct{ name, text string }{{"Explain", i.Explain}, {"Wrong", i.Wrong}, {"Right", i.Right}} {
			if strings.TrimSpace(part.text) == "" {
				missing = append(missing, part.name)
			}
		}
		if missing != nil {
			t.Errorf("%s (%s) has no %s: fill it in compiler/diag/codes_*.go", i.Code, i.Title, strings.Join(missing, ", "))
		}
	}
}

// DIA-2: a code that is declared stands in the table, so that explain knows it.
func TestEveryCodeIsInTheTable(t *testing.T) {
	declared := regexp.MustCompile(`Code += "([EW][0-9]{4})"`)
	for _, p := range files(t, ".go") {
		if path.Dir(p) != "compiler/diag" {
			continue
		}
		for _, m := range declared.FindAllStringSubmatch(readFile(t, p), -1) {
			if _, ok := diag.Lookup(diag.Code(m[1])); !ok {
				t.Errorf("%s declares %s, and no table of codes has it: add it there", p, m[1])
			}
		}
	}
}

// diagnosticsPage is docs/diagnostics.md, made from the table of codes.
func diagnosticsPage() []byte {
	var b bytes.Buffer
	b.WriteString("# Diagnostics\n\n" +
		"Every problem that meshc can name, by code: E refuses the mesh, W warns. `meshc explain CODE` prints the same.\n" +
		"Rules are those of [rules.md](rules.md). Made from compiler/diag by `make gen`.\n\n" +
		"| code | rule | |\n| --- | --- | --- |\n")
	all := slices.Clone(diag.All())
	slices.SortStableFunc(all, func(a, b diag.Info) int { return strings.Compare(string(a.Code[1:]), string(b.Code[1:])) })
	for _, i := range all {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", i.Code, strings.ToLower(string(i.Code)), i.Rule, i.Title)
	}
	for _, i := range all {
		fmt.Fprintf(&b, "\n## %s\n\n**%s** (%s). %s\n", i.Code, i.Title, i.Rule, strings.TrimSpace(i.Explain))
		fmt.Fprintf(&b, "\nWrong:\n\n%s\nRight:\n\n%s", indented(i.Wrong), indented(i.Right))
	}
	return b.Bytes()
}

func indented(s string) string {
	var b strings.Builder
	for _, l := range strings.Split(strings.Trim(s, "\n"), "\n") {
		if l = strings.TrimRight(strings.ReplaceAll(l, "\t", "    "), " "); l != "" {
			l = "    " + l
		}
		b.WriteString(l + "\n")
	}
	return b.String()
}

// DIA-2: docs/diagnostics.md is what the table of codes says.
func TestDiagnosticsPage(t *testing.T) {
	const page = "docs/diagnostics.md"
	want := diagnosticsPage()
	if update {
		if err := os.WriteFile(page, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := readFile(t, page); got != string(want) {
		t.Errorf("%s is not what compiler/diag/codes_*.go says: run make gen", page)
	}
}

// The schema that lies in each mesh's cue.mod for plain CUE tools is the one built in.
func TestVendoredSchemas(t *testing.T) {
	const where = "cue.mod/pkg/meshc.dev/schema"
	own := files(t, ".cue")
	meshes, err := filepath.Glob("meshes/*/cue.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range meshes {
		dir := filepath.ToSlash(filepath.Dir(m)) + "/" + where
		vendored, _ := filepath.Glob(dir + "/*.cue")
		for _, v := range vendored {
			if !slices.Contains(own, "schema/"+filepath.Base(v)) {
				t.Errorf("%s is of a schema that is no more: run make gen", v)
			}
		}
		for _, p := range own {
			if path.Dir(p) != "schema" {
				continue
			}
			got, err := os.ReadFile(dir + "/" + path.Base(p))
			if err != nil || string(got) != readFile(t, p) {
				t.Errorf("%s/%s is not the same as %s: run make gen", dir, path.Base(p), p)
			}
		}
	}
}
