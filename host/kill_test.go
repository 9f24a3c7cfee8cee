package host

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

const killEnv = "HOST_TEST_KILL_AT"

// TestMain is also the process that the kill test ends: it applies a bundle, and gets
// SIGKILL at the step whose number it is given.
func TestMain(m *testing.M) {
	at, err := strconv.Atoi(os.Getenv(killEnv))
	if err != nil {
		os.Exit(m.Run())
	}
	n := 0
	kill := func(string) {
		if n == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		n++
	}
	step = kill
	machine.OnStep(kill)
	if err := applyOnce(os.Args[1], os.Args[2]); err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

func applyOnce(tree, bundleDir string) error {
	m, err := machine.Tree(tree)
	if err != nil {
		return err
	}
	h := &Host{Machine: m, Now: time.Now}
	o, err := h.Open(bundleDir, resealed)
	if err != nil {
		return err
	}
	_, err = h.Apply(context.Background(), o, nil)
	return err
}

// killBundles are two bundles between which everything changes hands.
func killBundles(t *testing.T) (first, second string) {
	file := func(id, path, owner string, mode bundle.Mode) *bundle.File {
		return &bundle.File{ID: bundle.ID(id), Path: path, Owner: owner, Mode: mode}
	}
	secret := func(path string) *bundle.Secret {
		return &bundle.Secret{ID: "a/secret.needs.s", Path: path, Owner: "www-data", Mode: 0o600}
	}
	fill := []bundle.Fill{{Offset: 4, Secret: "a/secret.needs.s", Generation: 1, Encoding: bundle.URLEncoded}}
	one, two := file("a/file.dsn", "/etc/a/dsn", "", 0o600), file("a/file.dsn", "/etc/a/dsn", "u-git", 0o640)
	one.Fills, two.Fills = fill, fill
	first = write(t, []bundle.Item{
		&bundle.User{ID: "a/user.u-git", Name: "u-git", System: true, Groups: []string{"adm"}},
		&bundle.Directory{ID: "a/directory.d", Path: "/etc/a", Mode: 0o750, Owner: "u-git"},
		file("a/file.c", "/etc/default/redis", "u-git", 0o640), file("a/file.u", "/etc/systemd/system/old.service", "", 0o644),
		secret("/srv/s/one"), one,
		&bundle.Block{ID: "a/block.h", Path: "/etc/hosts", Marker: "mesh home"},
		&bundle.Package{ID: "a/package.p", Name: "nginx", State: bundle.Present},
		&bundle.Unit{ID: "a/unit.o", Name: "old.service", Enabled: true, State: bundle.Running, RestartOn: []bundle.ID{"a/file.u", "a/file.c"}},
		&bundle.Unit{ID: "a/unit.r", Name: "r.service", Enabled: true, State: bundle.Running, RestartOn: []bundle.ID{"a/file.c"}},
	}, map[bundle.ID]string{
		"a/file.c": "one\n", "a/file.u": "[Install]\nWantedBy=one.target\n", "a/secret.needs.s": "s3cr:t", "a/file.dsn": "x://@y\n",
		"a/block.h": "10.0.0.1 a\n",
	})
	second = write(t, []bundle.Item{
		&bundle.User{ID: "b/user.u-git", Name: "u-git", System: true, Shell: "/bin/sh"},
		file("b/file.c", "/etc/default/redis", "", 0o600), secret("/etc/a/two"), two,
		&bundle.Directory{ID: "b/directory.s", Path: "/srv/s", Mode: 0o700},
		&bundle.Block{ID: "b/block.i", Path: "/etc/hosts", Marker: "mesh"}, &bundle.Block{ID: "b/block.h", Path: "/etc/hosts", Marker: "mesh home"},
		&bundle.Package{ID: "b/package.p", Name: "redis-server", State: bundle.Absent},
		&bundle.Unit{ID: "b/unit.r", Name: "r.service", Enabled: false, State: bundle.Running, ReloadOn: []bundle.ID{"b/file.c"}},
	}, map[bundle.ID]string{
		"b/file.c": "two\n", "a/secret.needs.s": "0ther!", "a/file.dsn": "x://@z\n", "b/block.i": "10.0.0.3 c\n", "b/block.h": "10.0.0.2 b\n",
	})
	return first, second
}

// HST-2: killed at any of its steps, the next run comes to the same end, no file is
// half written, and no secret can be read by others on the way.
func TestKilledAnywhere(t *testing.T) {
	first, second := killBundles(t)
	for name, c := range map[string]struct{ before, apply string }{
		"first": {"", first}, "change": {first, second}, "back": {second, first},
	} {
		t.Run(name, func(t *testing.T) {
			whole := map[string]bool{}
			tree := func() string {
				dir := newTree(t)
				if c.before != "" {
					apply(t, onTree(t, dir), c.before)
				}
				return dir
			}
			end := tree()
			for _, content := range fileContents(t, end) {
				whole[content] = true
			}
			apply(t, onTree(t, end), c.apply)
			for _, content := range fileContents(t, end) {
				whole[content] = true
			}
			want := snapshot(t, end)
			kills := 0
			for ; ; kills++ {
				dir := tree()
				cmd := exec.Command(os.Args[0], dir, c.apply)
				cmd.Env = append(os.Environ(), killEnv+"="+strconv.Itoa(kills))
				out, err := cmd.CombinedOutput()
				if err == nil {
					break
				}
				if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
					t.Fatalf("%v: %s", err, out)
				}
				noSecretForOthers(t, kills, dir)
				for p, content := range fileContents(t, dir) {
					transient := strings.HasSuffix(p, ".mesh-host-next") || strings.HasPrefix(p, "/var/lib/mesh-host/") ||
						p == "/etc/passwd" || p == "/etc/group" || p == "/etc/shadow" || p == "/etc/hosts"
					if !transient && !whole[content] {
						t.Errorf("killed at step %d, %s is half written: %q", kills, p, content)
					}
				}
				apply(t, onTree(t, dir), c.apply)
				sameTree(t, "killed at step "+strconv.Itoa(kills)+" and run again", snapshot(t, dir), want)
			}
			if kills < 20 {
				t.Errorf("only %d steps were tried", kills)
			}
		})
	}
}

// HST-2, HST-4: killed while users are made, changed or removed, another bundle leaves the
// machine as it leaves a fresh one.
func TestKilledThenAnother(t *testing.T) {
	user := func(u bundle.User) string {
		u.ID, u.System = bundle.ID("a/user."+u.Name), true
		return write(t, []bundle.Item{&u}, nil)
	}
	nothing := write(t, nil, nil)
	alone, inGroups := user(bundle.User{Name: "u-zz"}), user(bundle.User{Name: "u-zz", Groups: []string{"adm"}})
	ofGroup := user(bundle.User{Name: "u-zz", Group: "adm"})
	for name, c := range map[string]struct{ before, killed, then string }{
		"made":                 {"", alone, nothing},
		"made, in groups":      {"", inGroups, nothing},
		"made, of a group":     {"", ofGroup, nothing},
		"made, then another":   {"", inGroups, user(bundle.User{Name: "u-yy"})},
		"changed":              {alone, inGroups, nothing},
		"removed":              {inGroups, user(bundle.User{Name: "u-yy"}), nothing},
		"removed, and back":    {inGroups, nothing, alone},
		"of a group, removed":  {ofGroup, nothing, user(bundle.User{Name: "u-yy"})},
		"of a group, and back": {ofGroup, nothing, ofGroup},
	} {
		t.Run(name, func(t *testing.T) {
			fresh := newTree(t)
			apply(t, onTree(t, fresh), c.then)
			want := snapshot(t, fresh)
			for kills := 0; ; kills++ {
				dir := newTree(t)
				if c.before != "" {
					apply(t, onTree(t, dir), c.before)
				}
				cmd := exec.Command(os.Args[0], dir, c.killed)
				cmd.Env = append(os.Environ(), killEnv+"="+strconv.Itoa(kills))
				if cmd.Run() == nil {
					break
				}
				if kills > 100 {
					t.Fatal("it never ends")
				}
				noFailures(t, apply(t, onTree(t, dir), c.then))
				sameTree(t, "killed at step "+strconv.Itoa(kills)+" and another applied", snapshot(t, dir), want)
			}
		})
	}
}

func fileContents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(p)
		out[strings.TrimPrefix(p, dir)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func noSecretForOthers(t *testing.T, at int, dir string) {
	t.Helper()
	for p, content := range fileContents(t, dir) {
		info, err := os.Lstat(filepath.Join(dir, p))
		if err != nil {
			t.Fatal(err)
		}
		holds := strings.Contains(content, "s3cr") || strings.Contains(content, "0ther")
		if holds && info.Mode().Perm()&0o007 != 0 {
			t.Errorf("killed at step %d, %s holds a secret and has mode %v", at, p, info.Mode())
		}
	}
}

// HST-3: a restart that a kill has kept from happening is made up for.
func TestKilledBeforeRestart(t *testing.T) {
	items := []bundle.Item{
		&bundle.File{ID: "a/file.c", Path: "/etc/c", Mode: 0o644},
		&bundle.Unit{ID: "a/unit.r", Name: "r.service", State: bundle.Running, RestartOn: []bundle.ID{"a/file.c"}},
	}
	dir := newTree(t)
	apply(t, onTree(t, dir), write(t, items, map[bundle.ID]string{"a/file.c": "1"}))
	next := write(t, items, map[bundle.ID]string{"a/file.c": "2"})
	restarts := 0
	for kills := 0; ; kills++ {
		cmd := exec.Command(os.Args[0], dir, next)
		cmd.Env = append(os.Environ(), killEnv+"="+strconv.Itoa(kills))
		if cmd.Run() == nil {
			break
		}
		if kills > 100 {
			t.Fatal("it never ends")
		}
		// Each kill comes one step later, over what those before have done.
		data, err := os.ReadFile(filepath.Join(dir, "etc/c"))
		if err != nil {
			t.Fatal(err)
		}
		o, err := onTree(t, dir).Open(next, Policy{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := onTree(t, dir).Check(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		willRestart := false
		for _, e := range r.Events {
			willRestart = willRestart || e.Verb == Restart
		}
		if string(data) == "2" && willRestart {
			restarts++
		}
		if string(data) == "1" && !willRestart {
			t.Errorf("killed at step %d, the unit would not restart with the new content", kills)
		}
	}
	if restarts == 0 {
		t.Error("with the new content in place, no run owed the restart")
	}
}
