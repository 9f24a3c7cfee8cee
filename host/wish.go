package host

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
	"meshc.dev/render/seal"
)

// wish is one thing that a bundle wants on the machine. Resources that share a thing
// (equal directories, one package) share a wish.
type wish struct {
	key   machine.Key
	ids   []bundle.ID
	item  bundle.Item // nil for an implied directory
	thing *thing      // in the state; nil until it is known how the machine has it
	after []bundle.ID // resources without which this one is not tried
}

func (w *wish) id() bundle.ID {
	if len(w.ids) == 0 {
		return ""
	}
	return w.ids[0]
}

// keyOf tells which thing a resource is; a secret that is only put into files is none.
func keyOf(item bundle.Item) (machine.Key, bool) {
	switch i := item.(type) {
	case *bundle.Package:
		return machine.Key{Kind: machine.Package, Name: i.Name}, true
	case *bundle.User:
		return machine.Key{Kind: machine.User, Name: i.Name}, true
	case *bundle.Directory:
		return machine.Key{Kind: machine.Directory, Name: i.Path}, true
	case *bundle.File:
		return machine.Key{Kind: machine.File, Name: i.Path}, true
	case *bundle.Secret:
		return machine.Key{Kind: machine.File, Name: i.Path}, i.Path != ""
	case *bundle.Block:
		return machine.Key{Kind: machine.Block, Name: i.Path, Marker: i.Marker}, true
	case *bundle.Unit:
		return machine.Key{Kind: machine.Unit, Name: i.Name}, true
	}
	panic(fmt.Sprintf("host: no thing for %T", item))
}

// wishes lists what a declaration wants, in its order, each directory that something lies
// in before the first such thing, whether it is declared later or not at all.
func wishes(d *bundle.Declaration) []*wish {
	var out []*wish
	byKey := map[machine.Key]*wish{}
	declared := map[string]*bundle.Directory{}
	for _, item := range d.Items {
		if dir, ok := item.(*bundle.Directory); ok {
			declared[dir.Path] = dir
		}
	}
	for _, item := range d.Items {
		key, ok := keyOf(item)
		if !ok {
			continue
		}
		if w := byKey[key]; w != nil {
			if w.item != item {
				w.ids = append(w.ids, item.Identity())
			}
			continue
		}
		for _, dir := range parents(key) {
			k := machine.Key{Kind: machine.Directory, Name: dir}
			if byKey[k] != nil {
				continue
			}
			byKey[k] = &wish{key: k}
			if d := declared[dir]; d != nil { // later, and what lies in it needs it now
				byKey[k] = &wish{key: k, ids: []bundle.ID{d.ID}, item: d}
			}
			out = append(out, byKey[k])
		}
		byKey[key] = &wish{key: key, ids: []bundle.ID{item.Identity()}, item: item}
		out = append(out, byKey[key])
	}
	out = numbersFirst(out)
	for _, w := range out {
		w.after = dependencies(w, byKey, d)
	}
	return out
}

// numbersFirst puts users that have a number of their own before those that get one that
// is free, so that none of these takes it. A user stays behind the packages and other
// users whose groups it may need.
func numbersFirst(wishes []*wish) []*wish {
	var out []*wish
	at := -1 // the first user since the last package that gets a number
	late := map[string]bool{}
	for _, w := range wishes {
		switch i := w.item.(type) {
		case *bundle.Package:
			at = -1
		case *bundle.User:
			needs := func(g string) bool { return g != i.Name && late[g] }
			if i.UID != 0 && !needs(i.Group) && !slices.ContainsFunc(i.Groups, needs) {
				if at >= 0 {
					out = slices.Insert(out, at, w)
					at++
					continue
				}
				break
			}
			late[i.Name] = true
			if at < 0 {
				at = len(out)
			}
		}
		out = append(out, w)
	}
	return out
}

// parents are the directories above a path, the topmost first.
func parents(k machine.Key) []string {
	if k.Kind != machine.File && k.Kind != machine.Directory && k.Kind != machine.Block {
		return nil
	}
	var out []string
	for dir := path.Dir(k.Name); dir != "/"; dir = path.Dir(dir) {
		out = append(out, dir)
	}
	slices.Reverse(out)
	return out
}

// dependencies are the resources without which a thing cannot be as it is to be: the
// users it belongs to, directories it lies in, and for a unit its text, what it
// restarts on, and the packages and users of its own instance.
func dependencies(w *wish, byKey map[machine.Key]*wish, d *bundle.Declaration) []bundle.ID {
	var out []bundle.ID
	add := func(k machine.Key) {
		if other := byKey[k]; other != nil && other != w {
			out = append(out, other.ids...)
		}
	}
	for _, dir := range parents(w.key) {
		add(machine.Key{Kind: machine.Directory, Name: dir})
	}
	switch i := w.item.(type) {
	case *bundle.Directory:
		add(machine.Key{Kind: machine.User, Name: i.Owner})
		add(machine.Key{Kind: machine.User, Name: i.Group})
	case *bundle.File:
		add(machine.Key{Kind: machine.User, Name: i.Owner})
		add(machine.Key{Kind: machine.User, Name: i.Group})
	case *bundle.Secret:
		add(machine.Key{Kind: machine.User, Name: i.Owner})
		add(machine.Key{Kind: machine.User, Name: i.Group})
	case *bundle.Unit:
		out = append(out, i.RestartOn...)
		out = append(out, i.ReloadOn...)
		instance, _, _ := strings.Cut(string(i.ID), "/")
		for _, item := range d.Items {
			of, _, _ := strings.Cut(string(item.Identity()), "/")
			switch other := item.(type) {
			case *bundle.Package, *bundle.User:
				if of == instance {
					out = append(out, item.Identity())
				}
			case *bundle.File:
				if machine.IsUnitText(other.Path) && machine.IsTextOf(other.Path, i.Name) {
					out = append(out, item.Identity())
				}
			}
		}
	}
	return out
}

// want is what a wish asks of the machine, as far as the machine knows the users
// that things are to belong to.
func (r *run) want(w *wish) (machine.Want, error) {
	switch i := w.item.(type) {
	case nil:
		return r.owned(machine.Want{Condition: machine.Condition{Mode: 0o755}}, "", "")
	case *bundle.Package:
		return machine.Want{Condition: machine.Condition{Absent: i.State == bundle.Absent}}, nil
	case *bundle.User:
		return machine.Want{Condition: wantUser(i, w.thing)}, nil
	case *bundle.Directory:
		return r.owned(machine.Want{Condition: machine.Condition{Mode: uint32(i.Mode)}}, i.Owner, i.Group)
	case *bundle.File:
		content, err := r.opened.content(i)
		if err != nil {
			return machine.Want{}, err
		}
		want := machine.Want{
			Condition: machine.Condition{Mode: uint32(i.Mode), Sum: sumOf(content)},
			Content:   content, Validate: i.Validate, Quiet: len(i.Fills) > 0,
		}
		return r.owned(want, i.Owner, i.Group)
	case *bundle.Secret:
		var content []byte
		r.opened.secrets[i.ID].Use(func(b []byte) { content = slices.Clone(b) })
		want := machine.Want{Condition: machine.Condition{Mode: uint32(i.Mode), Sum: sumOf(content)}, Content: content, Quiet: true}
		return r.owned(want, i.Owner, i.Group)
	case *bundle.Block:
		e, _ := r.opened.Entry(i.Source)
		content := machine.BlockContent(e.Data)
		return machine.Want{Condition: machine.Condition{Sum: sumOf(content)}, Content: content}, nil
	case *bundle.Unit:
		return machine.Want{Condition: machine.Condition{Enabled: i.Enabled, Running: i.State == bundle.Running, Either: i.State == bundle.Triggered}}, nil
	}
	panic(fmt.Sprintf("host: nothing to want of %T", w.item))
}

// wantUser is how a user is to be. What is not declared of it is as it was found, and of
// one that was not there as the schema has it, whatever the bundle before has declared.
func wantUser(u *bundle.User, t *thing) machine.Condition {
	rest := machine.Condition{Absent: true}
	if t != nil && t.Found != nil {
		rest = *t.Found
	}
	groups := append(slices.Clone(u.Groups), strings.Split(rest.Groups, ",")...)
	if rest.Absent {
		rest.Group, rest.Home, rest.Shell = u.Name, "/nonexistent", "/usr/sbin/nologin"
	} else {
		rest.OwnGroup = rest.Group // whichever there is of its name, it did not come with this user
	}
	home, shell := u.Home, u.Shell
	if u.Name == "root" { // whoever comes to the machine comes as root, and by these
		u = &bundle.User{Name: u.Name, System: u.System}
		home, shell = "", ""
	}
	c := machine.Condition{
		UID: u.UID, Group: cmp.Or(u.Group, rest.Group), Home: cmp.Or(home, rest.Home), Shell: cmp.Or(shell, rest.Shell),
		System: u.System, OwnGroup: rest.OwnGroup,
	}
	// A user is in its own group by that, and not one of its members.
	groups = slices.DeleteFunc(groups, func(g string) bool { return g == c.Group || g == "" })
	slices.Sort(groups)
	c.Groups = strings.Join(slices.Compact(groups), ",")
	return c
}

// owned adds whom a thing is to belong to. Without the right to give files away
// they belong to whoever makes the tree.
func (r *run) owned(want machine.Want, owner, group string) (machine.Want, error) {
	if !machine.CanChown() {
		want.UID, want.GID = os.Geteuid(), os.Getegid()
		return want, nil
	}
	o, err := r.owner(owner, group)
	want.UID, want.GID = o.UID, o.GID
	return want, err
}

// content is a file's bytes with its secrets in their places (HST-6).
func (o *Opened) content(f *bundle.File) ([]byte, error) {
	e, _ := o.Entry(f.Source)
	return f.Filled(e.Data, func(fill bundle.Fill) (out []byte, err error) {
		encoded, err := seal.Encode(o.secrets[fill.Secret], seal.Encoding(fill.Encoding))
		if err != nil {
			return nil, fmt.Errorf("%s cannot stand in %s: %w", fill.Secret, f.Path, err)
		}
		defer encoded.Wipe()
		encoded.Use(func(b []byte) { out = slices.Clone(b) })
		return out, nil
	})
}

// generations of the secrets in a thing: with a new one it counts as changed.
func generations(item bundle.Item) string {
	switch i := item.(type) {
	case *bundle.Secret:
		return fmt.Sprint(i.Generation)
	case *bundle.File:
		var out []string
		for _, f := range i.Fills {
			out = append(out, fmt.Sprint(f.Generation))
		}
		return strings.Join(out, " ")
	}
	return ""
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// digest is what a unit remembers of a thing that it restarts on. It is made of what is
// so of the thing and leaves out what is not, so that a later mesh-host, which knows
// more of things, makes the same of the same and restarts nothing.
func digest(c machine.Condition, generations string) string {
	what, err := json.Marshal(c)
	if err != nil {
		panic(err) // it has strings, numbers and booleans only
	}
	return sumOf(append(what, generations...))[:16]
}

// look says how a thing is. What was seen before anything was changed is seen once.
func (r *run) look(ctx context.Context, k machine.Key) (machine.Condition, error) {
	if c, ok := r.foresee(k); ok {
		return c, nil
	}
	if c, ok := r.seen[k]; ok && !r.touched {
		return c, nil
	}
	c, err := r.host.Machine.Backend(k.Kind).Look(ctx, k)
	if err == nil && !r.touched {
		r.seen[k] = c
	}
	return c, err
}
