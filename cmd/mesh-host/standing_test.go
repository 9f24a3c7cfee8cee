package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// PRV-13: status tells of each provider which consumers are not as they asked for, exits 3 where there are such, and nothing
// that lies in a loop's folder can make it fail or wait.
func TestStatusTellsOfProviders(t *testing.T) {
	root := t.TempDir()
	put := func(name, content string) {
		p := filepath.Join(root, "var/lib/mesh-standing", name, "standing.json")
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if content == "pipe" {
			if err := syscall.Mkfifo(p, 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			if err := os.Symlink(target, p); err != nil {
				t.Fatal(err)
			}
			return
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	status := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := run(append([]string{"status", "--root", root}, args...), &out, &errs)
		return code, out.String() + errs.String()
	}
	var out bytes.Buffer
	if code := run([]string{"init", "anchor", "--root", root}, &out, &out); code != done {
		t.Fatal(out.String())
	}
	put("well", `{"kind": "redis", "provider": "redis@anchor", "receives": {"read": true}, "consumers": [{"as": "a", "consumer": "app@board", "state": "holds"}]}`)
	put("odd", "half {")
	put("pipe", "pipe")
	put("link", "-> /etc/shadow")
	put("huge", strings.Repeat(" ", 2<<20))
	if err := os.MkdirAll(filepath.Join(root, "var/lib/mesh-standing/silent"), 0o755); err != nil {
		t.Fatal(err)
	}
	code, text := status()
	if code != done {
		t.Errorf("nobody fails: exit %d\n%s", code, text)
	}
	put("postgres", `{"kind": "postgres", "provider": "postgres@anchor", "receives": {"read": false, "error": "gone"}, "consumers": [
		{"as": "gitea_board", "consumer": "gitea@board", "state": "failing", "class": "refused", "error": "somebody else has it", "since": "2026-11-30T12:00:00Z"},
		{"as": "fine", "consumer": "fine@board", "state": "applied"}]}`)
	code, text = status("--json")
	var s struct {
		Providers []struct {
			Name       string
			Standing   map[string]any
			Unreadable string
			Failing    []string
		}
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil || code != partly {
		t.Fatalf("exit %d, %v\n%s", code, err, text)
	}
	for _, p := range s.Providers {
		switch p.Name {
		case "postgres":
			if len(p.Failing) != 2 || !strings.Contains(p.Failing[1], "gitea_board of gitea@board is failing since 2026-11-30 12:00: somebody else has it") || p.Standing["kind"] != "postgres" {
				t.Errorf("%+v", p)
			}
		case "well":
			if p.Unreadable != "" || len(p.Failing) > 0 {
				t.Errorf("%+v", p)
			}
		default:
			if p.Unreadable == "" || p.Standing != nil {
				t.Errorf("%+v", p)
			}
		}
	}
	if len(s.Providers) != 7 {
		t.Errorf("%d providers\n%s", len(s.Providers), text)
	}
}
