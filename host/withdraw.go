package host

import (
	"context"
	"errors"
	"slices"

	"meshc.dev/host/machine"
)

// withdraw gives back, in reverse order, what is not declared any more. Units that
// did not run before are stopped first; those that did are seen to when everything
// else is in place again.
func (r *run) withdraw(ctx context.Context) error {
	if len(r.withdrawn) == 0 {
		return nil
	}
	back := slices.Clone(r.withdrawn)
	slices.Reverse(back)
	slices.SortStableFunc(back, func(a, b *thing) int { return rank(a) - rank(b) })
	for _, t := range back {
		if comesLast(t) {
			if err := r.unlinkUnit(ctx, t); err != nil {
				return err
			}
			continue
		}
		if err := r.giveBack(ctx, t); err != nil {
			return err
		}
	}
	if r.dry {
		return nil
	}
	return r.host.save(r.state)
}

// comesLast says whether a unit is given back when everything else is in place: its
// own text, and what it runs with.
func comesLast(t *thing) bool {
	return t.Kind == machine.Unit && t.Found != nil && (t.Found.Running || t.Found.Enabled)
}

// rank puts units before everything else: they use it.
func rank(t *thing) int {
	if t.Kind == machine.Unit {
		return 0
	}
	return 1
}

// giveBack brings a thing into the condition in which it was found.
func (r *run) giveBack(ctx context.Context, t *thing) error {
	if t.Found == nil { // known, and never touched
		r.drop(t)
		return nil
	}
	is, err := r.look(ctx, t.Key)
	if err != nil {
		r.say(Failed, t.Key, t.ID, err.Error())
		return nil
	}
	if t.Kind == machine.User && t.Found.Absent && r.ownsKept(is) {
		r.stay(t, "data on this machine belongs to it")
		return nil
	}
	if is.Meets(t.Kind, *t.Found) {
		r.drop(t)
		return nil
	}
	content, err := r.host.kept(*t.Found)
	if err == nil && !r.dry {
		r.touched = true
		step("give back " + t.Key.String())
		err = r.host.Machine.Backend(t.Kind).Make(ctx, t.Key, machine.Want{Condition: *t.Found, Content: content})
	}
	switch {
	case errors.Is(err, machine.ErrNotEmpty):
		r.stay(t, "it is not empty")
		return nil
	case err != nil:
		t.Failed = err.Error()
		r.say(Failed, t.Key, t.ID, err.Error())
		return nil
	}
	r.reread = r.reread || t.Kind == machine.Unit || t.Kind == machine.File && machine.IsUnitText(t.Name)
	verb := Restored
	switch {
	case t.Kind == machine.Unit:
		verb = Stopped
	case t.Found.Absent:
		verb = Removed
	}
	if !t.Implied {
		r.say(verb, t.Key, t.ID, "not declared any more"+r.remains(ctx, t))
	}
	r.drop(t)
	return nil
}

// remains says what is left of a package that was removed.
func (r *run) remains(ctx context.Context, t *thing) string {
	if t.Kind != machine.Package || r.dry {
		return ""
	}
	if is, err := r.look(ctx, t.Key); err != nil || !is.Remains {
		return ""
	}
	return "; its configuration files stay until `apt-get purge " + t.Name + "`"
}

// stay keeps a thing that holds data. It is said once.
func (r *run) stay(t *thing, why string) {
	if !t.Kept && !t.Implied {
		r.say(Kept, t.Key, t.ID, why)
	}
	t.Kept = true
}

// ownsKept says whether a directory that stays belongs to a user.
func (r *run) ownsKept(user machine.Condition) bool {
	return slices.ContainsFunc(r.state.Things, func(t *thing) bool {
		return t.Kept && t.Kind == machine.Directory && t.Made != nil && t.Made.UID == user.UID
	})
}

func (r *run) drop(t *thing) {
	if !r.dry {
		r.state.Things = slices.DeleteFunc(r.state.Things, func(o *thing) bool { return o == t })
	}
}
