package build

import (
	"errors"
	"io/fs"

	"meshc.dev/compiler"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/folder"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/lock"
	"meshc.dev/render"
	"meshc.dev/render/bundle"
)

// State compiles a mesh as it is, or was, in a file system, for comparison: by its own
// lock, and with the generations of secrets that this has, but without blobs.
func State(fsys fs.FS, o Options, cache *evaluate.Cache) (*Outcome, diag.List, error) {
	lk, err := readLock(fsys)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	result, ds := compiler.Compile(compiler.Input{
		FS: fsys, Options: load.Options{Tags: o.Tags, Version: o.Version, Log: o.Log}, Mode: o.Settle, Lock: lk, Cache: cache, NoSharing: o.NoSharing,
	})
	if !ds.HasErrors() {
		compiler.PlaceGenerations(result.Plan, result.Lock)
	}
	return &Outcome{Result: result}, ds, nil
}

func readLock(fsys fs.FS) ([]byte, error) {
	if f, ok := fsys.(*folder.FS); ok {
		return f.ReadPlain(lock.File)
	}
	return fs.ReadFile(fsys, lock.File)
}

// BundlesOfBoth renders two states; a file that both have is rendered once.
func BundlesOfBoth(a, b *Outcome) (of, and []*bundle.Bundle, ds diag.List) {
	x, y := render.New(a.Plan, render.Origin{}), render.New(b.Plan, render.Origin{})
	y.Share(x)
	of, ads := x.All()
	and, bds := y.All()
	return of, and, append(ads, bds...)
}
