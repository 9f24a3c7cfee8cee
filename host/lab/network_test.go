//go:build lab

package lab

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// strangers are how somebody who is no machine of the mesh calls each of them.
var strangers = map[string]string{"gate": "192.0.2.2", "desk": "192.0.2.3", "hut": "10.13.0.2", "shed": "192.0.2.4"}

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

// look looks at all ports at once, and once more at those alone that should have answered:
// on a busy machine a packet gets lost among thousands, and no answer comes from nowhere.
func (p probe) look() ([]int, error) {
	got, err := LetIn(p.from, p.to, p.protocol, p.ports)
	for range 3 {
		missing := slices.DeleteFunc(slices.Clone(p.want), func(port int) bool { _, ok := slices.BinarySearch(got, port); return ok })
		if err != nil || len(missing) == 0 {
			break
		}
		var more []int
		more, err = LetIn(p.from, p.to, p.protocol, missing)
		got = append(got, more...)
		slices.Sort(got)
	}
	return got, err
}

// probes looks at all at once, and writes down what was seen in their order.
func (d day) probes(all []probe) {
	d.Helper()
	got, errs := make([][]int, len(all)), make([]error, len(all))
	var done sync.WaitGroup
	for i, p := range all {
		done.Go(func() { got[i], errs[i] = p.look() })
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

// HST-9: no secret is in an argument, in an environment, in the journal, or in a file
// that others can read, of any program and not of mesh-host alone.
func secrets(d day) {
	for name, at := range map[string]string{"hut": "/etc/guestbook/database.password", "gate": "/etc/postgresql/mesh/superuser"} {
		m := d.lab.Machine(name)
		d.lab.Say("a copy that others can read shows that such a file is found")
		for _, c := range []struct{ script, want string }{
			{"install -m 644 %s /tmp/copy", ""},
			{"cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -cF -f %s || true", "0\n"},
			{"journalctl --no-pager --all -o export | grep -caF -f %s || true", "0\n"},
			{"find / /run /tmp /dev/shm /var/lib/containers -xdev -path /usr -prune -o -type f -perm -o=r -exec grep -salF -f %s {} + | sort -u", "/tmp/copy\n"},
		} {
			if out := m.Sh(c.script, at).Out; out != c.want {
				d.Errorf("%s of %s is found: %s", at, name, out)
			}
		}
		m.Ask("rm /tmp/copy")
	}
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
			probe{n, "a stranger", "", to, "udp", udpSample, nil})
		for _, from := range names {
			if from != n {
				to := netip.MustParseAddr(d.address(n))
				want := append([]int{22}, open[n]...)
				slices.Sort(want)
				probes = append(probes, probe{n, from, from, to, "tcp", samplePorts(all...), want}, probe{n, from, from, to, "udp", udpSample, nil})
			}
		}
	}
	d.probes(probes)
	d.lab.Say("who sends to an address of the mesh from outside of it is not let in by that")
	gate := d.address("gate")
	d.must(d.lab.Sh(d.mesh, "ip route add %s via 192.0.2.2", gate), 0)
	d.probes([]probe{{"gate", "a stranger", "", netip.MustParseAddr(gate), "tcp", samplePorts(all...), []int{22}}})
}
