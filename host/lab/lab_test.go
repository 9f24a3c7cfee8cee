//go:build lab

package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// The lab's networks, as meshes/lab knows them.
var (
	cables = []Cable{
		{Machine: "gate", Address: "192.0.2.2/24", Router: "192.0.2.1/24"},
		{Machine: "desk", Address: "192.0.2.3/24", Router: "192.0.2.1/24"},
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

// An operator's day. Each part needs those before it, so that the first that fails
// ends it.
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
		{"three machines, one of them behind a router", boot},
		{"nothing is closed yet", control},
		{"each machine makes its keys, which go into the mesh", keys},
		{"the bundles are built", build},
		{"what is in the way is said before anything is changed", inTheWay},
		{"gate takes its bundle, and is killed while it does", killed},
		{"hut and desk take theirs", takeBundles},
		{"the tunnels are up, and names resolve across them", tunnels},
		{"the units run, and answer those who need them", services},
		{"the firewall lets in what the plan opens, and nothing else", firewall},
		{"a second apply changes nothing", again},
		{"one setting is changed", change},
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
	d.check(d.lab.Boot(names...))
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

// strangers are how somebody who is no machine of the mesh calls each of them.
var strangers = map[string]string{"gate": "192.0.2.2", "desk": "192.0.2.3", "hut": "10.13.0.2"}

// allPorts is every port that there is.
func allPorts() []int {
	out := make([]int, 65535)
	for i := range out {
		out[i] = i + 1
	}
	return out
}

// samplePorts are those, and others from everywhere.
func samplePorts(those ...int) []int {
	for _, p := range slices.Clone(those) {
		those = append(those, max(p-1, 1), min(p+1, 65535))
	}
	for p := 1; p < 65536; p += 61 {
		those = append(those, p)
	}
	those = append(those, 21, 22, 23, 25, 53, 80, 111, 443, 3306, 5432, 6379, 8080, 9100, 51820)
	slices.Sort(those)
	return slices.Compact(those)
}

// udpSample is small: a machine says only so many times a second that nobody listens.
var udpSample = []int{21, 22, 53, 67, 68, 123, 161, 500, 5353, 20000, 25000, 51819, 51821, 60000}

// probe is one look at a machine's ports: who calls from which network, where to, and
// what the plan says that is let in.
type probe struct {
	name, who, from string
	to              netip.Addr
	protocol        string
	ports, want     []int
}

// probes looks at all at once, and writes down what was seen in their order.
func (d day) probes(all []probe) {
	d.Helper()
	got, errs := make([][]int, len(all)), make([]error, len(all))
	var done sync.WaitGroup
	for i, p := range all {
		done.Go(func() { got[i], errs[i] = LetIn(p.from, p.to, p.protocol, p.ports) })
	}
	done.Wait()
	for i, p := range all {
		d.check(errs[i])
		shown := fmt.Sprint(got[i])
		if len(got[i]) > 10 {
			shown = fmt.Sprintf("%d ports", len(got[i]))
		}
		d.lab.Say("%s at %v lets %s in on %s %s, of %d that were tried", p.name, p.to, p.who, p.protocol, shown, len(p.ports))
		if !slices.Equal(got[i], p.want) {
			d.Errorf("%s lets %s in on %s %s, and that is not %d: %v", p.name, p.who, p.protocol, shown, len(p.want), p.want[:min(len(p.want), 10)])
		}
	}
}

// control shows that the probe sees what is let in: with no firewall, all is.
func control(d day) {
	var all []probe
	for _, n := range names {
		to := netip.MustParseAddr(strangers[n])
		all = append(all, probe{n, "a stranger", "", to, "tcp", allPorts(), allPorts()}, probe{n, "a stranger", "", to, "udp", udpSample, udpSample})
	}
	d.probes(all)
}

func keys(d day) {
	var text strings.Builder
	text.WriteString("package mesh\n\n")
	for _, n := range names {
		out := d.must(d.lab.Machine(n).Sh("mesh-host init %s 2>/dev/null", n), 0)
		text.WriteString(out)
		if private := d.must(d.lab.Machine(n).Ask("stat -c %%a /var/lib/mesh-host/identity /var/lib/mesh-host/wireguard.key"), 0); private != "600\n600\n" {
			d.Errorf("the keys of %s have modes %s", n, private)
		}
	}
	d.lab.Say("these lines go into keys.cue")
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
	d.must(d.lab.Sh(d.mesh, "git add . && git commit -q -m '%s' && meshc build --locked", message), 0)
}

// deliver brings a bundle to its machine.
func (d day) deliver(name string) {
	d.Helper()
	to := d.lab.Machine(name).Path("/var/lib/bundles/" + name)
	c := fmt.Sprintf("mkdir -p %[2]s && rm -rf %[2]s && cp -r dist/%[1]s %[2]s", name, to)
	fmt.Fprintf(d.lab.w, "$ rsync -a --delete dist/%[1]s/ %[1]s:/var/lib/bundles/%[1]s/\n", name)
	if out, err := exec.Command("sh", "-c", "cd "+d.mesh+" && "+c).CombinedOutput(); err != nil {
		d.Fatalf("%v: %s", err, out)
	}
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

// apply applies a machine's bundle and sees that nothing is left to do.
func (d day) apply(name string) string {
	d.Helper()
	m := d.lab.Machine(name)
	r := m.Sh("mesh-host apply /var/lib/bundles/%s", name)
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
	d.apply("desk")
	d.lab.Say("desk applies by itself from now on: mesh-host.timer is assigned to it")
	desk := d.lab.Machine("desk")
	d.until("the timer has run mesh-host", time.Minute, func() bool {
		return strings.Contains(desk.Ask("journalctl -b -u mesh-host.service --no-pager -o cat").Out, "Finished mesh-host.service")
	})
	d.has(d.must(desk.Sh("journalctl -b -u mesh-host.service --no-pager -o cat"), 0), "nothing")
}

func tunnels(d day) {
	for _, n := range names {
		m := d.lab.Machine(n)
		for _, other := range names {
			// The first packet may have to wait for a handshake, and one is repeated after 5 s.
			if r := m.Sh("ping -q -c 3 -W 7 %s.lab.mesh | grep -e PING -e received", other); !strings.Contains(r.Out, " received") || strings.Contains(r.Out, " 0 received") {
				d.Errorf("%s does not reach %s:\n%s\n%s\n%s", n, other, r.Out, m.Ask("wg show; ip route").Out, d.lab.Machine(other).Ask("wg show; ip route").Out)
			}
		}
	}
	for _, n := range names {
		m := d.lab.Machine(n)
		d.must(m.Sh("wg show wg0 latest-handshakes"), 0)
		if r := m.Ask("pgrep -x wireguard-go"); r.Code != 0 {
			d.Logf("%s has WireGuard in the kernel", n)
		}
		for line := range strings.Lines(m.Ask("wg show wg0 latest-handshakes").Out) {
			if strings.HasSuffix(strings.TrimSpace(line), "\t0") {
				d.Errorf("%s has no handshake with %s", n, line)
			}
		}
	}
	d.lab.Say("the way from hut to desk is by gate, which cannot be gone round: nobody can call either of them")
	d.has(d.must(d.lab.Machine("hut").Sh("wg show wg0 allowed-ips | wc -l; ip route get %s", d.address("desk")), 0), "1\n", "dev wg0")
}

func services(d day) {
	for _, n := range names {
		m := d.lab.Machine(n)
		for _, u := range d.units(n) {
			if r := m.Ask("systemctl is-active %s", u); r.Code != 0 {
				d.Errorf("%s on %s: %s%s", u, n, r.Out, m.Ask("systemctl status --no-pager %s", u).Out)
			}
		}
	}
	gate, hut, desk := d.lab.Machine("gate"), d.lab.Machine("hut"), d.lab.Machine("desk")
	postgres := d.port("gate", "postgres", "postgres")
	d.has(d.must(gate.Sh("runuser -u postgres -- psql -p %d -Atc 'SHOW shared_buffers; SHOW port'", postgres), 0), "32MB", fmt.Sprint(postgres))
	d.lab.Say("the database is told who asks, and hut is told where it is; both have the same password")
	binding := d.must(hut.Sh("cat /etc/guestbook/database.json"), 0)
	d.has(binding, fmt.Sprintf(`"hostport": "gate.lab.mesh:%d"`, postgres))
	d.has(d.must(gate.Sh("cat /etc/postgresql/mesh/consumers.json"), 0), `"as": "guestbook_hut"`)
	here, there := hut.Ask("sha256sum </etc/guestbook/database.password"), gate.Ask("cat /etc/postgresql/mesh/consumers.d/* | sha256sum")
	if here.Out != there.Out || here.Code != 0 {
		d.Errorf("the two ends hold different passwords: %s and %s", here.Out, there.Out)
	}
	d.lab.Say("PostgreSQL answers hut through the tunnel")
	d.must(hut.Sh(`printf '\0\0\0\010\004\322\026\057' | busybox nc -w 5 gate.lab.mesh %d | head -c 1`, postgres), 0)
	if answer := hut.Ask(`printf '\0\0\0\010\004\322\026\057' | busybox nc -w 5 gate.lab.mesh %d | head -c 1`, postgres).Out; answer != "S" && answer != "N" {
		d.Errorf("asked for encryption, PostgreSQL says %q", answer)
	}
	d.has(d.must(hut.Sh("podman ps --format '{{.Names}} {{.Image}} {{.Ports}}'"), 0), fmt.Sprintf("%s:%d->8080/tcp", d.address("hut"), d.port("hut", "guestbook", "http")))
	d.until("desk has read hut's page", 30*time.Second, func() bool { return desk.Ask("cat /run/reader/page").Out == "hello, from hut\n" })
	d.must(desk.Sh("cat /run/reader/page"), 0)
}

// CMP-5: from outside, and from the mesh, a machine answers where the plan says so.
func firewall(d day) {
	open := map[string][]int{"gate": {d.port("gate", "postgres", "postgres")}, "hut": {d.port("hut", "guestbook", "http")}, "desk": nil}
	all := slices.Concat(open["gate"], open["hut"], []int{d.port("desk", "node-exporter", "http")})
	var probes []probe
	for _, n := range names {
		to := netip.MustParseAddr(strangers[n])
		probes = append(probes, probe{n, "a stranger", "", to, "tcp", allPorts(), []int{22}},
			// WireGuard is silent to who has no key: that the tunnels are up shows that it is let in.
			probe{n, "a stranger", "", to, "udp", udpSample, []int{22}})
		for _, from := range names {
			if from != n {
				to := netip.MustParseAddr(d.address(n))
				want := append([]int{22}, open[n]...)
				slices.Sort(want)
				probes = append(probes, probe{n, from, from, to, "tcp", samplePorts(all...), want}, probe{n, from, from, to, "udp", udpSample, []int{22}})
			}
		}
	}
	d.probes(probes)
	d.lab.Say("who sends to an address of the mesh from outside of it is not let in by that")
	gate := d.address("gate")
	d.must(d.lab.Sh(d.mesh, "ip route add %s via 192.0.2.2", gate), 0)
	d.probes([]probe{{"gate", "a stranger", "", netip.MustParseAddr(gate), "tcp", samplePorts(all...), []int{22}}})
}

// HST-3: a second apply changes nothing and restarts nothing.
func again(d day) {
	for _, n := range names {
		before := d.starts(n)
		out := d.must(d.lab.Machine(n).Sh("mesh-host apply /var/lib/bundles/%s", n), 0)
		if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 1 {
			d.Errorf("on %s something changed:\n%s", n, out)
		}
		if restarted := changedStarts(before, d.starts(n)); len(restarted) > 0 {
			d.Errorf("on %s these were restarted: %v", n, restarted)
		}
	}
	d.lab.Say("no unit of any machine was started anew")
}

// HST-3: a change restarts what the diff said, and nothing else.
func change(d day) {
	d.set(`greeting: "hello"`, `greeting: "good day"`)
	d.must(d.lab.Sh(d.mesh, "meshc diff"), 0)
	said := d.diffRestarts()
	d.commit("another greeting")
	before := map[string]map[string]string{}
	for _, n := range names {
		before[n] = d.starts(n)
		d.deliver(n)
	}
	d.apply("gate")
	d.apply("hut")
	d.lab.Say("desk takes its own")
	d.must(d.lab.Machine("desk").Sh("systemctl start mesh-host.service"), 0)
	did := map[string][]string{}
	for _, n := range names {
		if restarted := changedStarts(before[n], d.starts(n)); len(restarted) > 0 {
			did[n] = restarted
		}
	}
	d.lab.Say("restarted were %v, and the diff said %v", did, said)
	if len(said) == 0 || !maps.EqualFunc(said, did, slices.Equal[[]string]) {
		d.Errorf("restarted were %v, and the diff said %v", did, said)
	}
	desk := d.lab.Machine("desk")
	d.until("desk has read the new page", 30*time.Second, func() bool { return desk.Ask("cat /run/reader/page").Out == "good day, from hut\n" })
	d.must(desk.Sh("cat /run/reader/page"), 0)
}

// HST-4: what is not declared any more is taken away, and data stays.
func unassign(d day) {
	hut, desk := d.lab.Machine("hut"), d.lab.Machine("desk")
	port := d.port("hut", "guestbook", "http")
	d.must(hut.Sh("echo somebody was here >/var/lib/guestbook/entries"), 0)
	d.set("\tassign: guestbook: {}\n", "")
	d.set("\tsettings: guestbook: greeting: \"good day\"\n", "")
	d.set("\t\treader: {}\n", "")
	d.set("\t\t\"node-exporter\": {}\n", "")
	d.set("\t\t\"mesh-host\": {}\n", "")
	d.set("\tsettings: \"mesh-host\": every: \"1h\"\n", "")
	d.must(d.lab.Sh(d.mesh, "meshc diff"), 0)
	d.must(d.lab.Sh(d.mesh, "meshc lock && git add . && git commit -q -m 'no guestbook' && meshc build --locked"), 0)
	for _, n := range names {
		d.deliver(n)
	}
	d.apply("gate")
	d.apply("hut")
	d.lab.Say("desk takes its own, and with it the unit away that it is just run by")
	d.must(desk.Sh("systemctl start mesh-host.service; journalctl -b -u mesh-host.service --no-pager -o cat -n 15"), 0)
	d.apply("desk")
	d.lab.Say("no file, no unit, no container, no package of it is left")
	for m, gone := range map[*Machine][]string{
		hut: {"/etc/guestbook", "/etc/containers/systemd/guestbook.container", "/run/systemd/generator/guestbook.service"},
		desk: {
			"/etc/reader", "/usr/local/lib/reader", "/etc/systemd/system/reader.service", "/etc/systemd/system/multi-user.target.wants/reader.service", "/etc/systemd/system/prometheus-node-exporter.service.d", "/run/reader",
			"/etc/systemd/system/mesh-host.service", "/etc/systemd/system/mesh-host.timer", "/etc/systemd/system/timers.target.wants/mesh-host.timer",
		},
	} {
		for _, p := range gone {
			if out := m.Ask("ls -d %s", p); out.Code == 0 {
				d.Errorf("%s still has %s", m.Name, p)
			}
		}
	}
	if out := d.must(hut.Sh("podman ps --all --noheading"), 0); out != "" {
		d.Errorf("a container is left: %s", out)
	}
	d.must(desk.Sh("dpkg-query -W -f '${db:Status-Status}\\n' prometheus-node-exporter; systemctl show -P LoadState reader.service mesh-host.timer"), 0)
	if out := desk.Ask("dpkg-query -W -f '${db:Status-Status}' prometheus-node-exporter").Out; out == "installed" {
		d.Error("the package is still installed")
	}
	for unit, m := range map[string]*Machine{"reader.service": desk, "prometheus-node-exporter.service": desk, "mesh-host.timer": desk, "mesh-host.service": desk, "guestbook.service": hut} {
		if out := m.Ask("systemctl show -P LoadState %s", unit).Out; strings.TrimSpace(out) != "not-found" {
			d.Errorf("systemd of %s still knows %s: %s", m.Name, unit, out)
		}
	}
	d.lab.Say("but data is data: it stays, and so does the user whose it is, and both are listed")
	d.has(d.must(hut.Sh("cat /var/lib/guestbook/entries; id -un guestbook; mesh-host status"), 0), "somebody was here", "directory /var/lib/guestbook", "user guestbook")
	if got, err := LetIn("desk", netip.MustParseAddr(d.address("hut")), "tcp", samplePorts(port)); err != nil || !slices.Equal(got, []int{22}) {
		d.Errorf("hut still answers on %v (%v)", got, err)
	}
	d.must(hut.Sh("rm /var/lib/guestbook/entries"), 0)
	d.has(d.apply("hut"), "removed directory /var/lib/guestbook", "removed user guestbook")
	gate := d.lab.Machine("gate")
	if out := gate.Ask("cat /etc/postgresql/mesh/consumers.json; ls /etc/postgresql/mesh/consumers.d").Out; strings.Contains(out, "guestbook") {
		d.Errorf("gate still has a consumer: %s", out)
	}
	d.must(gate.Sh("cat /etc/postgresql/mesh/consumers.json"), 0)
}

// HST-8: the backends' conformance suite, on a booted machine.
func conformance(d day) {
	d.check(d.lab.Install(filepath.Join(d.lab.Dir, "bin/conformance"), "/root/conformance"))
	out := d.must(d.lab.Machine("desk").Sh("MESHC_LAB_MACHINE=desk ./conformance -test.v -test.run '^TestConformanceOnAMachine$' | grep -e '^ *---' -e '^ok' -e PASS -e FAIL -e _test.go"), 0)
	if !strings.Contains(out, "--- PASS: TestConformanceOnAMachine ") || strings.Contains(out, "FAIL") {
		d.Errorf("the suite did not pass:\n%s", out)
	}
}

// set changes a line of mesh.cue.
func (d day) set(from, to string) {
	d.Helper()
	p := filepath.Join(d.mesh, "mesh.cue")
	data, err := os.ReadFile(p)
	d.check(err)
	if strings.Count(string(data), from) != 1 {
		d.Fatalf("%q stands %d times in mesh.cue", from, strings.Count(string(data), from))
	}
	d.check(os.WriteFile(p, []byte(strings.Replace(string(data), from, to, 1)), 0o644))
}

// node is what `meshc plan --json` says of one.
type node struct {
	Address   string
	Instances map[string]struct{ Ports map[string]int }
}

func (d day) plan(name string) node {
	d.Helper()
	c := exec.Command("meshc", "plan", "--json", name)
	c.Dir = d.mesh
	out, err := c.Output()
	d.check(err)
	var p struct{ Nodes map[string]node }
	d.check(json.Unmarshal(out, &p))
	return p.Nodes[name]
}

func (d day) address(name string) string { d.Helper(); return d.plan(name).Address }

func (d day) port(name, instance, listen string) int {
	d.Helper()
	p := d.plan(name).Instances[instance].Ports[listen]
	if p == 0 {
		d.Fatalf("the plan has no port for %s of %s on %s", listen, instance, name)
	}
	return p
}

// diffRestarts is which units `meshc diff` says will restart, by machine.
func (d day) diffRestarts() map[string][]string {
	d.Helper()
	c := exec.Command("meshc", "diff", "--json")
	c.Dir = d.mesh
	out, err := c.Output()
	d.check(err)
	var diff struct {
		Changes []struct {
			Kind, What string
			Nodes      []string
		}
	}
	d.check(json.Unmarshal(out, &diff))
	said := map[string][]string{}
	for _, c := range diff.Changes {
		if unit, ok := strings.CutSuffix(c.What, " restarts"); ok && c.Kind == "unit" {
			for _, n := range c.Nodes {
				said[n] = append(said[n], unit)
			}
		}
	}
	return said
}

var unitPattern = regexp.MustCompile(`(?m)^unit "[^"]+" \{\n +name += "([^"]+)"`)

// units are those that a machine's bundle declares.
func (d day) units(name string) []string {
	d.Helper()
	data, err := os.ReadFile(filepath.Join(d.mesh, "dist", name, "declaration.hcl"))
	d.check(err)
	var out []string
	for _, m := range unitPattern.FindAllStringSubmatch(string(data), -1) {
		out = append(out, m[1])
	}
	if len(out) < 2 {
		d.Fatalf("the declaration of %s has units %v", name, out)
	}
	return out
}

// starts is when each unit of a machine was last started, and by which start.
func (d day) starts(name string) map[string]string {
	d.Helper()
	units := d.units(name)
	out := d.must(d.lab.Machine(name).Ask("systemctl show -p Id,InvocationID,ActiveEnterTimestampMonotonic,MainPID -- %s", strings.Join(units, " ")), 0)
	answers := strings.Split(strings.TrimSpace(out), "\n\n")
	if len(answers) != len(units) {
		d.Fatalf("systemctl told of %d units, asked for %d", len(answers), len(units))
	}
	starts := map[string]string{}
	for i, u := range units {
		starts[u] = answers[i]
	}
	return starts
}

func changedStarts(before, after map[string]string) []string {
	var out []string
	for _, u := range slices.Sorted(maps.Keys(before)) {
		if after[u] != before[u] {
			out = append(out, u)
		}
	}
	return out
}
