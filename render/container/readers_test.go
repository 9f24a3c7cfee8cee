package container_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"meshc.dev/compiler/plan"
	"meshc.dev/render/container"
	"meshc.dev/render/sink/sinktest"
)

// generated gives the unit that Podman's generator makes of a container's quadlet, and what it
// starts. The generator exits 0 also when it drops a file, so what it prints is read.
func generated(t *testing.T, c plan.Container, o container.Options) (sinktest.Unit, []string) {
	t.Helper()
	quadlet := sinktest.Container(t, "quadlet")
	f, err := o.Lower(c, "podman", "a test", nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, filepath.Base(f.Path)), f.Content, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(quadlet, "-dryrun", "-no-kmsg-log", "-user=false")
	cmd.Env = []string{"QUADLET_UNIT_DIRS=" + dir}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("quadlet: %v\n%s", err, errs.Bytes())
	}
	_, text, found := strings.Cut(out.String(), "---"+f.Unit+"---\n")
	if said := complaints(errs.String()); !found || said != "" {
		t.Fatalf("quadlet does not take\n%s\n%s%s", f.Content, said, out.String())
	}
	text, _, _ = strings.Cut(text, "\n---")
	unit, err := sinktest.ParseUnit([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	argv, err := sinktest.Argv(unit.Value("Service", "ExecStart"), c.Unit)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return unit, argv
}

// complaints leaves out what the generator says when all is well.
func complaints(stderr string) string {
	var out []string
	for line := range strings.Lines(stderr) {
		if !strings.Contains(line, "Loading source unit file") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

// dockerCommands are the commands of a docker unit, by key.
func dockerCommands(t *testing.T, c plan.Container, o container.Options) (sinktest.Unit, func(key string) [][]string) {
	t.Helper()
	f, err := o.Lower(c, "docker", "a test", nil)
	if err != nil {
		t.Fatal(err)
	}
	unit, err := sinktest.ParseUnit(f.Content)
	if err != nil {
		t.Fatalf("%v in\n%s", err, f.Content)
	}
	return unit, func(key string) [][]string {
		var out [][]string
		for _, line := range unit.Values("Service", key) {
			argv, err := sinktest.Argv(strings.TrimPrefix(line, "-"), c.Unit)
			if err != nil {
				t.Fatalf("%v in\n%s", err, f.Content)
			}
			out = append(out, argv)
		}
		return out
	}
}

// option gives the values of an option in a command, in both ways of writing it.
func option(argv []string, name string) []string {
	var out []string
	for i, a := range argv {
		if v, ok := strings.CutPrefix(a, name+"="); ok {
			out = append(out, v)
		} else if a == name && i+1 < len(argv) {
			out = append(out, argv[i+1])
		}
	}
	return out
}
