package host

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"

	"meshc.dev/host/hosttest"
	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
	"meshc.dev/render/seal"
)

// testKey is one key for all tests, since making one takes time.
var testKey, testKeyFile = func() (seal.Identity, string) {
	id, file, err := seal.GenerateIdentity(seal.X25519)
	if err != nil {
		panic(err)
	}
	var text string
	file.Use(func(b []byte) { text = string(b) })
	return id, text
}()

// resealed lets another blob pass under a generation: a test seals a secret anew each time
// it makes a bundle.
var resealed = Policy{AllowOlder: true}

// newTree makes a machine's files with this node's key in place.
func newTree(t testing.TB) string {
	t.Helper()
	dir := memoryDir(t)
	if err := hosttest.Tree(dir); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "/var/lib/mesh-host/identity", testKeyFile, 0o600)
	put(t, dir, "/etc/mesh-host/node", "anchor\n", 0o644)
	return dir
}

// memoryDir is a folder in memory where there is one: a tree is written to and forced to
// the disk hundreds of times, and what a power cut would leave is not what is tested.
func memoryDir(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "mesh-host-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func put(t testing.TB, dir, name, content string, mode fs.FileMode) {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func onTree(t testing.TB, dir string) *Host {
	t.Helper()
	m, err := machine.Tree(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return &Host{Machine: m, Now: func() time.Time { return time.Unix(1_800_000_000, 0) }}
}

// write makes the bundle of items in a folder of its own.
func write(t testing.TB, items []bundle.Item, content map[bundle.ID]string) string {
	t.Helper()
	b, err := hosttest.Spec{Mesh: "home", Node: "anchor", Items: items, Content: content, To: testKey.Recipient()}.Make()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "bundle")
	if err := hosttest.Write(b, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func apply(t testing.TB, h *Host, bundleDir string) Report {
	t.Helper()
	o, err := h.Open(bundleDir, resealed)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	r, err := h.Apply(context.Background(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// snapshot is everything in a tree but the host's own state: type, mode, owner by
// name, and content. Lines of account files are sorted, and numbers of users that a
// bundle makes are left out: they depend on the order in which users come and go.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	names := userNames(t, dir)
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(p, dir)
		if rel == "/var/lib/mesh-host" {
			data, err := os.ReadFile(p + "/tree.json")
			out[rel+"/tree.json"] = string(data)
			if err != nil {
				return err
			}
			return fs.SkipDir
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		s := fmt.Sprintf("%v %s:%s ", info.Mode(), names[fmt.Sprint("u", st.Uid)], names[fmt.Sprint("g", st.Gid)])
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(p)
			s += "-> " + to
		case info.Mode().IsRegular():
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			s += string(data)
			if slices.Contains([]string{"/etc/passwd", "/etc/group", "/etc/shadow"}, rel) {
				s = withoutNumbers(string(data))
			}
		}
		out[rel] = s
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func withoutNumbers(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, l := range lines {
		f := strings.Split(l, ":")
		if len(f) > 3 && strings.HasPrefix(f[0], "u-") {
			f[2] = "N"
			if len(f) == 7 {
				f[3] = "N"
			}
		}
		if len(f) == 4 { // a group, whose members have no order
			members := strings.Split(f[3], ",")
			sort.Strings(members)
			f[3] = strings.Join(members, ",")
		}
		lines[i] = strings.Join(f, ":")
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func userNames(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for prefix, file := range map[string]string{"u": "passwd", "g": "group"} {
		data, err := os.ReadFile(filepath.Join(dir, "etc", file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			f := strings.Split(line, ":")
			out[prefix+f[2]] = f[0]
		}
	}
	return out
}

func sameTree(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[name]; !ok {
			t.Errorf("%s: %s is missing", what, name)
		} else if g != want[name] {
			t.Errorf("%s: %s is\n%q, not\n%q", what, name, g, want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s is there: %q", what, name, got[name])
		}
	}
}
