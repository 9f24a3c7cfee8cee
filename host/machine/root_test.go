package machine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// HST-2: folders get the mode they are to have, whatever the umask is.
func TestFoldersWithAnyUmask(t *testing.T) {
	m, dir := newTree(t)
	defer unix.Umask(unix.Umask(0o077))
	key := Key{Kind: Unit, Name: "a.service"}
	if err := m.Units.Make(t.Context(), key, Want{Condition: Condition{Enabled: true}}); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]os.FileMode{
		"etc/systemd": 0o755, "etc/systemd/system/multi-user.target.wants": 0o755, "var/lib/mesh-host": 0o700,
	} {
		info, err := os.Stat(filepath.Join(dir, p))
		if err != nil {
			t.Fatal(err)
		}
		if is := info.Mode().Perm(); is != want {
			t.Errorf("%s has mode %04o, not %04o", p, is, want)
		}
	}
}

// HST-2: a file with as long a name as there can be is made like any other, its
// next content under a name of its own, and what a killed run left is cleared away.
func TestLongNames(t *testing.T) {
	m, dir := newTree(t)
	next := map[string]string{}
	for _, name := range []string{
		strings.Repeat("n", 239), strings.Repeat("n", 240), strings.Repeat("n", 255), strings.Repeat("n", 254) + "o",
	} {
		key := Key{Kind: File, Name: "/etc/" + name}
		if err := m.Files.Make(t.Context(), key, fileOf("x", 0o644)); err != nil {
			t.Errorf("%d bytes: %v", len(name), err)
		}
		at, err := m.Root.place(key.Name)
		if err != nil {
			t.Fatal(err)
		}
		left := at.next()
		at.close()
		if next[left] != "" || !strings.HasPrefix(left, ".") || !strings.HasSuffix(left, ".mesh-host-next") {
			t.Errorf("%d bytes: the next one is %s, as that of %q", len(name), left, next[left])
		}
		next[left] = name
		left = filepath.Join(dir, "etc", left)
		if err := os.WriteFile(left, nil, 0o600); err != nil {
			t.Errorf("%d bytes: %v", len(name), err)
		}
		m.Files.Clear(key.Name)
		if _, err := os.Lstat(left); !os.IsNotExist(err) {
			t.Errorf("%d bytes: %s stays (%v)", len(name), left, err)
		}
	}
}

// HST-2: a record that somebody wrote a null into is one with nothing in it.
func TestRecordWithNull(t *testing.T) {
	for _, text := range []string{`{"running":null}`, `{"packages":null,"enabled":null}`, `null`} {
		m, dir := newTree(t)
		p := filepath.Join(dir, recordFile)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[Key]Condition{
			{Kind: Unit, Name: "b.service"}: {Enabled: true, Running: true}, {Kind: Package, Name: "gone"}: {},
		} {
			if err := m.Backend(key.Kind).Make(t.Context(), key, Want{Condition: want}); err != nil {
				t.Fatal(err)
			}
			if is, err := m.Backend(key.Kind).Look(t.Context(), key); err != nil || !is.Meets(key.Kind, want) {
				t.Errorf("with %s, %s is %+v (%v)", text, key, is, err)
			}
		}
	}
}

// HST-2, T62: looking ends with the context, and a file without an end is not read.
func TestLookEnds(t *testing.T) {
	m, dir := newTree(t)
	key := Key{Kind: File, Name: "/srv/huge"}
	p := filepath.Join(dir, "srv/huge")
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, nil, 0o644), os.Truncate(p, 4<<40)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Files.Look(t.Context(), key); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a file of 4 TB: %v", err)
	}
	if _, err := m.Root.ReadFile(key.Name); err == nil {
		t.Error("a file of 4 TB was read")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := m.Files.Look(ctx, Key{Kind: File, Name: "/etc/hosts"}); !errors.Is(err, context.Canceled) {
		t.Errorf("with the context at its end: %v", err)
	}
}
