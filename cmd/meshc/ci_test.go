package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"meshc.dev/render/diff"
)

// steps are the shell texts of a recipe that have meshc or a comment in them.
func steps(t *testing.T, r recipe) (out []string) {
	t.Helper()
	var tree any
	if err := yaml.Unmarshal([]byte(r.text("v0.3.0")), &tree); err != nil {
		t.Fatalf("%s is no YAML: %v", r.path, err)
	}
	var walk func(key string, v any)
	walk = func(key string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				walk(k, x)
			}
		case []any:
			for _, x := range v {
				walk(key, x)
			}
		case string:
			if key == "run" || key == "script" {
				out = append(out, v)
			}
		}
	}
	walk("", tree)
	return out
}

// shown finds meshc's command lines in a help text, where they are indented and what they
// are for stands behind two spaces; ran those of a shell text.
var (
	shown = regexp.MustCompile(`(?m)^ {2,}(?:.*&& )?meshc ([a-z](?:[^\n|<>;& ]| [^\n|<>;& ])*)`)
	ran   = regexp.MustCompile(`(?m)^meshc ([a-z][^\n|<>;&]*)`)
)

// Every command line that a topic, a help text or a recipe shows is one that meshc understands.
func TestShownCommandsAreUnderstood(t *testing.T) {
	check := func(where, text string, lines *regexp.Regexp) {
		found := lines.FindAllStringSubmatch(text, -1)
		if len(found) == 0 {
			t.Errorf("%s shows no command", where)
		}
		for _, m := range found {
			if err := understood(strings.Fields(strings.ReplaceAll(m[1], `"`, ""))); err != nil {
				t.Errorf("%s shows \"meshc %s\": %v", where, m[1], err)
			}
		}
	}
	for _, r := range recipes() {
		check(r.path, strings.Join(steps(t, r), "\n"), ran)
	}
	c := root(process())
	for _, sub := range append(c.Commands(), c) {
		if sub.Name() != "help" { // cobra's own
			check("the help of "+sub.Name(), sub.Long, shown)
		}
	}
}

func understood(args []string) error {
	c, rest, err := root(process()).Find(args)
	if err != nil {
		return err
	}
	if !c.HasParent() {
		return errors.New("there is no such command")
	}
	if err := c.ParseFlags(rest); err != nil || c.Args == nil {
		return err
	}
	return c.Args(c, c.Flags().Args())
}

// commenting is the step of a recipe that writes the comment.
func commenting(t *testing.T, r recipe) string {
	t.Helper()
	for _, s := range steps(t, r) {
		if strings.Contains(s, "<!-- meshc diff -->") {
			return s
		}
	}
	t.Fatalf("%s has no step that comments", r.path)
	return ""
}

// forge keeps comments like GitHub, Forgejo and GitLab do, as far as the recipes ask.
type forge struct {
	t        *testing.T
	comments []comment
	calls    []string
}

type comment struct {
	ID   int    `json:"id"`
	Body string `json:"body"`
	User struct {
		Login string `json:"login"`
	} `json:"user"`
}

func (f *forge) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if q.Method == http.MethodGet {
		_ = json.NewEncoder(w).Encode(f.comments)
		return
	}
	var body string
	if strings.HasPrefix(q.Header.Get("Content-Type"), "application/json") {
		var c comment
		if err := json.NewDecoder(q.Body).Decode(&c); err != nil {
			f.t.Errorf("%s %s: %v", q.Method, q.URL, err)
		}
		body = c.Body
	} else {
		// A form is read from the body alone; ParseForm would not for PATCH.
		b, _ := io.ReadAll(q.Body)
		q.Body = io.NopCloser(bytes.NewReader(b))
		body = q.FormValue("body")
	}
	f.calls = append(f.calls, q.Method+" "+q.URL.Path)
	if q.Method == http.MethodPost {
		f.comments = append(f.comments, comment{ID: 70 + len(f.comments), Body: body})
		return
	}
	for k := range f.comments {
		if strings.HasSuffix(q.URL.Path, fmt.Sprint("/", f.comments[k].ID)) {
			f.comments[k].Body = body
		}
	}
}

func tools(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("MESHC_TEST_TOOLS") == "required" {
				t.Fatalf("%s is missing, and MESHC_TEST_TOOLS says that it is required", name)
			}
			t.Skipf("%s is not installed", name)
		}
	}
}

// REV-3: the recipes' own shell makes one comment, and renews that one, whoever else says something.
func TestRecipesKeepOneComment(t *testing.T) {
	tools(t, "sh", "curl", "jq")
	for _, r := range recipes() {
		t.Run(r.name, func(t *testing.T) {
			f := &forge{t: t, comments: []comment{{ID: 7, Body: "looks good; see <!-- meshc diff -->"}}}
			server := httptest.NewServer(f)
			defer server.Close()
			dir := t.TempDir()
			// gh, which GitHub's machines have, in the terms of curl and jq; and no apt-get here
			scripts := map[string]string{
				"gh": `#!/bin/sh
set -eu
shift; method=GET; filter=.; body=; path=
while [ $# -gt 0 ]; do case $1 in
--method) method=$2; shift ;; --jq) filter=$2; shift ;; -F) body=${2#body=@}; shift ;; --paginate|--silent) ;; *) path=$1 ;;
esac; shift; done
if [ -n "$body" ]; then jq -Rs '{body: .}' "$body" | curl -fsS -X "$method" -H 'Content-Type: application/json' -d @- "$SERVER/$path"
else curl -fsS "$SERVER/$path" | jq -r "[.[] | .user.login = \"github-actions[bot]\"] | $filter"; fi
`,
				"apt-get": "#!/bin/sh\n",
			}
			for name, text := range scripts {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for round, d := range []*diff.Diff{
				{From: "main", To: "one", Impact: diff.Restart, Nodes: map[string]diff.Impact{"board": diff.Restart}, Changes: []diff.Change{{Impact: diff.Restart, What: `gitea "restarts" & more`, Nodes: []string{"board"}}}},
				{From: "main", To: "two"},
			} {
				var text bytes.Buffer
				if err := diff.Markdown(&text, d); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, "diff.md"), text.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command("sh", "-e", "-c", commenting(t, r))
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SERVER="+server.URL, "REPO=o/r", "NUMBER=5", "API="+server.URL+"/repos/o/r", "TOKEN=t",
					"CI_API_V4_URL="+server.URL, "CI_PROJECT_ID=1", "CI_MERGE_REQUEST_IID=5", "MESHC_COMMENT_TOKEN=t", "NO_PROXY=*", "no_proxy=*")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				if len(f.comments) != 2 || f.comments[1].Body != text.String() || !strings.HasPrefix(f.comments[0].Body, "looks good") {
					t.Fatalf("after round %d the comments are %+v", round+1, f.comments)
				}
			}
			if len(f.calls) != 2 || !strings.HasPrefix(f.calls[0], "POST ") || strings.HasPrefix(f.calls[1], "POST ") {
				t.Errorf("it calls %v", f.calls)
			}
		})
	}
}

// shownVersion is the one that docs/ci.md shows.
const shownVersion = "v0.1.0"

// T71: no recipe has CI run what is newest; what cannot be installed by its version is for a person to say.
func TestRecipesArePinned(t *testing.T) {
	for _, r := range recipes() {
		for version, want := range map[string]string{
			"v0.3.0": "v0.3.0", "0.3.0": "v0.3.0", "v0.0.0-20261201032453-603134c0ffee": "v0.0.0-20261201032453-603134c0ffee",
			"": unpinned, "devel": unpinned, "v0.0.0-20261201032453-603134c0ffee+dirty": unpinned, "latest": unpinned,
		} {
			text := r.text(version)
			if !strings.Contains(text, `MESHC: "`+want+`"`) || strings.Contains(text, "latest\"") || strings.Contains(text, "@latest") {
				t.Errorf("of version %q, %s is\n%s", version, r.path, text)
			}
		}
	}
}

// docs/ci.md shows the recipes that init writes; UPDATE=1 rewrites it.
func TestRecipesPage(t *testing.T) {
	const page = "../../docs/ci.md"
	var b strings.Builder
	b.WriteString("# A mesh in CI\n\n")
	for _, c := range topics() {
		if c.Name() == "ci" {
			b.WriteString("`meshc help ci` says:\n\n")
			for line := range strings.Lines(c.Long + "\n") {
				b.WriteString(strings.TrimRight("    "+line, " \n") + "\n")
			}
		}
	}
	b.WriteString("\nWhat `meshc init --ci FORGE` writes. Each recipe's comment step was run against a server that keeps comments as the forge\ndoes. Made by `make gen`.\n\n" +
		"MESHC is the version of the meshc that wrote the file, here " + shownVersion + ", and no other: what CI runs changes by a commit that is reviewed. A meshc of no\nrelease writes " + unpinned + " there, and CI fails until a person does.\n")
	for _, r := range recipes() {
		fmt.Fprintf(&b, "\n## %s\n\n`%s`:\n\n```yaml\n%s```\n", map[string]string{"github": "GitHub", "forgejo": "Forgejo", "gitlab": "GitLab"}[r.name], r.path, r.text(shownVersion))
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != b.String() {
		t.Errorf("%s is not what init writes: run make gen (%v)", page, err)
	}
}
