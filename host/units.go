package host

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

// makeUnits brings the units into their state, once systemd knows their texts. A
// unit that runs is restarted when something it restarts on is not as it was when it
// last started, and reloaded likewise; only then (HST-3).
func (r *run) makeUnits(ctx context.Context) error {
	units := r.host.Machine.Units
	if err := r.enableUnits(ctx); err != nil {
		return err
	}
	if r.state.Reread && !r.dry {
		step("reread")
		if err := units.Reread(ctx); err != nil {
			return err
		}
		step("have reread")
		r.state.Reread = false
		if err := r.note(); err != nil {
			return err
		}
	}
	if err := r.giveBackUnits(ctx); err != nil {
		return err
	}
	var names []string
	for _, w := range r.wishes {
		if w.key.Kind == machine.Unit {
			names = append(names, w.key.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	is, unknown, err := r.lookUnits(ctx, names)
	if err != nil {
		return err
	}
	for _, w := range r.unitOrder() {
		u := w.item.(*bundle.Unit)
		blocked := r.blocked(w)
		if blocked == "" && u.State == bundle.Running && !is[w.key.Name].Running {
			blocked = r.unfiltered()
		}
		if blocked != "" {
			r.fail(w, Skipped, because+string(blocked)+" failed")
			continue
		}
		if err := unknown[w.key.Name]; err != nil {
			r.fail(w, Failed, err.Error())
			continue
		}
		if w.thing.Found == nil {
			c := is[w.key.Name]
			w.thing.Found = &c
			if err := r.note(); err != nil {
				return err
			}
		}
		said := len(r.report.Events)
		err := r.makeUnit(ctx, w, u, is[w.key.Name])
		if err := stopped(ctx, err); err != nil {
			return err
		}
		if err != nil {
			r.fail(w, Failed, err.Error())
			continue
		}
		if len(r.report.Events) > said {
			if err := r.note(); err != nil {
				return err
			}
		}
	}
	return r.stayUp(ctx)
}

// settleTime is how long units that were started are left alone until they are looked
// at again. Most programs that cannot run end at once, and systemd has called them
// started by then.
const settleTime = time.Second

// stayUp sees whether the units that this run has started still run.
func (r *run) stayUp(ctx context.Context) error {
	if len(r.started) == 0 || r.dry {
		return nil
	}
	if r.host.Machine.IsLive {
		select {
		case <-ctx.Done():
		case <-time.After(settleTime):
		}
	}
	names := make([]string, len(r.started))
	for i, w := range r.started {
		names[i] = w.key.Name
	}
	is, unknown, err := knowable(r.host.Machine.Units.LookAll(context.WithoutCancel(ctx), names))
	if err != nil {
		return err
	}
	for _, w := range r.started {
		if err := unknown[w.key.Name]; err != nil {
			r.fail(w, Failed, err.Error())
		} else if c := is[w.key.Name]; c.Broken || !c.Running {
			r.fail(w, Failed, endedAgain(w.key.Name))
		}
	}
	return nil
}

// unitOrder is the order in which units are made. Those that are not to run come first: a
// port that one holds may be another's now. Then what filters packets, so that nothing
// runs in the open, and then the others as they are declared.
func (r *run) unitOrder() []*wish {
	var stopped, filters, running []*wish
	for _, w := range r.wishes {
		switch u, ok := w.item.(*bundle.Unit); {
		case !ok:
		case u.State == bundle.Stopped:
			stopped = append(stopped, w)
		case r.filters(u):
			filters = append(filters, w)
		default:
			running = append(running, w)
		}
	}
	return slices.Concat(stopped, filters, inStartOrder(running))
}

// inStartOrder puts, among the units of an instance, what something else waits for before
// its services: mounts, the upper ones first, then sockets, which cannot listen for a
// service that runs already, then what starts services.
func inStartOrder(units []*wish) []*wish {
	first := map[string]int{}
	instance := func(w *wish) string { i, _, _ := strings.Cut(string(w.id()), "/"); return i }
	for i, w := range units {
		if _, seen := first[instance(w)]; !seen {
			first[instance(w)] = i
		}
	}
	rank := func(w *wish) int {
		switch path.Ext(w.key.Name) {
		case ".mount", ".automount", ".swap":
			return 0
		case ".socket":
			return 1
		case ".path", ".timer", ".slice", ".target":
			return 2
		}
		return 3
	}
	out := slices.Clone(units)
	slices.SortStableFunc(out, func(a, b *wish) int {
		depth := 0
		if rank(a) == 0 && rank(b) == 0 {
			depth = strings.Count(a.key.Name, "-") - strings.Count(b.key.Name, "-")
		}
		return cmp.Or(first[instance(a)]-first[instance(b)], rank(a)-rank(b), depth)
	})
	return out
}

// filters says whether a unit loads a packet filter that the bundle brings.
func (r *run) filters(u *bundle.Unit) bool {
	return slices.ContainsFunc(slices.Concat(u.RestartOn, u.ReloadOn), func(id bundle.ID) bool {
		f, ok := r.opened.Declaration.Item(id).(*bundle.File)
		if !ok {
			return false
		}
		e, _ := r.opened.Entry(f.Source)
		return len(tablesIn(string(e.Data))) > 0
	})
}

// unfiltered is what filters packets and has failed; nothing is started in the open for that.
func (r *run) unfiltered() bundle.ID {
	for _, w := range r.wishes {
		if u, ok := w.item.(*bundle.Unit); ok && u.State == bundle.Running && r.failed[w.id()] && r.filters(u) {
			return w.id()
		}
	}
	return ""
}

// enableUnits says of each unit whether it starts with the machine, before systemd
// reads its files again for their texts. What cannot be done now, such as of a unit
// that is not there yet, is left to makeUnit.
func (r *run) enableUnits(ctx context.Context) error {
	if r.dry {
		return nil
	}
	var names []string
	var wanted []*wish
	for _, w := range r.wishes {
		if w.key.Kind == machine.Unit && r.blocked(w) == "" && w.thing.Found != nil {
			names, wanted = append(names, w.key.Name), append(wanted, w)
		}
	}
	if len(names) == 0 {
		return nil
	}
	is, unknown, err := knowable(r.host.Machine.Units.LookAll(ctx, names))
	if err != nil {
		return err
	}
	for _, w := range wanted {
		if unknown[w.key.Name] != nil {
			continue
		}
		on := w.item.(*bundle.Unit).Enabled
		c := is[w.key.Name]
		if c.Enabled == on && !c.Stale || c.Generated || c.Absent {
			continue
		}
		if err := r.touch(true); err != nil {
			return err
		}
		step("enable " + w.key.String())
		if r.host.Machine.Units.Enable(ctx, w.key.Name, on) == nil {
			r.enabled[w.key.Name] = enabledWord(c, on)
		}
	}
	return nil
}

// giveBackUnits sees to units that are not declared any more and ran before us: what
// they read is as it was again, so that they start anew with it.
func (r *run) giveBackUnits(ctx context.Context) error {
	for _, t := range r.withdrawn {
		if !comesLast(t) {
			continue
		}
		is, err := r.look(ctx, t.Key)
		if err == nil && !is.Absent && !r.dry { // it may have gone with its package
			if err := r.touch(false); err != nil {
				return err
			}
			step("give back " + t.Key.String())
			if err = r.host.Machine.Units.Make(ctx, t.Key, machine.Want{Condition: *t.Found}); err == nil && is.Running && t.Found.Running {
				err = r.host.Machine.Units.Restart(ctx, t.Name)
			}
		}
		if err := stopped(ctx, err); err != nil {
			return err
		}
		if err != nil {
			t.Failed = err.Error()
			r.say(Failed, t.Key, t.ID, err.Error())
			continue
		}
		if !is.Absent {
			r.say(Restored, t.Key, t.ID, "not declared any more")
		}
		r.drop(t)
		if err := r.note(); err != nil {
			return err
		}
	}
	return nil
}

// unlinkUnit takes back how a unit is enabled while its text still is the one that
// says so, where that is about to go.
func (r *run) unlinkUnit(ctx context.Context, t *thing) error {
	ours := slices.ContainsFunc(r.withdrawn, func(o *thing) bool {
		return o.Kind == machine.File && o.Name == "/etc/systemd/system/"+t.Name
	})
	if !ours || r.dry {
		return nil
	}
	is, err := r.look(ctx, t.Key)
	if err != nil || !is.Enabled {
		return err
	}
	if err := r.touch(true); err != nil {
		return err
	}
	return r.host.Machine.Units.Make(ctx, t.Key, machine.Want{Condition: machine.Condition{Running: is.Running}})
}

func (r *run) makeUnit(ctx context.Context, w *wish, u *bundle.Unit, is machine.Condition) error {
	want, err := r.want(w)
	if err != nil {
		return err
	}
	now := map[bundle.ID]string{}
	for _, id := range slices.Concat(u.RestartOn, u.ReloadOn) {
		now[id] = r.digestOf(id)
	}
	restart, reload := changed(u.RestartOn, w.thing.Seen, now), changed(u.ReloadOn, w.thing.Seen, now)
	meets := is.Meets(machine.Unit, want.Condition) && r.enabled[w.key.Name] == ""
	act := is.Running && want.Running && len(restart)+len(reload) > 0
	if meets && !act {
		r.unitDone(w, is, now)
		r.report.Unchanged++
		return nil
	}
	units := r.host.Machine.Units
	if !meets {
		if !r.dry {
			if err := r.touch(false); err != nil {
				return err
			}
			step("make " + w.key.String())
			if err := units.Make(ctx, w.key, want); err != nil {
				return err
			}
			step("made " + w.key.String())
			if want.Running {
				r.started = append(r.started, w)
			}
		}
		verb, why := unitVerb(is, want.Condition)
		if ahead := r.enabled[w.key.Name]; ahead != "" {
			why = ahead
		}
		r.say(verb, w.key, w.id(), why)
	}
	if act {
		verb, do, why := Restart, units.Restart, restart
		if len(restart) == 0 {
			verb, do, why = Reload, units.Reload, reload
		}
		if !r.dry {
			if err := r.touch(false); err != nil {
				return err
			}
			step(string(verb) + " " + w.key.String())
			if err := do(ctx, w.key.Name); err != nil {
				return err
			}
			r.started = append(r.started, w)
		}
		r.say(verb, w.key, w.id(), "because of "+join(why))
	}
	if r.dry {
		return nil
	}
	after, err := units.Look(ctx, w.key)
	if err != nil {
		return err
	}
	r.unitDone(w, after, now)
	return nil
}

func (r *run) unitDone(w *wish, is machine.Condition, now map[bundle.ID]string) {
	if u, ok := w.item.(*bundle.Unit); ok && u.State == bundle.Triggered {
		is.Either, is.Running, is.Broken = true, false, false
	}
	w.thing.Made = &is
	w.thing.Seen = now
}

// digestOf is how a resource is now, as a unit remembers it.
func (r *run) digestOf(id bundle.ID) string {
	w := r.byID[id]
	if w == nil {
		return generations(r.opened.Declaration.Item(id))
	}
	if w.thing.Made == nil {
		return "not made"
	}
	return digest(*w.thing.Made, w.thing.Generations)
}

// changed are the resources that are not as a unit has seen them.
func changed(ids []bundle.ID, seen, now map[bundle.ID]string) []bundle.ID {
	var out []bundle.ID
	for _, id := range ids {
		if seen[id] != now[id] {
			out = append(out, id)
		}
	}
	return out
}

func unitVerb(is, want machine.Condition) (Verb, string) {
	enabled := ""
	if !is.Generated && (is.Enabled != want.Enabled || is.Stale) {
		enabled = enabledWord(is, want.Enabled)
	}
	switch {
	case is.Running == want.Running, want.Either:
		return Set, enabled
	case want.Running:
		return Started, enabled
	}
	return Stopped, enabled
}

func enabledWord(is machine.Condition, on bool) string {
	switch {
	case on && is.Enabled:
		return "enabled at boot as its text now says"
	case on:
		return "enabled at boot"
	}
	return "not enabled at boot any more"
}

func join(ids []bundle.ID) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return strings.Join(out, ", ")
}
