package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A look ahead tells what is gone from what belongs to a user that is yet to be made:
// below the first nobody looks, below the second there may be somebody's files.
func TestOwnsBelowAFolderOfAnUnknownOwner(t *testing.T) {
	m, dir := newTree(t)
	if err := os.MkdirAll(filepath.Join(dir, "srv/new/below"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		owner int
		want  bool
	}{{Unknown, true}, {Nobody, false}} {
		owns, err := m.Root.Owns("/srv/new", os.Geteuid(), func(p string) (int, bool) { return c.owner, p == "/srv/new" })
		if err != nil || owns != c.want {
			t.Errorf("below a folder of %d there is something: %v (%v)", c.owner, owns, err)
		}
	}
}

// HST-3: to look at units costs as much for each, however many there are.
func TestLookAllReadsLinksOnce(t *testing.T) {
	m, dir := newTree(t)
	at := filepath.Join(dir, "etc/systemd/system")
	if err := os.MkdirAll(filepath.Join(at, "multi-user.target.wants"), 0o755); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range 100 {
		name := fmt.Sprintf("u%d.service", i)
		names = append(names, name)
		if err := os.WriteFile(filepath.Join(at, name), []byte("[Install]\nWantedBy=multi-user.target\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/etc/systemd/system/"+name, filepath.Join(at, "multi-user.target.wants", name)); err != nil {
			t.Fatal(err)
		}
	}
	reads := func(names []string) float64 {
		return testing.AllocsPerRun(1, func() {
			all, err := m.Units.LookAll(t.Context(), names)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				if c := all[name]; !c.Enabled || c.Stale {
					t.Errorf("%s is %+v", name, c)
				}
			}
		})
	}
	one, many := reads(names[:1]), reads(names)
	if many > 20*one {
		t.Errorf("to look at one takes %.0f allocations, at 100 %.0f", one, many)
	}
}

// HST-4: a link to /dev/null, which is no plain file, takes a weaker drop-in of its name away.
func TestDropInTakenAway(t *testing.T) {
	m, dir := newTree(t)
	weaker, stronger := filepath.Join(dir, "usr/lib/systemd/system/a.service.d"), filepath.Join(dir, "etc/systemd/system/a.service.d")
	if err := errors.Join(
		os.MkdirAll(weaker, 0o755), os.MkdirAll(stronger, 0o755), os.MkdirAll(filepath.Join(dir, "dev/null"), 0o755),
		os.WriteFile(filepath.Join(weaker, "x.conf"), []byte("[Install]\nWantedBy=b.target\n"), 0o644),
		os.Symlink("/dev/null", filepath.Join(stronger, "x.conf")),
	); err != nil {
		t.Fatal(err)
	}
	u, err := unitText(m.Root, "a.service", nil)
	if links := installLinks("a.service", u.all); err != nil || len(links) != 1 || links[0] != "/etc/systemd/system/multi-user.target.wants/a.service" {
		t.Errorf("it asks for %q (%v)", links, err)
	}
}
