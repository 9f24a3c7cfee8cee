// Package compiler turns a mesh into a plan. It is the only place that knows all
// stages; each has its own package, input and output, and returns all its
// diagnostics. Enter at Compile, which tells them in order. What becomes of a plan
// is the work of render.
package compiler

import (
	"io/fs"
	"slices"

	"meshc.dev/compiler/compose"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/exchange"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/plan"
	"meshc.dev/compiler/resolve"
	"meshc.dev/compiler/settle"
	"meshc.dev/compiler/vault"
)

// Input is everything that a compilation depends on.
type Input struct {
	FS      fs.FS // the mesh's folder
	Options load.Options
	Mode    settle.Mode
	// Lock is the file mesh.lock.hcl, empty where there is none.
	Lock []byte
	// Cache shares evaluations with other compilations; it may be nil.
	Cache *evaluate.Cache
	// NoSharing has every question of every instance evaluated for itself: slower, and the same result.
	NoSharing bool
	// Head and FirstParent are the lock as git has it, empty where it has none.
	Head, FirstParent []byte
}

// Result is what a compilation came to: as much as the diagnostics allow.
type Result struct {
	Source   *load.Source
	Resolved *resolve.Resolved
	Settled  settle.Settled
	// Before is the lock as it was read, and Lock as it should be written.
	Before, Lock *lock.Lock
	Exchanged    *exchange.Exchanged
	Evaluator    evaluate.Evaluator
	Plan         *plan.Plan
	Secrets      vault.Demand
}

// Compile makes the plan of a mesh. Each stage needs the one before it to have
// refused nothing: what a later stage would say of a faulty mesh would be
// consequences, not causes (DIA-1).
func Compile(in Input) (*Result, diag.List) {
	out := &Result{}

	// What a person wrote becomes data, with the place of every value.
	src, ds := load.Load(in.FS, in.Options)
	out.Source = src
	before, history, lds := locks(in)
	out.Before, out.Lock = before, before
	ds = append(ds, lds...)
	if src.Mesh == nil || ds.HasErrors() {
		return out, append(ds, besides(in, src, ds)...).Sorted()
	}

	// What every node runs and who answers whom depends on no number, so that a
	// moved port can never change it.
	cue := evaluate.NewCUE(src.Context, in.Cache)
	if in.NoSharing {
		cue = cue.Alone()
	}
	eval := evaluate.Contained(cue, in.Options.Log)
	out.Evaluator = eval
	resolved, rds := resolve.Resolve(src, eval)
	out.Resolved = resolved
	ds = append(ds, rds...)
	if ds.HasErrors() {
		return out, ds.Sorted()
	}

	// Ports, addresses and logins are assigned once, before anybody is told them.
	d, dds := demand(resolved, in.Mode)
	ds = append(ds, dds...)
	var sds diag.List
	out.Settled, out.Lock, sds = settle.Settle(d, before, history)
	if ds.HasErrors() || sds.HasErrors() {
		return out, append(ds, sds...).Sorted()
	}

	// Both ends of every answer are told; then every instance is asked for its
	// resources. Mappings that authors wrote themselves show only there, and claim ports
	// too: where they move one that was just assigned, those told of it are told again.
	for range maxRounds {
		exchanged, xds := exchange.Exchange(resolved, out.Settled, eval)
		out.Exchanged = exchanged
		if xds.HasErrors() {
			return out, slices.Concat(ds, sds, xds).Sorted()
		}
		composed, cds := compose.Compose(exchanged, eval)
		out.Plan, out.Secrets = composed.Plan, composed.Secrets
		out.record(in.Mode)
		if cds.HasErrors() || slices.Equal(composed.Mappings, d.Mappings) {
			return out, slices.Concat(ds, sds, xds, cds).Sorted()
		}
		d.Mappings = composed.Mappings
		out.Settled, out.Lock, sds = settle.Settle(d, before, history)
		if sds.HasErrors() {
			return out, slices.Concat(ds, sds).Sorted()
		}
	}
	return out, append(ds, mappingsMove(d.Mappings)).Sorted()
}

// record has the lock say where data is, wherever it may be written.
func (r *Result) record(m settle.Mode) {
	if m.Step == settle.Locked {
		return
	}
	r.Lock = r.Lock.Clone()
	r.Lock.Data = lock.Recorded(r.Plan.Kept())
}

// maxRounds is more than mappings need that say their ports themselves: one to see
// them, one with them settled. Only a mapping computed from an assigned port can ask for more.
const maxRounds = 4

// locks reads the lock and what git knows of it.
func locks(in Input) (*lock.Lock, settle.History, diag.List) {
	var h settle.History
	before, ds := lock.Read(lock.File, in.Lock)
	if before == nil {
		before = lock.New()
	}
	// A lock that git holds and nobody can read any more tells nothing; the one in the folder counts.
	if in.Head != nil {
		h.Head, _ = lock.Read(lock.File, in.Head)
	}
	if in.FirstParent != nil {
		h.FirstParent, _ = lock.Read(lock.File, in.FirstParent)
	}
	return before, h, ds
}
