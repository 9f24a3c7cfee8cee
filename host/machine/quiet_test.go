package machine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// HST-2, T07: while packages are installed their programs are not started, whoever asks
// otherwise is answered as before, and afterwards the machine's own policy is there
// again or none, also where a run was killed at any step or the installation failed.
func TestPackagesStartNothing(t *testing.T) {
	const own = "#!/bin/sh\nexit 104\n"
	for name, found := range map[string]string{"none": "", "one of the machine's": own} {
		t.Run(name, func(t *testing.T) {
			for _, pkg := range []string{"new", "unknown"} {
				backend, dir, _ := aptOnTree(t)
				p := filepath.Join(dir, "usr/sbin/policy-rc.d")
				is := func() string { data, _ := os.ReadFile(p); return string(data) }
				if found != "" {
					mkdir(t, filepath.Dir(p))
					if err := os.WriteFile(p, []byte(found), 0o755); err != nil {
						t.Fatal(err)
					}
				}
				for _, at := range []string{"policy is kept", "packages start nothing", ""} {
					func() {
						defer func() { _ = recover() }()
						defer OnStep(step)
						OnStep(func(s string) {
							if s == at {
								panic(s) // as a kill would end it
							}
						})
						err := backend.Make(t.Context(), Key{Kind: Package, Name: pkg}, Want{})
						if (err != nil) != (pkg == "unknown") {
							t.Errorf("%s: %v", pkg, err)
						}
					}()
					if at == "policy is kept" && is() != found {
						t.Errorf("killed there, the policy is %q", is())
					}
				}
				if is() != found {
					t.Errorf("in the end the policy is %q", is())
				}
				if left, _ := filepath.Glob(p + ".*"); len(left) > 0 {
					t.Errorf("%v is left", left)
				}
				asked, _ := os.ReadFile(filepath.Join(dir, "asked"))
				if want := "101 0 0"; pkg == "new" && strings.Join(strings.Fields(string(asked)), " ") != want {
					t.Errorf("programs were told %q, want %s", asked, want)
				}
			}
		})
	}
}

// HST-2, T07: what a killed run has left is cleared away by the next, though it installs nothing.
func TestPolicyIsClearedAway(t *testing.T) {
	backend, dir, _ := aptOnTree(t)
	p := filepath.Join(dir, "usr/sbin/policy-rc.d")
	mkdir(t, filepath.Dir(p))
	if err := os.WriteFile(p, []byte("own"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := beQuiet(t.Context(), backend.dpkg.root); err != nil {
		t.Fatal(err)
	}
	letGo := holdLock(t, filepath.Join(dir, "lock"))
	if err := backend.Clear(t.Context()); err != nil {
		t.Error(err)
	}
	if data, _ := os.ReadFile(p); string(data) != policy {
		t.Errorf("with an apt-get at work the policy is %q", data)
	}
	letGo()
	if err := backend.Clear(t.Context()); err != nil {
		t.Error(err)
	}
	if data, _ := os.ReadFile(p); string(data) != "own" {
		t.Errorf("the policy is %q", data)
	}
}

// T64: a name is a package's or nothing: none that apt-get would take for a pattern, or
// for one that is to go, gets to it.
func TestPackageNameIsExact(t *testing.T) {
	backend, _, calls := aptOnTree(t)
	for _, name := range []string{"strace-", "strac.", "strace+", "b.", "b+", "a:amd64-"} {
		err := backend.MakeAll(t.Context(), []string{"a", name}, nil, nil)
		if err == nil || !strings.Contains(err.Error(), "there is no package called "+name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for _, c := range calls() {
		if c != "update" {
			t.Errorf("apt-get was asked: %v", calls())
		}
	}
	if err := backend.MakeAll(t.Context(), []string{"g++", "strace:amd64"}, nil, nil); err != nil {
		t.Error(err)
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}
