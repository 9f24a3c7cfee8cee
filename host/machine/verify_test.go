package machine

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// HST-10, T09: systemd is asked about a unit's text before it is swapped in; what it would
// ignore is refused, and what the text names need not be there yet.
func TestVerify(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		if os.Getenv("MESHC_TEST_TOOLS") == "required" {
			t.Fatal("systemd-analyze is missing")
		}
		t.Skip("systemd-analyze is missing")
	}
	m, _ := newTree(t)
	const dir = "/etc/systemd/system/"
	files, want := map[string][]byte{}, map[string]string{}
	for name, c := range map[string]struct{ text, want string }{
		"ok.service":                {"[Unit]\nAfter=not-there.service\n[Service]\nExecStart=/opt/not-there\nX-Ours=1\n[X-More]\na=b\n", ""},
		"user.service":              {"[Service]\nExecStart=/bin/true\nUsr=nobody\n", "line 3: Unknown key"},
		"section.service":           {"[Service]\nExecStart=/bin/true\n[Sevice]\nUser=nobody\n", "line 3: Unknown section 'Sevice'"},
		"word.service":              {"[Service]\nExecStart=/bin/true\nRestart=alway\n", "line 3: Failed to parse"},
		"none.service":              {"[Service]\nUser=nobody\n", "Service has no ExecStart="},
		"old.service":               {"[Service]\nExecStart=/bin/true\nStandardOutput=syslog\n", ""},
		"t@.service":                {"[Service]\nExecStart=/bin/echo %i\n", ""},
		"ok.service.d/mesh.conf":    {"[Service]\nUser=nobody\n", ""},
		"user.service.d/mesh.conf":  {"[Service]\nGrp=nobody\n", "line 2: Unknown key"},
		"stranger.service.d/x.conf": {"[Service]\nUser=nobody\n", ""},
		"readme.txt":                {"nothing", ""},
		"ok.timer":                  {"[Timer]\nOnCalendar=daily\n", ""},
	} {
		files[dir+name], want[dir+name] = []byte(c.text), c.want
	}
	refused, err := systemd{m.Root}.Verify(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	for p, w := range want {
		switch err := refused[p]; {
		case w == "" && err != nil:
			t.Errorf("%s: %v", p, err)
		case w != "" && (err == nil || !strings.Contains(err.Error(), w)):
			t.Errorf("%s: %v, want %s", p, err, w)
		}
	}
}
