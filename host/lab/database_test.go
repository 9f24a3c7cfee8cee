//go:build lab

package lab

import (
	"fmt"
	"strings"
	"time"
)

// PRV-5, PRV-14, PRV-20: hut logs in to the database on gate, across the tunnel, with what it was given and into nothing but
// its own; after a rotation with the new password only, and what it wrote is there.
func database(d day) {
	hut := d.lab.Machine("hut")
	port := d.port("gate", "postgres", "postgres")
	login := strings.TrimSpace(d.must(hut.Ask(`sed -n 's/.*"as": "\(.*\)",$/\1/p' /etc/guestbook/database.json`), 0))
	psql := func(password, database, statement string) string {
		return fmt.Sprintf(`PGCONNECT_TIMEOUT=5 PGPASSWORD="$(cat %s)" psql -h gate.lab.mesh -p %d -U %s -d %s -v ON_ERROR_STOP=1 -qAtc "%s"`, password, port, login, database, statement)
	}
	d.must(hut.Ask("DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends postgresql-client-17"), 0)
	const given, old = "/etc/guestbook/database.password", "/root/old.password"
	d.until("hut can log in", time.Minute, func() bool { return hut.Ask("%s", psql(given, "guestbook", "SELECT 1")).Code == 0 })
	d.must(hut.Sh("%s", psql(given, "guestbook", "CREATE TABLE entries (said text); INSERT INTO entries VALUES ('hello')")), 0)
	if r := hut.Sh("%s", psql(given, "postgres", "SELECT 1")); r.Code == 0 {
		d.Error("hut enters a database that is not its own")
	}
	if r := hut.Ask("%s", strings.Replace(psql(given, "guestbook", "SELECT 1"), `"$(cat `+given+`)"`, "wrong", 1)); r.Code == 0 {
		d.Error("hut logs in with another password")
	}

	d.must(hut.Ask("cp %s %s", given, old), 0)
	d.must(d.lab.Sh(d.mesh, "meshc rotate database"), 0)
	d.commit("another password")
	d.deliver("gate")
	d.apply("gate")
	d.deliver("hut")
	d.apply("hut")
	d.until("the new password is in force", time.Minute, func() bool {
		return hut.Ask("%s", psql(given, "guestbook", "SELECT 1")).Code == 0
	})
	if said := d.must(hut.Sh("%s", psql(given, "guestbook", "SELECT said FROM entries")), 0); said != "hello\n" {
		d.Errorf("what it wrote is gone: %q", said)
	}
	if r := hut.Ask("%s", psql(old, "guestbook", "SELECT 1")); r.Code == 0 {
		d.Error("the old password still works")
	}
	// Status exits 3 where a provider fails a consumer.
	for _, m := range []string{"gate", "hut"} {
		d.has(d.must(d.lab.Machine(m).Sh("mesh-host status"), 0), "credential postgres@gate database guestbook@hut", ", generation 2")
	}
	d.must(hut.Ask("rm %s", old), 0)
}
