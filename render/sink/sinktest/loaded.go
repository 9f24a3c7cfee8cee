package sinktest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Loaded lets systemd itself load a unit from a folder of the test's and gives what it
// prints of it: in its test mode it starts nothing. Root is not allowed to do that,
// so root does it as nobody, who has to be able to read the folder.
func Loaded(t testing.TB, dir, unit string) string {
	t.Helper()
	cmd := exec.Command(Tool(t, "/usr/lib/systemd/systemd"), "--test", "--system", "--unit="+unit)
	cmd.Env = []string{"SYSTEMD_UNIT_PATH=" + dir + ":", "SYSTEMD_LOG_TARGET=console"}
	cmd.Dir = "/"
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	// A test's folder is made for its user alone.
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	out, _ := cmd.CombinedOutput() // its exit code is about the whole transaction
	_, dump, found := strings.Cut(string(out), "-> Unit "+unit+":")
	if !found {
		t.Fatalf("systemd did not load %s:\n%.2000s", unit, out)
	}
	dump, _, _ = strings.Cut(dump, "\n\t-> Unit ")
	return dump
}

// Container finds a program that testdata/tools/quadlet.sh fetched: quadlet or docker.
func Container(t testing.TB, name string) string {
	t.Helper()
	places := []string{"/var/cache/meshc-test/" + name}
	if cache, err := os.UserCacheDir(); err == nil {
		places = append(places, filepath.Join(cache, "meshc-test", name))
	}
	places = append(places, "/usr/libexec/podman/"+name, name)
	for _, p := range places {
		if path, err := exec.LookPath(p); err == nil {
			return path
		}
	}
	Missing(t, name+" is not there; testdata/tools/quadlet.sh fetches it")
	return ""
}
