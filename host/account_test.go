package host

import (
	"testing"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

// HST-4: what of users and groups was there before is given back as it was: a group of
// the user's name, and a user's place in the line of its own group. HST-3: the
// user's own group among those it is to be in changes nothing.
func TestGroupsAsFound(t *testing.T) {
	const found = "root:x:0:\nadm:x:4:\nssl-cert:x:110:www-data\nwww-data:x:33:www-data\n"
	for name, c := range map[string]struct {
		found string
		users []bundle.User
	}{
		"group found":           {found + "git:x:555:\n", []bundle.User{{Name: "git"}}},
		"group found, named":    {found + "git:x:555:\n", []bundle.User{{Name: "git", Group: "git", Groups: []string{"adm"}}}},
		"group found, in use":   {found + "git:x:555:www-data\n", []bundle.User{{Name: "git"}}},
		"own group among them":  {found, []bundle.User{{Name: "git", Groups: []string{"git", "adm"}}}},
		"own group, found":      {found + "git:x:555:\n", []bundle.User{{Name: "git", Groups: []string{"git", "adm"}}}},
		"in its own group":      {found, []bundle.User{{Name: "www-data", Groups: []string{"adm"}}}},
		"in its own, named":     {found, []bundle.User{{Name: "www-data", Groups: []string{"www-data", "adm"}}}},
		"one in another's":      {found, []bundle.User{{Name: "git"}, {Name: "hub", Group: "git", Groups: []string{"git", "adm"}}}},
		"another group its own": {found, []bundle.User{{Name: "git", Group: "adm", Groups: []string{"adm", "ssl-cert"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newTree(t)
			put(t, dir, "/etc/group", c.found, 0o644)
			before := snapshot(t, dir)
			h := onTree(t, dir)
			var items []bundle.Item
			for _, u := range c.users {
				u.ID, u.System = bundle.ID("a/user."+u.Name), true
				items = append(items, &u)
			}
			b := write(t, items, nil)
			if r := apply(t, h, b); len(r.Events) != len(items) || r.Partly() {
				t.Errorf("the first run: %v", r.Events)
			}
			if r := apply(t, h, b); len(r.Events) > 0 {
				t.Errorf("the second run: %v", r.Events)
			}
			apply(t, h, write(t, nil, nil))
			sameTree(t, "given back", snapshot(t, dir), before)
		})
	}
}

// HST-4: what of a user is not declared any more is as it was found, or as a new user has it,
// and its own group comes and goes with that.
func TestUserLeftOut(t *testing.T) {
	for _, name := range []string{"u-x", "www-data"} {
		for what, a := range map[string]bundle.User{
			"shell": {Shell: "/bin/sh"}, "home": {Home: "/var/lib/x"}, "group": {Group: "adm"}, "group, in it before": {Group: "ssl-cert"},
			"own group": {}, "groups": {Groups: []string{"adm"}},
		} {
			t.Run(name+" "+what, func(t *testing.T) {
				all := bundle.User{Name: name, ID: "a/user.x", System: true, Shell: a.Shell, Home: a.Home, Group: a.Group, Groups: a.Groups}
				none := bundle.User{Name: name, ID: "a/user.x", System: true}
				file := &bundle.File{ID: "a/file.f", Path: "/etc/f", Owner: name, Group: name, Mode: 0o640}
				content := map[bundle.ID]string{"a/file.f": "f"}
				first, second := write(t, []bundle.Item{&all}, nil), write(t, []bundle.Item{&none, file}, content)
				third := write(t, []bundle.Item{&bundle.User{Name: name, ID: "a/user.x", System: true, Group: "adm"}}, nil)
				dir := newTree(t)
				found := snapshot(t, dir)
				for _, b := range []string{first, second, third} {
					fresh := newTree(t)
					apply(t, onTree(t, fresh), b)
					h := onTree(t, dir)
					noFailures(t, apply(t, h, b))
					sameTree(t, "applied", snapshot(t, dir), snapshot(t, fresh))
					if r := apply(t, h, b); len(r.Events) > 0 {
						t.Errorf("a second apply: %v", r.Events)
					}
				}
				apply(t, onTree(t, dir), write(t, nil, nil))
				sameTree(t, "given back", snapshot(t, dir), found)
			})
		}
	}
}

// HST-2: a user without a number does not take the one that another is declared to have,
// whichever stands first; and one whose group another needs is made before that.
func TestNumberOfAnother(t *testing.T) {
	x := &bundle.User{ID: "a/user.x", Name: "u-x", System: true}
	key := machine.Key{Kind: machine.User, Name: "u-x"}
	h := onTree(t, newTree(t))
	apply(t, h, write(t, []bundle.Item{x}, nil))
	c, err := h.Machine.Backend(machine.User).Look(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := &bundle.File{ID: "a/file.f", Path: "/etc/f", Owner: "u-x", Mode: 0o640}
	for name, items := range map[string][]bundle.Item{
		"number":           {x, file, &bundle.User{ID: "a/user.y", Name: "u-y", System: true, UID: c.UID}},
		"group of another": {x, file, &bundle.User{ID: "a/user.y", Name: "u-y", System: true, UID: c.UID + 1, Group: "u-x"}},
		"among its groups": {x, file, &bundle.User{ID: "a/user.y", Name: "u-y", System: true, UID: c.UID + 1, Groups: []string{"u-x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			h := onTree(t, newTree(t))
			b := write(t, items, map[bundle.ID]string{"a/file.f": "f"})
			noFailures(t, apply(t, h, b))
			if r := apply(t, h, b); len(r.Events) > 0 {
				t.Errorf("a second apply: %v", r.Events)
			}
		})
	}
}
