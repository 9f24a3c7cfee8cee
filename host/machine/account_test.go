package machine

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// programs puts scripts of these names in the place of programs, for as long as a test
// runs. Not one of the machine's own is found any more.
func programs(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dirs := programDirs
	programDirs = []string{dir}
	t.Cleanup(func() { programDirs = dirs })
	t.Setenv("PATH", dir)
}

// liveOnTree is a machine whose users are made by the programs that do, in a folder.
func liveOnTree(t *testing.T) (*Machine, string) {
	t.Helper()
	if _, err := user.Lookup("git"); err == nil || !CanChown() {
		t.Skip("only root can do this, where no user is called git")
	}
	m, dir := newTree(t)
	scripts := map[string]string{}
	for _, name := range []string{"useradd", "usermod", "userdel", "groupadd", "groupdel"} {
		p, err := exec.LookPath(name)
		if err != nil {
			t.Skip(err)
		}
		scripts[name] = fmt.Sprintf("exec %s --prefix %s \"$@\"", p, dir)
	}
	programs(t, scripts)
	if err := os.WriteFile(filepath.Join(dir, "etc/login.defs"), []byte("USERGROUPS_ENAB yes\nSYS_UID_MIN 100\nSYS_GID_MIN 100\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	m.users = &liveUsers{m.Accounts}
	return m, dir
}

// accounts are the lines of a folder's users and groups, which have no order.
func accounts(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, p := range []string{passwdFile, groupFile} {
		data, err := os.ReadFile(filepath.Join(dir, p))
		if err != nil {
			t.Fatal(err)
		}
		out[p] = strings.Join(slices.Sorted(strings.Lines(string(data))), "")
	}
	return out
}

// HST-8: the suite of the backends with the programs that change users on a machine.
func TestConformanceOfPrograms(t *testing.T) {
	cases := conformanceCases(subject{user: "root", group: "left", shared: "shared"})
	for name, c := range cases {
		if c.key.Kind != User {
			delete(cases, name)
		}
	}
	conforms(t, cases, func(t *testing.T, _ Key) (*Machine, func() map[string]string) {
		m, dir := liveOnTree(t)
		return m, func() map[string]string { return accounts(t, dir) }
	})
}

// HST-8: a number that a user has is no other's, in a tree as on a machine, and it is
// said whose it is. A group's number is not the user's to choose.
func TestNumberTaken(t *testing.T) {
	for name, open := range map[string]func(*testing.T) (*Machine, string){"tree": newTree, "programs": liveOnTree} {
		t.Run(name, func(t *testing.T) {
			m, dir := open(t)
			passwd := "root:x:0:0::/root:/bin/sh\nwww-data:x:33:33::/var/www:/bin/sh\n"
			if err := os.WriteFile(filepath.Join(dir, passwdFile), []byte(passwd), 0o644); err != nil {
				t.Fatal(err)
			}
			before := accounts(t, dir)
			key, want := Key{Kind: User, Name: "git"}, Want{Condition: Condition{System: true, UID: 33}}
			err := m.Backend(User).Make(t.Context(), key, want)
			if err == nil || !strings.Contains(err.Error(), "user git cannot have the number 33, which is www-data's on this machine") {
				t.Errorf("got %v", err)
			}
			sameListing(t, "refused", accounts(t, dir), before)

			want.UID = 556 // a group's
			if err := m.Backend(User).Make(t.Context(), key, want); err != nil {
				t.Fatal(err)
			}
			is, err := m.Backend(User).Look(t.Context(), key)
			if err != nil || is.UID != 556 || is.Group != "git" {
				t.Errorf("got %+v, %v", is, err)
			}
			if groups := accounts(t, dir)[groupFile]; strings.Count(groups, ":556:") != 1 {
				t.Errorf("two groups have one number:\n%s", groups)
			}
		})
	}
}

// HST-4: of a user that is not there, what a program that was killed has left goes; a group
// that somebody is in stays.
func TestLeftOfUser(t *testing.T) {
	for name, open := range map[string]func(*testing.T) (*Machine, string){"tree": newTree, "programs": liveOnTree} {
		t.Run(name, func(t *testing.T) {
			m, dir := open(t)
			before := accounts(t, dir)
			for _, left := range []string{"git:x:557:\n", "git:x:557:git\n"} {
				group := before[groupFile] + left
				if err := os.WriteFile(filepath.Join(dir, groupFile), []byte(group), 0o644); err != nil {
					t.Fatal(err)
				}
				absent := Want{Condition: Condition{Absent: true}}
				if err := m.Backend(User).Make(t.Context(), Key{Kind: User, Name: "git"}, absent); err != nil {
					t.Error(err)
				}
				sameListing(t, "given back", accounts(t, dir), before)
				if err := m.Backend(User).Make(t.Context(), Key{Kind: User, Name: "shared"}, absent); err != nil {
					t.Error(err)
				}
				sameListing(t, "in use", accounts(t, dir), before)
			}
		})
	}
}

// HST-4: the group of a user's name is made where it is to be its own, with the number that
// the user has where a run was killed before it made the group, and goes with that again.
func TestOwnGroupComesAndGoes(t *testing.T) {
	for name, open := range map[string]func(*testing.T) (*Machine, string){"tree": newTree, "programs": liveOnTree} {
		t.Run(name, func(t *testing.T) {
			m, dir := open(t)
			before := accounts(t, dir)
			passwd := before[passwdFile] + "git:x:557:558::/nonexistent:/bin/sh\n"
			if err := os.WriteFile(filepath.Join(dir, passwdFile), []byte(passwd), 0o644); err != nil {
				t.Fatal(err)
			}
			key := Key{Kind: User, Name: "git"}
			for i, c := range []struct{ group, line string }{{"git", "git:x:558:\n"}, {"adm", ""}, {"git", "git:x:"}} {
				if name == "programs" && i == 2 { // usermod --prefix looks for groups on the machine it runs on
					put := strings.Replace(accounts(t, dir)[groupFile], "adm:", "git:x:558:\nadm:", 1)
					if err := os.WriteFile(filepath.Join(dir, groupFile), []byte(put), 0o644); err != nil {
						t.Fatal(err)
					}
					continue
				}
				if err := m.Backend(User).Make(t.Context(), key, Want{Condition: Condition{Group: c.group}}); err != nil {
					t.Fatal(err)
				}
				if is, err := m.Backend(User).Look(t.Context(), key); err != nil || is.Group != c.group {
					t.Errorf("%d: got %+v, %v", i, is, err)
				}
				groups := accounts(t, dir)[groupFile]
				if c.line == "" && strings.Contains(groups, "git:") || !strings.Contains(groups, c.line) {
					t.Errorf("%d: got\n%s", i, groups)
				}
			}
			// One that was found stays.
			if err := m.Backend(User).Make(t.Context(), key, Want{Condition: Condition{Group: "adm", OwnGroup: "558"}}); err != nil {
				t.Fatal(err)
			}
			if groups := accounts(t, dir)[groupFile]; !strings.Contains(groups, "git:x:") {
				t.Errorf("got\n%s", groups)
			}
		})
	}
}

// HST-2: a group that userdel took away, before it was made again, is made by the next run.
func TestGroupGoneWithItsUser(t *testing.T) {
	for name, open := range map[string]func(*testing.T) (*Machine, string){"tree": newTree, "programs": liveOnTree} {
		t.Run(name, func(t *testing.T) {
			m, dir := open(t)
			key, found := Key{Kind: User, Name: "git"}, Condition{Absent: true, OwnGroup: "557"}
			is, err := m.Backend(User).Look(t.Context(), key)
			if err != nil || !is.Absent || is.Meets(User, found) {
				t.Errorf("got %+v, %v", is, err)
			}
			if err := m.Backend(User).Make(t.Context(), key, Want{Condition: found}); err != nil {
				t.Fatal(err)
			}
			if is, err := m.Backend(User).Look(t.Context(), key); err != nil || is != found {
				t.Errorf("got %+v, %v", is, err)
			}
			if groups := accounts(t, dir)[groupFile]; !strings.Contains(groups, "git:x:557:\n") {
				t.Errorf("got\n%s", groups)
			}
		})
	}
}
