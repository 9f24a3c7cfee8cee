package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"meshc.dev/compiler"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/diag/show"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/settle"
	"meshc.dev/render"
)

// globals are the flags that every command has.
type globals struct {
	*world
	dir    string
	tags   []string
	format string
	json   bool
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

// folder is the mesh's folder, which has to be there.
func (g *globals) folder() (fs.FS, error) {
	info, err := os.Stat(g.dir)
	if err != nil || !info.IsDir() {
		return nil, usageError{fmt.Errorf("%s is not a folder", g.dir)}
	}
	fsys := os.DirFS(g.dir)
	if files, _ := fs.Glob(fsys, "*.cue"); len(files) == 0 {
		return nil, usageError{fmt.Errorf("no mesh here: %s has no mesh.cue; `meshc init` writes one", g.dir)}
	}
	return fsys, nil
}

// compile compiles the mesh of the folder. The diagnostics are for say.
func (g *globals) compile(mode settle.Mode) (*compiler.Result, diag.List, error) {
	fsys, err := g.folder()
	if err != nil {
		return nil, nil, err
	}
	head, parent := lockHistory(g.dir)
	result, ds := compiler.Compile(compiler.Input{
		FS: fsys, Options: load.Options{Tags: g.tags, Version: version}, Mode: mode, Head: head, FirstParent: parent,
	})
	return result, ds, nil
}

// origin is where this build comes from.
func (g *globals) origin() render.Origin {
	commit, serial := provenance(g.dir)
	return render.Origin{Commit: commit, Serial: serial, Version: versionText()}
}

// say prints diagnostics where a person or program looks for them, and gives an
// error where any of them refuses the mesh.
func (g *globals) say(ds diag.List, result *compiler.Result) error {
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
	if !ds.HasErrors() {
		return nil
	}
	if g.format == "text" {
		fmt.Fprintf(g.stderr, "\n%s; nothing was written\n", show.Summary(ds))
	}
	return exit(exitRefused)
}

// source is the text of a file that a diagnostic names: of the mesh, or built in.
func (g *globals) source(result *compiler.Result, file string) ([]byte, error) {
	if result != nil && result.Source != nil {
		if b, ok := result.Source.Tree[file]; ok {
			return b, nil
		}
	}
	if b, err := load.BuiltinSource(file); err == nil {
		return b, nil
	}
	return os.ReadFile(filepath.Join(g.dir, file))
}

// writeLock writes the lock where it says something new, and says whether it did.
func (g *globals) writeLock(r *compiler.Result) (bool, error) {
	path := filepath.Join(g.dir, lock.File)
	want := r.Lock.Bytes()
	have, err := os.ReadFile(path)
	if err == nil && bytes.Equal(have, want) || errors.Is(err, fs.ErrNotExist) && r.Lock.IsEmpty() {
		return false, nil
	}
	return true, writeFile(path, want)
}
