package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"

	"meshc.dev/host/machine"
)

// ahead is how the machine would be, as far as a dry run has come. Everything that is
// decided is decided by looking, so a dry run says what Apply does if it is shown the
// machine as Apply would have left it by then.
type ahead struct {
	is    map[machine.Key]machine.Condition // what was made or given back, in thought
	gone  map[string]bool                   // paths at which something was taken away
	whole map[string]bool                   // paths of files that are others now
	texts map[string][]byte                 // of unit files, as far as they say how units are enabled
	users map[string]machine.Condition
	out   map[string][]string // markers of the blocks taken out, by path
	// brings is true once a package would be installed: nobody knows with which users.
	brings bool
}

func newAhead() ahead {
	return ahead{
		is: map[machine.Key]machine.Condition{}, gone: map[string]bool{}, whole: map[string]bool{},
		texts: map[string][]byte{}, users: map[string]machine.Condition{}, out: map[string][]string{},
	}
}

// foresee is how a thing would be by now, where that is not how it is.
func (r *run) foresee(k machine.Key) (machine.Condition, bool) {
	if !r.dry {
		return machine.Condition{}, false
	}
	if c, ok := r.ahead.is[k]; ok {
		return c, true
	}
	switch k.Kind {
	case machine.File, machine.Directory, machine.Block:
		for p := k.Name; p != "/" && p != "."; p = path.Dir(p) {
			if r.ahead.gone[p] {
				return machine.Condition{Absent: true, NoFile: k.Kind == machine.Block}, true
			}
		}
		if k.Kind == machine.Block && r.ahead.whole[k.Name] {
			return machine.Condition{Absent: true}, true
		}
	}
	return machine.Condition{}, false
}

// makeAhead is Make in thought: it gives the condition that the thing would be in, or
// the error.
func (r *run) makeAhead(k machine.Key, is machine.Condition, want machine.Want) (machine.Condition, error) {
	next := want.Condition
	switch k.Kind {
	case machine.Directory:
		if want.Absent {
			if err := r.emptyAhead(k.Name); err != nil {
				return is, err
			}
			r.ahead.gone[k.Name] = true
		}
	case machine.File:
		r.ahead.gone[k.Name] = want.Absent
		r.ahead.whole[k.Name] = true
		if machine.IsUnitText(k.Name) {
			r.ahead.texts[k.Name] = r.installSection(k.Name, want)
		}
	case machine.Block:
		if want.Absent {
			r.takeOutAhead(k, want.Condition)
		}
	case machine.User:
		var err error
		next, err = r.host.Machine.Accounts.UserAhead(k.Name, is, want.Condition, r.ahead.users)
		if err != nil {
			if !r.mayBring() {
				return is, err
			}
			next = machine.Condition{UID: machine.Unknown, Group: want.Group}
		}
		r.ahead.users[k.Name] = next
	case machine.Package:
		r.ahead.brings = r.ahead.brings || !want.Absent
	}
	r.ahead.is[k] = next
	return next, nil
}

// emptyAhead says whether a directory would be empty, without what is taken out of it.
func (r *run) emptyAhead(p string) error {
	names, err := r.host.Machine.Root.ReadDir(p)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !r.ahead.gone[path.Join(p, name)] && !machine.IsLeftover(name) {
			return fmt.Errorf("%s: %w", p, machine.ErrNotEmpty)
		}
	}
	return nil
}

// takeOutAhead takes a block out of its file, which is gone then if it was made for it.
func (r *run) takeOutAhead(k machine.Key, found machine.Condition) {
	r.ahead.out[k.Name] = append(r.ahead.out[k.Name], k.Marker)
	rest, err := r.host.Machine.Blocks.Outside(k.Name, r.ahead.out[k.Name])
	if err != nil {
		return // its file is gone already
	}
	if len(rest) == 0 && found.NoFile {
		r.ahead.gone[k.Name] = true
		return
	}
	if found.NoNewline {
		rest = bytes.TrimSuffix(rest, []byte("\n"))
	}
	file := machine.Key{Kind: machine.File, Name: k.Name}
	if is, err := r.host.Machine.Files.Look(context.Background(), file); err == nil {
		is.Sum = sumOf(rest)
		r.ahead.is[file] = is
	}
}

// installSection is as much of a unit's text as says how it is enabled; the rest may
// hold a secret, and nobody asks for it. A file that is there is never nil.
func (r *run) installSection(p string, want machine.Want) []byte {
	if want.Absent {
		return nil
	}
	content := want.Content
	if to := want.Target; to != "" {
		if !path.IsAbs(to) {
			to = path.Join(path.Dir(p), to)
		}
		content, _ = r.host.Machine.Root.ReadFile(to) // of one that leads nowhere nothing is read
	}
	i := bytes.Index(content, []byte("[Install]"))
	if i < 0 {
		return []byte("\n")
	}
	line := bytes.LastIndexByte(content[:i], '\n') + 1
	return bytes.Clone(content[line:])
}

// owner gives the numbers of a user and group, as they would be by now.
func (r *run) owner(owner, group string) (machine.Owner, error) {
	if !r.dry {
		return r.host.Machine.Accounts.Owner(owner, group)
	}
	o, err := r.host.Machine.Accounts.OwnerAhead(owner, group, r.ahead.users)
	if err != nil && r.mayBring() {
		return machine.Owner{UID: machine.Unknown, GID: machine.Unknown}, nil
	}
	return o, err
}

// ownerAhead is whom a path would belong to by now, where that is not whom it does.
func (r *run) ownerAhead(p string) (int, bool) {
	if !r.dry {
		return 0, false
	}
	if r.ahead.gone[p] {
		return machine.Nobody, true
	}
	for _, kind := range []machine.Kind{machine.Directory, machine.File} {
		if c, ok := r.ahead.is[machine.Key{Kind: kind, Name: p}]; ok {
			return c.UID, true
		}
	}
	return 0, false
}

// mayBring says whether a user or group that is not there may come with a package. In a
// tree none does: its packages are installed by whoever runs it.
func (r *run) mayBring() bool { return r.ahead.brings && r.host.Machine.IsLive }

// lookUnits looks at units, as they would be by now.
func (r *run) lookUnits(ctx context.Context, names []string) (map[string]machine.Condition, machine.Unknowable, error) {
	units := r.host.Machine.Units
	all, unknown, err := knowable(units.LookAll(ctx, names))
	if err != nil || !r.dry {
		return all, unknown, err
	}
	for _, name := range names {
		if unknown[name] != nil {
			continue
		}
		if all[name], err = units.Ahead(ctx, name, all[name], r.ahead.texts); err != nil {
			unknown[name] = err
		}
	}
	return all, unknown, nil
}

// knowable tells units that cannot be looked at from a failure to look at any.
func knowable(all map[string]machine.Condition, err error) (map[string]machine.Condition, machine.Unknowable, error) {
	unknown := machine.Unknowable{}
	if errors.As(err, &unknown) {
		err = nil
	}
	return all, unknown, err
}

// inAnotherOrder says whether the blocks of a file are, or would be by now, in another
// order than the one given. New ones stand at the end until they are ordered.
func (r *run) inAnotherOrder(p string, markers []string) (bool, error) {
	if !r.dry {
		return r.host.Machine.Blocks.Order(p, markers, true)
	}
	var old []string
	isNew := false
	for _, m := range markers {
		was, seen := r.seen[machine.Key{Kind: machine.Block, Name: p, Marker: m}]
		if !seen || was.Absent || r.ahead.gone[p] || r.ahead.whole[p] {
			isNew = true
			continue
		}
		if isNew {
			return true, nil
		}
		old = append(old, m)
	}
	if len(old) < 2 {
		return false, nil
	}
	return r.host.Machine.Blocks.Order(p, old, true)
}

// canKeep says whether the content of a file that was found could be kept.
func (h *Host) canKeep(p string, c machine.Condition) error {
	if c.Sum == "" {
		return nil
	}
	if _, err := h.Machine.Root.ReadFile(path.Join(foundDir, c.Sum)); err == nil {
		return nil
	}
	_, err := h.Machine.Files.Read(p, maxFound)
	return err
}
