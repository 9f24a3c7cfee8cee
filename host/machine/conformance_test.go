package machine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newTree is a small machine in a folder.
func newTree(t *testing.T) (*Machine, string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"etc/passwd": "root:x:0:0::/root:/bin/sh\n", "etc/group": "root:x:0:root\nadm:x:4:\nvideo:x:44:root\nleft:x:555:\nshared:x:556:root\n", "etc/shadow": "root:*:::::::\n",
		"etc/hosts": "127.0.0.1 localhost", "etc/old": "old", "usr/lib/systemd/system/a.service": "[Install]\nWantedBy=multi-user.target\n",
		"var/lib/dpkg/status": "Package: there\nStatus: install ok installed\nArchitecture: amd64\n\nPackage: gone\nStatus: deinstall ok config-files\n",
	} {
		p := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := Tree(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m, dir
}

func fileOf(content string, mode uint32) Want {
	sum := sha256.Sum256([]byte(content))
	c := Condition{Mode: mode, UID: os.Geteuid(), GID: os.Getegid(), Sum: hex.EncodeToString(sum[:])}
	return Want{Condition: c, Content: []byte(content)}
}

func blockOf(content string) Want {
	sum := sha256.Sum256([]byte(content))
	return Want{Condition: Condition{Sum: hex.EncodeToString(sum[:])}, Content: []byte(content)}
}

// subject is what a suite finds on a machine: a folder with the files old and hosts,
// a user that is in the line of its own group, a unit with a text, and a package that is there and one that is not; and two
// groups without a user of their name, of which the second has a member.
type subject struct{ dir, user, unit, gone, there, group, shared string }

// conformance is one thing, and the conditions that it is brought into.
type conformance struct {
	key   Key
	wants []Want
	found string // content of what was found, where that is a file
}

func conformanceCases(s subject) map[string]conformance {
	uid, gid := os.Geteuid(), os.Getegid()
	absent := Want{Condition: Condition{Absent: true}}
	return map[string]conformance{
		"file":          {Key{Kind: File, Name: s.dir + "/new"}, []Want{fileOf("one\r\n\x00", 0o600), fileOf("two", 0o4755), fileOf("", 0o644), absent, {Condition: Condition{Target: "elsewhere", UID: uid, GID: gid}}}, ""},
		"file, found":   {Key{Kind: File, Name: s.dir + "/old"}, []Want{fileOf("one", 0o600), absent}, "old"},
		"directory":     {Key{Kind: Directory, Name: s.dir + "/dir"}, []Want{{Condition: Condition{Mode: 0o700, UID: uid, GID: gid}}, {Condition: Condition{Mode: 0o2755, UID: uid, GID: gid}}, absent}, ""},
		"block":         {Key{Kind: Block, Name: s.dir + "/hosts", Marker: "m"}, []Want{blockOf("a\n"), blockOf("a\nb\n"), {Condition: Condition{Absent: true, NoNewline: true}}}, ""},
		"block, nofile": {Key{Kind: Block, Name: s.dir + "/made", Marker: "m"}, []Want{blockOf("a\n"), {Condition: Condition{Absent: true, NoFile: true}}}, ""},
		"user": {Key{Kind: User, Name: "git"}, []Want{
			{Condition: Condition{System: true, Home: "/var/lib/git", Shell: "/bin/sh"}},
			{Condition: Condition{System: true, Groups: "adm,video"}},
			{Condition: Condition{System: true, Groups: "video", Group: "git"}},
			absent,
		}, ""},
		"user, group found":  userOfGroup(s.group, "555"),
		"user, group in use": userOfGroup(s.shared, "556"),
		"user, found": {Key{Kind: User, Name: s.user}, []Want{
			{Condition: Condition{Groups: "adm,video"}}, {Condition: Condition{Groups: "video", Shell: "/bin/bash"}}, {Condition: Condition{Groups: "video"}},
		}, ""},
		"package":        {Key{Kind: Package, Name: s.gone}, []Want{{}, absent}, ""},
		"package, found": {Key{Kind: Package, Name: s.there}, []Want{absent, {}}, ""},
		"unit": {Key{Kind: Unit, Name: s.unit}, []Want{
			{Condition: Condition{Enabled: true, Running: true}}, {Condition: Condition{Enabled: true}}, {Condition: Condition{Running: true}}, {},
		}, ""},
	}
}

// userOfGroup is a user whose group was there before it, and stays.
func userOfGroup(name, number string) conformance {
	return conformance{Key{Kind: User, Name: name}, []Want{
		{Condition: Condition{System: true, Home: "/var/lib/x", Shell: "/bin/sh"}},
		{Condition: Condition{System: true, Group: name, Groups: "adm"}},
		{Condition: Condition{Absent: true, OwnGroup: number}},
	}, ""}
}

// HST-8: one suite for every backend. Each condition is made from each other, made
// again without a difference, and looked at as it was made; at last what was found is
// given back.
func TestConformance(t *testing.T) {
	cases := conformanceCases(subject{dir: "/etc", user: "root", unit: "a.service", gone: "gone", there: "there", group: "left", shared: "shared"})
	// A unit that no text is known of is only recorded, which a machine that runs would refuse.
	cases["unit without a text"] = conformance{Key{Kind: Unit, Name: "b.service"}, []Want{{Condition: Condition{Enabled: true, Running: true}}, {}}, ""}
	conforms(t, cases, func(t *testing.T, _ Key) (*Machine, func() map[string]string) {
		m, dir := newTree(t)
		return m, func() map[string]string { return listing(t, dir) }
	})
}

// HST-4: a unit that is enabled follows its text: where that asks for other links than
// there are, it is not as it is to be, and making it so leaves no link of before.
func TestUnitFollowsItsText(t *testing.T) {
	m, dir := newTree(t)
	unitFollowsItsText(t, m, dir)
}

func unitFollowsItsText(t *testing.T, m *Machine, dir string) {
	t.Helper()
	ctx := context.Background()
	at := filepath.Join(dir, "etc/systemd/system")
	key, want := Key{Kind: Unit, Name: "follows.service"}, Want{Condition: Condition{Enabled: true}}
	for i, c := range []struct{ install, link string }{
		{"WantedBy=multi-user.target", "multi-user.target.wants/follows.service"},
		{"WantedBy=timers.target", "timers.target.wants/follows.service"},
		{"RequiredBy=timers.target", "timers.target.requires/follows.service"},
		{"Alias=other.service", "other.service"},
		{"UpheldBy=rescue.target", "rescue.target.upholds/follows.service"},
	} {
		text := "[Service]\nType=oneshot\nExecStart=/bin/true\n[Install]\n" + c.install + "\n"
		if err := errors.Join(os.MkdirAll(at, 0o755), os.WriteFile(filepath.Join(at, key.Name), []byte(text), 0o644), m.Units.Reread(ctx)); err != nil {
			t.Fatal(err)
		}
		if is, err := m.Units.Look(ctx, key); err != nil || is.Meets(Unit, want.Condition) || is.Stale != (i > 0) {
			t.Errorf("with %s it is %+v before it was enabled for that (%v)", c.install, is, err)
		}
		if err := errors.Join(m.Units.Make(ctx, key, want), m.Units.Reread(ctx)); err != nil {
			t.Fatal(err)
		}
		if is, err := m.Units.Look(ctx, key); err != nil || !is.Meets(Unit, want.Condition) {
			t.Errorf("with %s it is %+v (%v)", c.install, is, err)
		}
		var links []string
		err := filepath.WalkDir(at, func(p string, e os.DirEntry, err error) error {
			if err == nil && e.Type()&os.ModeSymlink != 0 && (e.Name() == key.Name || e.Name() == "other.service") {
				rel, _ := filepath.Rel(at, p)
				links = append(links, rel)
			}
			return err
		})
		if err != nil || len(links) != 1 || links[0] != c.link {
			t.Errorf("with %s the links are %q, want %s (%v)", c.install, links, c.link, err)
		}
	}
	if err := m.Units.Make(ctx, key, Want{}); err != nil {
		t.Error(err)
	}
}

// conforms runs the suite, each case on what open gives: a machine, and how it is now.
func conforms(t *testing.T, cases map[string]conformance, open func(*testing.T, Key) (*Machine, func() map[string]string)) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			m, list := open(t, c.key)
			b := m.Backend(c.key.Kind)
			before := list()
			found, err := b.Look(ctx, c.key)
			if err != nil {
				t.Fatal(err)
			}
			bring := func(w Want) {
				t.Helper()
				if err := b.Make(ctx, c.key, w); err != nil {
					t.Fatalf("to make %+v: %v", w.Condition, err)
				}
				if c.key.Kind == Unit { // whoever makes units has their manager read its files, once for all
					if err := m.Units.Reread(ctx); err != nil {
						t.Fatal(err)
					}
				}
				is, err := b.Look(ctx, c.key)
				if err != nil || !is.Meets(c.key.Kind, w.Condition) {
					t.Errorf("made %+v, and it is %+v (%v)", w.Condition, is, err)
				}
				once := list()
				if err := b.Make(ctx, c.key, w); err != nil {
					t.Errorf("to make it again: %v", err)
				}
				sameListing(t, "made again", list(), once)
			}
			for _, from := range c.wants {
				for _, to := range c.wants {
					bring(from)
					bring(to)
				}
			}
			bring(Want{Condition: found, Content: []byte(c.found)})
			after := list()
			delete(after, "var/lib/mesh-host/tree.json")
			delete(after, "var/lib/mesh-host")
			sameListing(t, "given back", after, before)
		})
	}
}

func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		out[rel] = info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(p)
			out[rel] += " " + string(data)
			return err
		}
		if to, err := os.Readlink(p); err == nil {
			out[rel] += " " + to
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(out, "etc/systemd")        // folders that links lie in
	delete(out, "etc/systemd/system") // stay
	return out
}

func sameListing(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s is %q, not %q", what, name, got[name], want[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s is there: %q", what, name, got[name])
		}
	}
}

// A directory with something in it is data, and stays.
func TestDirectoryWithData(t *testing.T) {
	m, _ := newTree(t)
	err := m.Backend(Directory).Make(context.Background(), Key{Kind: Directory, Name: "/etc"}, Want{Condition: Condition{Absent: true}})
	if !errors.Is(err, ErrNotEmpty) {
		t.Errorf("got %v", err)
	}
}

// HST-2: a link that root made leads where it leads on the machine; one that others
// could have made leads nowhere.
func TestLinksOnTheWay(t *testing.T) {
	m, dir := newTree(t)
	ctx := context.Background()
	link := func(to, at string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "run/lock"), 0o755), os.Mkdir(filepath.Join(dir, "srv"), 0o777)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "srv"), 0o777); err != nil {
		t.Fatal(err)
	}
	link("/run", "var/run")      // absolute, as on the machine
	link("../../../../run", "v") // never above the machine's top
	link("/etc", "srv/planted")
	link("loop", "loop")
	for _, p := range []string{"/var/run/lock/f", "/v/lock/f"} {
		if err := m.Files.Make(ctx, Key{Kind: File, Name: p}, fileOf("x", 0o644)); err != nil {
			t.Errorf("%s: %v", p, err)
		}
		if err := os.Remove(filepath.Join(dir, "run/lock/f")); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	var planted *PlantedError
	if err := m.Files.Make(ctx, Key{Kind: File, Name: "/srv/planted/f"}, fileOf("x", 0o644)); !errors.As(err, &planted) {
		t.Errorf("got %v", err)
	}
	if err := m.Files.Make(ctx, Key{Kind: File, Name: "/loop/f"}, fileOf("x", 0o644)); err == nil {
		t.Error("a link to itself leads somewhere")
	}
	// A link in the file's own place is replaced, and what it leads to is not touched.
	if err := m.Files.Make(ctx, Key{Kind: File, Name: "/srv/planted"}, fileOf("x", 0o644)); err != nil {
		t.Error(err)
	}
	if info, err := os.Lstat(filepath.Join(dir, "srv/planted")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("got %v, %v", info, err)
	}
}

// O06: a validator gets the path for "%", and a percent sign for two of them.
func TestFillPath(t *testing.T) {
	for arg, want := range map[string]string{"%": "/p", "--f=%": "/p", "50%%": "50%", "%%%": "%/p", "a": "a"} {
		if arg == "--f=%" {
			want = "--f=/p"
		}
		if got := fillPath(arg, "/p"); got != want {
			t.Errorf("%q becomes %q, not %q", arg, got, want)
		}
	}
}

// HST-3, HST-4: which links a unit's text asks for, as systemd reads it: lines that go on,
// comments in between, values that are taken back, and what is added by other files.
func TestInstallLinks(t *testing.T) {
	for text, want := range map[string]string{
		"[Install]\nWantedBy=a.target b.target\n":                         "a.target.wants/x.service b.target.wants/x.service",
		"[Install]\nWantedBy=a.target \\\n  b.target\n":                   "a.target.wants/x.service b.target.wants/x.service",
		"[Install]\nWantedBy=a.target \\\n# not this\n  b.target\n":       "a.target.wants/x.service b.target.wants/x.service",
		"[Install]\nWantedBy=a.target\nWantedBy=\nRequiredBy=c.target\n":  "c.target.requires/x.service",
		"[Unit]\nWantedBy=a.target\n[Install]\n; WantedBy=b.target\n":     "",
		"[Install]\nAlias=y.service\n[Service]\nExecStart=/bin/a=b\n":     "y.service",
		"[Install]\nWantedBy=a.target\n\n[Install]\nUpheldBy = d.target ": "a.target.wants/x.service d.target.upholds/x.service",
	} {
		var got []string
		for _, l := range installLinks("x.service", text) {
			got = append(got, strings.TrimPrefix(l, unitDirs[0]+"/"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q asks for %q, want %q", text, got, want)
		}
	}
	m, dir := newTree(t)
	for name, text := range map[string]string{
		"etc/systemd/system/a.service.d/20.conf":     "[Install]\nWantedBy=b.target\n",
		"usr/lib/systemd/system/a.service.d/20.conf": "[Install]\nWantedBy=weaker.target\n",
		"usr/lib/systemd/system/a.service.d/10.conf": "[Install]\nWantedBy=\n",
		"etc/systemd/system/a.service.d/30.bak":      "[Install]\nWantedBy=nobody.target\n",
	} {
		p := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	key := Key{Kind: Unit, Name: "a.service"}
	if err := m.Units.Make(t.Context(), key, Want{Condition: Condition{Enabled: true}}); err != nil {
		t.Fatal(err)
	}
	links, err := linksOf(m.Root, key.Name)
	if err != nil || len(links) != 1 || !strings.HasPrefix(links[0], "/etc/systemd/system/b.target.wants/a.service ->") {
		t.Errorf("with what others add, the links are %q (%v)", links, err)
	}
}
