package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"github.com/rogpeppe/go-internal/testscript"

	"meshc.dev/compiler/screen"
)

type scriptCommand = func(ts *testscript.TestScript, neg bool, args []string)

// withSecrets adds what scripts about secrets need to the commands of all scripts.
func withSecrets(all map[string]scriptCommand) map[string]scriptCommand {
	maps.Copy(all, map[string]scriptCommand{
		"fixture": fixture, "commit": commit, "refuses": refuses, "mends": mends, "mask": mask, "opens": opens, "same-tree": sameTree, "tool": tool, "seen": seen,
	})
	return all
}

// fixture copies a folder of testdata/fixture into the script's own, and tells where the
// machines' test keys are: `fixture secrets`, then $KEYS/board.txt.
func fixture(ts *testscript.TestScript, _ bool, args []string) {
	here, err := filepath.Abs("../../testdata")
	ts.Check(err)
	ts.Setenv("KEYS", filepath.Join(here, "keys"))
	ts.Check(os.CopyFS(ts.MkAbs("."), os.DirFS(filepath.Join(here, "fixture", args[0]))))
}

// commit makes a commit of everything in the folder, and a repository where there is none.
func commit(ts *testscript.TestScript, _ bool, args []string) {
	for _, kind := range []string{"AUTHOR", "COMMITTER"} {
		ts.Setenv("GIT_"+kind+"_NAME", "test")
		ts.Setenv("GIT_"+kind+"_EMAIL", "test@example.org")
	}
	if _, err := os.Stat(ts.MkAbs(".git")); err != nil {
		ts.Check(ts.Exec("git", "init", "-q", "-b", "main", "."))
	}
	ts.Check(ts.Exec("git", "add", "--all", "."))
	ts.Check(ts.Exec("git", "commit", "-q", "-m", args[0]))
}

// refuses runs a command that has to end with a certain code and to leave every file
// as it is: `refuses 1 meshc build`. What meshc keeps for itself in .meshc is left out.
func refuses(ts *testscript.TestScript, neg bool, args []string) {
	before := tree(ts, ".")
	exits(ts, neg, args)
	after := tree(ts, ".")
	for line := range strings.Lines(before + after) {
		if !strings.Contains(before, line) || !strings.Contains(after, line) {
			ts.Fatalf("%s changed files, %s among them", strings.Join(args[1:], " "), line)
		}
	}
}

// tree is everything in a folder: each path with its mode, time and digest.
func tree(ts *testscript.TestScript, dir string) string {
	var b strings.Builder
	dir = ts.MkAbs(dir)
	ts.Check(filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" || d.Name() == ".meshc" && d.IsDir() {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(p)
		sum := sha256.Sum256(content)
		rel, _ := filepath.Rel(dir, p)
		b.WriteString(strings.Join([]string{rel, info.Mode().String(), info.ModTime().UTC().String(), hex.EncodeToString(sum[:])}, " ") + "\n")
		return err
	}))
	return b.String()
}

// same-tree holds two folders against each other, byte for byte.
func sameTree(ts *testscript.TestScript, neg bool, args []string) {
	content := func(dir string) string {
		var b strings.Builder
		dir = ts.MkAbs(dir)
		ts.Check(filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			c, err := os.ReadFile(p)
			sum := sha256.Sum256(c)
			rel, _ := filepath.Rel(dir, p)
			b.WriteString(rel + " " + hex.EncodeToString(sum[:]) + "\n")
			return err
		}))
		return b.String()
	}
	a, b := content(args[0]), content(args[1])
	if a == "" {
		ts.Fatalf("%s has no files", args[0])
	}
	if (a == b) == neg {
		ts.Fatalf("%s holds\n%s\n%s holds\n%s", args[0], a, args[1], b)
	}
}

var helpText = regexp.MustCompile(`(?m)^ *help: (.*(?:\n {8,}\S.*)*)`)

// mends runs the commands that the last refusal printed as its help (DIA-3), each once and in
// order; what they read comes from a file where one is named.
func mends(ts *testscript.TestScript, _ bool, args []string) {
	said := helpText.FindAllStringSubmatch(ts.ReadFile("stderr"), -1)
	if len(said) == 0 {
		ts.Fatalf("nothing that was said has a help to follow")
	}
	done := map[string]bool{}
	for _, m := range said {
		for line := range strings.Lines(m[1]) {
			line = strings.TrimSpace(line)
			if done[line] {
				continue
			}
			done[line] = true
			if len(args) > 0 {
				line += " < " + ts.MkAbs(args[0])
			}
			if err := ts.Exec("sh", "-c", line); err != nil {
				ts.Fatalf("%s: %v", line, err)
			}
		}
	}
}

var blobTag = regexp.MustCompile(`\.[0-9a-f]{12}\.age`)

// mask copies what was printed, with a fixed tag in place of the one by which the names of
// blobs differ from run to run: `mask stderr said`.
func mask(ts *testscript.TestScript, _ bool, args []string) {
	text := blobTag.ReplaceAllString(ts.ReadFile(args[0]), ".TAG.age")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}

// opens opens the one blob that a pattern names with a machine's key, writes the secret
// into a file, and what the blob says it is for into another: `opens KEY PATTERN secret
// [purpose]`. `! opens KEY PATTERN` holds that the key does not open it.
func opens(ts *testscript.TestScript, neg bool, args []string) {
	found, err := filepath.Glob(ts.MkAbs(args[1]))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%s names %d files, not one", args[1], len(found))
	}
	key, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	var ids []age.Identity
	if bytes.Contains(key, []byte("-----BEGIN")) {
		id, err := agessh.ParseIdentity(key)
		ts.Check(err)
		ids = append(ids, id)
	} else {
		ids, err = age.ParseIdentities(bytes.NewReader(key))
		ts.Check(err)
	}
	blob, err := os.ReadFile(found[0])
	ts.Check(err)
	r, err := age.Decrypt(bytes.NewReader(blob), ids...)
	if neg {
		var none *age.NoIdentityMatchError
		if !errors.As(err, &none) {
			ts.Fatalf("%s opens %s", args[0], found[0])
		}
		return
	}
	ts.Check(err)
	plain, err := io.ReadAll(r)
	ts.Check(err)
	purpose, secret, ok := bytes.Cut(plain, []byte("\n\n"))
	if !ok {
		ts.Fatalf("%s does not say what it is for", found[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), secret, 0o600))
	if len(args) > 3 {
		ts.Check(os.WriteFile(ts.MkAbs(args[3]), append(purpose, '\n'), 0o600))
	}
}

// seen runs a command, which may end as it likes, and holds that nothing it printed is hidden.
func seen(ts *testscript.TestScript, _ bool, args []string) {
	_ = ts.Exec(args[0], args[1:]...)
	said := 0
	for _, stream := range []string{"stdout", "stderr"} {
		text := ts.ReadFile(stream)
		if !utf8.ValidString(text) {
			ts.Fatalf("%s of %s is no UTF-8: %q", stream, strings.Join(args, " "), text)
		}
		for i, r := range text {
			if said++; screen.Hidden(r) && r != '\n' && r != '\t' {
				ts.Fatalf("%s of %s holds %U: %q", stream, strings.Join(args, " "), r, text[max(0, i-40):min(len(text), i+40)])
			}
		}
	}
	if said == 0 {
		ts.Fatalf("%s printed nothing", strings.Join(args, " "))
	}
}

// tool fails where a program is missing that tests have to have; a line that skips the
// script otherwise follows it: `[!exec:age] skip 'age is not installed'`.
func tool(ts *testscript.TestScript, _ bool, args []string) {
	if _, err := exec.LookPath(args[0]); err != nil && os.Getenv("MESHC_TEST_TOOLS") == "required" {
		ts.Fatalf("%s is not installed", args[0])
	}
}

// The commands above have to notice what they are there for.
func TestScriptCommands(t *testing.T) {
	for want, text := range map[string]string{
		"meshc lock":                      "error[E0612]: x\n  --> f: y\n  help: meshc lock\n\n1 error; nothing was written\n",
		"sed -i x f\n         meshc lock": "   |\n   help: sed -i x f\n         meshc lock\n\n1 error; nothing was written\n",
	} {
		m := helpText.FindStringSubmatch(text)
		if m == nil || m[1] != want {
			t.Errorf("of %s help is %s", strconv.Quote(text), m)
		}
	}
}
