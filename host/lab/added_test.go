//go:build lab

package lab

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// shed is added while the others run: at the site of two others, with one instance whose
// name comes before everything else's and one whose name comes after, and a port that is
// kept for somebody who is not there.
const shed = `package mesh

nodes: shed: {
	site: "town"
	assign: {
		"a-web": module: "web"
		"z-web": module: "web"
	}
	reserved: ports: "8000": "whoever comes later"
}
`

// watch calls a machine again and again as a stranger, on the ports that Debian's packages
// and the bundle's programs listen on. It gives those on which somebody took the call.
func (d day) watch(name string, ports ...int) (stop func() []int) {
	ports = append(ports, 21, 53, 80, 111, 443, 3306, 5432, 6379, 8000, 8080, 9100)
	end := make(chan struct{})
	taken := make([]bool, 65536)
	var done sync.WaitGroup
	for _, p := range ports {
		done.Go(func() {
			for {
				if c, err := net.DialTimeout("tcp", net.JoinHostPort(strangers[name], fmt.Sprint(p)), 200*time.Millisecond); err == nil {
					c.Close()
					taken[p] = true
				}
				select {
				case <-end:
					return
				case <-time.After(50 * time.Millisecond):
				}
			}
		})
	}
	return func() []int {
		close(end)
		done.Wait()
		var out []int
		for p, is := range taken {
			if is {
				out = append(out, p)
			}
		}
		return out
	}
}

// closed applies a machine's bundle for the first time, and sees that at no moment anybody
// outside could call what it brings.
func (d day) closed(name string, ports ...int) {
	d.Helper()
	stop := d.watch(name, ports...)
	d.apply(name)
	if taken := stop(); len(taken) > 0 {
		d.Errorf("while %s took its bundle, somebody outside could call %v", name, taken)
	}
	d.lab.Say("at no moment did anybody take a stranger's call at %s", strangers[name])
}

// HST-2, SEL-8, CMP-5, T06, T07: a machine as Debian installs it joins a mesh that runs: its
// first apply is whole, nothing of it is open before its firewall is there, what binds the
// private network's address finds it whatever it is called, and nobody's tunnel is cut.
func added(d day) {
	machine := d.lab.Machine("shed")
	d.lab.Say("the watch sees what is open: a page on the port of a package's program")
	d.must(machine.Sh("systemd-run --quiet --unit=control busybox httpd -f -p 9100; sleep 1"), 0)
	stop := d.watch("shed")
	time.Sleep(time.Second)
	if taken := stop(); !slices.Equal(taken, []int{9100}) {
		d.Fatalf("it sees %v", taken)
	}
	d.must(machine.Sh("systemctl stop control"), 0)

	key := d.must(machine.Sh("mkdir -p /var/lib/bundles; mesh-host init shed 2>/dev/null"), 0)
	d.check(os.WriteFile(filepath.Join(d.mesh, "shed.cue"), []byte(shed+"\n"+key), 0o644))
	d.must(d.lab.Sh(d.mesh, "meshc build"), 0)
	d.commit("a machine more")
	tunnels := map[string]string{}
	for _, n := range names {
		tunnels[n] = d.starts(n)["wg-quick@wg0.service"]
		d.deliver(n)
		d.apply(n)
	}
	a, z := d.port("shed", "a-web", "http"), d.port("shed", "z-web", "http")
	d.deliver("shed")
	d.closed("shed", a, z)
	for _, n := range names {
		if now := d.starts(n)["wg-quick@wg0.service"]; now != tunnels[n] {
			d.Errorf("the tunnel of %s was started anew for a peer:\n%s\n%s", n, tunnels[n], now)
		}
		m := d.lab.Machine(n)
		for instance, port := range map[string]int{"a-web": a, "z-web": z} {
			want := instance + " of shed\n"
			d.until(n+" reads "+instance, 30*time.Second, func() bool {
				return m.Ask("busybox wget -q -T 5 -O - http://shed.lab.mesh:%d/", port).Out == want
			})
			d.must(m.Sh("busybox wget -q -T 5 -O - http://shed.lab.mesh:%d/", port), 0)
		}
	}
	in := []int{22, a, z}
	slices.Sort(in)
	to := netip.MustParseAddr(strangers["shed"])
	d.probes([]probe{
		{"shed", "a stranger", "", to, "tcp", allPorts(), []int{22}},
		{"shed", "hut", "hut", netip.MustParseAddr(d.address("shed")), "tcp", samplePorts(a, z, 8000), in},
	})
	if out := d.must(machine.Ask("mesh-host apply /var/lib/bundles/shed"), 0); !strings.Contains(out, "nothing to do") {
		d.Errorf("a second apply does\n%s", out)
	}
}
