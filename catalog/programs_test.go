package catalog_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"meshc.dev/compiler/data"
	"meshc.dev/render/sink"
)

// need finds a program, or skips the test where the machine lacks it; with
// MESHC_TEST_TOOLS=required that is a failure.
func need(t *testing.T, program string) string {
	t.Helper()
	p, err := exec.LookPath(program)
	if err == nil {
		return p
	}
	if os.Getenv("MESHC_TEST_TOOLS") == "required" {
		t.Fatalf("%s is not installed; testdata/tools/install.sh does that", program)
	}
	t.Skipf("%s is not installed", program)
	return ""
}

// The programs that will read the files accept them, and refuse them where there is a mistake in them:
// both by the commands that the modules themselves give for validation (HST-10).
func TestProgramsAcceptTheirFiles(t *testing.T) {
	lib := open(t)
	lib.each(t, func(t *testing.T, r rendered) {
		for _, f := range r.files(t) {
			if len(f.validate) == 0 {
				continue
			}
			t.Run(f.name, func(t *testing.T) {
				need(t, f.validate[0])
				if f.validate[0] == "nginx" && os.Getuid() != 0 {
					t.Skip("nginx opens its logs to check its file, and only root may")
				}
				if out, err := validate(t, r, f, f.content); err != nil {
					t.Errorf("%s refuses %s: %v\n%s\n%s", f.validate[0], f.path, err, out, f.content)
				}
				broken := append(bytes.Clone(f.content), "\n}) ((nonsense=\n"...)
				if out, err := validate(t, r, f, broken); err == nil {
					t.Errorf("%s accepts %s with nonsense at its end\n%s", f.validate[0], f.path, out)
				}
			})
		}
	})
}

func validate(t *testing.T, r rendered, f file, content []byte) ([]byte, error) {
	t.Helper()
	dir := t.TempDir()
	if r.module == "postgres" {
		// The cluster's own folders are there on a machine.
		for _, d := range []string{"main/conf.d", "data"} {
			if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	move := func(s string) string {
		s = strings.ReplaceAll(s, "/etc/postgresql/15/main/conf.d", dir+"/main/conf.d")
		return strings.ReplaceAll(s, "/var/lib/postgresql/15/main", dir+"/data")
	}
	p := write(t, dir, filepath.Base(f.path), []byte(move(string(content))))
	var args []string
	for _, a := range f.validate[1:] {
		args = append(args, strings.ReplaceAll(move(a), "%", p))
	}
	return exec.Command(f.validate[0], args...).CombinedOutput()
}

// sway checks a file only for a user with a screen, so that its module has no
// command for it; here it is given a screen that is none.
func TestSwayAcceptsItsFile(t *testing.T) {
	need(t, "sway")
	need(t, "setpriv")
	if os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	lib := open(t)
	run := func(content []byte) ([]byte, error) {
		dir, err := os.MkdirTemp("", "sway")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		p := write(t, dir, "config", content)
		c := exec.Command("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sway", "--validate", "-c", p)
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + dir, "WLR_BACKENDS=headless", "WLR_RENDERER=pixman", "WLR_LIBINPUT_NO_DEVICES=1"}
		return c.CombinedOutput()
	}
	for _, label := range []string{"plain", "full", "no_bar"} {
		f := lib.render(t, "sway", label).file(t, "config")
		if out, err := run(f.content); err != nil {
			t.Errorf("%s: %v\n%s", label, err, out)
		}
		if _, err := run(append(bytes.Clone(f.content), "\nnonsense\n"...)); err == nil {
			t.Errorf("%s: nonsense at the end is accepted", label)
		}
	}
}

// BLD-6: units and what is added to others' units are read by systemd without a complaint
func TestSystemdAcceptsUnits(t *testing.T) {
	analyze := need(t, "systemd-analyze")
	lib := open(t)
	lib.each(t, func(t *testing.T, r rendered) {
		units := unitFiles(t, r)
		if len(units) == 0 {
			t.Skip("it has no text of a unit")
		}
		for name, unit := range units {
			t.Run(name, func(t *testing.T) {
				out := verify(t, analyze, name, unit)
				if len(out) > 0 {
					t.Errorf("systemd complains:\n%s\n%s", out, unit)
				}
			})
		}
	})
}

// A systemd that complained of nothing would accept everything above.
func TestSystemdReadsUnitsToTheirEnd(t *testing.T) {
	analyze := need(t, "systemd-analyze")
	unit := unitFiles(t, open(t).render(t, "dhcp", "plain"))["mesh-dhcp.service"]
	unit = bytes.Replace(unit, []byte("\n[Install]"), []byte("NoSuchKey=yes\n\n[Install]"), 1)
	if out := verify(t, analyze, "mesh-dhcp.service", unit); !bytes.Contains(out, []byte("NoSuchKey")) {
		t.Errorf("an unknown key is passed over: %s", out)
	}
}

// unitFiles are the texts of a module's units by name; what is added to a unit of
// a package is put at the end of a small unit of that name.
func unitFiles(t *testing.T, r rendered) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, u := range r.resources.Get("unit").Fields() {
		if c := u.Value.Get("content"); c.Kind() == data.Struct {
			b, err := sink.Systemd(c)
			if err != nil {
				t.Fatalf("unit.%s: %v", u.Name, err)
			}
			out[u.Value.Get("name").Text()] = b
		}
	}
	for _, f := range r.files(t) {
		rest, ok := strings.CutPrefix(f.path, "/etc/systemd/system/")
		if !ok {
			continue
		}
		name, _, addition := strings.Cut(rest, ".d/")
		if addition {
			f.content = append([]byte("[Service]\nExecStart=/bin/true\n"), f.content...)
		}
		out[name] = f.content
	}
	return out
}

// verify has systemd read a unit with the programs it names there as empty files.
func verify(t *testing.T, analyze, name string, unit []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	var lines []string
	for line := range strings.Lines(string(unit)) {
		key, value, _ := strings.Cut(line, "=")
		if strings.HasPrefix(key, "Exec") && strings.TrimSpace(value) != "" { // an empty one takes earlier ones back
			prefix := value[:len(value)-len(strings.TrimLeft(value, "-+@:!"))]
			program, arguments, _ := strings.Cut(strings.TrimLeft(value, "-+@:!"), " ")
			if !strings.HasPrefix(program, "/") {
				t.Errorf("%s: %s names a program without its path", name, key)
			}
			line = key + "=" + prefix + write(t, dir, filepath.Base(strings.TrimSpace(program)), []byte("#!/bin/sh\n")) + " " + arguments
			line = strings.TrimRight(line, "\n ") + "\n"
		}
		lines = append(lines, line)
	}
	p := write(t, dir, name, []byte(strings.Join(lines, "")))
	if err := os.Chmod(p, 0o644); err != nil {
		t.Fatal(err)
	}
	if rest, ok := strings.CutSuffix(name, ".timer"); ok {
		if err := os.WriteFile(filepath.Join(dir, rest+".service"), []byte("[Service]\nExecStart=/bin/true\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(analyze, "verify", "--man=no", "--recursive-errors=no", p)
	c.Env = append(os.Environ(), "SYSTEMD_UNIT_PATH="+dir+":")
	out, _ := c.CombinedOutput()
	return out
}
