package host

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

// randomBundle picks resources that a machine has some of already, with contents,
// modes and owners that differ from one time to the next.
func randomBundle(r *rand.Rand) ([]bundle.Item, map[bundle.ID]string) {
	var items []bundle.Item
	content := map[bundle.ID]string{}
	some := func(n int) bool { return r.IntN(n) == 0 }
	var users []string
	for _, u := range []string{"u-git", "u-db", "www-data"} {
		if some(2) {
			continue
		}
		user := &bundle.User{ID: bundle.ID("m/user." + u), Name: u, System: true, Home: "/var/lib/" + u, Shell: []string{"/bin/sh", "/usr/sbin/nologin"}[r.IntN(2)]}
		if some(2) {
			user.Groups = []string{"adm"}
		}
		if some(3) {
			user.Home = ""
		}
		if some(3) {
			user.Shell = ""
		}
		if some(3) {
			user.Group = []string{"adm", "ssl-cert", u}[r.IntN(3)]
		}
		users = append(users, u)
		items = append(items, user)
	}
	owner := func() string {
		if len(users) == 0 || some(2) {
			return ""
		}
		return users[r.IntN(len(users))]
	}
	for _, p := range []string{"nginx", "redis-server", "curl"} {
		if some(2) {
			items = append(items, &bundle.Package{ID: bundle.ID("m/package." + p), Name: p, State: []bundle.PackageState{bundle.Present, bundle.Absent}[r.IntN(2)]})
		}
	}
	isDir := map[string]bool{}
	for i, p := range []string{"/srv/data", "/srv/new", "/srv/new/deep/er", "/etc/default", "/opt/x", "/etc/app"} {
		if some(3) {
			isDir[p] = true
			items = append(items, &bundle.Directory{ID: bundle.ID(fmt.Sprintf("m/directory.d%d", i)), Path: p, Owner: owner(), Mode: []bundle.Mode{0o755, 0o700, 0o2750}[r.IntN(3)]})
		}
	}
	var ids []bundle.ID
	whole := map[string]bool{}
	for i, p := range []string{
		"/etc/default/redis", "/etc/app/conf.d/a", "/etc/app/b", "/srv/new/deep/f", "/srv/new/deep/er/g", "/etc/resolv.conf", "/opt/x",
		"/etc/systemd/system/old.service", "/etc/systemd/system/app.service", "/etc/hosts",
		"/etc/systemd/system/old.service.d/found.conf", "/etc/systemd/system/app.service.d/found.conf",
		"/etc/systemd/system/app.service.d/new.conf", "/etc/systemd/system/r.service.d/new.conf",
	} {
		if !some(2) || isDir[p] || p == "/etc/hosts" && !some(4) {
			continue
		}
		whole[p] = true
		f := &bundle.File{ID: bundle.ID(fmt.Sprintf("m/file.f%d", i)), Path: p, Owner: owner(), Mode: []bundle.Mode{0o644, 0o600, 0o4750}[r.IntN(3)]}
		if some(3) { // another instance's, under another identity
			f.ID = bundle.ID(fmt.Sprintf("n/file.g%d", i))
		}
		content[f.ID] = fmt.Sprintf("content %d\r\n\x00", r.IntN(3))
		if strings.HasPrefix(p, "/etc/systemd/") {
			content[f.ID] = randomUnitText(r, p)
		}
		items, ids = append(items, f), append(ids, f.ID)
	}
	for i, p := range []string{"/etc/app/password", "/srv/secrets/s", "/opt/x/s"} {
		if !some(2) || whole["/opt/x"] && i == 2 {
			continue
		}
		s := &bundle.Secret{ID: bundle.ID(fmt.Sprintf("m/secret.needs.s%d", i)), Path: p, Owner: owner(), Mode: 0o600}
		content[s.ID] = fmt.Sprintf("secret %d", r.IntN(2))
		items, ids = append(items, s), append(ids, s.ID)
	}
	if !whole["/etc/hosts"] {
		for _, m := range []string{"mesh home", "mesh home2"} {
			if some(2) {
				b := &bundle.Block{ID: bundle.ID("m/block." + m[5:]), Path: "/etc/hosts", Marker: m}
				content[b.ID] = fmt.Sprintf("10.86.0.%d board", r.IntN(3))
				items, ids = append(items, b), append(ids, b.ID)
			}
		}
	}
	for _, p := range []string{"/srv/made-by-block", "/etc/default/redis"} {
		if some(3) && !whole[p] {
			b := &bundle.Block{ID: bundle.ID("m/block.b" + fmt.Sprint(len(items))), Path: p, Marker: "m"}
			content[b.ID] = fmt.Sprintf("x=%d\n", r.IntN(3))
			items = append(items, b)
		}
	}
	for _, u := range []string{"r.service", "cron.timer", "old.service", "app.service"} {
		if !some(2) {
			continue
		}
		unit := &bundle.Unit{ID: bundle.ID("m/unit." + u), Name: u, Enabled: some(2), State: []bundle.UnitState{bundle.Running, bundle.Stopped}[r.IntN(2)]}
		for _, id := range ids {
			if some(3) {
				unit.RestartOn = append(unit.RestartOn, id)
			}
		}
		items = append(items, unit)
	}
	return items, content
}

// randomUnitText asks for other links from one time to the next, or for none, takes back
// those asked for before it, or gives the unit its own name and another.
func randomUnitText(r *rand.Rand, p string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(p, "/etc/systemd/system/"), ".")
	return fmt.Sprintf("[Service]\n# %d\n", r.IntN(2)) + []string{
		"", "[Install]\n", "[Install]\nWantedBy=\n", "[Install]\nWantedBy=t0.target\n", "[Install]\nWantedBy=t1.target\n",
		"[Install]\nWantedBy=\nWantedBy=t2.target\n", "[Install]\nAlias=" + name + ".service also-" + name + ".service\n",
	}[r.IntN(7)]
}

// randomTree is a machine for random bundles, with what others add to texts of units.
func randomTree(t *testing.T) string {
	t.Helper()
	dir := newTree(t)
	put(t, dir, "/etc/systemd/system/old.service.d/found.conf", "[Service]\nNice=5\n", 0o644)
	put(t, dir, "/etc/systemd/system/app.service.d/found.conf", "[Install]\nWantedBy=found.target\n", 0o644)
	return dir
}

// HST-4: applying A and then B leaves the machine as applying B to a fresh one does,
// and applying nothing leaves it as it was found. HST-3: a second apply of anything
// changes nothing.
func TestApplyAThenB(t *testing.T) {
	pairs, seed := 25, uint64(20)
	if n, err := strconv.Atoi(os.Getenv("MESHC_TEST_PAIRS")); err == nil {
		pairs = n
	}
	for i := range uint64(pairs) {
		t.Run(fmt.Sprint(seed+i), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed+i, 1))
			a := writeRandom(t, r)
			b := writeRandom(t, r)
			nothing := write(t, nil, nil)

			fresh := randomTree(t)
			found := snapshot(t, fresh)
			noFailures(t, apply(t, onTree(t, fresh), b))
			want := snapshot(t, fresh)

			both := randomTree(t)
			h := onTree(t, both)
			noFailures(t, apply(t, h, a))
			noFailures(t, apply(t, h, b))
			got := snapshot(t, both)
			sameTree(t, "A then B", got, want)

			again := apply(t, h, b)
			if len(again.Events) > 0 {
				t.Errorf("a second apply: %v", again.Events)
			}
			sameTree(t, "B twice", snapshot(t, both), got)

			noFailures(t, apply(t, h, nothing))
			sameTree(t, "nothing", snapshot(t, both), found)
		})
	}
}

func writeRandom(t *testing.T, r *rand.Rand) string {
	t.Helper()
	items, content := randomBundle(r)
	return write(t, items, content)
}

func noFailures(t *testing.T, r Report) {
	t.Helper()
	for _, e := range r.Events {
		if e.Verb == Failed || e.Verb == Skipped {
			t.Errorf("%s", e)
		}
	}
}

// HST-3: what a unit remembers of a thing is the same to the next mesh-host, which knows
// more of things than this one: no machine restarts everything because of an upgrade.
func TestDigestStays(t *testing.T) {
	c := machine.Condition{Mode: 0o640, UID: 7, GID: 8, Sum: "abc"}
	if got := digest(c, "2"); got != "602102e85e990779" {
		t.Errorf("the digest of %+v has become %s", c, got)
	}
}
