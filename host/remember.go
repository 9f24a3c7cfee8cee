package host

import (
	"context"
	"slices"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

// remember brings the state into the bundle's order, with what stays before it, and
// notes for every unit how the things it restarts on are before they change.
func (r *run) remember(ctx context.Context) error {
	wanted := map[*thing]bool{}
	var things []*thing
	for _, w := range r.wishes {
		if w.thing == nil {
			w.thing = &thing{Key: w.key, Implied: w.item == nil}
		}
		_, secret := w.item.(*bundle.Secret)
		w.thing.ID, w.thing.Implied, w.thing.Secret, w.thing.Kept = w.id(), w.item == nil, secret, false
		w.thing.Failed, w.thing.Holds = "", nil
		if f, ok := w.item.(*bundle.File); ok {
			for _, fill := range f.Fills {
				w.thing.Holds = append(w.thing.Holds, fill.Secret)
			}
			slices.Sort(w.thing.Holds)
			w.thing.Holds = slices.Compact(w.thing.Holds)
		}
		wanted[w.thing] = true
		things = append(things, w.thing)
	}
	var rest []*thing
	for _, t := range r.state.Things {
		if !wanted[t] {
			rest = append(rest, t)
		}
	}
	r.state.Things = append(rest, things...)
	for _, w := range r.wishes {
		if u, ok := w.item.(*bundle.Unit); ok {
			r.rememberUnit(ctx, w.thing, u)
		}
	}
	r.takeSecrets()
	// A run that is killed after the first change leaves the restarts that are owed for it.
	return r.note()
}

func (r *run) rememberUnit(ctx context.Context, t *thing, u *bundle.Unit) {
	next := make(map[bundle.ID]string, len(u.RestartOn)+len(u.ReloadOn))
	for _, id := range slices.Concat(u.RestartOn, u.ReloadOn) {
		w := r.byID[id]
		if seen, ok := t.Seen[id]; ok {
			next[id] = seen
			if w != nil && r.drifted(ctx, w) {
				// It is put right, and the unit may have read what was there meanwhile.
				next[id] = "drifted"
			}
			continue
		}
		if w == nil { // a secret that is only put into files
			next[id] = generations(r.opened.Declaration.Item(id))
			continue
		}
		is, err := r.look(ctx, w.key)
		if err != nil {
			continue // it will fail, and the unit with it
		}
		g := w.thing.Generations
		if w.thing.Made == nil {
			g = generations(w.item)
		}
		next[id] = digest(is, g)
	}
	t.Seen = next
}

// drifted says whether something that was made is not so any more.
func (r *run) drifted(ctx context.Context, w *wish) bool {
	if w.thing.Made == nil || w.key.Kind != machine.File && w.key.Kind != machine.Block {
		return false
	}
	is, err := r.look(ctx, w.key)
	return err == nil && is != *w.thing.Made
}

// find notes how things were found, from one on to the next package that is to
// change: packages bring files, users and units, which are then found as the package
// made them. The packages themselves are all noted at once, so that they can be
// installed at once.
func (r *run) find(ctx context.Context, from int) error {
	changes := false
	for i := from; i < len(r.wishes); i++ {
		w := r.wishes[i]
		if w.thing.Found != nil || changes && w.key.Kind != machine.Package {
			continue
		}
		is, err := r.look(ctx, w.key)
		if err != nil && i == from {
			return err
		}
		if err != nil || w.item == nil && !is.Absent {
			continue
		}
		if w.key.Kind == machine.Block {
			is = r.findBlock(w.key, is)
		}
		if w.key.Kind == machine.File && !is.Absent {
			keep := r.host.keep
			if r.dry {
				keep = r.host.canKeep
			}
			if err := keep(w.key.Name, is); err != nil && i == from {
				return err
			} else if err != nil {
				continue
			}
		}
		w.thing.Found = &is
		if p, ok := w.item.(*bundle.Package); ok && is.Absent != (p.State == bundle.Absent) {
			changes = true
		}
	}
	return r.note()
}

// findBlock is how a block was found. One with our marker comes from a state that was
// lost. All blocks of a file know how that was before the first of them.
func (r *run) findBlock(k machine.Key, is machine.Condition) machine.Condition {
	found := machine.Condition{Absent: true, NoFile: is.NoFile, NoNewline: is.NoNewline}
	for _, t := range r.state.Things {
		if t.Kind == machine.Block && t.Name == k.Name && t.Found != nil {
			found.NoFile, found.NoNewline = t.Found.NoFile, t.Found.NoNewline
		}
	}
	return found
}
