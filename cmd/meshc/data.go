package main

import (
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
	if err != nil {
		return nil
	}
	was, ds, err := build.State(tree, g.options("check"), &evaluate.Cache{})
	if err != nil || ds.HasErrors() {
		return nil
	}
	return diff.LeftBehind(sideOf(rev, was), sideOf("this folder", now))
}
