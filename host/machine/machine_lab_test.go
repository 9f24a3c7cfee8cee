//go:build lab

package machine

import (
	"os"
	"os/exec"
	"os/user"
	"strings"
	"testing"
)

// The folder that the suite works in on a machine, and things that it finds there.
const (
	labDir  = "/srv/conformance"
	labUnit = "conformance.service"
	// A package of the lab's own repository that nothing needs, and one that is there.
	labPackage, labInstalled = "libjson-perl", "busybox-static"
)

// HST-8: the suite of the backends on a booted machine, where users, packages and
// units are real. It is run by the lab, on a machine made for it and thrown away.
func TestConformanceOnAMachine(t *testing.T) {
	if name, err := os.Hostname(); err != nil || name != os.Getenv("MESHC_LAB_MACHINE") {
		t.Fatal("this changes the machine that it runs on: the lab runs it on one of its own")
	}
	for name, content := range map[string]string{
		labDir + "/old": "old", labDir + "/hosts": "127.0.0.1 localhost",
		"/etc/systemd/system/" + labUnit: "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n",
	} {
		if err := os.MkdirAll(labDir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sh(t, "useradd --system --no-create-home there && systemctl daemon-reload")
	conforms(t, conformanceCases(subject{
		dir: labDir, user: "there", unit: labUnit, gone: labPackage, there: labInstalled,
	}), func(t *testing.T) (*Machine, func() map[string]string) {
		m, err := Live()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		return m, func() map[string]string { return machineListing(t) }
	})
}

func sh(t *testing.T, script string) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
	return string(out)
}

// machineListing is all that the suite can change on a machine.
func machineListing(t *testing.T) map[string]string {
	t.Helper()
	out := listing(t, labDir)
	for _, name := range []string{"git", "there"} {
		if u, err := user.Lookup(name); err == nil {
			out["user "+name] = strings.Join([]string{u.HomeDir, sh(t, "id -Gn "+name), sh(t, "getent passwd "+name+" | cut -d: -f7")}, " ")
		}
	}
	for _, name := range []string{labPackage, labInstalled} {
		out["package "+name] = sh(t, "dpkg-query -W -f '${db:Status-Status}' "+name+" 2>/dev/null || true")
	}
	out["unit"] = sh(t, "systemctl show -P ActiveState -P UnitFileState -P InvocationID "+labUnit)
	return out
}
