package main

import (
	"bytes"
	"maps"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/history"
	"meshc.dev/compiler/load"
	"meshc.dev/render/build"
	"meshc.dev/render/diff"
)

// dataWarnings says what becomes of data by what was changed since the last commit, in a clean work
// tree by that commit itself (DAT-1). Where there is no history, or it does not hold, nothing is said.
func (g *globals) dataWarnings(now *build.Outcome) diag.List {
	repo, err := history.Open(g.dir)
	if err != nil || repo == nil {
		return nil
	}
	rev := "HEAD"
	if clean, err := repo.IsClean(); err == nil && clean {
		rev = "HEAD^"
	}
	tree, err := repo.Tree(rev)
	if err != nil || maps.EqualFunc(load.Files(tree), now.Source.Tree, bytes.Equal) {
		return nil
	}
	was, ds, err := build.State(tree, g.options("check"), now.Cache)
	if err != nil || ds.HasErrors() {
		return nil
	}
	return diff.LeftBehind(sideOf(rev, was), sideOf("this folder", now))
}
