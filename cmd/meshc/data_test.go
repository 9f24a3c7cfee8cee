package main

import (
	"strings"
	"testing"
)

const attic = `package attic

import "meshc.dev/schema"

schema.#Module

in: _

name:    "attic"
summary: "keeps things"

data: things: path: ["/var/lib/\(in.instance)", "/srv/\(in.instance)"]
`

// DAT-1, REV-5, T17: data that stays behind, moves or is read by another version is a warning of check and
// build, and in diff the first class after access and nodes out of reach.
func TestDataLeft(t *testing.T) {
	const forge = `nodes: forge: assign: gitea: settings: host: "git.example.org"`
	const gate = `hub: {}, postgres: {}, "reverse-proxy": {}`
	for _, c := range []struct {
		name, from, to string
		impact         string
		says, not      []string
	}{
		{"path", forge, forge + "\nsettings: gitea: data: \"/srv/forge\"", "data left behind or moved", []string{"on forge, data of gitea stays behind: its data stays in /var/lib/gitea, it begins anew in /srv/forge"}, nil},
		{
			"version", gate, `hub: {}, postgres: settings: version: 18, "reverse-proxy": {}`, "data left behind or moved",
			[]string{"its data stays in /var/lib/postgresql/17/main, it begins anew in /var/lib/postgresql/18/main", "read by another major version: package postgresql 18 instead of 17"},
			nil,
		},
		{"image", forge, forge + "\nsettings: gitea: image: \"docker.io/gitea/gitea:2.0\"", "data left behind or moved", []string{"data of gitea is read by another major version: image gitea 2 instead of 1"}, nil},
		{"machine", forge, "nodes: forge: {}\n" + strings.Replace(forge, "forge", "desk", 1), "data left behind or moved", []string{"gitea moves to desk, and its data does not: its data stays in /var/lib/gitea, it begins anew in /var/lib/gitea of desk"}, nil},
		{"provider", gate, `hub: {}, "reverse-proxy": {}`, "data left behind or moved", []string{"postgres moves to desk, and its data does not", "gitea has its database with postgres@desk instead of postgres@gate, and what is in the old one stays there"}, nil},
		{"renamed", forge, strings.Replace(forge, "gitea:", `shed: module: "gitea", nodes: forge: assign: shed:`, 1), "data left behind or moved", []string{"data of gitea stays behind: its data stays in /var/lib/gitea"}, nil},
		{
			"moved", forge, strings.Replace(forge, "gitea:", `shed: module: "gitea", nodes: forge: assign: shed:`, 1) + "\nmoved: instances: \"gitea@forge\": \"shed@forge\"\nnodes: forge: assign: shed: settings: data: \"/var/lib/gitea\"", "data left behind or moved",
			[]string{"shed has another database with postgres@gate, and what is in the old one stays there: database is \"shed\" instead of \"gitea\""},
			[]string{"data of shed stays behind", "gitea is gone", "shed is new", "no longer placed", "placed for the first time"},
		},
		{"gone", "assign: {attic: {}, ", "assign: {", "data left behind or moved", []string{"data of attic stays behind: its data stays in /var/lib/attic, its data stays in /srv/attic"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := copyMesh(t, "small")
			write(t, dir, "modules/attic/attic.cue", attic)
			edit(t, dir, "mesh.cue", "desk: assign: {", "desk: assign: {attic: {}, ")
			gitIn(t, dir, "init", "-q")
			if _, stderr, code := inProcess(t, "", "lock", "-C", dir); code != exitDone {
				t.Fatalf("lock: exit %d\n%s", code, stderr)
			}
			gitIn(t, dir, "add", "-A")
			gitIn(t, dir, "commit", "-qm", "one")
			if _, stderr, _ := inProcess(t, "", "check", "-C", dir); strings.Contains(stderr, "W0375") {
				t.Fatalf("a warning without a change:\n%s", stderr)
			}
			edit(t, dir, "mesh.cue", c.from, c.to)
			if c.name == "provider" {
				edit(t, dir, "mesh.cue", "attic: {}, ", "attic: {}, postgres: {}, ")
			}
			_, stderr, code := inProcess(t, "", "check", "-C", dir)
			if c.name == "moved" {
				if help := "nodes: forge: assign: shed: settings: database: \"gitea\""; code != exitRefused || !strings.Contains(stderr, help) {
					t.Errorf("does not help with %s:\n%s", help, stderr)
				}
				edit(t, dir, "mesh.cue", "settings: data:", "settings: database: \"shed\", nodes: forge: assign: shed: settings: data:")
				_, stderr, code = inProcess(t, "", "check", "-C", dir)
			}
			if code != exitDone {
				t.Fatalf("check: exit %d\n%s", code, stderr)
			}
			out, derr, _ := inProcess(t, "", "diff", "-C", dir)
			if first, _, _ := strings.Cut(out, "\n"); !strings.Contains(first, ": "+c.impact) && !strings.Contains(first, ": access") {
				t.Errorf("the first line is %q%s", first, derr)
			}
			if !strings.Contains(out, "\ndata left behind or moved\n") {
				t.Errorf("diff has no such class:\n%s", out)
			}
			for _, s := range c.says {
				if !strings.Contains(stderr, s) {
					t.Errorf("does not warn %q:\n%s", s, stderr)
				}
			}
			for _, s := range c.not {
				if strings.Contains(out, s) {
					t.Errorf("says %q:\n%s", s, out)
				}
			}
			gitIn(t, dir, "commit", "-qam", "two")
			if _, stderr, _ = inProcess(t, "", "check", "-C", dir); !strings.Contains(stderr, "W0375") {
				t.Error("the commit that does it has no warning")
			}
			write(t, dir, "more.cue", "package mesh\n")
			gitIn(t, dir, "add", "-A")
			gitIn(t, dir, "commit", "-qm", "three")
			if _, stderr, _ = inProcess(t, "", "check", "-C", dir); strings.Contains(stderr, "W0375") {
				t.Error("the commit after it has a warning")
			}
		})
	}
}

// DAT-1: data goes into the plan, and its directories are declared; they are of one instance, even
// where another would declare them equally.
func TestDataInPlan(t *testing.T) {
	dir := copyMesh(t, "small")
	write(t, dir, "modules/attic/attic.cue", strings.Replace(attic, `"/srv/\(in.instance)"`, `"/srv/same"`, 1))
	edit(t, dir, "mesh.cue", "desk: assign: {", "desk: assign: {attic: {}, ")
	out, stderr, code := inProcess(t, "", "plan", "-C", dir, "--json")
	if code != exitDone || !strings.Contains(out, "/srv/same") || !strings.Contains(out, `"attic/data.things-2"`) {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	edit(t, dir, "mesh.cue", "attic: {}, ", "attic: {}, loft: module: \"attic\", ")
	_, stderr, code = inProcess(t, "", "check", "-C", dir)
	if code != exitRefused || !strings.Contains(stderr, "both claim the path /srv/same") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}

// REV-5, T22: what a layer opens shows in diff as reach, and as exposed where the world comes in.
func TestDiffOfOpen(t *testing.T) {
	dir := committed(t, "small")
	for from, want := range map[string]string{
		"network": "nothing restarts\n  a panel (open) becomes reachable from network at tcp 8443",
		"world":   "exposed to the world\n  a panel (open) becomes reachable from world at tcp 8443",
	} {
		write(t, dir, "open.cue", "package mesh\n\nopen: \"8443/tcp\": {for: \"a panel\", from: \""+from+"\"}\n")
		if out, stderr, _ := inProcess(t, "", "diff", "-C", dir); !strings.Contains(out, want) {
			t.Errorf("%s: %s%s", from, out, stderr)
		}
	}
}
