package dist

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"meshc.dev/render/bundle"
)

// mesh is nodes and the files each has, by path on the machine.
type mesh map[string]map[string]string

func (m mesh) nodes() []Node { return m.at(0) }

// at gives the nodes as a commit with this serial makes them.
func (m mesh) at(serial int64) []Node {
	var out []Node
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, Node{name, func() (*bundle.Bundle, error) { return makeBundle(name, m[name], serial) }})
	}
	return out
}

// makeBundle makes the bundle of a node; a node called phone has no declaration.
func makeBundle(node string, files map[string]string, serial int64) (*bundle.Bundle, error) {
	d := &bundle.Declaration{Format: bundle.Format, Mesh: "home", Node: node}
	var entries []bundle.Entry
	for i, path := range slices.Sorted(maps.Keys(files)) {
		e := bundle.NewEntry(bundle.FileSource(path), []byte(files[path]))
		entries = append(entries, e)
		d.Items = append(d.Items, &bundle.File{
			ID: bundle.ID(fmt.Sprintf("m/file.f%d", i)), Path: path, Source: e.Name, SHA256: e.Sum, Mode: 0o644,
		})
	}
	if node == "phone" {
		return bundle.NewUnmanaged("home", node, entries)
	}
	return bundle.New(d, entries, bundle.Origin{Complete: true, Serial: serial, Version: "test"})
}

func (m mesh) with(node, path, content string) mesh {
	out := mesh{}
	for n, files := range m {
		out[n] = maps.Clone(files)
	}
	if out[node] == nil {
		out[node] = map[string]string{}
	}
	out[node][path] = content
	return out
}

func (m mesh) without(node string) mesh {
	out := maps.Clone(m)
	delete(out, node)
	return out
}

var home = mesh{
	"anchor": {"/etc/a/one": "1", "/etc/a/two": "2", "/srv/x": ""},
	"board":  {"/etc/b": "b\r\n"},
	"phone":  {"/etc/wireguard/mesh.conf": "[Interface]\n"},
}

func write(t *testing.T, dir string, m mesh, o Options) Report {
	t.Helper()
	return writeNodes(t, dir, m.nodes(), o)
}

func writeNodes(t *testing.T, dir string, nodes []Node, o Options) Report {
	t.Helper()
	r, err := Write(dir, "home", nodes, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tree is what a folder holds: content by name, folders ending in a slash.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		switch {
		case e.IsDir():
			out[rel+"/"] = ""
		case e.Type()&fs.ModeSymlink != 0:
			out[rel], err = os.Readlink(p)
		default:
			var data []byte
			data, err = os.ReadFile(p)
			out[rel] = string(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sameTree(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if g, ok := got[name]; !ok {
			t.Errorf("%s: %s is missing", what, name)
		} else if g != want[name] {
			t.Errorf("%s: %s is %q, not %q", what, name, g, want[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s is there", what, name)
		}
	}
}

// stamps are the identity and times of every file and folder.
func stamps(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(p)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		out[rel] = fmt.Sprint(info.Sys().(*syscall.Stat_t).Ino, info.ModTime().UnixNano())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// nothingBeside fails where something of ours is left next to the output.
func nothingBeside(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), "meshc") {
			t.Errorf("%s is left behind", e.Name())
		}
	}
}

func fresh(t *testing.T, m mesh, o Options) map[string]string {
	t.Helper()
	return freshNodes(t, m.nodes(), o)
}

func freshNodes(t *testing.T, nodes []Node, o Options) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "dist")
	writeNodes(t, dir, nodes, o)
	return tree(t, dir)
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "on", "the", "way", "dist")
	r := write(t, dir, home, Options{})
	if !slices.Equal(r.Changed, []string{"anchor", "board", "phone"}) || len(r.Unchanged)+len(r.Removed)+len(r.Foreign) > 0 {
		t.Errorf("reported %+v", r)
	}
	b, err := bundle.Open(filepath.Join(dir, "anchor"))
	if err != nil {
		t.Fatal(err)
	}
	if e, _ := b.Entry("files/etc/a/two"); string(e.Data) != "2" {
		t.Errorf("got %q", e.Data)
	}
	got := tree(t, filepath.Join(dir, "phone"))
	sameTree(t, "a machine nothing is applied on", got, map[string]string{
		"./": "", "files/": "", "files/etc/": "", "files/etc/wireguard/": "", "files/etc/wireguard/mesh.conf": "[Interface]\n",
	})
	nothingBeside(t, dir)
}

// BLD-2: a build that changes nothing touches nothing.
func TestUnchangedIsUntouched(t *testing.T) {
	for _, o := range []Options{{}, {Archive: true}} {
		dir := filepath.Join(t.TempDir(), "dist")
		write(t, dir, home, o)
		before := stamps(t, filepath.Dir(dir))
		r := write(t, dir, home, o)
		if len(r.Unchanged) != 3 || len(r.Changed) > 0 {
			t.Errorf("reported %+v", r)
		}
		if after := stamps(t, filepath.Dir(dir)); !maps.Equal(before, after) {
			t.Errorf("times or identities changed:\n%v\n%v", before, after)
		}
	}
}

// BLD-2: unchanged files keep their times, in an output that is replaced for one
// node and for all.
func TestUnchangedFilesKeepTheirTimes(t *testing.T) {
	for name, c := range map[string]struct {
		next    mesh
		changed []string
	}{
		"one node":             {home.with("anchor", "/etc/a/two", "II"), []string{"anchor/files/etc/a/two"}},
		"one node and its lot": {home.with("anchor", "/etc/new", "n"), []string{"anchor/files/etc/new"}},
		"two nodes":            {home.with("anchor", "/etc/a/two", "II").with("board", "/etc/b", "bb"), []string{"anchor/files/etc/a/two", "board/files/etc/b"}},
		"a node without one":   {home.with("phone", "/etc/wireguard/mesh.conf", "x"), []string{"phone/files/etc/wireguard/mesh.conf"}},
		"a node more":          {home.with("cabin", "/etc/c", "c"), []string{"cabin/files/etc/c"}},
		"a node less":          {home.without("board"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "dist")
			write(t, dir, home, Options{})
			before := stamps(t, dir)
			write(t, dir, c.next, Options{})
			sameTree(t, "replaced", tree(t, dir), fresh(t, c.next, Options{}))
			for file, stamp := range stamps(t, dir) {
				isFile := strings.Contains(file, "/files/") && !slices.Contains([]string{"etc", "a", "srv", "wireguard"}, filepath.Base(file))
				if isFile && !slices.Contains(c.changed, file) && before[file] != stamp {
					t.Errorf("%s has another time or identity", file)
				}
			}
			nothingBeside(t, dir)
		})
	}
}

// BLD-2: what meshc did not write is never deleted.
func TestForeignFilesStay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	write(t, dir, home, Options{})
	put := func(name, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	put("NOTES.txt", "mine")
	put("backup/anchor/bundle.json", "not really")
	put("anchor/files/etc/a/note", "mine")
	put("board/todo/later.txt", "mine")
	if err := os.Symlink("/etc/shadow", filepath.Join(dir, "board", "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "anchor", "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	foreign := map[string]string{
		"NOTES.txt": "mine", "backup/": "", "backup/anchor/": "", "backup/anchor/bundle.json": "not really",
		"anchor/files/etc/a/note": "mine", "anchor/empty/": "",
		"board/": "", "board/todo/": "", "board/todo/later.txt": "mine", "board/link": "/etc/shadow",
	}
	before := stamps(t, dir)
	for _, next := range []mesh{
		home.with("anchor", "/etc/a/two", "II"),
		home.with("anchor", "/etc/a/two", "III").with("board", "/etc/b", "bb"),
		home.without("board"),
		home.without("board").with("cabin", "/etc/c", "c"),
	} {
		r := write(t, dir, next, Options{})
		want := fresh(t, next, Options{})
		maps.Copy(want, foreign)
		sameTree(t, "replaced", tree(t, dir), want)
		if !slices.Contains(r.Foreign, "NOTES.txt") {
			t.Errorf("reported %+v", r)
		}
	}
	for name := range foreign {
		if after := stamps(t, dir)[strings.TrimSuffix(name, "/")]; !strings.HasSuffix(name, "/") && before[name] != after {
			t.Errorf("%s is another file than before", name)
		}
	}
	nothingBeside(t, dir)
}

// O42: what a node no longer has is gone, and a rename leaves nothing of the old name.
func TestStaleFilesGo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	write(t, dir, home.with("anchor", "/etc/routes/old/app.yml", "x").with("office", "/etc/o", "o"), Options{})
	next := home.with("anchor", "/etc/routes/app.yml", "x")
	r := write(t, dir, next, Options{})
	sameTree(t, "replaced", tree(t, dir), fresh(t, next, Options{}))
	if !slices.Equal(r.Removed, []string{"office"}) {
		t.Errorf("reported %+v", r)
	}
}

// BLD-2: files that somebody changed or removed are put right, and not the others.
func TestTamperedFilesAreMended(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	write(t, dir, home, Options{})
	for name, damage := range map[string]func(string) error{
		"anchor/files/etc/a/one":              os.Remove,
		"anchor/files/etc/a/two":              func(p string) error { return os.WriteFile(p, []byte("3"), 0o644) },
		"anchor/bundle.json":                  func(p string) error { return os.Truncate(p, 5) },
		"anchor/declaration.hcl":              os.Remove,
		"anchor/provenance.json":              func(p string) error { return os.Truncate(p, 0) },
		"board/files/etc/b":                   func(p string) error { return errors.Join(os.Remove(p), os.Symlink("/etc/passwd", p)) },
		"phone/files/etc/wireguard/mesh.conf": os.Remove,
	} {
		// An edit comes later than the build did, by more than a tick of the clock.
		time.Sleep(10 * time.Millisecond)
		if err := damage(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		r := write(t, dir, home, Options{})
		if node := strings.Split(name, "/")[0]; !slices.Equal(r.Changed, []string{node}) {
			t.Errorf("%s: reported %+v", name, r)
		}
		sameTree(t, name, tree(t, dir), fresh(t, home, Options{}))
	}
}

// SEL-6: with nodes named, only their output is replaced.
func TestNodes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	write(t, dir, home, Options{})
	before := stamps(t, dir)
	next := home.with("anchor", "/etc/a/two", "II").with("board", "/etc/b", "bb").without("phone")
	write(t, dir, next, Options{Nodes: []string{"board"}})
	sameTree(t, "one node", tree(t, dir), fresh(t, home.with("board", "/etc/b", "bb"), Options{}))
	for file, stamp := range stamps(t, dir) {
		if strings.HasPrefix(file, "anchor") && before[file] != stamp {
			t.Errorf("%s has another time or identity", file)
		}
	}
	if _, err := Write(dir, "home", next.nodes(), Options{Nodes: []string{"bord"}}); err == nil || !strings.Contains(err.Error(), `no node "bord"`) {
		t.Errorf("got %v", err)
	}
}

func TestArchive(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	write(t, dir, home, Options{})
	write(t, dir, home, Options{Archive: true})
	got := tree(t, dir)
	sameTree(t, "archives", got, fresh(t, home, Options{Archive: true}))
	if len(got) != 5 {
		t.Errorf("folders are left beside archives: %v", slices.Sorted(maps.Keys(got)))
	}
	b, err := bundle.Open(filepath.Join(dir, "anchor.tar"))
	if err != nil || b.Node != "anchor" {
		t.Errorf("got %v, %v", b, err)
	}
	write(t, dir, home, Options{})
	sameTree(t, "folders again", tree(t, dir), fresh(t, home, Options{}))
}

// BLD-2: an output folder that is not meshc's own is refused, and nothing is
// changed in it or beside it.
func TestRefused(t *testing.T) {
	file := func(p, content string) error {
		return errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(content), 0o644))
	}
	for name, c := range map[string]struct {
		make func(dir string) error
		want string
	}{
		"somebody else's": {func(dir string) error { return file(dir+"/thesis.tex", "") }, "is not meshc's: it holds thesis.tex"},
		"damaged marker":  {func(dir string) error { return file(dir+"/.meshc", "{") }, "is damaged"},
		"marker out of the folder": {func(dir string) error {
			return file(dir+"/.meshc", `{"format": 1, "mesh": "home", "wrote": {"../x": []}}`)
		}, "is damaged"},
		"later marker":   {func(dir string) error { return file(dir+"/.meshc", `{"format": 2}`) }, "another meshc"},
		"a file":         {func(dir string) error { return file(dir, "") }, "is not a folder"},
		"link to a file": {func(dir string) error { return errors.Join(file(dir+".x", ""), os.Symlink("dist.x", dir)) }, "is not a folder"},
		"dangling link":  {func(dir string) error { return os.Symlink("nowhere", dir) }, "is a link to a folder that does not exist"},
		"foreign node": {func(dir string) error {
			_, err := Write(dir, "home", home.without("board").nodes(), Options{})
			return errors.Join(err, file(dir+"/board/x", ""))
		}, "board is in the way"},
		"foreign file where ours goes": {func(dir string) error {
			_, err := Write(dir, "home", home.without("anchor").with("anchor", "/etc/a/one", "1").nodes(), Options{})
			return errors.Join(err, file(dir+"/anchor/files/etc/a/two", "mine"))
		}, "files/etc/a/two is in the way"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "dist")
			if err := c.make(dir); err != nil {
				t.Fatal(err)
			}
			before := stamps(t, filepath.Dir(dir))
			_, err := Write(dir, "home", home.nodes(), Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, not %s", err, c.want)
			}
			after := stamps(t, filepath.Dir(dir))
			delete(before, ".") // the stage came and went
			delete(after, ".")
			if !maps.Equal(before, after) {
				t.Errorf("changed:\n%v\n%v", before, after)
			}
		})
	}
}

// BLD-2: one bundle that cannot be made leaves the output as it was.
func TestFailureChangesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	write(t, dir, home, Options{})
	before := stamps(t, dir)
	nodes := home.with("anchor", "/etc/a/two", "II").nodes()
	nodes[1].Bundle = func() (*bundle.Bundle, error) { return nil, errors.New("board cannot be rendered") }
	if _, err := Write(dir, "home", nodes, Options{}); err == nil || err.Error() != "board cannot be rendered" {
		t.Errorf("got %v", err)
	}
	if after := stamps(t, dir); !maps.Equal(before, after) {
		t.Errorf("changed:\n%v\n%v", before, after)
	}
	nothingBeside(t, dir)
}

// A link to a folder is followed, and stays a link.
func TestLinkedOutput(t *testing.T) {
	top := t.TempDir()
	dir, real := filepath.Join(top, "dist"), filepath.Join(top, "elsewhere", "out")
	if err := errors.Join(os.MkdirAll(real, 0o700), os.Symlink("elsewhere/out", dir)); err != nil {
		t.Fatal(err)
	}
	write(t, dir, home, Options{})
	sameTree(t, "linked", tree(t, real), fresh(t, home, Options{}))
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder's mode became %v, %v", info.Mode(), err)
	}
	if info, err := os.Lstat(dir); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
}

// Two builds at once are one after the other.
func TestTwoAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	first, second := home.with("anchor", "/etc/a/two", "II"), home.with("anchor", "/etc/a/two", "III").without("board")
	err := parallel(8, func(i int) error {
		m := first
		if i%2 == 0 {
			m = second
		}
		_, err := Write(dir, "home", m.nodes(), Options{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := tree(t, dir); !maps.Equal(got, fresh(t, first, Options{})) && !maps.Equal(got, fresh(t, second, Options{})) {
		t.Errorf("a mixture: %v", slices.Sorted(maps.Keys(got)))
	}
	nothingBeside(t, dir)
}
