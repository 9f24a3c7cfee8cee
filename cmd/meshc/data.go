package main

import (
	"io/fs"
	"maps"
	"os"
	"path"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/history"
	"meshc.dev/render/build"
	"meshc.dev/render/diff"
)

// dataWarnings says what becomes of data by what was changed since the last commit, in a clean work
// tree by that commit itself (DAT-1). Where there is no history, or it does not hold, nothing is said.
func (g *globals) dataWarnings(now *build.Outcome) diag.List {
	repo, ok := history.Open(g.dir)
	if !ok {
		return nil
	}
	rev := "HEAD"
	if commit, _ := repo.Provenance(); commit != "" {
		rev = "HEAD^"
	}
	tree, err := repo.Tree(rev)
	if err != nil || sameSources(tree, os.DirFS(g.dir)) {
		return nil
	}
	was, ds, err := build.State(tree, g.options("check"), &evaluate.Cache{})
	if err != nil || ds.HasErrors() {
		return nil
	}
	return diff.LeftBehind(sideOf(rev, was), sideOf("this folder", now))
}

// sameSources says whether two folders have the same CUE, so that nobody compiles the same twice.
func sameSources(a, b fs.FS) bool {
	read := func(fsys fs.FS) (map[string]string, error) {
		out := map[string]string{}
		return out, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (name == "dist" || name == ".git" || name == "sealed"):
				return fs.SkipDir
			case d.IsDir() || path.Ext(name) != ".cue":
				return nil
			}
			text, err := fs.ReadFile(fsys, name)
			out[name] = string(text)
			return err
		})
	}
	x, err := read(a)
	y, err2 := read(b)
	return err == nil && err2 == nil && maps.Equal(x, y)
}
