package origin_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

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
		// T24: a line with a secret names it, and no value.
		{"board", "/etc/gitea/app.ini", "PASSWD = ", []string{"in.secrets.database.value"}, "`meshc holders` says who can open it"},
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
	if _, err := origin.Of(r, "board", "/etc/gitea/app.inj", 0); err == nil || !strings.Contains(err.Error(), "did you mean /etc/gitea/app.ini?") {
		t.Errorf("a misspelt path: %v", err)
	}
	if _, err := origin.Of(r, "board", "/etc/gitea/app.ini", 9999); err == nil {
		t.Error("a line beyond the end")
	}
}

// SET-5, T24: a line that the compiler computes names the machine whose address, name or key it has, and the
// way in that it opens; a file that holds a secret names that.
func TestOfComputed(t *testing.T) {
	lk, err := os.ReadFile("../../meshes/home/" + lock.File)
	if err != nil {
		t.Fatal(err)
	}
	r, ds := compiler.Compile(compiler.Input{FS: os.DirFS("../../meshes/home"), Lock: lk})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for _, c := range []struct{ path, line, want, value string }{
		{"/etc/hosts", "10.86.172.52   lark.home.mesh lark", "the address of lark", "10.86.172.52"},
		{"/etc/wireguard/wg0.conf", "Endpoint = 203.0.113.7:51820", "the endpoint of anchor", "203.0.113.7"},
		{"/etc/nftables.d/meshc.nft", `		ip daddr 10.86.9.102 tcp dport 27568 accept comment "gitea/ssh"`, "the way in gitea/ssh", "tcp 27568 from network"},
	} {
		for _, path := range []string{c.path, "files" + c.path, "board/files" + c.path, "dist/board/files" + c.path, "./dist/board/files" + c.path, c.path[1:]} {
			o, err := origin.Of(r, "board", path, line(t, r, "board", c.path, c.line))
			if err != nil || !slices.ContainsFunc(o.From, func(s origin.Source) bool { return s.Input == c.want && s.Value == c.value }) || o.Path != c.path {
				t.Errorf("%s: %s: %+v, %v", path, c.line, o, err)
			}
			if path == c.path && testing.Short() {
				break
			}
		}
	}
	o, err := origin.Of(r, "board", "/etc/gitea/secret-key", 0)
	if err != nil || o.From[0].Value != "a secret, need gitea@board secret-key" {
		t.Errorf("a secret's file: %+v, %v", o, err)
	}
}

// SET-5, T24: of an enumeration the other values are tried that its module names.
func TestOfEnumeration(t *testing.T) {
	fsys := fstest.MapFS{
		"mesh.cue": {Data: []byte("package mesh\n\nimport \"meshc.dev/schema\"\n\nschema.#Mesh\n\nname: \"home\"\nnodes: board: assign: app: settings: level: \"logical\"\n")},
		"modules/app/app.cue": {Data: []byte("package app\n\nimport \"meshc.dev/schema\"\n\nschema.#Module\n\nin: _\n\nname: \"app\"\nsummary: \"an app\"\n\n" +
			"settings: level: *\"replica\" | \"logical\" | \"minimal\"\nresources: file: config: {path: \"/etc/app\", content: \"level \\(settings.level)\\n\"}\n")},
	}
	r, ds := compiler.Compile(compiler.Input{FS: fsys})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	o, err := origin.Of(r, "board", "/etc/app", 1)
	if err != nil || len(o.From) == 0 || o.From[0].Input != "settings.level" {
		t.Errorf("%+v, %v", o, err)
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
