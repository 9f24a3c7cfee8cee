//go:build lab

package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The lab's networks, as meshes/lab knows them.
var (
	cables = []Cable{
		{Machine: "gate", Address: "192.0.2.2/24", Router: "192.0.2.1/24"},
		{Machine: "desk", Address: "192.0.2.3/24", Router: "192.0.2.1/24"},
		{Machine: "shed", Address: "192.0.2.4/24", Router: "192.0.2.1/24"},
		{Machine: "hut", Address: "10.13.0.2/24", Router: "10.13.0.1/24", Behind: true},
	}
	names = []string{"gate", "hut", "desk"}
)

func TestMain(m *testing.M) {
	os.Exit(Enter(prepare, func(string) int { return m.Run() }))
}

// prepare builds what the lab runs, while there still is a network for Go's modules,
// and copies the mesh.
func prepare(dir string) error {
	if os.Getenv("MESHC_LAB_BASE") == "" {
		return errors.New("MESHC_LAB_BASE names no base: make lab makes one")
	}
	bin := filepath.Join(dir, "bin")
	for _, args := range [][]string{
		{"build", "-o", bin + "/", "../../cmd/meshc", "../../cmd/mesh-host"},
		{"test", "-c", "-tags", "lab", "-o", bin + "/conformance", "../machine"},
	} {
		c := exec.Command("go", args...)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		c.Stderr = os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
		}
	}
	return os.CopyFS(filepath.Join(dir, "mesh"), os.DirFS("../../meshes/lab"))
}

// day is what the parts of the test share.
type day struct {
	*testing.T
	lab  *Lab
	mesh string
}

// must fails the test where a command did not end as it should.
func (d day) must(r Result, code int) string {
	d.Helper()
	if r.Code != code {
		d.Fatalf("exit %d, want %d:\n%s", r.Code, code, r.Out)
	}
	return r.Out
}

func (d day) check(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// has fails the test where a text lacks something.
func (d day) has(text string, parts ...string) {
	d.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			d.Errorf("%q is not in:\n%s", p, text)
		}
	}
}

// until asks again and again, gently, until it is so.
func (d day) until(what string, limit time.Duration, is func() bool) {
	d.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(time.Second) {
		if is() {
			return
		}
		if time.Now().After(end) {
			d.Fatalf("after %v it is not so that %s", limit, what)
		}
	}
}

// HST-2, HST-3, HST-4, HST-11, CMP-1, CMP-2, CMP-5: an operator's day on machines that
// are real. Each part needs those before it, so that the first that fails ends it.
func TestLab(t *testing.T) {
	dir := os.Getenv(dirEnv)
	l := New(dir, os.Getenv("MESHC_LAB_BASE"), NewTranscript(os.Stdout))
	t.Cleanup(l.Close)
	os.Unsetenv("CI") // a person at a terminal makes what is missing
	for k, v := range map[string]string{
		"PATH": filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "HOME": dir,
		"GIT_AUTHOR_NAME": "operator", "GIT_AUTHOR_EMAIL": "operator@lab.mesh", "GIT_COMMITTER_NAME": "operator", "GIT_COMMITTER_EMAIL": "operator@lab.mesh",
	} {
		t.Setenv(k, v)
	}
	for _, part := range []struct {
		title string
		do    func(day)
	}{
		{"four machines, one of them behind a router", boot},
		{"nothing is closed yet", control},
		{"each machine makes its keys, which go into the mesh", keys},
		{"the bundles are built", build},
		{"what is in the way is said before anything is changed", inTheWay},
		{"gate takes its bundle, and is killed while it does", killed},
		{"hut and desk take theirs", takeBundles},
		{"the tunnels are up, and names resolve across them", tunnels},
		{"the units run, and answer those who need them", services},
		{"hut logs in to its database, and a new password ends the old one", database},
		{"the firewall lets in what the plan opens, and nothing else", firewall},
		{"no secret lies where others can read it", secrets},
		{"a second apply changes nothing", again},
		{"one setting is changed", change},
		{"a machine is added", added},
		{"desk fetches its bundle", fetch},
		{"what is not assigned any more is gone", unassign},
		{"what lies on a machine holds what the backends promise", conformance},
	} {
		l.Section(part.title)
		if !t.Run(strings.ReplaceAll(part.title, " ", "_"), func(t *testing.T) { part.do(day{t, l, filepath.Join(dir, "mesh")}) }) {
			return
		}
	}
}

func boot(d day) {
	d.check(Wire(cables...))
	d.check(d.lab.Boot(append(slices.Clone(names), "shed")...))
	d.check(d.lab.Install(filepath.Join(d.lab.Dir, "bin/mesh-host"), "/usr/local/bin/mesh-host"))
	for _, n := range names {
		d.must(d.lab.Machine(n).Sh("systemctl is-system-running; ip -brief addr show eth0"), 0)
	}
	d.lab.Say("no machine reaches a network outside of the lab")
	for _, n := range names {
		if r := d.lab.Machine(n).Ask("busybox nc -w 2 1.1.1.1 443 </dev/null"); r.Code == 0 {
			d.Errorf("%s reaches the world", n)
		}
	}
	d.must(d.lab.Machine("hut").Sh(`mkdir -p image/bin && cp /bin/busybox image/bin/ && tar -C image -c . | podman import --quiet - localhost/lab/busybox:1`), 0)
}

func keys(d day) {
	d.must(d.lab.Sh(d.lab.Dir, `ssh-keygen -q -t ed25519 -N '' -C operator -f key && echo "operator $(cat key.pub)" >signers`), 0)
	var text strings.Builder
	text.WriteString("package mesh\n\n")
	for _, n := range names {
		signers := ""
		if n == "desk" { // it fetches its bundle over http, and takes none that is not signed
			d.check(d.lab.Install(filepath.Join(d.lab.Dir, "signers"), "/root/signers"))
			signers = " --signers /root/signers"
		}
		out := d.must(d.lab.Machine(n).Sh("mesh-host init %s%s 2>/dev/null", n, signers), 0)
		text.WriteString(out)
		if private := d.must(d.lab.Machine(n).Ask("stat -c %%a /var/lib/mesh-host/identity /var/lib/mesh-host/wireguard.key"), 0); private != "600\n600\n" {
			d.Errorf("the keys of %s have modes %s", n, private)
		}
	}
	d.lab.Say("these lines go into keys.cue")
	for _, n := range names {
		d.must(d.lab.Machine(n).Sh("mkdir -p /var/lib/bundles"), 0)
	}
	d.check(os.WriteFile(filepath.Join(d.mesh, "keys.cue"), []byte(text.String()), 0o644))
}

func build(d day) {
	d.must(d.lab.Sh(d.mesh, "git init -q && echo dist >.gitignore && git add . && git commit -q -m 'the lab'"), 0)
	d.must(d.lab.Sh(d.mesh, "meshc build"), 0)
	d.commit("ports, addresses and secrets")
	d.must(d.lab.Sh(d.mesh, "meshc plan"), 0)
}

func (d day) commit(message string) {
	d.Helper()
	d.must(d.lab.Sh(d.mesh, "git add . && git commit -q -m '%s' && meshc build --locked --sign ../key", message), 0)
}

// deliver brings a bundle to its machine by README's command, from here to its files
// since the machines have no SSH.
func (d day) deliver(name string) {
	d.Helper()
	d.must(d.lab.Sh(d.mesh, "rsync -a --delete dist/%[1]s/ ../machines/%[1]s/root/var/lib/bundles/%[1]s/", name), 0)
}

// HST-11: what on a machine contradicts the bundle.
func inTheWay(d day) {
	d.deliver("hut")
	hut := d.lab.Machine("hut")
	port := d.port("hut", "guestbook", "http")
	d.must(hut.Sh("echo '10.9.9.9 gate.lab.mesh' >>/etc/hosts"), 0)
	d.must(hut.Sh(`nft 'table inet old { chain input { type filter hook input priority 10; policy drop; iif lo accept; tcp dport 22 accept; }; }'`), 0)
	d.must(hut.Sh("systemd-run --quiet --unit=squatter busybox httpd -f -p %d; sleep 1", port), 0)
	d.must(hut.Sh(`printf '[Service]\nExecStart=/bin/sleep 1000\n' >/etc/systemd/system/guestbook.service`), 0)
	out := d.must(hut.Sh("mesh-host check /var/lib/bundles/hut"), 1)
	d.has(out,
		"/etc/hosts says that gate.lab.mesh is 10.9.9.9",
		"chain inet old input drops what it does not accept",
		fmt.Sprintf("listens on %d/tcp, which is assigned to guestbook.service", port),
		"/etc/systemd/system/guestbook.service hides the unit")
	d.must(hut.Sh("systemctl stop squatter; nft delete table inet old; rm /etc/systemd/system/guestbook.service; sed -i /gate.lab.mesh/d /etc/hosts; systemctl daemon-reload"), 0)
	d.must(hut.Sh("mesh-host check /var/lib/bundles/hut | tail -n 1"), 0)
	if r := hut.Ask("mesh-host check /var/lib/bundles/hut"); r.Code != 0 {
		d.Errorf("it is still in the way:\n%s", r.Out)
	}
	d.deliver("gate")
	if out := d.must(hut.Ask("mesh-host status"), 0); !strings.Contains(out, "no bundle was applied") {
		d.Errorf("check changed something: %s", out)
	}
}

// HST-2: killed again and again, at times that fall into the installation of
// packages, into files and into the start of units, the next run finishes the job.
func killed(d day) {
	gate := d.lab.Machine("gate")
	kills := 0
	for _, after := range []string{"0.2", "1", "3", "8"} {
		r := gate.Sh("timeout -s KILL %s mesh-host apply /var/lib/bundles/gate", after)
		if r.Code == 0 {
			break
		}
		d.must(r, 137)
		kills++
	}
	if kills == 0 {
		d.Error("it was done before it could be killed")
	}
	d.apply("gate")
}

// apply applies a machine's bundle, and sees that no unit has failed.
func (d day) apply(name string) string {
	d.Helper()
	return d.applyFrom(name, "/var/lib/bundles/"+name)
}

func (d day) applyFrom(name, bundle string) string {
	d.Helper()
	m := d.lab.Machine(name)
	r := m.Sh("mesh-host apply %s", bundle)
	if r.Code != 0 {
		d.Logf("the journal of %s says:\n%s", name, m.Ask("journalctl -b --no-pager -n 60").Out)
	}
	out := d.must(r, 0)
	if failed := d.must(m.Ask("systemctl list-units --failed --plain --no-legend"), 0); failed != "" {
		d.Errorf("units of %s failed:\n%s\n%s", name, failed, m.Ask("journalctl -b -p warning --no-pager -n 30").Out)
	}
	return out
}

func takeBundles(d day) {
	d.apply("hut")
	d.deliver("desk")
	d.closed("desk", d.port("desk", "node-exporter", "http"))
	d.lab.Say("desk applies by itself from now on: mesh-host.timer is assigned to it")
	desk := d.lab.Machine("desk")
	d.until("the timer has run mesh-host", time.Minute, func() bool {
		return strings.Contains(desk.Ask("journalctl -b -u mesh-host.service --no-pager -o cat").Out, "Finished mesh-host.service")
	})
	d.has(d.must(desk.Sh("journalctl -b -u mesh-host.service --no-pager -o cat"), 0), "nothing")
}
