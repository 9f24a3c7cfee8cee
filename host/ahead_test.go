package host

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

// foretold checks a bundle and then applies it: the events have to be the same, in the
// same order, and Check must have changed nothing.
func foretold(t *testing.T, what, dir, b string) Report {
	t.Helper()
	h := onTree(t, dir)
	before := snapshot(t, dir)
	o, err := h.Open(b, resealed)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	check, refused := h.Check(context.Background(), o)
	if refused != nil {
		if _, err := h.Apply(context.Background(), o, nil); err == nil || err.Error() != refused.Error() {
			t.Errorf("%s: check refuses with %v, apply with %v", what, refused, err)
		}
		return Report{}
	}
	sameTree(t, what+": check", snapshot(t, dir), before)
	done := apply(t, h, b)
	said, did := eventLines(check.Events), eventLines(done.Events)
	for _, e := range said {
		if !slices.Contains(did, e) {
			t.Errorf("%s: check alone says: %s", what, e)
		}
	}
	for _, e := range did {
		if !slices.Contains(said, e) {
			t.Errorf("%s: apply alone says: %s", what, e)
		}
	}
	if !t.Failed() && !slices.Equal(said, did) {
		t.Errorf("%s: check says in another order\n%s\nthan apply\n%s", what, strings.Join(said, "\n"), strings.Join(did, "\n"))
	}
	if check.Unchanged != done.Unchanged {
		t.Errorf("%s: check leaves %d things as they are, apply %d", what, check.Unchanged, done.Unchanged)
	}
	return done
}

// eventLines are verb and thing of each event. Why is left out: it tells numbers, and
// nobody knows which number a user will get, nor what dpkg leaves of a package.
func eventLines(events []Event) []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = fmt.Sprintf("%s %s (%s)", e.Verb, e.Key, e.ID)
	}
	return out
}

// HST-2, HST-4: check says what apply does, event for event: of a bundle on a fresh
// machine, of another one after it, with data of others in what is withdrawn, and of
// nothing. In a tree there is no exception. On a machine that runs these cannot be known
// ahead: what a program will say (a file's validator, Quadlet's generator, apt, a unit that
// does not start), and which users, files and units a package brings or takes with it.
func TestCheckSaysWhatApplyDoes(t *testing.T) {
	pairs, seed := 25, uint64(500)
	if n, err := strconv.Atoi(os.Getenv("MESHC_TEST_PAIRS")); err == nil {
		pairs = n
	}
	for i := range uint64(pairs) {
		t.Run(fmt.Sprint(seed+i), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed+i, 1))
			dir := randomTree(t)
			foretold(t, "A", dir, writeRandom(t, r))
			for _, p := range []string{"/srv/data", "/srv/new", "/srv/new/deep/er", "/opt/x", "/etc/app/conf.d"} {
				if info, err := os.Stat(dir + p); err == nil && info.IsDir() && r.IntN(4) == 0 {
					put(t, dir, p+"/theirs", "data", 0o644)
				}
			}
			foretold(t, "B", dir, writeRandom(t, r))
			foretold(t, "nothing", dir, write(t, nil, nil))
		})
	}
}

// HST-2: what is taken away first is not in the way, in check as in apply.
func TestCheckWhereKindsChange(t *testing.T) {
	file := func(id bundle.ID, p string) bundle.Item { return &bundle.File{ID: id, Path: p, Mode: 0o644} }
	secret := func(id bundle.ID, p string) bundle.Item { return &bundle.Secret{ID: id, Path: p, Mode: 0o600} }
	directory := func(id bundle.ID, p string) bundle.Item {
		return &bundle.Directory{ID: id, Path: p, Mode: 0o700}
	}
	block := func(id bundle.ID, p string) bundle.Item { return &bundle.Block{ID: id, Path: p, Marker: "m"} }
	for name, c := range map[string]struct{ a, b bundle.Item }{
		"file to the directory of a file":   {file("a/file.x", "/etc/x"), file("a/file.y", "/etc/x/y")},
		"file to directory":                 {file("a/file.x", "/etc/x"), directory("a/directory.x", "/etc/x")},
		"directory of a file to file":       {file("a/file.y", "/etc/x/y"), file("a/file.x", "/etc/x")},
		"directory to file":                 {directory("a/directory.x", "/etc/x"), file("a/file.x", "/etc/x")},
		"secret to the directory of a file": {secret("a/secret.needs.x", "/etc/x"), file("a/file.y", "/etc/x/y")},
		"directory to secret":               {directory("a/directory.x", "/etc/x"), secret("a/secret.needs.x", "/etc/x")},
		"file to block":                     {file("a/file.x", "/etc/x"), block("a/block.x", "/etc/x")},
		"block to file":                     {block("a/block.x", "/etc/x"), file("a/file.x", "/etc/x")},
		"block to directory":                {block("a/block.x", "/etc/x"), directory("a/directory.x", "/etc/x")},
		"found file to block":               {file("a/file.x", "/etc/hosts"), block("a/block.x", "/etc/hosts")},
		"block of a found file to file":     {block("a/block.x", "/etc/hosts"), file("a/file.x", "/etc/hosts")},
	} {
		t.Run(name, func(t *testing.T) {
			content := map[bundle.ID]string{"a/file.x": "xx\n", "a/file.y": "yy\n", "a/block.x": "10.0.0.1 b\n", "a/secret.needs.x": "sss"}
			dir := newTree(t)
			noFailures(t, foretold(t, "A", dir, write(t, []bundle.Item{c.a}, content)))
			noFailures(t, foretold(t, "B", dir, write(t, []bundle.Item{c.b}, content)))
			foretold(t, "nothing", dir, write(t, nil, nil))
		})
	}
}

// HST-4: a directory that holds somebody's data stays, and check says so; what would be
// made in its place fails, and check says that too.
func TestCheckKeepsData(t *testing.T) {
	dir := newTree(t)
	a := []bundle.Item{
		&bundle.User{ID: "a/user.u", Name: "u-git", System: true},
		&bundle.Directory{ID: "a/directory.d", Path: "/srv/app", Owner: "u-git", Mode: 0o755},
		&bundle.File{ID: "a/file.z", Path: "/srv/app/ours", Mode: 0o644},
		&bundle.Directory{ID: "a/directory.e", Path: "/srv/empty", Mode: 0o755},
	}
	foretold(t, "A", dir, write(t, a, nil))
	put(t, dir, "/srv/app/theirs", "x", 0o644)
	r := foretold(t, "B", dir, write(t, []bundle.Item{&bundle.File{ID: "b/file.x", Path: "/srv/app", Mode: 0o644}}, nil))
	want := []string{
		"removed directory /srv/empty (a/directory.e)", "removed file /srv/app/ours (a/file.z)",
		"kept directory /srv/app (a/directory.d)", "failed file /srv/app (b/file.x)", "kept user u-git (a/user.u)",
	}
	if got := eventLines(r.Events); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// HST-2: check says which users cannot be made, and what is not tried because of that.
func TestCheckUsers(t *testing.T) {
	for name, items := range map[string][]bundle.Item{
		"a group that is not there": {&bundle.User{ID: "a/user.u", Name: "u-git", Groups: []string{"nobodys"}}},
		"an own group that is not there": {
			&bundle.User{ID: "a/user.u", Name: "u-git", Group: "nobodys"}, &bundle.File{ID: "a/file.f", Path: "/etc/f", Owner: "u-git", Mode: 0o644},
		},
		"another number":               {&bundle.User{ID: "a/user.w", Name: "www-data", UID: 1033}},
		"an owner that is not there":   {&bundle.File{ID: "a/file.f", Path: "/etc/f", Owner: "nobodys", Mode: 0o644}},
		"a group of a file is not":     {&bundle.File{ID: "a/file.f", Path: "/etc/f", Group: "nobodys", Mode: 0o644}},
		"a package does not change it": {&bundle.Package{ID: "a/package.p", Name: "curl", State: bundle.Present}, &bundle.File{ID: "a/file.f", Path: "/etc/f", Owner: "nobodys", Mode: 0o644}},
		"a user's group for another": {
			&bundle.User{ID: "a/user.u", Name: "u-git", System: true}, &bundle.User{ID: "b/user.u", Name: "u-db", Group: "u-git", Groups: []string{"adm", "u-git"}},
			&bundle.File{ID: "a/file.f", Path: "/etc/hosts", Owner: "u-db", Group: "u-git", Mode: 0o644},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newTree(t)
			foretold(t, "A", dir, write(t, items, nil))
			// The owner goes and the file stays.
			foretold(t, "B", dir, write(t, []bundle.Item{&bundle.File{ID: "a/file.f", Path: "/etc/hosts", Owner: "u-db", Mode: 0o644}}, nil))
		})
	}
}

// HST-2: a number and a group that go with a user are free, in check as in apply, and a
// group that stays is not.
func TestCheckWhereUsersGo(t *testing.T) {
	inGroup := func(group string) []bundle.Item {
		return []bundle.Item{&bundle.File{ID: "b/file.f", Path: "/etc/f", Group: group, Mode: 0o644}}
	}
	for name, c := range map[string]struct {
		group string // a line that is there before
		a, b  []bundle.Item
	}{
		"a number changes hands": {"", []bundle.Item{&bundle.User{ID: "a/user.u", Name: "u-git", UID: 990}}, []bundle.Item{&bundle.User{ID: "b/user.u", Name: "u-db", UID: 990}}},
		"a number is taken":      {"", nil, []bundle.Item{&bundle.User{ID: "b/user.u", Name: "u-db", UID: 33}}},
		"a group goes":           {"", []bundle.Item{&bundle.User{ID: "a/user.u", Name: "u-git"}}, inGroup("u-git")},
		"a group that was there": {"u-git:x:555:\n", []bundle.Item{&bundle.User{ID: "a/user.u", Name: "u-git"}}, inGroup("u-git")},
		"a group with a member": {
			"",
			[]bundle.Item{&bundle.User{ID: "a/user.u", Name: "u-git"}, &bundle.User{ID: "a/user.w", Name: "www-data", Groups: []string{"u-git"}}},
			append([]bundle.Item{&bundle.User{ID: "a/user.w", Name: "www-data", Groups: []string{"u-git"}}}, inGroup("u-git")...),
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newTree(t)
			groups, err := os.ReadFile(dir + "/etc/group")
			if err != nil {
				t.Fatal(err)
			}
			put(t, dir, "/etc/group", string(groups)+c.group, 0o644)
			foretold(t, "A", dir, write(t, c.a, nil))
			foretold(t, "B", dir, write(t, c.b, nil))
		})
	}
}

// HST-5: check says that blocks would change places, also of a file that is not there yet.
func TestCheckOfBlocksInOrder(t *testing.T) {
	blocks := func(p string, markers ...string) []bundle.Item {
		var out []bundle.Item
		for _, m := range markers {
			out = append(out, &bundle.Block{ID: bundle.ID("a/block." + m), Path: p, Marker: m})
		}
		return out
	}
	for _, p := range []string{"/etc/hosts", "/etc/new"} {
		dir := newTree(t)
		for _, markers := range [][]string{{"b", "c"}, {"a", "b", "c"}, {"a", "b", "c", "d"}, {"d", "c"}, {"c", "e", "d"}, nil} {
			foretold(t, p, dir, write(t, blocks(p, markers...), nil))
		}
		foretold(t, p+" as a whole", dir, write(t, []bundle.Item{&bundle.File{ID: "a/file.f", Path: p, Mode: 0o644}}, nil))
		foretold(t, p, dir, write(t, blocks(p, "b", "c"), nil))
	}
}

// HST-2: in a look ahead, a file that is there and is to belong to a user that is not
// there yet is changed, and the reason names no number.
func TestCheckOfANewOwner(t *testing.T) {
	dir := newTree(t)
	h := onTree(t, dir)
	o, err := h.Open(write(t, []bundle.Item{
		&bundle.User{ID: "a/user.u", Name: "u-git", System: true},
		&bundle.File{ID: "a/file.f", Path: "/etc/hosts", Owner: "u-git", Mode: 0o644},
	}, map[bundle.ID]string{"a/file.f": "x"}), Policy{})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	r, err := h.Check(context.Background(), o)
	if err != nil || len(r.Events) != 2 {
		t.Fatalf("got %v, %v", r.Events, err)
	}
	if e := r.Events[1]; machine.CanChown() && (e.Verb != Changed || !strings.HasSuffix(e.Why, "owner a user that is yet to be made, was 0:0")) {
		t.Errorf("got %s", e)
	}
}

// HST-2: on a machine that runs, a package may bring the user that a file is to belong
// to; check does not say that there is none. In a tree it brings nothing.
func TestCheckOfWhatAPackageBrings(t *testing.T) {
	h := onTree(t, newTree(t))
	for _, live := range []bool{false, true} {
		h.Machine.IsLive = live
		for _, brings := range []bool{false, true} {
			r := &run{host: h, dry: true, ahead: newAhead()}
			r.ahead.brings = brings
			o, err := r.owner("nobodys", "")
			if known := live && brings; (err == nil) != known || known && o.UID != machine.Unknown {
				t.Errorf("live %v, a package %v: %v, %v", live, brings, o, err)
			}
			_, err = r.makeAhead(machine.Key{Kind: machine.User, Name: "u"}, machine.Condition{Absent: true}, machine.Want{Condition: machine.Condition{Groups: "nobodys"}})
			if (err == nil) != (live && brings) {
				t.Errorf("live %v, a package %v: a user in its group: %v", live, brings, err)
			}
		}
	}
}
