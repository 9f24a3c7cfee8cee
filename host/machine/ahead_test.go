package machine

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// HST-2: how a unit will be enabled is told from the texts that it will have.
func TestUnitAhead(t *testing.T) {
	const unit = "/etc/systemd/system/app.service"
	const container = QuadletDir + "/app.container"
	enabled := Condition{Enabled: true}
	for name, c := range map[string]struct {
		unit  string
		is    Condition
		link  string // below a target
		files map[string][]byte
		want  Condition
	}{
		"another's text":           {"app.service", enabled, "multi", map[string][]byte{"/etc/systemd/system/x.service": nil}, enabled},
		"a new text":               {"app.service", Condition{Absent: true}, "", map[string][]byte{unit: []byte("[Install]\nWantedBy=multi.target\n")}, Condition{}},
		"one that nobody enables":  {"app.service", Condition{Absent: true}, "", map[string][]byte{unit: []byte("[Service]\n")}, Condition{Generated: true}},
		"wanted by the same":       {"app.service", enabled, "multi", map[string][]byte{unit: []byte("[Install]\nWantedBy=multi.target\n")}, enabled},
		"wanted by another":        {"app.service", enabled, "multi", map[string][]byte{unit: []byte("[Install]\nWantedBy=other.target\n")}, Condition{Enabled: true, Stale: true}},
		"wanted by what a word is": {"app.service", enabled, "multi", map[string][]byte{unit: []byte("[Install]\nWantedBy=%j.target\n")}, enabled},
		"an instance":              {"app@1.service", enabled, "", map[string][]byte{"/etc/systemd/system/app@.service": []byte("[Install]\nWantedBy=other.target\n")}, enabled},
		"to be generated":          {"app.service", Condition{Absent: true}, "", map[string][]byte{container: []byte("[Container]\n")}, Condition{Generated: true}},
		"not generated any more":   {"app.service", Condition{Generated: true, Running: true}, "", map[string][]byte{container: nil}, Condition{Absent: true, Running: true}},
	} {
		dir := t.TempDir()
		if c.link != "" {
			wants := filepath.Join(dir, "etc/systemd/system", c.link+".target.wants")
			if err := os.MkdirAll(wants, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(unit, filepath.Join(wants, "app.service")); err != nil {
				t.Fatal(err)
			}
		}
		root, err := OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		got, err := (systemd{root}).Ahead(context.Background(), c.unit, c.is, c.files)
		if err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
		root.Close()
	}
}

// HST-2: what a run that was killed has left beside a file is known from other files.
func TestIsLeftover(t *testing.T) {
	for name, want := range map[string]bool{
		place{base: "a.conf"}.next(): true, "a.conf": false, ".a.conf": false, "a.conf.mesh-host-next": false, ".mesh-host-next": false, "": false,
	} {
		if IsLeftover(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
