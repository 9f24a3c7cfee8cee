//go:build lab

package machine

import (
	"os"
	"os/exec"
	"testing"
)

// The folder that the suite works in on a machine, and things that it finds there.
const (
	labDir  = "/srv/conformance"
	labUnit = "conformance.service"
	// Packages of the lab's own repository that nothing needs: the second is there.
	labPackage, labInstalled = "libjson-perl", "libtext-charwidth-perl"
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
	sh(t, "useradd --system --no-create-home there && usermod --append --groups there there && groupadd --gid 555 left &&"+
		"groupadd --gid 556 shared && usermod --append --groups shared root && systemctl daemon-reload && apt-get install -y -qq "+labInstalled)
	conforms(t, conformanceCases(subject{
		dir: labDir, user: "there", unit: labUnit, gone: labPackage, there: labInstalled, group: "left", shared: "shared",
	}), func(t *testing.T, key Key) (*Machine, func() map[string]string) {
		m, err := Live()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		return m, func() map[string]string { return machineListing(t, key) }
	})
	t.Run("unit, its text changes", func(t *testing.T) {
		m, err := Live()
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		unitFollowsItsText(t, m, "/")
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

// machineListing is all that the suite can change on a machine when it makes one thing.
func machineListing(t *testing.T, key Key) map[string]string {
	t.Helper()
	switch key.Kind {
	case User:
		return map[string]string{
			"user":  sh(t, "getent passwd "+key.Name+" && id -Gn "+key.Name+" || true"),
			"group": sh(t, "getent group "+key.Name+" || true"),
		}
	case Package:
		return map[string]string{"package": sh(t, "dpkg-query -W -f '${db:Status-Status}' "+key.Name+" || true")}
	case Unit:
		return map[string]string{
			"unit":  sh(t, "systemctl show -P ActiveState -P InvocationID "+key.Name),
			"links": sh(t, "ls /etc/systemd/system/multi-user.target.wants"),
		}
	}
	return listing(t, labDir)
}
