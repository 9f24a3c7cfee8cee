package host

import (
	"context"
	"errors"
	"slices"
	"strings"

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
		do := r.giveBack
		switch {
		case comesLast(t):
			do = r.unlinkUnit
		case t.Kind == machine.User:
			do = r.giveBackUser
		}
		if err := r.giveBackOr(ctx, t, do); err != nil {
			return err
		}
	}
	return r.note()
}

// giveBackOr gives a thing back by do, and notes where that has failed. An error of its
// own ends the run.
func (r *run) giveBackOr(ctx context.Context, t *thing, do func(context.Context, *thing) error) error {
	err := do(ctx, t)
	if err := stopped(ctx, err); err != nil {
		return err
	}
	if err != nil {
		t.Failed = err.Error()
		r.say(Failed, t.Key, t.ID, t.Failed)
		if t.Kind == machine.Unit {
			r.held = append(r.held, t)
		}
	}
	return nil
}

// holds is the unit that has to be stopped before a thing is taken away, and could not
// be: one whose text it is, or of the same instance. It runs with what is there.
func (r *run) holds(t *thing) *thing {
	instance := func(t *thing) string { i, _, _ := strings.Cut(string(t.ID), "/"); return i }
	for _, u := range r.held {
		if instance(u) == instance(t) || isText(t.Key) && machine.IsTextOf(t.Name, u.Name) {
			return u
		}
	}
	return nil
}

// comesLast says whether a unit is given back when everything else is in place: its
// own text, and what it runs with.
func comesLast(t *thing) bool {
	return t.Kind == machine.Unit && t.Found != nil && (t.Found.Running || t.Found.Enabled)
}

// rank puts units before everything else, because they use it, and users behind it,
// because it is theirs.
func rank(t *thing) int {
	switch t.Kind {
	case machine.Unit:
		return 0
	case machine.User:
		return 2
	}
	return 1
}

// withdrawOwners gives back the users that could not be before, for the data that was
// theirs: some of it may have become somebody else's by now.
func (r *run) withdrawOwners(ctx context.Context) error {
	if r.made = true; len(r.owners) == 0 {
		return nil
	}
	for _, t := range r.owners {
		if err := r.giveBackOr(ctx, t, r.giveBackUser); err != nil {
			return err
		}
	}
	return r.note()
}

// giveBackUser is giveBack of a user, who stays as long as there is data of his. Where
// there is, it is asked once more when everything is made.
func (r *run) giveBackUser(ctx context.Context, t *thing) error {
	if t.Found == nil || !t.Found.Absent || r.holds(t) != nil {
		return r.giveBack(ctx, t)
	}
	is, err := r.look(ctx, t.Key)
	if err != nil {
		return err
	}
	if is.Absent {
		return r.giveBack(ctx, t)
	}
	data, err := r.dataOf(is, t.Data)
	switch {
	case err != nil:
		return err
	case data == "":
		return r.giveBack(ctx, t)
	case !r.made:
		r.owners = append(r.owners, t)
	default:
		r.stay(t, "data on this machine belongs to it, in "+data)
		t.Data = data
	}
	return nil
}

// giveBack brings a thing into the condition in which it was found.
func (r *run) giveBack(ctx context.Context, t *thing) error {
	if t.Found == nil { // known, and never touched
		r.drop(t)
		return nil
	}
	if u := r.holds(t); u != nil {
		t.Failed = because + u.Key.String() + " could not be stopped or disabled"
		r.say(Skipped, t.Key, t.ID, t.Failed)
		return nil
	}
	is, err := r.look(ctx, t.Key)
	if err != nil {
		return err
	}
	left := leftUser(t, is)
	if is.Meets(t.Kind, *t.Found) && !left {
		r.drop(t)
		return nil
	}
	content, err := r.host.kept(*t.Found)
	if err == nil && r.dry {
		_, err = r.makeAhead(t.Key, is, machine.Want{Condition: *t.Found, Content: content})
	} else if err == nil {
		if err := r.touch(t.Kind == machine.Unit || isText(t.Key)); err != nil {
			return err
		}
		if t.Kind == machine.File {
			if err := r.oweSysctls(t.Name, content); err != nil {
				return err
			}
		}
		step("give back " + t.Key.String())
		err = r.host.Machine.Backend(t.Kind).Make(ctx, t.Key, machine.Want{Condition: *t.Found, Content: content})
	}
	switch {
	case errors.Is(err, machine.ErrNotEmpty):
		r.stay(t, "it is not empty")
		return nil
	case err != nil:
		return err
	}
	verb := Restored
	switch {
	case t.Kind == machine.Unit:
		verb = Stopped
	case t.Found.Absent:
		verb = Removed
	}
	if !t.Implied && !(left && is.OwnGroup == t.Found.OwnGroup) {
		r.say(verb, t.Key, t.ID, "not declared any more"+r.remains(ctx, t))
	}
	r.drop(t)
	return nil
}

// leftUser says whether a user that is to be gone is, but what belongs to one may not
// be: a run was killed while it made or removed him.
func leftUser(t *thing, is machine.Condition) bool {
	return t.Kind == machine.User && t.Found.Absent && is.Absent
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
	if !t.Kept {
		r.say(Kept, t.Key, t.ID, why)
	}
	t.Kept = true
}

// dataOf is a place that stays on the machine and has something of a user's in it: his
// home, a directory that is kept, or one that was given back, of which only the user
// remembers in later runs. It is empty where there is none.
func (r *run) dataOf(user machine.Condition, remembered string) (string, error) {
	root := r.host.Machine.Root
	owner, known := r.ownerAhead(user.Home)
	if !known {
		var err error
		if owner, err = root.OwnerOf(user.Home); err != nil {
			return "", err
		}
	}
	if owner == user.UID {
		return user.Home, nil
	}
	places := []string{remembered}
	for _, t := range r.state.Things {
		if t.Kind == machine.Directory && t.Kept {
			places = append(places, t.Name)
		}
	}
	for _, t := range r.withdrawn {
		if t.Kind == machine.Directory {
			places = append(places, t.Name)
		}
	}
	for _, p := range places {
		if p == "" {
			continue
		}
		if owns, err := root.Owns(p, user.UID, r.ownerAhead); err != nil || owns {
			return p, err
		}
	}
	return "", nil
}

func (r *run) drop(t *thing) {
	if !r.dry {
		r.state.Things = slices.DeleteFunc(r.state.Things, func(o *thing) bool { return o == t })
	}
}
