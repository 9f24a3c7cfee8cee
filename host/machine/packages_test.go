package machine

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const holdEnv = "MACHINE_TEST_HOLD"

// TestHoldLock is the other process of the test below: it holds a lock until its
// standard input ends.
func TestHoldLock(t *testing.T) {
	name := os.Getenv(holdEnv)
	if name == "" {
		t.Skip("it is part of TestAwaitUnlocked")
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}); err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("held\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// holdLock has another process hold a lock until it is let go.
func holdLock(t *testing.T, lock string) (letGo func()) {
	t.Helper()
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0], "-test.run=^TestHoldLock$")
	c.Env = append(os.Environ(), holdEnv+"="+lock)
	stop, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	return func() {
		stop.Close()
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// HST-2: an apt-get that outlived a killed run is waited for, and named where it does
// not come to an end.
func TestAwaitUnlocked(t *testing.T) {
	lock, missing := filepath.Join(t.TempDir(), "lock"), filepath.Join(t.TempDir(), "missing")
	letGo := holdLock(t, lock)
	err := awaitUnlocked(context.Background(), 200*time.Millisecond, missing, lock)
	if held := (*heldError)(nil); !errors.As(err, &held) || !strings.Contains(err.Error(), lock) {
		t.Errorf("with the lock held: %v", err)
	}
	waited := make(chan error, 1)
	go func() { waited <- awaitUnlocked(context.Background(), time.Minute, missing, lock) }()
	select {
	case err := <-waited:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	letGo()
	if err := <-waited; err != nil {
		t.Errorf("with the lock free again: %v", err)
	}
}

// aptOnTree is a machine whose apt-get and dpkg are scripts. A package called unknown
// cannot be had, virtual is one that others stand for, and none is ever removed. They
// write down how they are called.
func aptOnTree(t *testing.T) (backend *apt, dir string, calls func() []string) {
	t.Helper()
	m, dir := newTree(t)
	log := filepath.Join(dir, "log")
	programs(t, map[string]string{
		"dpkg":      "exit 0",
		"systemctl": "echo there.service loaded active running There",
		"apt-cache": `for n in a b c d e f slow next new virtual there g++ strace; do echo $n; done`,
		"apt-get": "cd " + dir + `
			case "$*" in *update) echo update >> log; [ ! -e offline ] || { echo "Could not resolve 'deb.debian.org'"; exit 100; }; exit 0;; esac
			echo install >> log
			PATH=/usr/bin:/bin usr/sbin/policy-rc.d there start; echo $? >> asked
			PATH=/usr/bin:/bin usr/sbin/policy-rc.d new.service stop; echo $? >> asked
			PATH=/usr/bin:/bin MESH_HOST_INSTALLS= usr/sbin/policy-rc.d new start; echo $? >> asked
			case "$*" in *" slow"*) sleep 1;; esac
			case "$*" in *" unknown"*) echo "E: Unable to locate package unknown"; exit 100;; esac
			while [ "$1" != -- ]; do shift; done
			shift
			for name; do
				case $name in
				virtual) ;;
				*-) ;;
				*) printf '\nPackage: %s\nStatus: install ok installed\nArchitecture: all\n' $name >> var/lib/dpkg/status;;
				esac
			done`,
	})
	locks := dpkgLocks
	dpkgLocks = []string{filepath.Join(dir, "lock")}
	t.Cleanup(func() { dpkgLocks = locks })
	return &apt{dpkg: &dpkg{root: m.Root}}, dir, func() []string {
		data, err := os.ReadFile(log)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.Fields(string(data))
	}
}

// HST-2: one package that cannot be had costs the others little: the lists are updated
// once in a run, and again only where the sources of packages have changed since.
func TestListsAreUpdatedOnce(t *testing.T) {
	backend, dir, calls := aptOnTree(t)
	names := []string{"a", "b", "c", "unknown", "d", "e", "f"}
	if err := backend.MakeAll(t.Context(), names, nil, nil); err == nil {
		t.Fatal("a package that cannot be had was installed")
	}
	each := func() {
		t.Helper()
		for _, name := range names {
			err := backend.Make(t.Context(), Key{Kind: Package, Name: name}, Want{})
			if (err != nil) != (name == "unknown") || err != nil && !strings.Contains(err.Error(), "there is no package called unknown") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	each()
	updates := func() int { return len(slices.DeleteFunc(calls(), func(s string) bool { return s != "update" })) }
	if n := len(calls()); n > 10 || updates() != 1 {
		t.Errorf("apt-get ran %d times: %v", n, calls())
	}
	if err := os.MkdirAll(filepath.Join(dir, "etc/apt/sources.list.d"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "etc/apt/sources.list.d/more.sources"), []byte("Types: deb\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	each()
	each()
	if updates() != 2 {
		t.Errorf("with another source, the lists were updated %d times in all", updates())
	}
}

// HST-2: where a package cannot be had because the lists are old and cannot be fetched,
// both is said.
func TestOldListsAreSaid(t *testing.T) {
	backend, dir, _ := aptOnTree(t)
	if err := os.WriteFile(filepath.Join(dir, "offline"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		err := backend.Make(t.Context(), Key{Kind: Package, Name: "unknown"}, Want{})
		if err == nil || !strings.Contains(err.Error(), "there is no package called unknown") || !strings.Contains(err.Error(), "Could not resolve 'deb.debian.org'") {
			t.Errorf("got %v", err)
		}
	}
}

// HST-2: an interrupt does not cut short what apt-get has begun, and keeps it from
// beginning more.
func TestInterruptLetsPackagesBe(t *testing.T) {
	backend, _, calls := aptOnTree(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(calls()) == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	if err := backend.Make(ctx, Key{Kind: Package, Name: "slow"}, Want{}); err != nil {
		t.Error(err)
	}
	if is, err := backend.Look(t.Context(), Key{Kind: Package, Name: "slow"}); err != nil || is.Absent {
		t.Errorf("it was cut short: %+v, %v", is, err)
	}
	if err := backend.Make(ctx, Key{Kind: Package, Name: "next"}, Want{}); err == nil || len(calls()) != 1 {
		t.Errorf("it went on: %v, %v", calls(), err)
	}
}

// HST-3: a package is made only if it is there afterwards; one that is not has failed.
func TestPackageIsThere(t *testing.T) {
	backend, _, _ := aptOnTree(t)
	for name, c := range map[string]struct {
		absent bool
		want   string
	}{
		"new": {false, ""}, "virtual": {false, "there is still no package virtual"}, "there": {true, "package there is still there"},
	} {
		err := backend.Make(t.Context(), Key{Kind: Package, Name: name}, Want{Condition: Condition{Absent: c.absent}})
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// HST-2: a lock that was waited for in vain is not waited for again in the same run, and
// what it kept from being done is done once it is free.
func TestLockIsAwaitedOnce(t *testing.T) {
	backend, dir, calls := aptOnTree(t)
	defer func(was time.Duration) { lockTime = was }(lockTime)
	lockTime = time.Second
	letGo := holdLock(t, filepath.Join(dir, "lock"))
	begin := time.Now()
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		err := backend.Make(t.Context(), Key{Kind: Package, Name: name}, Want{})
		if err == nil || !strings.Contains(err.Error(), "another package manager is at work") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if took := time.Since(begin); took < lockTime || took > 3*lockTime || len(calls()) > 0 {
		t.Errorf("it took %v, with %v", took, calls())
	}
	letGo()
	if err := backend.Make(t.Context(), Key{Kind: Package, Name: "a"}, Want{}); err != nil {
		t.Error(err)
	}
}

// What dpkg's own file says of packages: there, removed but for its configuration, held, of two architectures.
func TestParseStatus(t *testing.T) {
	const status = `Package: there
Status: install ok installed
Architecture: amd64
Description: a line
 Status: of the description

Package: held
Status: hold ok installed
Architecture: all

Package: gone
Status: deinstall ok config-files
Architecture: amd64

Package: half
Status: install reinstreq half-installed
Architecture: amd64

Package: both
Status: install ok installed
Architecture: amd64

Package: both
Status: deinstall ok config-files
Architecture: i386
`
	have := parseStatus(status)
	for name, want := range map[string]packageStatus{
		"there": installed, "there:amd64": installed, "held": installed, "gone": configFiles, "half": notInstalled, "never": notInstalled,
		"both": installed, "both:amd64": installed, "both:i386": configFiles,
	} {
		if have[name] != want {
			t.Errorf("%s is %d, want %d", name, have[name], want)
		}
	}
}
