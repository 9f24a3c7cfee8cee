package meshc_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"meshc.dev/compiler"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/diag/show"
	"meshc.dev/render"
)

// T72: what people are told to build holds no path of who built it and needs no C library.
func TestBuildsAreBare(t *testing.T) {
	found := 0
	for _, name := range []string{"README.md", "Makefile"} {
		for line := range strings.Lines(readFile(t, name)) {
			if strings.Contains(line, "go build") && !strings.Contains(line, "testdata/tools") {
				if found++; !strings.Contains(line, "CGO_ENABLED=0 go build -trimpath") {
					t.Errorf("%s: %s", name, line)
				}
			}
		}
	}
	if found < 2 {
		t.Error("README.md and Makefile do not say how to build")
	}
}

// README shows meshes/small, a file that comes of it, and a refusal: all three are as it says.
func TestReadmeShowsWhatComesOut(t *testing.T) {
	readme := readFile(t, "README.md")
	small := readFile(t, "meshes/small/mesh.cue")
	if !strings.Contains(readme, "```cue\n"+small+"```\n") {
		t.Error("the mesh in README.md is not meshes/small/mesh.cue")
	}

	result, ds := compiler.Compile(compiler.Input{FS: os.DirFS("meshes/small")})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	bundles, ds := render.New(result.Plan, render.Origin{}).All()
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	const shown = "files/etc/gitea/database.json"
	found := false
	for _, b := range bundles {
		for _, e := range b.Contents() {
			if e.Name == shown && strings.Contains(readme, "```json\n"+string(e.Data)+"```\n") {
				found = true
			}
		}
	}
	if !found {
		t.Errorf("README.md does not show %s as meshes/small gives it", shown)
	}

	wrong := fstest.MapFS{
		"mesh.cue": {Data: []byte(strings.Replace(small, "sway: {}, zsh", "sway: {}, i3: {}, zsh", 1))},
		"keys.cue": {Data: []byte(readFile(t, "meshes/small/keys.cue"))},
	}
	_, ds = compiler.Compile(compiler.Input{FS: wrong})
	var claims diag.List
	for _, d := range ds {
		if d.Code == diag.ClaimHeldTwice {
			claims = append(claims, d)
		}
	}
	printer, err := show.New("text", show.Options{Read: show.FromFS(wrong)})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := printer.Print(&b, claims); err != nil || b.Len() == 0 {
		t.Fatal("the claim in README.md is not refused", err)
	}
	if text := indented(b.String()); !strings.Contains(readme, text) {
		t.Errorf("README.md shows another refusal than:\n%s", text)
	}
}
