package main

import (
	"bytes"
	"maps"
	"slices"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/folder"
	"meshc.dev/compiler/history"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/build"
	"meshc.dev/render/diff"
)

// dataWarnings says what becomes of data by what was changed since the last commit, in a clean work
// tree by that commit itself (DAT-1). Where there is no history, or it does not hold, nothing is said.
// What there was is compiled only where its lock does not show that no data moves.
func (g *globals) dataWarnings(now *build.Outcome) diag.List {
	repo, err := history.Open(g.dir)
	if err != nil || repo == nil {
		return nil
	}
	rev := "HEAD"
	var stale diag.List
	if clean, err := repo.IsClean(); err == nil && clean {
		rev, stale = "HEAD^", unrecorded(now)
	}
	tree, err := repo.Tree(rev)
	if err != nil {
		if shallow, err := repo.IsShallow(); err == nil && shallow {
			return append(stale, diff.NoEarlier(now.Plan))
		}
		return stale
	}
	if dataStays(tree, now.Plan) || maps.EqualFunc(load.Files(tree), now.Source.Tree, bytes.Equal) {
		return stale
	}
	was, ds, err := build.State(tree, g.options("check"), now.Cache)
	if err != nil || ds.HasErrors() {
		return stale
	}
	return append(stale, diff.LeftBehind(sideOf(rev, was), sideOf("this folder", now))...)
}

// unrecorded says whether the lock that was committed has data elsewhere than the mesh. One that was written
// before that was recorded says nothing.
func unrecorded(now *build.Outcome) diag.List {
	was, is := now.Before.Data, lock.Recorded(now.Plan.Kept())
	if was == nil {
		return nil
	}
	for _, k := range slices.Sorted(maps.Keys(is)) {
		if !slices.Equal(was[k], is[k]) {
			return diag.List{diff.Unrecorded(now.Plan, k)}
		}
	}
	return nil
}

// dataStays says whether the lock of an earlier state shows that everything is kept where it was, and that
// no machine can have become another. A lock that does not know where data is shows nothing.
func dataStays(earlier *folder.FS, now *plan.Plan) bool {
	src, err := earlier.ReadPlain(lock.File)
	if err != nil || src == nil {
		return false
	}
	was, ds := lock.Read(lock.File, src)
	if ds.HasErrors() || was.Data == nil || !maps.EqualFunc(was.Data, lock.Recorded(now.Kept()), slices.Equal) {
		return false
	}
	known := was.Nodes()
	isNew := slices.ContainsFunc(now.Nodes, func(n *plan.Node) bool { return !known[n.Name] })
	for _, n := range now.Nodes {
		delete(known, n.Name)
	}
	return !isNew || len(known) == 0
}
