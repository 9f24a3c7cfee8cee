package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/diag/show"
	"meshc.dev/compiler/folder"
	"meshc.dev/compiler/history"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/vault"
	"meshc.dev/render/build"
)

// globals are the flags that every command has.
type globals struct {
	*world
	dir    string
	tags   []string
	format string
	json   bool
	told   bool // that `meshc explain` says more
	// earlier takes values of secrets that were given up.
	earlier bool
	bounds  bounds
}

// asJSON says whether results are printed as JSON; an unknown format is a wrong use.
func (g *globals) asJSON() (bool, error) {
	if g.json {
		g.format = "json"
	}
	if !slices.Contains(show.Formats(), g.format) {
		return false, usageError{fmt.Errorf("unknown format %q; there are %v", g.format, show.Formats())}
	}
	return g.format == "json", nil
}

// meshAbove is the folder itself where a mesh may be in it, or the next one above that has a
// mesh.cue: who stands in a folder of the mesh means the mesh.
func meshAbove(dir string) string {
	has := func(d, pattern string) bool {
		found, _ := filepath.Glob(filepath.Join(d, pattern))
		return len(found) > 0
	}
	above := dir
	for range 16 {
		if has(above, "mesh.cue") {
			inModules := false
			if rel, err := relative(above, dir); err == nil {
				inModules = strings.HasPrefix(filepath.ToSlash(rel), "modules/")
			}
			if above == dir || inModules || !has(dir, "*.cue") {
				return above
			}
			return dir
		}
		above = filepath.Join(above, "..")
	}
	return dir
}

// relative is a folder as seen from another, both as they really are.
func relative(from, to string) (string, error) {
	a, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	b, err := filepath.Abs(to)
	if err != nil {
		return "", err
	}
	return filepath.Rel(a, b)
}

// folder is the mesh's folder, which has to be there.
func (g *globals) folder() (fs.FS, error) {
	info, err := os.Stat(g.dir)
	if err != nil || !info.IsDir() {
		return nil, usageError{fmt.Errorf("%s is not a folder", g.dir)}
	}
	fsys, err := folder.Open(g.dir)
	if err != nil {
		return nil, err
	}
	if files, _ := fs.Glob(fsys, "*.cue"); len(files) == 0 {
		return nil, usageError{fmt.Errorf("no mesh here: %s has no mesh.cue; `meshc init` writes one", g.dir)}
	}
	return fsys, nil
}

// waitForFolder is how long a command waits for another meshc in the mesh's folder.
const waitForFolder = 10 * time.Second

// options of a run that only looks: nothing is made, and what is not made yet is no fault.
func (g *globals) options(command string) build.Options {
	return build.Options{
		Dir: g.dir, Tags: g.tags, Version: version, Random: g.random, Log: g.bounds.log, NoSharing: g.env("MESHC_SHARING") == "off",
		Wait:  waitForFolder,
		Seal:  vault.Mode{EarlierSecrets: g.earlier},
		Owner: vault.Owner{PID: os.Getpid(), Command: "meshc " + command, Since: time.Now()},
	}
}

// look compiles the mesh of the folder and writes nothing. The diagnostics are for say.
func (g *globals) look() (*build.Outcome, diag.List, error) {
	if _, err := g.folder(); err != nil {
		return nil, nil, err
	}
	return build.Look(g.options("check"))
}

// begin compiles the mesh of the folder to write it. It waits a little for another
// meshc in the folder.
func (g *globals) begin(o build.Options) (*build.Run, diag.List, error) {
	if _, err := g.folder(); err != nil {
		return nil, nil, err
	}
	return build.Begin(context.Background(), o)
}

// say prints diagnostics where a person or program looks for them, and gives an
// error where any of them refuses the mesh.
func (g *globals) say(ds diag.List, result *build.Outcome) error {
	if len(ds) > 0 {
		p, err := show.New(g.format, show.Options{
			Read: func(file string) ([]byte, error) { return g.source(result, file) }, Colour: g.colour(g.errTerminal),
			Prefix: repositoryPrefix(g.dir), Version: versionText(),
		})
		if err != nil {
			return err
		}
		if err := p.Print(g.stderr, ds); err != nil {
			return err
		}
	}
	if g.format == "text" {
		g.closing(ds)
	}
	if !ds.HasErrors() {
		return nil
	}
	return exit(exitRefused)
}

// closing is what a person reads last of a run with diagnostics: how many there are, and the
// command that says more of them, once a run.
func (g *globals) closing(ds diag.List) {
	if ds.HasErrors() {
		fmt.Fprintf(g.stderr, "\n%s; nothing was written\n", show.Summary(ds))
	}
	more := show.More(ds)
	if more == "" || g.told {
		return
	}
	g.told = true
	if !ds.HasErrors() {
		fmt.Fprintln(g.stderr)
	}
	fmt.Fprintln(g.stderr, more)
}

// source is the text of a file that a diagnostic names: of the mesh, or built in.
func (g *globals) source(result *build.Outcome, file string) ([]byte, error) {
	if result != nil && result.Result != nil && result.Source != nil {
		if b, ok := result.Source.Tree[file]; ok {
			return b, nil
		}
	}
	if b, err := load.BuiltinSource(file); err == nil {
		return b, nil
	}
	fsys, err := folder.Open(g.dir)
	if err != nil {
		return nil, err
	}
	return fsys.ReadFile(file)
}

// repositoryPrefix is the mesh's folder within its repository.
func repositoryPrefix(dir string) string {
	if repo, err := history.Open(dir); err == nil && repo != nil {
		return repo.Prefix()
	}
	return ""
}

// writeFile replaces a file as a whole.
func writeFile(path string, b []byte) error {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return renameio.WriteFile(path, b, mode, renameio.WithTempDir(filepath.Dir(path)))
}
