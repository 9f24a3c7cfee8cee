package host

import (
	"testing"

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
