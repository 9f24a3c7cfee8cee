package host

import (
	"os"
	"path/filepath"
	"testing"

	"meshc.dev/render/bundle"
)

const appText = "/etc/systemd/system/app.service"

// HST-3: a text that systemctl link has put in its place is no link that enables the unit:
// it stays, whether the unit is enabled or not.
func TestUnitWithALinkedText(t *testing.T) {
	for _, on := range []bool{true, false} {
		dir := newTree(t)
		put(t, dir, "/opt/app.service", "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n", 0o644)
		link(t, dir, "/opt/app.service", appText)
		b := write(t, []bundle.Item{&bundle.Unit{ID: "a/unit.u", Name: "app.service", State: bundle.Running, Enabled: on}}, nil)
		foretold(t, "once", dir, b)
		if to, err := os.Readlink(dir + appText); err != nil || to != "/opt/app.service" {
			t.Errorf("enabled %v: the text is a link to %q (%v)", on, to, err)
		}
		if _, err := os.Lstat(dir + "/etc/systemd/system/multi-user.target.wants/app.service"); (err == nil) != on {
			t.Errorf("enabled %v: the link below the target: %v", on, err)
		}
		if r := foretold(t, "again", dir, b); len(r.Events) > 0 {
			t.Errorf("enabled %v: a second apply: %v", on, r.Events)
		}
	}
}

// HST-3: a unit that gives itself its own name keeps its text.
func TestUnitWithItsOwnNameAsAlias(t *testing.T) {
	dir := newTree(t)
	text := "[Service]\nExecStart=/bin/true\n[Install]\nAlias=app.service other.service\n"
	b := write(t, []bundle.Item{
		plain("a/file.u", appText), &bundle.Unit{ID: "a/unit.u", Name: "app.service", State: bundle.Running, Enabled: true},
	}, map[bundle.ID]string{"a/file.u": text})
	foretold(t, "once", dir, b)
	if got := read(t, dir+appText); got != text {
		t.Errorf("the text is %q", got)
	}
	if to, err := os.Readlink(dir + "/etc/systemd/system/other.service"); err != nil || to != appText {
		t.Errorf("the other name leads to %q (%v)", to, err)
	}
	if r := foretold(t, "again", dir, b); len(r.Events) > 0 {
		t.Errorf("a second apply: %v", r.Events)
	}
}

func link(t *testing.T, dir, to, at string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(dir+at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, dir+at); err != nil {
		t.Fatal(err)
	}
}
