package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"meshc.dev/render/bundle"
)

// HST-3: two resources that a link on the machine makes one would each undo the other at
// every apply; they are refused, both named, before anything is changed.
func TestOnePlaceTwice(t *testing.T) {
	file := func(id bundle.ID, p string) bundle.Item { return &bundle.File{ID: id, Path: p, Mode: 0o644} }
	dir := func(id bundle.ID, p string, m bundle.Mode) bundle.Item {
		return &bundle.Directory{ID: id, Path: p, Mode: m}
	}
	block := func(id bundle.ID, p, marker string) bundle.Item {
		return &bundle.Block{ID: id, Path: p, Marker: marker}
	}
	for name, c := range map[string]struct {
		items []bundle.Item
		want  string
	}{
		"two files":          {[]bundle.Item{file("a/file.x", "/run/x"), file("b/file.x", "/var/run/x")}, "file /run/x (a/file.x) and file /var/run/x (b/file.x) are one place on this machine"},
		"not there yet":      {[]bundle.Item{file("a/file.x", "/run/new/er/x"), file("b/file.x", "/var/run/new/er/x")}, "file /run/new/er/x (a/file.x) and file /var/run/new/er/x (b/file.x)"},
		"a secret":           {[]bundle.Item{file("a/file.x", "/run/x"), &bundle.Secret{ID: "b/secret.x", Path: "/var/run/x", Mode: 0o600}}, "file /var/run/x (b/secret.x)"},
		"other directories":  {[]bundle.Item{dir("a/directory.x", "/run/d", 0o755), dir("b/directory.x", "/var/run/d", 0o700)}, "directory /var/run/d (b/directory.x)"},
		"the link itself":    {[]bundle.Item{dir("a/directory.x", "/run", 0o755), dir("b/directory.x", "/var/run", 0o700)}, "directory /var/run (b/directory.x)"},
		"one block":          {[]bundle.Item{block("a/block.x", "/etc/hosts", "m"), block("b/block.x", "/etc/names", "m")}, "block \"m\" in /etc/names (b/block.x)"},
		"a block and a file": {[]bundle.Item{block("a/block.x", "/etc/names", "m"), file("b/file.x", "/etc/hosts")}, "file /etc/hosts (b/file.x)"},
		"below a file":       {[]bundle.Item{file("a/file.x", "/run/x"), file("b/file.x", "/var/run/x/y")}, "file /run/x (a/file.x) and directory /var/run/x are one place"},

		"other names":         {[]bundle.Item{file("a/file.x", "/run/x"), file("b/file.x", "/var/run/y"), file("b/file.z", "/var/z")}, ""},
		"equal directories":   {[]bundle.Item{dir("a/directory.x", "/run/d", 0o755), dir("b/directory.x", "/var/run/d", 0o755)}, ""},
		"two blocks":          {[]bundle.Item{block("a/block.x", "/etc/hosts", "m"), block("b/block.x", "/etc/names", "n")}, ""},
		"in place of a link":  {[]bundle.Item{file("a/file.x", "/etc/names"), file("b/file.x", "/etc/hosts")}, ""},
		"one folder, implied": {[]bundle.Item{file("a/file.x", "/run/new/x"), file("b/file.x", "/var/run/new/y")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tree := newTree(t)
			if err := os.Mkdir(filepath.Join(tree, "run"), 0o755); err != nil {
				t.Fatal(err)
			}
			for at, to := range map[string]string{"var/run": "../run", "etc/names": "/etc/hosts"} {
				if err := os.Symlink(to, filepath.Join(tree, at)); err != nil {
					t.Fatal(err)
				}
			}
			before := snapshot(t, tree)
			h := onTree(t, tree)
			content := map[bundle.ID]string{"a/file.x": "a\n", "b/file.x": "b\n", "a/block.x": "a\n", "b/block.x": "b\n", "b/secret.x": "s"}
			b := write(t, c.items, content)
			if c.want == "" {
				apply(t, h, b)
				if r := apply(t, h, b); len(r.Events) > 0 {
					t.Errorf("the second run: %v", r.Events)
				}
				return
			}
			o, err := h.Open(b, Policy{})
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			for _, do := range []func() (Report, error){
				func() (Report, error) { return h.Check(context.Background(), o) },
				func() (Report, error) { return h.Apply(context.Background(), o, nil) },
			} {
				if r, err := do(); err == nil || !strings.Contains(err.Error(), c.want) || len(r.Events) > 0 {
					t.Errorf("got %v and %v, not %s", r.Events, err, c.want)
				}
			}
			sameTree(t, "refused", snapshot(t, tree), before)
		})
	}
}

// HST-2: a directory is made before what lies in it, though it is declared behind it.
func TestDirectoryDeclaredLater(t *testing.T) {
	dir := newTree(t)
	items := []bundle.Item{
		&bundle.Directory{ID: "a/directory.in", Path: "/srv/all/in", Mode: 0o750}, plain("a/file.f", "/srv/all/in/f"),
		&bundle.Directory{ID: "a/directory.z", Path: "/srv/all", Mode: 0o711},
	}
	b := write(t, items, map[bundle.ID]string{"a/file.f": "x"})
	noFailures(t, foretold(t, "child first", dir, b))
	if info, err := os.Stat(filepath.Join(dir, "srv/all")); err != nil || info.Mode().Perm() != 0o711 {
		t.Errorf("%v, %v", info, err)
	}
	if r := apply(t, onTree(t, dir), b); len(r.Events) > 0 {
		t.Errorf("again it does\n%s", lines(r))
	}
	foretold(t, "nothing", dir, write(t, nil, nil))
	if _, err := os.Stat(filepath.Join(dir, "srv/all")); err == nil {
		t.Error("it is there for good")
	}
}
