package machine

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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

// HST-2: an apt-get that outlived a killed run is waited for, and named where it does
// not come to an end.
func TestAwaitUnlocked(t *testing.T) {
	lock, missing := filepath.Join(t.TempDir(), "lock"), filepath.Join(t.TempDir(), "missing")
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
	defer func(was time.Duration) { lockTime = was }(lockTime)

	lockTime = 200 * time.Millisecond
	if err := awaitUnlocked(context.Background(), missing, lock); err == nil || !strings.Contains(err.Error(), lock) {
		t.Errorf("with the lock held: %v", err)
	}
	lockTime = time.Minute
	waited := make(chan error, 1)
	go func() { waited <- awaitUnlocked(context.Background(), missing, lock) }()
	select {
	case err := <-waited:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	stop.Close()
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil {
		t.Errorf("with the lock free again: %v", err)
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
