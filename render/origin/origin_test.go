package origin_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"meshc.dev/compiler"
	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/lock"
	"meshc.dev/render/origin"
)

// SET-5: a rendered line names the setting, port and answer that it depends on, and who decided each.
func TestOf(t *testing.T) {
	lk, err := os.ReadFile("../../meshes/home/" + lock.File)
	if err != nil {
		t.Fatal(err)
	}
	r, ds := compiler.Compile(compiler.Input{FS: os.DirFS("../../meshes/home"), Lock: lk})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for _, c := range []struct {
		node, path, line string
		want             []string // inputs, in order
		said             string
	}{
		{"board", "/etc/gitea/app.ini", "APP_NAME = House", []string{"settings.app_name"}, "instance gitea (node board) at nodes_house.cue:36"},
		{"board", "/etc/gitea/app.ini", "HOST = anchor.home.mesh:21849", []string{"in.bindings.database.hostport"}, "answered by postgres@anchor"},
		{"board", "/etc/containers/systemd/gitea.container", "PublishPort=10.86.9.102:29815:3000", []string{"in.ports.http", "in.addresses.http"}, `mesh.lock.hcl has "board/gitea/http" = 29815`},
		{"board", "/etc/gitea/app.ini", "DB_TYPE = postgres", nil, ""},
	} {
		o, err := origin.Of(r, addr.Node(c.node), c.path, line(t, r, c.node, c.path, c.line))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		var got []string
		said := ""
		for _, s := range o.From {
			got = append(got, s.Input)
			said += strings.Join(s.Said, "\n") + "\n"
		}
		if !slices.Equal(got, c.want) || !strings.Contains(said, c.said) || !strings.HasPrefix(o.At, "catalog/gitea/gitea.cue:") {
			t.Errorf("%s: from %v, said %q, at %s", c.line, got, said, o.At)
		}
	}
	if _, err := origin.Of(r, "board", "/etc/nothing", 0); err == nil || err.Error() != "nothing of board writes /etc/nothing" {
		t.Errorf("a file that nothing writes: %v", err)
	}
	if _, err := origin.Of(r, "board", "/etc/gitea/app.ini", 9999); err == nil {
		t.Error("a line beyond the end")
	}
}

// line finds the number of a line by its text, by asking for each.
func line(t *testing.T, r *compiler.Result, node, path, text string) int {
	t.Helper()
	for n := 1; ; n++ {
		got, err := origin.Text(r, addr.Node(node), path, n)
		if err != nil {
			t.Fatalf("%s has no line %q: %v", path, text, err)
		}
		if got == text {
			return n
		}
	}
}
