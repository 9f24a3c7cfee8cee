package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"meshc.dev/render/bundle"
)

// inProcess runs a command as the binary would, and gives what it prints.
func inProcess(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(args, &world{stdin: strings.NewReader(stdin), stdout: &out, stderr: &err, env: func(string) string { return "" }})
	return out.String(), err.String(), code
}

// copyMesh copies an example mesh without what was built of it.
func copyMesh(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	src := filepath.Join("..", "..", "meshes", name)
	if err := os.CopyFS(dir, os.DirFS(src)); err != nil {
		t.Fatal(err)
	}
	for _, built := range []string{"dist", "sealed/.lock"} {
		if err := os.RemoveAll(filepath.Join(dir, built)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	args = append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"}, args...)
	if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
		t.Fatalf("git %v: %s", args, out)
	}
}

// committed copies a mesh into a repository in which everything is committed.
func committed(t *testing.T, name string) string {
	t.Helper()
	dir := copyMesh(t, name)
	if name == "home" { // its secrets are made once, as in a mesh that is in use
		if _, stderr, code := inProcess(t, "", "lock", "-C", dir); code != exitDone {
			t.Fatalf("lock: exit %d\n%s", code, stderr)
		}
	}
	gitIn(t, dir, "init", "-q")
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "commit", "-qm", "one")
	return dir
}

// edit replaces a text that has to be there once.
func edit(t *testing.T, dir, file, from, to string) {
	t.Helper()
	path := filepath.Join(dir, file)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), from); n != 1 {
		t.Fatalf("%s has %q %d times", file, from, n)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(b), from, to, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// golden compares with a file of testdata/golden; UPDATE=1 rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("..", "..", "testdata", "golden", name)
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs; UPDATE=1 rewrites it. got:\n%s", name, got)
	}
}

// homeChanges are changes of meshes/home, one for each kind of impact.
var homeChanges = []struct {
	name, file, from, to string
	then                 []string // a command that has to follow the edit
	impact               string   // as the first line says it
	says                 []string
}{
	{"setting-restarts", "nodes_house.cue", `app_name: "House"`, `app_name: "Shed"`, nil, "restart", []string{"gitea.service restarts", "because of gitea/file.config"}},
	{"setting-without-unit", "nodes_cabin.cue", `program: "neovim"`, `program: "vim"`, nil, "access", []string{"block in /etc/environment  on wren", "nothing restarts"}},
	{"becomes-reachable", "nodes_house.cue", `hub: {}`, "hub: {}\n\t\tgopher: {}", nil, "access", []string{"gopher/gopher becomes reachable from world at tcp 70", "runs as root: ExecStart=/usr/bin/gopherd 70"}},
	{"port-moves", "nodes_house.cue", `"22":             "sshd"`, "\"22\": \"sshd\"\n\t\t\"20000-25000\": \"a game server\"", []string{"lock"}, "", []string{"postgres/postgres listens on", "gitea@board is told"}},
	{"data-moves", "nodes_house.cue", "gitea: settings: app_name: \"House\"\n\t\tdhcp: {}", "dhcp: {}", nil, "data left behind or moved", []string{"gitea is gone", "its data stays in"}},
	{"node-goes", "nodes_house.cue", "\tassign: {\n\t\ti3: {}\n\t\tzsh: {}\n\t}\n", "\tomit: {\"mesh-wireguard\": {}, networking: {}}\n\tassign: {\n\t\ti3: {}\n\t\tzsh: {}\n\t}\n", nil, "access", []string{"node unreachable", "it is no longer on the network"}},
	{"endpoint-moves", "nodes_house.cue", `endpoint:  "203.0.113.7"`, `endpoint:  "203.0.113.8"`, nil, "node unreachable", []string{"its endpoint is 203.0.113.8 instead of 203.0.113.7"}},
	{"everywhere", "mesh.cue", `firewall: log:  true`, `firewall: log:  false`, nil, "", []string{"on anchor, board, lark, nas, wren"}},
	{"new-consumer", "nodes_cabin.cue", "prometheus: {}\n", "prometheus: {}\n\t\tforge: {module: \"gitea\", settings: host: \"forge.house.example\"}\n", nil, "", []string{"forge is new (gitea)", "has yet to be made"}},
	{"new-recipient", "nodes_house.cue", "age1h6f4lkmp64z7e4uzfsl70ygkxsgeu6xn9yyuk3kud9522gsfwgrq9czwks", "age1ulhnx0f0m3l7jqqz6vud7ppw47xcp6e395nnqtsp9xvryzju43cqqg6qt7", []string{"lock", "--new-recipient", "board"}, "credential", []string{"its recipient is", "new value, generation 2"}},
	{"rotation", "mesh.cue", "// Package mesh is a household", "// Package mesh is the household", []string{"rotate", "database"}, "credential", []string{"credential postgres@anchor database gitea@board: new value, generation 2", "gitea.service restarts"}},
}

// REV-2 REV-5: from the report alone it can be said what restarts, what becomes
// reachable and which credentials change, for each kind of impact.
func TestDiffOfHome(t *testing.T) {
	for _, c := range homeChanges {
		t.Run(c.name, func(t *testing.T) {
			dir := committed(t, "home")
			write(t, dir, "modules/gopher/gopher.cue", gopher)
			gitIn(t, dir, "add", "-A")
			gitIn(t, dir, "commit", "-qm", "two")
			edit(t, dir, c.file, c.from, c.to)
			if c.then != nil {
				if _, stderr, code := inProcess(t, "", append(c.then, "-C", dir)...); code != exitDone {
					t.Fatalf("%v: exit %d\n%s", c.then, code, stderr)
				}
			}
			out, stderr, code := inProcess(t, "", "diff", "-C", dir, "--exit-code")
			if code != exitDiffers {
				t.Fatalf("exit %d\n%s%s", code, out, stderr)
			}
			if first, _, _ := strings.Cut(out, "\n"); !strings.Contains(first, ": "+c.impact) {
				t.Errorf("the first line is %q, want the impact %q", first, c.impact)
			}
			for _, s := range c.says {
				if !strings.Contains(out, s) {
					t.Errorf("does not say %q", s)
				}
			}
			golden(t, "diff/"+c.name+".txt", out)
		})
	}
}

func write(t *testing.T, dir, file, content string) {
	t.Helper()
	path := filepath.Join(dir, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

const gopher = `package gopher

import "meshc.dev/schema"

schema.#Module

in: _

name:    "gopher"
summary: "A gopher server"

listens: gopher: {port: 70, fixed: true, reach: "world"}
resources: unit: server: {name: "gopher.service", content: Service: ExecStart: "/usr/bin/gopherd \(in.ports.gopher)"}
`

// REV-4: a mesh differs from itself in nothing, after reordering fields, files and nodes.
func TestNoFalseDifference(t *testing.T) {
	for _, mesh := range []string{"home", "small"} {
		t.Run(mesh, func(t *testing.T) {
			dir := committed(t, mesh)
			reorder(t, dir)
			out, stderr, code := inProcess(t, "", "diff", "-C", dir, "--exit-code")
			if code != exitDone {
				t.Errorf("exit %d\n%s%s", code, out, stderr)
			}
		})
	}
}

// reorder moves every mesh file's lines into a file of another name, and the last
// top-level declaration of mesh.cue to its front.
func reorder(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.cue"))
	if err != nil {
		t.Fatal(err)
	}
	top := regexp.MustCompile(`(?m)^(nodes|sites|groups|settings|licences|assign)\b`)
	for k, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		s := string(b)
		if at := top.FindAllStringIndex(s, -1); len(at) > 1 {
			first, last := at[0][0], at[len(at)-1][0]
			s = s[:first] + strings.TrimRight(s[last:], "\n") + "\n\n" + s[first:last]
		}
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, string(rune('z'-k))+"_part.cue"), []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// REV-1: two revisions are compared with the work tree neither read nor touched.
func TestDiffOfRevisions(t *testing.T) {
	dir := committed(t, "small")
	gitIn(t, dir, "tag", "before")
	edit(t, dir, "mesh.cue", `name:`, "// a comment\nname:")
	gitIn(t, dir, "commit", "-qam", "two")
	write(t, dir, "mesh.cue", "this is not CUE {")
	out, stderr, code := inProcess(t, "", "diff", "-C", dir, "HEAD", "--against", "before")
	if code != exitDone || out != "nothing changes between before and HEAD\n" {
		t.Errorf("exit %d\n%s%s", code, out, stderr)
	}
	if _, stderr, code := inProcess(t, "", "diff", "-C", dir, "nosuch"); code != exitUsage || !strings.Contains(stderr, "git knows no revision nosuch") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// REV-3: the comment fits however many nodes change, says what it left out, and is
// the same text for the same change.
func TestDiffMarkdownFits(t *testing.T) {
	dir := committed(t, "fleet")
	edit(t, dir, "mesh.cue", `name: "fleet"`, `name: "navy"`)
	out, stderr, code := inProcess(t, "", "diff", "-C", dir, "-t", "nodes=12", "--format", "markdown")
	if code != exitDone {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	if n := len([]rune(out)); n > 65536 || n < 1000 {
		t.Errorf("%d characters", n)
	}
	if !strings.Contains(out, "left out here") {
		t.Error("does not say what it left out")
	}
	again, _, _ := inProcess(t, "", "diff", "-C", dir, "-t", "nodes=12", "--format", "markdown")
	if again != out {
		t.Error("the same change gives another text")
	}
}

// REV-4: what differs from the bundles that were built only because another meshc built
// them is shown as such.
func TestDiffOfAnotherCompiler(t *testing.T) {
	dir := committed(t, "small")
	if _, stderr, code := inProcess(t, "", "build", "-C", dir); code != exitDone {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "commit", "-qm", "built", "--allow-empty")
	built := filepath.Join(dir, "dist")
	out, stderr, code := inProcess(t, "", "diff", "-C", dir, "--built", built)
	if code != exitDone || out != "nothing changes between HEAD and this folder\n" {
		t.Fatalf("exit %d\n%s%s", code, out, stderr)
	}
	// An older meshc wrote a file otherwise: the bundle is one that it would have written.
	otherwise(t, filepath.Join(built, "desk"), "/etc/sysctl.d/60-mesh-wireguard.conf", "# as it was written once\n")
	out, stderr, code = inProcess(t, "", "diff", "-C", dir, "--built", built)
	for _, want := range []string{
		"some of it only because of another meshc: HEAD was built by meshc", "/etc/sysctl.d/60-mesh-wireguard.conf (only because of another meshc)",
		"wg-quick@wg0.service restarts (only because of another meshc)", "-# as it was written once",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("does not say %q:\n%s%s", want, out, stderr)
		}
	}
	if code != exitDone {
		t.Errorf("exit %d", code)
	}
}

// otherwise rewrites one file of a bundle, and all digests with it.
func otherwise(t *testing.T, dir, path, content string) {
	t.Helper()
	b, err := bundle.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var entries []bundle.Entry
	for _, e := range b.Entries {
		if e.Name == bundle.FileSource(path) {
			e = bundle.NewEntry(e.Name, []byte(content))
		}
		entries = append(entries, e)
	}
	for _, item := range b.Declaration.Items {
		if f, ok := item.(*bundle.File); ok && f.Path == path {
			f.SHA256 = bundle.SumOf([]byte(content))
		}
	}
	again, err := bundle.New(b.Declaration, entries, bundle.Origin{Recipient: b.Manifest.Recipient, Complete: b.Manifest.Complete, Version: "0.1.0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for _, e := range again.Contents() {
		write(t, dir, e.Name, string(e.Data))
	}
}

// DIA-5, T52: on a terminal our own inks pass, and nothing of a mesh does.
func TestInksPassAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	mesh := "package mesh\n\nimport \"meshc.dev/schema\"\n\nschema.#Mesh\n\nname: \"a\"\nnodes: a: oops: 1 // \x1b[2J\x1b[8m\u009b\u202e\n"
	if err := os.WriteFile(filepath.Join(dir, "mesh.cue"), []byte(mesh), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	w := &world{
		stdin: strings.NewReader(""), stdout: &out, stderr: &errs, env: func(string) string { return "" },
		outTerminal: true, errTerminal: true,
	}
	if code := run([]string{"-C", dir, "plan"}, w); code != exitRefused {
		t.Fatal(code, errs.String())
	}
	said := errs.String()
	for _, want := range []string{"\x1b[1;31merror", `\x1b[2J\x1b[8m\u009b\u202e`} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in %q", want, said)
		}
	}
	for _, never := range []string{"\x1b[2J", "\x1b[8m", "\u009b", "\u202e"} {
		if strings.Contains(said, never) {
			t.Errorf("%q is in %q", never, said)
		}
	}
}
