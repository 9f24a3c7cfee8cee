package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

// run is one application of a bundle, or the look at what it would be.
type run struct {
	host   *Host
	opened *Opened
	state  *state
	tell   func(Event)
	dry    bool
	ahead  ahead // in a dry run: how the machine would be

	wishes    []*wish
	byID      map[bundle.ID]*wish
	withdrawn []*thing // in the order in which they were applied
	report    Report
	failed    map[bundle.ID]bool
	// unreachable are folders that nobody declared and that cannot be gone into.
	unreachable map[string]error
	// seen is how things were before anything was touched.
	seen    map[machine.Key]machine.Condition
	touched bool
	held    []*thing          // withdrawn units that could not be stopped
	owners  []*thing          // withdrawn users that there is data of
	made    bool              // everything but units
	started []*wish           // units, by this run
	enabled map[string]string // units for which that was changed ahead, and how
	// together are packages that went with another one, and whether they came.
	together map[machine.Key]Verb
	tried    map[string]error
	hasTry   bool
	verified map[string]error
	alone    bool // packages did not all come together, and are tried one by one
}

// Apply makes the machine agree with a bundle. It tells each thing as it is done.
// An error means that nothing was changed. What failed for one resource is in the
// report, and so is what ended the run before it was through, such as an interrupt.
func (h *Host) Apply(ctx context.Context, o *Opened, tell func(Event)) (Report, error) {
	unlock, err := h.lock()
	if err != nil {
		return Report{}, err
	}
	defer unlock()
	ctx = machine.Hiding(ctx, o.hide)
	r, err := h.newRun(o, tell)
	if err != nil {
		return Report{}, err
	}
	// The order: look at everything, so that what contradicts itself on this machine is
	// refused before anything is changed. Take away what is not declared any more, since paths,
	// ports and names may change hands. Then everything in the declaration's order,
	// units last, so that systemd reads its files once.
	for _, do := range []func(context.Context) error{
		r.preflight, r.begin, r.withdraw, r.remember, r.makeThings, r.loadSysctls, r.makeUnits,
	} {
		if err = do(ctx); err != nil {
			if s := stopped(ctx, err); s != nil {
				err = s
			}
			break
		}
	}
	if err != nil && !r.touched {
		return r.report, err
	}
	r.end(err)
	if err := r.finish(); err != nil && !r.touched {
		return r.report, err
	} else if err != nil {
		r.end(err)
	}
	return r.report, nil
}

// end notes what ended the run before it was through.
func (r *run) end(err error) {
	if err != nil {
		r.report.Ended = strings.TrimPrefix(r.report.Ended+"; "+err.Error(), "; ")
	}
}

// stateError is that something could not be written down. Nothing more is changed
// then: how it was found would be lost.
type stateError struct{ error }

func (e stateError) Unwrap() error { return e.error }

// note writes the state down.
func (r *run) note() error {
	if r.dry {
		return nil
	}
	if err := r.host.save(r.state); err != nil {
		return stateError{err}
	}
	return nil
}

// touch comes before every change. It is written down before the first that the run
// is not through, and before the first that systemd has to read again that it has to:
// whoever is killed in between leaves that to the next run.
func (r *run) touch(reread bool) error {
	if r.touched && (r.state.Reread || !reread) {
		return nil
	}
	r.state.Complete, r.state.Reread = false, r.state.Reread || reread
	if err := r.note(); err != nil {
		return err
	}
	r.touched = true
	return nil
}

// isText says whether a thing is a text that systemd reads.
func isText(k machine.Key) bool { return k.Kind == machine.File && machine.IsUnitText(k.Name) }

// stopped is why a run goes no further: it was interrupted, or the error of a thing
// is not that thing's alone.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errInterrupted
	}
	if errors.As(err, &stateError{}) {
		return err
	}
	return nil
}

func (h *Host) newRun(o *Opened, tell func(Event)) (*run, error) {
	st, err := h.state()
	if err != nil {
		return nil, err
	}
	if err := st.takes(o.Bundle, o.policy, h.Now()); err != nil { // another run may have come in between
		return nil, err
	}
	r := &run{
		host: h, opened: o, state: st, tell: tell, wishes: wishes(o.Declaration),
		byID: map[bundle.ID]*wish{}, failed: map[bundle.ID]bool{}, unreachable: map[string]error{}, enabled: map[string]string{}, together: map[machine.Key]Verb{}, seen: map[machine.Key]machine.Condition{},
		report: Report{
			Mesh: o.Mesh, Node: o.Node, Bundle: o.Digest().String(), Commit: o.Provenance.Commit,
			Serial: o.Provenance.Serial, Signer: o.Signer, Events: []Event{},
		},
	}
	wanted := map[machine.Key]bool{}
	for _, w := range r.wishes {
		w.thing = st.find(w.key)
		if w.item == nil && w.thing != nil && w.thing.Found != nil && !w.thing.Found.Absent {
			// It was there before us: to be given back as it was, and then left alone.
			continue
		}
		wanted[w.key] = true
		for _, id := range w.ids {
			r.byID[id] = w
		}
	}
	for _, t := range st.Things {
		if !wanted[t.Key] {
			r.withdrawn = append(r.withdrawn, t)
		}
	}
	r.wishes = slices.DeleteFunc(r.wishes, func(w *wish) bool { return !wanted[w.key] })
	return r, nil
}

func (r *run) say(v Verb, k machine.Key, id bundle.ID, why string) {
	e := Event{v, k, id, why}
	r.report.Events = append(r.report.Events, e)
	if r.tell != nil {
		r.tell(e)
	}
}

// fail notes that a thing could not be made, and goes on.
func (r *run) fail(w *wish, verb Verb, why string) {
	for _, id := range w.ids {
		r.failed[id] = true
	}
	if w.thing != nil {
		w.thing.Failed = why
	}
	r.say(verb, w.key, w.id(), why)
}

// preflight looks at everything that the bundle will touch. What cannot be looked at,
// such as what somebody has put in a folder of his own, is that thing's fault alone: it
// fails when its turn comes, and the rest goes on.
func (r *run) preflight(ctx context.Context) error {
	for _, w := range r.wishes {
		if w.key.Kind == machine.Unit {
			continue // they are asked for all at once, later
		}
		is, err := r.look(ctx, w.key)
		if err := stopped(ctx, err); err != nil {
			return err
		}
		switch {
		case w.item != nil:
		case err != nil && !r.changesHands(w.key.Name):
			r.unreachable[w.key.Name] = err
			w.key = machine.Key{}
		case err == nil && w.thing == nil && !is.Absent:
			w.key = machine.Key{} // an implied directory that is there, and not ours
		}
	}
	r.wishes = slices.DeleteFunc(r.wishes, func(w *wish) bool { return w.key == machine.Key{} })
	return errors.Join(r.samePlaces()...)
}

// cannotReach is why nothing can be made at a place: a folder above it is none that is
// gone into. It is nil where there is no such reason.
func (r *run) cannotReach(k machine.Key) error {
	for _, dir := range parents(k) {
		if err := r.unreachable[dir]; err != nil {
			return err
		}
	}
	return nil
}

// changesHands says whether a path, or one above it, is held by something that is
// taken away first, so that what is there now is not what will be.
func (r *run) changesHands(p string) bool {
	return slices.ContainsFunc(r.withdrawn, func(t *thing) bool {
		return t.Name == p || strings.HasPrefix(p, t.Name+"/")
	})
}

// begin clears away what a run that was killed has left.
func (r *run) begin(ctx context.Context) error {
	r.host.Machine.Accounts.Clear()
	_ = r.host.Machine.Packages.Clear(ctx) // whoever installs packages does so too, and says why not
	for _, t := range r.state.Things {
		switch t.Kind {
		case machine.File:
			r.host.Machine.Files.Clear(t.Name)
		case machine.Block:
			r.host.Machine.Blocks.Clear(t.Name)
		}
	}
	return nil
}

// makeThings makes everything but units, in order.
func (r *run) makeThings(ctx context.Context) error {
	for i, w := range r.wishes {
		if w.key.Kind == machine.Unit {
			continue
		}
		if err := r.cannotReach(w.key); err != nil {
			r.fail(w, Failed, err.Error())
			continue
		}
		if blocked := r.blocked(w); blocked != "" {
			r.fail(w, Skipped, because+string(blocked)+" failed")
			continue
		}
		if w.thing.Found == nil {
			if err := r.find(ctx, i); err != nil {
				if err := stopped(ctx, err); err != nil {
					return err
				}
				r.fail(w, Failed, err.Error())
				continue
			}
		}
		if w.thing.Found == nil { // an implied directory that is there, and not ours
			continue
		}
		err := r.makeThing(ctx, w)
		if err := stopped(ctx, err); err != nil {
			return err
		}
		if err != nil {
			r.fail(w, Failed, err.Error())
		}
	}
	if err := r.withdrawOwners(ctx); err != nil {
		return err
	}
	return r.orderBlocks(ctx)
}

// blocked is the first resource without which this one is not tried.
func (r *run) blocked(w *wish) bundle.ID {
	for _, id := range w.after {
		if r.failed[id] {
			return id
		}
	}
	return ""
}

// orderBlocks brings the blocks of each file into the declaration's order.
func (r *run) orderBlocks(ctx context.Context) error {
	markers := map[string][]string{}
	blocks := map[string][]*wish{}
	for _, w := range r.wishes {
		if w.key.Kind == machine.Block && !r.failed[w.id()] {
			markers[w.key.Name] = append(markers[w.key.Name], w.key.Marker)
			blocks[w.key.Name] = append(blocks[w.key.Name], w)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(markers)) {
		if len(markers[p]) == 1 {
			continue
		}
		another, err := r.inAnotherOrder(p, markers[p])
		if err == nil && another && !r.dry {
			if err := r.touch(false); err != nil {
				return err
			}
			_, err = r.host.Machine.Blocks.Order(p, markers[p], false)
		}
		if err := stopped(ctx, err); err != nil {
			return err
		}
		if err != nil {
			for _, w := range blocks[p] {
				r.fail(w, Failed, err.Error())
			}
			continue
		}
		if another {
			r.say(Changed, machine.Key{Kind: machine.File, Name: p}, "", "the order of its blocks")
		}
	}
	return nil
}

// makeThing brings one thing about.
func (r *run) makeThing(ctx context.Context, w *wish) error {
	want, err := r.want(w)
	if err != nil {
		return err
	}
	if want.Quiet {
		defer clear(want.Content) // a copy of its own, which held a secret
	}
	is, err := r.look(ctx, w.key)
	if err != nil {
		return err
	}
	if isText(w.key) && !want.Absent {
		if err := r.mayStand(w.key.Name, want.Content); err != nil {
			return err
		}
	}
	g := generations(w.item)
	if is.Meets(w.key.Kind, want.Condition) {
		r.done(w, is, g)
		if verb, ok := r.together[w.key]; ok {
			r.say(verb, w.key, w.id(), "")
		} else {
			r.report.Unchanged++
		}
		return nil
	}
	if isText(w.key) && !want.Absent {
		if err := r.try(ctx, w.key.Name); err != nil {
			return err
		}
	}
	why := difference(w, is, want.Condition)
	if r.dry {
		next, err := r.makeAhead(w.key, is, want)
		if err != nil {
			return err
		}
		r.done(w, next, g)
	} else {
		if err := r.touch(isText(w.key)); err != nil {
			return err
		}
		if w.key.Kind == machine.File {
			if err := r.oweSysctls(w.key.Name, want.Content); err != nil {
				return err
			}
		}
		step("make " + w.key.String())
		if w.key.Kind == machine.Package {
			err = r.makePackages(ctx, w, want.Condition)
		} else {
			err = r.host.Machine.Backend(w.key.Kind).Make(ctx, w.key, want)
		}
		if err != nil {
			return err
		}
		step("made " + w.key.String())
		if is, err := r.host.Machine.Backend(w.key.Kind).Look(ctx, w.key); err == nil {
			r.done(w, is, g)
		}
	}
	verb := Changed
	switch {
	case want.Absent:
		verb = Removed
	case is.Absent:
		verb = Made
	}
	if w.item != nil {
		r.say(verb, w.key, w.id(), why)
	}
	return nil
}

func (r *run) done(w *wish, is machine.Condition, generations string) {
	w.thing.Made, w.thing.Generations = &is, generations
}

// makePackages installs, with the first package that is missing, all that are: one
// transaction takes little longer than one package. Where it fails, they are tried
// one by one from then on, so that it is known which, and each costs one try.
func (r *run) makePackages(ctx context.Context, w *wish, want machine.Condition) error {
	backend := r.host.Machine.Packages
	if r.alone {
		return backend.Make(ctx, w.key, machine.Want{Condition: want})
	}
	var install, remove []string
	together := map[machine.Key]Verb{}
	for _, other := range r.wishes {
		p, ok := other.item.(*bundle.Package)
		if !ok {
			continue
		}
		is, err := backend.Look(ctx, other.key)
		switch {
		case err != nil:
			return err
		case other.thing.Found == nil || r.blocked(other) != "":
			// Not in one go with this one.
		case is.Absent && p.State == bundle.Present:
			install = append(install, p.Name)
			together[other.key] = Made
		case !is.Absent && p.State == bundle.Absent:
			remove = append(remove, p.Name)
			together[other.key] = Removed
		}
	}
	if len(install)+len(remove) > 1 {
		r.together = together
		err := backend.MakeAll(ctx, install, remove, r.host.Progress)
		if is, looked := backend.Look(ctx, w.key); err == nil && looked == nil && is.Meets(machine.Package, want) {
			return nil
		}
		r.alone = true
	}
	return backend.Make(ctx, w.key, machine.Want{Condition: want})
}

// difference says in which way a thing is not as wanted.
func difference(w *wish, is, want machine.Condition) string {
	if is.Absent || want.Absent {
		return ""
	}
	var out []string
	add := func(differs bool, format string, args ...any) {
		if differs {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	switch w.key.Kind {
	case machine.File, machine.Block:
		g := generations(w.item)
		rotated := w.thing.Generations != "" && g != "" && w.thing.Generations != g
		add(rotated, "generation %s", g)
		add(is.Sum != want.Sum && !rotated, "content")
		add(is.Target != "", "it was a link to %s", is.Target)
		fallthrough
	case machine.Directory:
		if w.key.Kind == machine.Block {
			break
		}
		add(is.Mode != want.Mode && is.Target == "", "mode %04o, was %04o", want.Mode, is.Mode)
		add(is.UID != want.UID || is.GID != want.GID, "owner %s, was %d:%d", ownerWord(want), is.UID, is.GID)
	case machine.User:
		add(want.UID != 0 && is.UID != want.UID, "number %d, was %d", want.UID, is.UID)
		add(want.Group != "" && is.Group != want.Group, "group %s, was %s", want.Group, is.Group)
		add(is.Groups != want.Groups, "groups %s, were %s", orNone(want.Groups), orNone(is.Groups))
		add(want.Home != "" && is.Home != want.Home, "home %s, was %s", want.Home, is.Home)
		add(want.Shell != "" && is.Shell != want.Shell, "shell %s, was %s", want.Shell, is.Shell)
	}
	return strings.Join(out, ", ")
}

func ownerWord(c machine.Condition) string {
	if c.UID == machine.Unknown || c.GID == machine.Unknown {
		return "a user that is yet to be made"
	}
	return fmt.Sprintf("%d:%d", c.UID, c.GID)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// finish writes down what was done.
func (r *run) finish() error {
	st, o := r.state, r.opened
	st.Mesh, st.Node, st.Bundle = o.Mesh, o.Node, o.Digest().String()
	st.Commit = o.Provenance.Commit
	if o.Provenance.Serial != 0 {
		st.Serial, st.SerialOf = o.Provenance.Serial, st.Bundle
	}
	st.Complete = !r.report.Partly()
	st.Things = slices.DeleteFunc(st.Things, func(t *thing) bool {
		return t.Implied && t.Found == nil // there already, and not ours
	})
	if err := r.host.save(st); err != nil {
		return err
	}
	return r.host.forget(st)
}
