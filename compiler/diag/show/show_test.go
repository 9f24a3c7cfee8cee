package show

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pmezard/go-difflib/difflib"
	"golang.org/x/tools/txtar"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/screen"
)

// update says to rewrite the golden sections of testdata/*.txtar: UPDATE=1 go test, or make golden.
var update = os.Getenv("UPDATE") != ""

// table is a table of codes for these tests, so that the goldens do not move
// with the wording of the real one.
func table(c diag.Code) (diag.Info, bool) {
	known := map[diag.Code]diag.Info{
		"E0204": {Rule: "CLM-1", Title: "claim held twice", Explain: "A claim is a name that one instance may hold in its scope."},
		"E0105": {Rule: "SET-3", Title: "unknown key", Explain: "The module has no such setting."},
		"W0103": {Rule: "SET-3", Title: "settings for nothing", Explain: "The module runs nowhere here."},
		"E0701": {Rule: "SEC-8", Title: "lock of a newer meshc", Explain: "The lock has a format that this meshc does not know."},
	}
	i, ok := known[c]
	i.Code = c
	return i, ok
}

// example is one testdata file: diagnostics, the files they speak of, and what
// each format makes of them.
type example struct {
	list    diag.List
	files   map[string][]byte
	formats []string
	archive *txtar.Archive
}

// visible are what control characters are written as in the testdata.
var visible = strings.NewReplacer("\r", "␍", "\x1b", "␛", "\x07", "␇", "\u202e", "⯇")

var invisible = strings.NewReplacer("␍", "\r", "␛", "\x1b", "␇", "\x07", "⯇", "\u202e")

func readExample(t *testing.T, file string) example {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	e := example{archive: a, files: map[string][]byte{}}
	_, formats, ok := strings.Cut(string(a.Comment), "formats: ")
	if !ok {
		t.Fatalf("%s: no line \"formats: …\" above the files", file)
	}
	e.formats = strings.Fields(formats)
	for _, f := range a.Files {
		switch {
		case f.Name == "diagnostics.json":
			e.list = readDiagnostics(t, []byte(invisible.Replace(string(f.Data))))
		case !strings.HasPrefix(f.Name, "want "):
			e.files[f.Name] = []byte(invisible.Replace(string(f.Data)))
		}
	}
	return e
}

func (e example) read(file string) ([]byte, error) {
	if b, ok := e.files[file]; ok {
		return b, nil
	}
	return nil, fs.ErrNotExist
}

func (e example) print(t *testing.T, format string) string {
	t.Helper()
	o := Options{Read: e.read, Prefix: "fleet", Version: "0.3.0"}
	if format == "colour" {
		o.Colour, format = true, "text"
	}
	p, err := newPrinter(format, o, table)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.Print(&b, e.list); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// readDiagnostics reads a list in which a place is written as file:line:column-line:column.
func readDiagnostics(t *testing.T, b []byte) diag.List {
	t.Helper()
	type note struct{ At, Text string }
	var in []struct {
		Code, Message, At, Help string
		Also                    []note
	}
	// a control character may not stand in JSON, but may well stand in a mesh
	for _, c := range []string{"\x1b", "\r", "\x07"} {
		b = bytes.ReplaceAll(b, []byte(c), fmt.Appendf(nil, `\u%04x`, c[0]))
	}
	if err := json.Unmarshal(b, &in); err != nil {
		t.Fatal(err)
	}
	var l diag.List
	for _, d := range in {
		out := diag.Diagnostic{Code: diag.Code(d.Code), Message: d.Message, At: readPos(t, d.At), Help: d.Help}
		for _, n := range d.Also {
			out.Also = append(out.Also, diag.Note{At: readPos(t, n.At), Text: n.Text})
		}
		l = append(l, out)
	}
	return l
}

var posForm = regexp.MustCompile(`(?s)^(.+?)(?::(\d+))?(?::(\d+))?(?:-(\d+):(\d+))?$`)

func readPos(t *testing.T, s string) diag.Pos {
	t.Helper()
	if s == "" {
		return diag.Pos{}
	}
	m := posForm.FindStringSubmatch(s)
	if m == nil {
		t.Fatalf("%q is no place", s)
	}
	n := func(i int) int { v, _ := strconv.Atoi(m[i]); return v }
	return diag.Pos{File: m[1], Line: n(2), Column: n(3), EndLine: n(4), EndColumn: n(5)}
}

// DIA-2: code, title, place, marker, everyone involved and help, in every format.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			e := readExample(t, file)
			var kept []txtar.File
			want := map[string]string{}
			for _, f := range e.archive.Files {
				if format, ok := strings.CutPrefix(f.Name, "want "); ok {
					want[format] = string(f.Data)
				} else {
					kept = append(kept, f)
				}
			}
			for _, format := range e.formats {
				got := visible.Replace(e.print(t, format))
				kept = append(kept, txtar.File{Name: "want " + format, Data: []byte(got)})
				if !update && got != want[format] {
					t.Errorf("%s is not as in %s (make golden rewrites it):\n%s", format, file, unified(want[format], got))
				}
			}
			if update {
				e.archive.Files = kept
				if err := os.WriteFile(file, txtar.Format(e.archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func unified(want, got string) string {
	d, _ := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(want), B: difflib.SplitLines(got), FromFile: "want", ToFile: "got", Context: 3,
	})
	return d
}

// DIA-2: every printer keeps the same promises, over every example.
func TestConformance(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, format := range append(Formats(), "colour") {
		t.Run(format, func(t *testing.T) {
			for _, file := range files {
				e := readExample(t, file)
				t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
					conforms(t, format, e)
				})
			}
			t.Run("nothing", func(t *testing.T) { conforms(t, format, example{}) })
		})
	}
}

func conforms(t *testing.T, format string, e example) {
	before := cloneList(e.list)
	first := e.print(t, format)
	if !reflect.DeepEqual(before, e.list) {
		t.Error("the printer changed the list it was given")
	}
	reversed := e
	reversed.list = cloneList(e.list)
	slices.Reverse(reversed.list)
	reversed.list = append(reversed.list, e.list...)
	if again := reversed.print(t, format); again != first {
		t.Errorf("another order, or everything twice, is printed differently:\n%s", unified(first, again))
	}

	if !utf8.ValidString(first) {
		t.Error("the output is not UTF-8")
	}
	for i, r := range first {
		if screen.Hidden(r) && r != '\n' && (format != "colour" || r != '\x1b') {
			t.Errorf("the output has the hidden character %U at byte %d", r, i)
		}
	}
	structured := format == "json" || format == "gitlab" || format == "sarif"
	if structured && !json.Valid([]byte(first)) {
		t.Error("the output is not JSON")
	}
	if len(e.list) == 0 && !structured && first != "" {
		t.Errorf("something is printed where there is nothing to say: %q", first)
	}
	if format == "gitlab" {
		prints := regexp.MustCompile(`"fingerprint": "[^"]*"`).FindAllString(first, -1)
		slices.Sort(prints)
		if len(slices.Compact(prints)) != len(e.list) {
			t.Error("two diagnostics have one fingerprint, so that GitLab would show one of them")
		}
	}
	at := 0
	for _, d := range e.list.Sorted() {
		i := strings.Index(first[at:], string(d.Code))
		if format == "sarif" {
			i = strings.Index(first[at:], `"ruleId": "`+string(d.Code))
		}
		if i < 0 {
			t.Fatalf("%s %q is missing, or not in file order", d.Code, d.Message)
		}
		at += i + len(d.Code)
	}
}

func cloneList(l diag.List) diag.List {
	out := slices.Clone(l)
	for i := range out {
		out[i].Also = slices.Clone(out[i].Also)
	}
	return out
}

type brokenWriter struct{}

var errBroken = errors.New("the pipe is broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteErrors(t *testing.T) {
	for _, format := range Formats() {
		p, err := New(format, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Print(brokenWriter{}, diag.List{{Code: "E0204"}}); !errors.Is(err, errBroken) {
			t.Errorf("%s: the writer's error is lost: %v", format, err)
		}
	}
}

// DIA-4: an unknown format is answered with those there are.
func TestUnknownFormat(t *testing.T) {
	_, err := New("yaml", Options{})
	if want := `there is no format "yaml" for diagnostics, only text, json, github, gitlab, sarif`; err == nil || err.Error() != want {
		t.Errorf("New(yaml) = %v, not %s", err, want)
	}
}

func TestSummary(t *testing.T) {
	at := func(line int) diag.Pos { return diag.Pos{File: "mesh.cue", Line: line, Column: 1} }
	e := func(line int) diag.Diagnostic { return diag.Diagnostic{Code: "E0204", At: at(line)} }
	w := func(line int) diag.Diagnostic { return diag.Diagnostic{Code: "W0103", At: at(line)} }
	for _, c := range []struct {
		list diag.List
		want string
	}{
		{nil, ""},
		{diag.List{e(1)}, "1 error"},
		{diag.List{w(1), w(2)}, "2 warnings"},
		{diag.List{e(1), e(2), e(3), w(4)}, "3 errors, 1 warning"},
		{diag.List{e(1), e(1), w(4), w(4)}, "1 error, 1 warning"},
	} {
		if got := Summary(c.list); got != c.want {
			t.Errorf("Summary of %d = %q, not %q", len(c.list), got, c.want)
		}
	}
}
