// Package build is the way from a mesh's folder to its bundles that `check`,
// `plan`, `lock` and `build` share: read the lock and the sealed store, compile,
// decide on every secret, make what is missing, render. Whatever is refused is
// refused before anything is written. Look changes nothing; Begin holds the folder until
// its Run is committed or closed.
package build

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"time"

	"meshc.dev/compiler"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/folder"
	"meshc.dev/compiler/history"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/settle"
	"meshc.dev/compiler/vault"
	"meshc.dev/compiler/work"
	"meshc.dev/render"
	"meshc.dev/render/bundle"
)

// Options of a run.
type Options struct {
	Dir     string // the mesh's folder
	Tags    []string
	Version string
	Log     *work.Log // told what is being computed; it may be nil
	// Owner tells another process that waits for the folder who has it.
	Owner vault.Owner
	// Wait is how long to wait for another process that has the folder.
	Wait time.Duration
	// Settle and Seal are what may be done about what is missing.
	Settle settle.Mode
	Seal   vault.Mode
	// Random gives sources of random bytes; crypto/rand where it is nil.
	Random func() io.Reader
	// NoSharing is compiler.Input's.
	NoSharing bool
	// Cache is compiler.Input's.
	Cache *evaluate.Cache
}

func (o Options) random() func() io.Reader {
	if o.Random != nil {
		return o.Random
	}
	return func() io.Reader { return rand.Reader }
}

// Outcome is what a run came to: as much as the diagnostics allow.
type Outcome struct {
	*compiler.Result
	// Reviewed is what was decided of every secret; Change the lock and blobs as they are to be.
	Reviewed *vault.Plan
	Change   *vault.Change
	// Head is the lock of the last commit; nil where git knows none.
	Head *lock.Lock
	// Cache has what was evaluated, for State to compare with.
	Cache *evaluate.Cache

	lockFile []byte // as it was read
}

// Look compiles a mesh and settles and makes nothing that would be kept.
func Look(o Options) (*Outcome, diag.List, error) {
	view, err := vault.Open(o.Dir).Read()
	if err != nil {
		return nil, nil, err
	}
	return run(context.Background(), o, view)
}

// Run is a compilation that holds the mesh's folder.
type Run struct {
	*Outcome
	session *vault.Session
	random  func() io.Reader
}

// Begin compiles a mesh to be written. The run has to be closed.
func Begin(ctx context.Context, o Options) (*Run, diag.List, error) {
	if err := stateIsOurs(o.Dir); err != nil {
		return nil, nil, err
	}
	session, err := hold(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	out, ds, err := run(ctx, o, session.View)
	if err != nil {
		_ = session.Close()
		return nil, ds, err
	}
	return &Run{out, session, o.random()}, ds, nil
}

// hold waits for the folder. What comes after takes the time that it takes.
func hold(ctx context.Context, o Options) (*vault.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Wait)
	defer cancel()
	return vault.Open(o.Dir).Begin(ctx, o.Owner)
}

// stateIsOurs refuses a state folder that came with the repository: what stands in it is
// believed, a journal above all.
func stateIsOurs(dir string) error {
	repo, err := history.Open(dir)
	if err != nil || repo == nil {
		return err
	}
	tracked, err := repo.IsTracked(vault.StateDir)
	if err == nil && tracked {
		err = fmt.Errorf("%s is in git, and holds what belongs to one machine alone; nothing is done with what others put there:\n  git rm -r -q --cached %s && rm -r %s", vault.StateDir, vault.StateDir, vault.StateDir)
	}
	return err
}

// Commit writes the lock and the sealed store, both or neither.
func (r *Run) Commit() error { return r.session.Commit(r.Change) }

// CommitOther writes a change that was made from this run's demand.
func (r *Run) CommitOther(c *vault.Change) error { return r.session.Commit(c) }

// Changes says whether Commit would write anything, which is then in no commit of git's yet.
func (r *Run) Changes() bool {
	return !bytes.Equal(r.Change.Lock.Bytes(), r.session.Lock) && !(r.session.Lock == nil && r.Change.Lock.IsEmpty()) || len(r.Reviewed.Removed) > 0
}

// Close lets the folder go.
func (r *Run) Close() error { return r.session.Close() }

// ask has git tell what it knows of the lock and the sealed store.
func (o *Options) ask(in *compiler.Input) (history.Locks, error) {
	repo, err := history.Open(o.Dir)
	if err != nil || repo == nil {
		return history.Locks{}, err
	}
	locks, err := repo.Locks()
	if err != nil {
		return locks, err
	}
	in.Head, in.FirstParent = locks.Head, locks.FirstParent
	o.Seal.Restore = repo.Restorer().Command
	o.Seal.EntryIn = func(name string) string { return repo.EntryIn(name, lock.File) }
	return locks, nil
}

// restoring makes every help that brings the lock back from git the command that does:
// there may be no git, no commit that has it, or none that has another.
func restoring(ds diag.List, locks history.Locks, now []byte) diag.List {
	for i, d := range ds {
		if d.Help == "git restore "+lock.File {
			ds[i].Help = locks.Restore
			if locks.Head == nil || bytes.Equal(locks.Head, now) {
				ds[i].Help = ""
			}
		}
	}
	return ds
}

func run(ctx context.Context, o Options, view *vault.View) (*Outcome, diag.List, error) {
	fsys, err := folder.Open(o.Dir)
	if err != nil {
		return nil, nil, err
	}
	if o.Cache == nil {
		o.Cache = &evaluate.Cache{}
	}
	in := compiler.Input{
		FS: fsys, Options: load.Options{Tags: o.Tags, Version: o.Version, Log: o.Log}, Mode: o.Settle, Lock: view.Lock, NoSharing: o.NoSharing, Cache: o.Cache,
	}
	locks, err := o.ask(&in)
	if err != nil {
		return nil, nil, err
	}
	result, ds := compiler.Compile(in)
	out := &Outcome{Result: result, Cache: o.Cache, lockFile: view.Lock}
	restorable := func(ds diag.List) diag.List { return restoring(ds, locks, view.Lock) }
	if ds.HasErrors() {
		return out, restorable(ds), nil
	}
	if in.Head != nil {
		out.Head, _ = lock.Read(lock.File, in.Head)
		o.Seal.Head = out.Head
	}
	plan, vds, err := vault.Review(result.Secrets, result.Lock, view, o.Seal)
	if err != nil {
		return nil, nil, err
	}
	out.Reviewed = plan
	ds = append(ds, restorable(vds)...).Sorted()
	if ds.HasErrors() {
		return out, ds, nil
	}
	out.Change, err = plan.Make(ctx, o.random())
	if err != nil {
		return nil, nil, err
	}
	compiler.Place(result.Plan, out.Change)
	return out, ds, nil
}

// Bundles renders the outcome. Where it is to be written, origin says where it comes from.
func (o *Outcome) Bundles(origin render.Origin) ([]*bundle.Bundle, diag.List) {
	return render.New(o.Plan, origin).All()
}

// Review decides on the run's secrets again, in another mode.
func (r *Run) Review(m vault.Mode) (*vault.Plan, diag.List, error) {
	m.Head, m.Restore, m.EntryIn = nil, nil, nil
	return vault.Review(r.Secrets, r.Lock, r.session.View, m)
}

// Make makes what a review of the run says.
func (r *Run) Make(ctx context.Context, p *vault.Plan) (*vault.Change, error) {
	return p.Make(ctx, r.random)
}
