package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

// HST-2, HST-4, T35: what a file tells the kernel is told in the run in which it changes,
// and what was found is given back, also where it could not be told the first time.
func TestSysctlsAreLoaded(t *testing.T) {
	dir, keys := newTree(t), t.TempDir()
	h := onTree(t, dir)
	value := func(key string) string {
		data, _ := os.ReadFile(filepath.Join(keys, key))
		return strings.TrimSpace(string(data))
	}
	put(t, keys, "net/forward", "0\n", 0o644)
	put(t, keys, "net/conf/eth0.1/rp", "2\n", 0o644)
	put(t, keys, "vm/own", "7\n", 0o644)
	put(t, dir, "/etc/sysctl.d/99-own.conf", "vm.own = 8\n", 0o644)
	// The real program reads the files of all folders in the order of their names.
	program := filepath.Join(t.TempDir(), "load")
	put(t, filepath.Dir(program), "load", `#!/bin/sh
		[ ! -e `+keys+`/refuse ] || { echo "no"; exit 1; }
		cat `+dir+`/etc/sysctl.d/*.conf | while read -r key is value; do
			path=$(echo "$key" | tr ./ /.)
			for arg; do [ "$arg" != "--prefix=/$path" ] || echo "$value" >`+keys+`/$path; done
		done
`, 0o755)
	h.Machine.Kernel = &machine.Kernel{Keys: keys, Program: program}
	file := &bundle.File{ID: "a/file.s", Path: "/etc/sysctl.d/60-a.conf", Mode: 0o644}
	with := func(text string) string {
		return write(t, []bundle.Item{file}, map[bundle.ID]string{"a/file.s": text})
	}
	noFailures(t, apply(t, h, with("# why\nnet.forward = 1\nvm.own = 9\n-net.conf.eth0/1.rp = 1\n")))
	if value("net/forward") != "1" || value("vm/own") != "8" {
		t.Errorf("forward is %s, own %s, which another file says is 8", value("net/forward"), value("vm/own"))
	}
	if r := apply(t, h, with("# why\nnet.forward = 1\nvm.own = 9\n-net.conf.eth0/1.rp = 1\n")); len(r.Events) > 0 {
		t.Errorf("again it does\n%s", lines(r))
	}
	put(t, keys, "refuse", "", 0o644)
	b := with("vm.own = 9\nnet.forward = 2\n")
	if r := apply(t, h, b); !r.Partly() || !strings.Contains(lines(r), "failed file /etc/sysctl.d/60-a.conf (a/file.s): the kernel was not told all of it") {
		t.Errorf("where it is refused it does\n%s", lines(r))
	}
	if err := os.Remove(filepath.Join(keys, "refuse")); err != nil {
		t.Fatal(err)
	}
	noFailures(t, apply(t, h, b))
	if value("net/forward") != "2" || value("net/conf/eth0.1/rp") != "2" {
		t.Errorf("made up for, forward is %s and rp %s", value("net/forward"), value("net/conf/eth0.1/rp"))
	}
	noFailures(t, apply(t, h, write(t, nil, nil)))
	if value("net/forward") != "0" || value("vm/own") != "8" {
		t.Errorf("given back, forward is %s and own %s", value("net/forward"), value("vm/own"))
	}
}
