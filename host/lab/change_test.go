//go:build lab

package lab

import (
	"maps"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

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

// How desk is told to fetch its bundle, and where that lies then. The router serves what
// CI would publish.
const (
	published = "/var/lib/bundles/desk.tar"
	fetches   = `settings: "mesh-host": {every: "1h", bundle: "` + published + `", signed_url: "http://192.0.2.1:8000/desk.tar"}`
)

// publish puts the bundles where machines fetch them, and serves them until stop is called.
func (d day) publish() (stop func()) {
	d.Helper()
	d.must(d.lab.Sh(d.mesh, "meshc build --locked --archive --sign ../key -o ../published"), 0)
	listen, err := net.Listen("tcp", "192.0.2.1:8000")
	d.check(err)
	d.lab.Say("../published is served at http://%s/", listen.Addr())
	server := &http.Server{Handler: http.FileServer(http.Dir(filepath.Join(d.lab.Dir, "published")))}
	go func() { _ = server.Serve(listen) }()
	return func() { _ = server.Close() }
}

// HST-3: a machine that fetches its bundle takes the one that is published; where there
// is none to be had, it stays as it is and says so.
func fetch(d day) {
	desk := d.lab.Machine("desk")
	d.set(`settings: "mesh-host": every: "1h"`, fetches)
	d.commit("desk fetches its bundle")
	d.deliver("desk")
	d.lab.Say("desk is told how by the last bundle that is brought to it")
	d.must(desk.Sh("systemctl start mesh-host.service && systemctl cat mesh-host.service | grep Exec"), 0)
	d.lab.Say("while nobody serves it")
	if r := desk.Sh("systemctl start mesh-host.service; journalctl -b -u mesh-host.service --no-pager -o cat -n 5"); !strings.Contains(r.Out, "curl: (7)") {
		d.Errorf("nothing is said of the server that is not there:\n%s", r.Out)
	}
	stop := d.publish()
	defer stop()
	d.must(desk.Sh("systemctl start mesh-host.service && journalctl -b -u mesh-host.service --no-pager -o cat -n 4 && ls -l /var/lib/bundles"), 0)
	d.has(d.must(desk.Sh("mesh-host status"), 0), "desk of mesh lab: bundle")
	if out := d.must(desk.Sh("mesh-host apply %s", published), 0); !strings.Contains(out, "nothing to do") {
		d.Errorf("what was fetched was not applied: %s", out)
	}
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
	d.set("\t"+fetches+"\n", "")
	d.must(d.lab.Sh(d.mesh, "meshc diff"), 0)
	d.must(d.lab.Sh(d.mesh, "meshc lock && git add . && git commit -q -m 'no guestbook' && meshc build --locked"), 0)
	d.deliver("gate")
	d.deliver("hut")
	stop := d.publish()
	defer stop()
	d.apply("gate")
	d.apply("hut")
	d.lab.Say("desk takes its own, and with it the unit away that it is just run by")
	d.has(d.must(desk.Sh("systemctl start mesh-host.service; journalctl -b -u mesh-host.service --no-pager -o cat -n 17"), 0),
		"removed package prometheus-node-exporter (node-exporter/package.exporter): not declared any more; its configuration files stay until `apt-get purge prometheus-node-exporter`")
	d.applyFrom("desk", published)
	d.lab.Say("no file, no unit, no container of it is left, and of its package what dpkg keeps")
	for m, gone := range map[*Machine][]string{
		hut: {"/etc/guestbook", "/etc/containers/systemd/guestbook.container", "/run/systemd/generator/guestbook.service"},
		desk: {
			"/etc/reader", "/usr/local/lib/reader", "/etc/systemd/system/reader.service", "/etc/systemd/system/multi-user.target.wants/reader.service", "/etc/systemd/system/prometheus-node-exporter.service.d", "/run/reader",
			"/etc/systemd/system/mesh-host.service", "/etc/systemd/system/mesh-host.timer", "/etc/systemd/system/timers.target.wants/mesh-host.timer", "/usr/local/lib/mesh-host",
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
	d.must(desk.Sh("dpkg-query -W -f '${db:Status-Status}\\n' prometheus-node-exporter curl; systemctl show -P LoadState reader.service mesh-host.timer"), 0)
	if out := desk.Ask("dpkg-query -W -f '${db:Status-Status}\\n' prometheus-node-exporter curl").Out; slices.Contains(strings.Fields(out), "installed") {
		d.Errorf("a package is still installed: %s", out)
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
