package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"meshc.dev/host/hosttest"
	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

// faultyUnits are a tree's units, and a manager that can refuse.
type faultyUnits struct {
	machine.Units
	rereads   int
	noReread  error
	noStop    error
	fallOver  bool // what is started ends at once
	restarted []string
	made      []string
	bad       map[string]error // units that cannot be made
	refused   map[string]error // texts that are not accepted
}

func (u *faultyUnits) Verify(context.Context, map[string][]byte) (map[string]error, error) {
	return u.refused, nil
}

func (u *faultyUnits) Reread(context.Context) error { u.rereads++; return u.noReread }

func (u *faultyUnits) Restart(_ context.Context, name string) error {
	u.restarted = append(u.restarted, name)
	return nil
}

func (u *faultyUnits) Make(ctx context.Context, k machine.Key, want machine.Want) error {
	if u.noStop != nil && !want.Running {
		return u.noStop
	}
	u.made = append(u.made, k.Name)
	if err := u.bad[k.Name]; err != nil {
		return err
	}
	return u.Units.Make(ctx, k, want)
}

func (u *faultyUnits) LookAll(ctx context.Context, names []string) (map[string]machine.Condition, error) {
	all, err := u.Units.LookAll(ctx, names)
	for name, c := range all {
		if u.fallOver && c.Running {
			c.Running, c.Broken = false, true
			all[name] = c
		}
	}
	return all, err
}

func faulty(t *testing.T, dir string) (*Host, *faultyUnits) {
	t.Helper()
	h := onTree(t, dir)
	u := &faultyUnits{Units: h.Machine.Units}
	h.Machine.Units = u
	return h, u
}

func plain(id, path string) *bundle.File {
	return &bundle.File{ID: bundle.ID(id), Path: path, Mode: 0o644}
}

func running(id, name string, restartOn ...bundle.ID) *bundle.Unit {
	return &bundle.Unit{ID: bundle.ID(id), Name: name, State: bundle.Running, RestartOn: restartOn}
}

func lines(r Report) string {
	var out strings.Builder
	for _, e := range r.Events {
		fmt.Fprintln(&out, e)
	}
	return out.String()
}

// HST-2: systemd has to read its files again until it has, in whichever run: a unit is
// never started by a text that it does not know. The run that could not says that it ended.
func TestRereadIsOwed(t *testing.T) {
	dir := newTree(t)
	h, u := faulty(t, dir)
	b := write(t, []bundle.Item{plain("a/file.u", "/etc/systemd/system/app.service"), running("a/unit.u", "app.service", "a/file.u")},
		map[bundle.ID]string{"a/file.u": "[Service]\nExecStart=/bin/true\n"})
	u.noReread = errors.New("systemctl daemon-reload: no such bus")
	r := apply(t, h, b)
	if !r.Partly() || !strings.Contains(r.Ended, "no such bus") || strings.Contains(lines(r), "started") {
		t.Errorf("ended by %q, after\n%s", r.Ended, lines(r))
	}
	if s, err := h.Status(t.Context()); err != nil || s.Complete || s.Bundle == "" {
		t.Errorf("status is %+v, %v", s, err)
	}
	u.noReread = nil
	// The next run changes something else first.
	b = write(t, []bundle.Item{plain("a/file.u", "/etc/systemd/system/app.service"), plain("a/file.c", "/etc/c"), running("a/unit.u", "app.service", "a/file.u")},
		map[bundle.ID]string{"a/file.u": "[Service]\nExecStart=/bin/true\n"})
	r = apply(t, h, b)
	if r.Partly() || u.rereads != 2 || !strings.Contains(lines(r), "started unit app.service") {
		t.Errorf("%d times read, then\n%s", u.rereads, lines(r))
	}
	if r = apply(t, h, b); len(r.Events) > 0 || u.rereads != 2 {
		t.Errorf("%d times read, then\n%s", u.rereads, lines(r))
	}
}

// HST-4: nothing is changed of which it could not be written down how it was found.
func TestNotWrittenDown(t *testing.T) {
	items := []bundle.Item{
		plain("a/file.c", "/etc/default/redis"), plain("a/file.d", "/etc/resolv.conf"),
		&bundle.Directory{ID: "a/directory.d", Path: "/srv/data", Mode: 0o700},
	}
	content := map[bundle.ID]string{"a/file.c": "ours", "a/file.d": "ours"}
	for _, full := range []int{0, 1, 2} { // how often the state can be written before it cannot
		t.Run(fmt.Sprint(full), func(t *testing.T) {
			dir := newTree(t)
			found := snapshot(t, dir)
			h := onTree(t, dir)
			// A folder in the place of the state's next file: it can be neither written nor removed.
			obstacle := filepath.Join(dir, "var/lib/mesh-host/.state.json.mesh-host-next")
			saves := 0
			step = func(s string) {
				if saves++; s == "save" && saves > full {
					put(t, dir, "/var/lib/mesh-host/.state.json.mesh-host-next/x", "", 0o600)
				}
			}
			defer func() { step = func(string) {} }()
			o, err := h.Open(write(t, items, content), Policy{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := h.Apply(t.Context(), o, nil)
			if err == nil && r.Ended == "" {
				t.Fatalf("it went on:\n%s", lines(r))
			}
			if err != nil && len(r.Events) > 0 {
				t.Errorf("refused, after\n%s", lines(r))
			}
			step = func(string) {}
			if err := os.RemoveAll(obstacle); err != nil {
				t.Fatal(err)
			}
			noFailures(t, apply(t, h, write(t, items, content)))
			noFailures(t, apply(t, h, write(t, nil, nil)))
			sameTree(t, "given back", snapshot(t, dir), found)
		})
	}
}

// HST-3: a restart that is owed for a file is made up for after a kill at any step, also
// of a unit that is new in the bundle, or newly restarts on that file.
func TestKilledOwesRestart(t *testing.T) {
	content := func(s string) map[bundle.ID]string { return map[bundle.ID]string{"a/file.c": s, "a/file.d": s} }
	c, d := plain("a/file.c", "/etc/c"), plain("a/file.d", "/etc/d")
	for name, items := range map[string][2][]bundle.Item{
		"new unit":       {{c, d}, {c, d, running("a/unit.o", "old.service", "a/file.c")}},
		"something goes": {{c, d, plain("a/file.e", "/etc/e")}, {c, d, running("a/unit.o", "old.service", "a/file.c")}},
		"one file more":  {{c, d, running("a/unit.o", "old.service", "a/file.d")}, {c, d, running("a/unit.o", "old.service", "a/file.d", "a/file.c")}},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := write(t, items[0], content("1")), write(t, items[1], content("2"))
			for kills := 0; ; kills++ {
				dir := newTree(t)
				apply(t, onTree(t, dir), before)
				cmd := exec.Command(os.Args[0], dir, after)
				cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", killEnv, kills))
				if cmd.Run() == nil {
					if kills < 8 {
						t.Errorf("only %d steps were tried", kills)
					}
					return
				}
				st, err := onTree(t, dir).state()
				if err != nil {
					t.Fatal(err)
				}
				if u := st.find(machine.Key{Kind: machine.Unit, Name: "old.service"}); u != nil && u.Seen["a/file.c"] == digest(made(st, "/etc/c"), "") {
					continue // it was restarted already
				}
				if r := apply(t, onTree(t, dir), after); !restarts.MatchString(lines(r)) {
					t.Errorf("killed at step %d, the next run does\n%s", kills, lines(r))
				}
			}
		})
	}
}

var restarts = regexp.MustCompile(`restarted unit old\.service \(a/unit\.o\): because of (a/file\.d, )?a/file\.c`)

func made(st *state, p string) machine.Condition {
	if t := st.find(machine.Key{Kind: machine.File, Name: p}); t != nil && t.Made != nil {
		return *t.Made
	}
	return machine.Condition{}
}

// HST-3: a file that somebody changed is put right, and what reads it is restarted: it
// may have read what was there meanwhile.
func TestDriftRestarts(t *testing.T) {
	dir := newTree(t)
	h, u := faulty(t, dir)
	b := write(t, []bundle.Item{plain("a/file.c", "/etc/c"), running("a/unit.u", "app.service", "a/file.c")}, map[bundle.ID]string{"a/file.c": "ours"})
	apply(t, h, b)
	put(t, dir, "/etc/c", "somebody else's", 0o644)
	if r := apply(t, h, b); !strings.Contains(lines(r), "changed file /etc/c") || !strings.Contains(lines(r), "restarted unit app.service (a/unit.u): because of a/file.c") {
		t.Errorf("it does\n%s", lines(r))
	}
	if r := apply(t, h, b); len(r.Events) > 0 || len(u.restarted) != 1 {
		t.Errorf("restarted %v, and then\n%s", u.restarted, lines(r))
	}
}

// HST-2: a unit that ends as soon as it was started has failed, and is tried again.
func TestStartedAndEnded(t *testing.T) {
	h, u := faulty(t, newTree(t))
	b := write(t, []bundle.Item{plain("a/file.c", "/etc/c"), running("a/unit.u", "app.service", "a/file.c")}, map[bundle.ID]string{"a/file.c": "ours"})
	u.fallOver = true
	for range 2 {
		r := apply(t, h, b)
		if !r.Partly() || !strings.Contains(lines(r), "failed unit app.service (a/unit.u): it was started, and does not run any more; `journalctl -u app.service -n 20` says why") {
			t.Errorf("it does\n%s", lines(r))
		}
	}
	if s, err := h.Status(t.Context()); err != nil || len(s.Failed) != 1 {
		t.Errorf("status is %+v, %v", s, err)
	}
	u.fallOver = false
	noFailures(t, apply(t, h, b))
	if r := apply(t, h, b); r.Partly() {
		t.Errorf("it does\n%s", lines(r))
	}
	u.fallOver = true
	if s, err := h.Status(t.Context()); err != nil || len(s.Drifted) != 1 || s.Drifted[0].Why != "it failed, or ends again and again" {
		t.Errorf("status is %+v, %v", s, err)
	}
}

// HST-2, O42: what a unit runs with is not taken away under it: where it cannot be
// stopped, its text and its files stay until it can.
func TestNotStoppedNotRemoved(t *testing.T) {
	dir := newTree(t)
	h, u := faulty(t, dir)
	apply(t, h, write(t, []bundle.Item{
		plain("a/file.u", "/etc/systemd/system/app.service"), plain("a/file.c", "/etc/c"), plain("b/file.d", "/etc/d"), running("a/unit.u", "app.service"),
	}, map[bundle.ID]string{"a/file.u": "[Service]\n", "a/file.c": "c", "b/file.d": "d"}))
	u.noStop = errors.New("systemctl stop app.service: timeout")
	nothing := write(t, nil, nil)
	r := apply(t, h, nothing)
	for _, p := range []string{"etc/systemd/system/app.service", "etc/c"} {
		if _, err := os.Stat(filepath.Join(dir, p)); err != nil {
			t.Errorf("%s is gone:\n%s", p, lines(r))
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "etc/d")); err == nil || !r.Partly() {
		t.Errorf("another instance's file is there, or all was well:\n%s", lines(r))
	}
	u.noStop = nil
	noFailures(t, apply(t, h, nothing))
	if _, err := os.Stat(filepath.Join(dir, "etc/c")); err == nil {
		t.Error("it is there for good")
	}
}

// HST-4: a user stays as long as anything on the machine is his, and it is said where.
func TestUserWithDataStays(t *testing.T) {
	if !machine.CanChown() {
		t.Skip("only root can give files away")
	}
	for name, c := range map[string]struct {
		items []bundle.Item
		data  string // a file of the user's
		in    string
	}{
		"his home":             {nil, "/var/lib/u-git/data", "/var/lib/u-git"},
		"a found directory":    {[]bundle.Item{&bundle.Directory{ID: "a/directory.d", Path: "/srv/data", Owner: "u-git", Mode: 0o755}}, "/srv/data/deep/data", "/srv/data"},
		"one that root's was":  {[]bundle.Item{&bundle.Directory{ID: "a/directory.d", Path: "/srv/made", Mode: 0o755}}, "/srv/made/deep/data", "/srv/made"},
		"nothing of his stays": {[]bundle.Item{&bundle.Directory{ID: "a/directory.d", Path: "/srv/made", Owner: "u-git", Mode: 0o755}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newTree(t)
			h := onTree(t, dir)
			user := &bundle.User{ID: "a/user.u-git", Name: "u-git", System: true, Home: "/var/lib/u-git"}
			apply(t, h, write(t, append([]bundle.Item{user}, c.items...), nil))
			is, err := h.Machine.Backend(machine.User).Look(t.Context(), machine.Key{Kind: machine.User, Name: "u-git"})
			if err != nil {
				t.Fatal(err)
			}
			if c.data != "" {
				put(t, dir, c.data, "his", 0o600)
				for p := c.data; p != c.in; p = filepath.Dir(p) {
					if err := os.Chown(filepath.Join(dir, p), is.UID, is.GID); err != nil {
						t.Fatal(err)
					}
				}
				if c.in == user.Home {
					if err := os.Chown(filepath.Join(dir, c.in), is.UID, is.GID); err != nil {
						t.Fatal(err)
					}
				}
			}
			nothing := write(t, nil, nil)
			r := apply(t, h, nothing)
			if c.data == "" {
				if !strings.Contains(lines(r), "removed user u-git") {
					t.Errorf("it does\n%s", lines(r))
				}
				return
			}
			if !strings.Contains(lines(r), "kept user u-git (a/user.u-git): data on this machine belongs to it, in "+c.in) {
				t.Errorf("it does\n%s", lines(r))
			}
			if r := apply(t, h, nothing); len(r.Events) > 0 {
				t.Errorf("then it does\n%s", lines(r))
			}
			if err := os.RemoveAll(filepath.Join(dir, c.in)); err != nil {
				t.Fatal(err)
			}
			if r := apply(t, h, nothing); !strings.Contains(lines(r), "removed user u-git") {
				t.Errorf("with the data gone it does\n%s", lines(r))
			}
		})
	}
}

// HST-4: a directory that nobody declared, and that stays for what somebody put into it, is listed.
func TestImpliedDirectoryStays(t *testing.T) {
	dir := newTree(t)
	h := onTree(t, dir)
	apply(t, h, write(t, []bundle.Item{plain("a/file.c", "/srv/app/conf.d/c")}, map[bundle.ID]string{"a/file.c": "x"}))
	put(t, dir, "/srv/app/conf.d/mine", "x", 0o644)
	if r := apply(t, h, write(t, nil, nil)); !strings.Contains(lines(r), "kept directory /srv/app/conf.d: it is not empty") {
		t.Errorf("it does\n%s", lines(r))
	}
}

// HST-2: an interrupt ends the run after what it is at, and what a program has started
// ends with it; the next run takes up there.
func TestInterrupted(t *testing.T) {
	dir := newTree(t)
	child := filepath.Join(t.TempDir(), "child")
	slow := plain("a/file.b", "/etc/b")
	slow.Validate = []string{"sh", "-c", "(trap '' TERM; exec sleep 30 >/dev/null 2>&1) & echo $! >" + child + "; wait", "%"}
	items := []bundle.Item{plain("a/file.a", "/etc/a"), slow, plain("a/file.c", "/etc/c")}
	content := map[bundle.ID]string{"a/file.a": "1", "a/file.b": "2", "a/file.c": "3"}
	h := onTree(t, dir)
	o, err := h.Open(write(t, items, content), Policy{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if data, _ := os.ReadFile(child); strings.HasSuffix(string(data), "\n") {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	r, err := h.Apply(ctx, o, nil)
	if err != nil || r.Ended != "interrupted" || lines(r) != "made file /etc/a (a/file.a)\n" || !r.Partly() {
		t.Errorf("%v, ended by %q after\n%s", err, r.Ended, lines(r))
	}
	pid := strings.TrimSpace(read(t, child))
	runs := func() bool { // a child whose parent is gone may be there until somebody asks how it ended
		state, err := os.ReadFile("/proc/" + pid + "/stat")
		return err == nil && !strings.Contains(string(state), ") Z ")
	}
	for range 100 {
		if runs() {
			time.Sleep(20 * time.Millisecond)
		}
	}
	if runs() {
		t.Error("what the command had started still runs")
	}
	slow.Validate = nil
	if r := apply(t, h, write(t, items, content)); r.Partly() || lines(r) != "made file /etc/b (a/file.b)\nmade file /etc/c (a/file.c)\n" {
		t.Errorf("the next run does\n%s", lines(r))
	}
}

// HST-1: what was written down is read as strictly as a bundle, and nothing is changed
// by a run that cannot read it.
func TestDamagedState(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "an object": "{}", "null": "null", "no thing": `{"format":1,"things":[null]}`, "another kind": `{"format":1,"things":[{"kind":"socket","name":"x"}]}`,
		"no name": `{"format":1,"things":[{"kind":"file"}]}`, "later": `{"format":2}`,
	} {
		dir := newTree(t)
		put(t, dir, "/var/lib/mesh-host/state.json", text, 0o600)
		_, err := onTree(t, dir).Open(write(t, nil, nil), Policy{})
		if err == nil || !strings.Contains(err.Error(), stateFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// HST-4: what was found is given back only if it is what was found.
func TestDamagedFound(t *testing.T) {
	dir := newTree(t)
	h := onTree(t, dir)
	apply(t, h, write(t, []bundle.Item{plain("a/file.c", "/etc/default/redis")}, map[bundle.ID]string{"a/file.c": "ours"}))
	kept, err := filepath.Glob(filepath.Join(dir, "var/lib/mesh-host/found/*"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	if err := os.WriteFile(kept[0], []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := apply(t, h, write(t, nil, nil))
	if !strings.Contains(lines(r), "is damaged, so what was found cannot be given back") || read(t, filepath.Join(dir, "etc/default/redis")) != "ours" {
		t.Errorf("it does\n%s", lines(r))
	}
}

// SEC-6: a secret that only stands in other files is not printed, and where it stands is said.
func TestOpenOfAFilledSecret(t *testing.T) {
	h := onTree(t, newTree(t))
	f := &bundle.File{ID: "a/file.dsn", Path: "/etc/dsn", Mode: 0o600, Fills: []bundle.Fill{{Offset: 2, Secret: "a/secret.s", Generation: 1, Encoding: bundle.URLEncoded}}}
	apply(t, h, write(t, []bundle.Item{&bundle.Secret{ID: "a/secret.s"}, f}, map[bundle.ID]string{"a/secret.s": "s3cret", "a/file.dsn": "x=\n"}))
	if _, err := h.Secret(t.Context(), "a/secret.s"); err == nil || err.Error() != "a/secret.s has no file of its own on this machine: it stands in /etc/dsn" {
		t.Errorf("got %v", err)
	}
}

// SEC-10: a secret that cannot stand where a file has a place for it is refused before anything is changed.
func TestFillThatCannotBe(t *testing.T) {
	h := onTree(t, newTree(t))
	f := &bundle.File{ID: "a/file.j", Path: "/etc/j", Mode: 0o600, Fills: []bundle.Fill{{Offset: 1, Secret: "a/secret.s", Generation: 1, Encoding: bundle.JSON}}}
	b := write(t, []bundle.Item{&bundle.Secret{ID: "a/secret.s"}, f}, map[bundle.ID]string{"a/secret.s": "\xff\xfe", "a/file.j": `""`})
	if _, err := h.Open(b, Policy{}); err == nil || !strings.Contains(err.Error(), "a/secret.s cannot stand in /etc/j") {
		t.Errorf("got %v", err)
	}
}

// HST-1: the lock is root's own file in the tree, and not what a link in its place leads to.
func TestLockIsInTheTree(t *testing.T) {
	dir, outside := newTree(t), filepath.Join(t.TempDir(), "made")
	if err := os.Symlink(outside, filepath.Join(dir, "var/lib/mesh-host/lock")); err != nil {
		t.Fatal(err)
	}
	o, err := onTree(t, dir).Open(write(t, nil, nil), Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := onTree(t, dir).Apply(t.Context(), o, nil); err == nil {
		t.Error("the link was followed")
	}
	if _, err := os.Lstat(outside); err == nil {
		t.Error("a file was made outside of the tree")
	}
}

// HST-3: blocks that change places are said, and a second apply neither moves them nor
// writes anything down.
func TestBlocksChangePlaces(t *testing.T) {
	dir := newTree(t)
	h := onTree(t, dir)
	one, two := &bundle.Block{ID: "a/block.one", Path: "/etc/hosts", Marker: "one"}, &bundle.Block{ID: "a/block.two", Path: "/etc/hosts", Marker: "two"}
	content := map[bundle.ID]string{"a/block.one": "10.0.0.1 a\n", "a/block.two": "10.0.0.2 b\n"}
	apply(t, h, write(t, []bundle.Item{one, two}, content))
	turned := write(t, []bundle.Item{two, one}, content)
	if r := apply(t, h, turned); lines(r) != "changed file /etc/hosts: the order of its blocks\n" {
		t.Errorf("it does\n%s", lines(r))
	}
	saves := 0
	step = func(s string) {
		if s == "save" {
			saves++
		}
	}
	defer func() { step = func(string) {} }()
	if r := apply(t, h, turned); len(r.Events) > 0 || saves > 0 {
		t.Errorf("the state is written %d times, and it does\n%s", saves, lines(r))
	}
}

// HST-2: blocks that cannot be put in order have failed, and everything else goes on.
func TestBlocksStay(t *testing.T) {
	dir := newTree(t)
	h := onTree(t, dir)
	one, two := &bundle.Block{ID: "a/block.one", Path: "/etc/hosts", Marker: "one"}, &bundle.Block{ID: "a/block.two", Path: "/etc/hosts", Marker: "two"}
	content := map[bundle.ID]string{"a/block.one": "10.0.0.1 a\n", "a/block.two": "10.0.0.2 b\n"}
	apply(t, h, write(t, []bundle.Item{one, two}, content))
	put(t, dir, "/etc/.hosts.mesh-host-next/x", "", 0o600)
	r := apply(t, h, write(t, []bundle.Item{two, one, running("b/unit.u", "old.service")}, content))
	if r.Ended != "" || !strings.Contains(lines(r), "failed block \"two\" in /etc/hosts") || !strings.Contains(lines(r), "unit old.service") {
		t.Errorf("ended by %q, after\n%s", r.Ended, lines(r))
	}
}

// HST-7: an older bundle that was opened before a newer one was applied is refused all the same.
func TestOlderIsRefusedUnderTheLock(t *testing.T) {
	dir := newTree(t)
	serial := func(n int64) *Opened {
		b, err := hosttest.Spec{Mesh: "home", Node: "anchor", Origin: bundle.Origin{Serial: n}}.Make()
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(t.TempDir(), "bundle")
		if err := hosttest.Write(b, at); err != nil {
			t.Fatal(err)
		}
		o, err := onTree(t, dir).Open(at, Policy{})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	older, newer := serial(1), serial(2)
	if _, err := onTree(t, dir).Apply(t.Context(), newer, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := onTree(t, dir).Apply(t.Context(), older, nil); err == nil || !strings.Contains(err.Error(), "is older than 2") {
		t.Errorf("got %v", err)
	}
}

// HST-4: a home that becomes somebody else's in the same run keeps no user.
func TestUserOfAHomeThatChangesHands(t *testing.T) {
	if !machine.CanChown() {
		t.Skip("only root can give directories away")
	}
	h := onTree(t, newTree(t))
	user := &bundle.User{ID: "a/user.u-git", Name: "u-git", System: true, Home: "/srv/home"}
	his, theirs := &bundle.Directory{ID: "a/directory.d", Path: "/srv/home", Mode: 0o755, Owner: "u-git"}, &bundle.Directory{ID: "a/directory.d", Path: "/srv/home", Mode: 0o755}
	apply(t, h, write(t, []bundle.Item{user, his}, nil))
	if r := apply(t, h, write(t, []bundle.Item{theirs}, nil)); !strings.Contains(lines(r), "removed user u-git") {
		t.Errorf("it does\n%s", lines(r))
	}
}
