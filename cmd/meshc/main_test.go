package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"
	"github.com/rogpeppe/go-internal/testscript"

	"meshc.dev/compiler/diag"
)

func TestMain(m *testing.M) {
	if os.Getenv("MESHC_TEST_MAIN") != "" { // a test runs this binary as meshc
		os.Exit(run(os.Args[1:], process()))
	}
	testscript.Main(m, map[string]func(){"meshc": main, "meshc-panics": panics})
}

// TestScripts runs the scripts of testdata/script on the real command.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "../../testdata/script",
		UpdateScripts: os.Getenv("UPDATE") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			e.Setenv("CI", "")
			e.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
		Cmds: withSecrets(map[string]scriptCommand{
			"exits": exits, "mend": mend, "listing": listing, "has": has,
		}),
	})
}

// exits runs a command that has to end with a certain code: `exits 2 meshc frobnicate`.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%s ends with %d, not %d", strings.Join(args[1:], " "), got, want)
	}
}

// mend does with the mesh what the help of each diagnostic says (DIA-3). It reads what
// `meshc check --format json` printed. Help that is a field is added to mesh.cue,
// or to the module that it speaks of; any other takes the place of the span that is marked.
func mend(ts *testscript.TestScript, _ bool, args []string) {
	var said []struct {
		Code, Help string
		At         diag.Pos
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &said))
	slices.Reverse(said) // so that a place is still where it was
	mended := 0
	for _, d := range said {
		if d.Help == "" || len(args) > 0 && args[0] != d.Code {
			continue
		}
		mended++
		name := ts.MkAbs("mesh.cue")
		if strings.HasPrefix(d.At.File, "modules/") {
			name = ts.MkAbs(d.At.File)
		}
		b, err := os.ReadFile(name)
		ts.Check(err)
		if f, err := parser.ParseFile("help", d.Help); err == nil && len(f.Decls) > 0 {
			if _, isField := f.Decls[0].(*ast.Field); isField {
				ts.Check(os.WriteFile(name, append(b, "\n"+d.Help+"\n"...), 0o644))
				continue
			}
		}
		name = ts.MkAbs(d.At.File)
		b, err = os.ReadFile(name)
		ts.Check(err)
		lines := strings.Split(string(b), "\n")
		l := lines[d.At.Line-1]
		lines[d.At.Line-1] = l[:d.At.Column-1] + d.Help + l[d.At.EndColumn-1:]
		ts.Check(os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o644))
	}
	if mended == 0 {
		ts.Fatalf("nothing that was said has a help to follow")
	}
}

// listing writes a file with what a folder holds: each path with its mode, time, size or target.
// Two listings are equal where nothing was touched.
func listing(ts *testscript.TestScript, _ bool, args []string) {
	var b strings.Builder
	dir := ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		target, _ := os.Readlink(p)
		b.WriteString(strings.Join([]string{rel, info.Mode().String(), info.ModTime().UTC().String(), target}, " "))
		if !d.IsDir() {
			b.WriteString(" " + strconv.FormatInt(info.Size(), 10))
		}
		b.WriteString("\n")
		return nil
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o644))
}

// has holds a file's bytes against a text that is written as a Go string.
func has(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Unquote(args[1])
	ts.Check(err)
	if got := ts.ReadFile(args[0]); got != want {
		ts.Fatalf("%s holds %q, not %q", args[0], got, want)
	}
}
