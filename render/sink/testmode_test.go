package sink_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// testMode lets systemd load one unit and gives what it prints of it. Root is not allowed
// to, so root does it as nobody, who must be able to read the folder.
func testMode(t *testing.T, manager, dir, unit string) string {
	t.Helper()
	cmd := exec.Command(manager, "--test", "--system", "--unit="+unit)
	cmd.Env = []string{"SYSTEMD_UNIT_PATH=" + dir + ":", "SYSTEMD_LOG_TARGET=console"}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	cmd.Dir = "/"
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // testing makes it for its user alone
		t.Fatal(err)
	}
	out, _ := cmd.CombinedOutput()
	_, dump, found := strings.Cut(string(out), "-> Unit "+unit+":")
	if !found {
		t.Fatalf("systemd did not load %s:\n%.2000s", unit, out)
	}
	dump, _, _ = strings.Cut(dump, "\n\t-> Unit ")
	return dump
}
