package vault

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"meshc.dev/compiler/lock"
)

// child runs this test binary again as another process, which does what TestChild
// says. It ends at the latest when its input is closed.
func child(t *testing.T, what, dir string, n int) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), "VAULT_CHILD="+what, "VAULT_DIR="+dir, "VAULT_N="+strconv.Itoa(n))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, in, bufio.NewReader(out)
}

// TestChild is the other process of the tests below, and nothing by itself.
func TestChild(t *testing.T) {
	what, dir := os.Getenv("VAULT_CHILD"), os.Getenv("VAULT_DIR")
	if what == "" {
		return
	}
	x, err := Open(dir).Begin(t.Context(), Owner{PID: os.Getpid(), Command: "meshc " + what, Since: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	switch what {
	case "hold":
		_, _ = os.Stdout.WriteString("holding\n")
		_, _ = io.ReadAll(os.Stdin)
	case "commit":
		n, _ := strconv.Atoi(os.Getenv("VAULT_N"))
		x.store.disk = &killingDisk{stop: n}
		c := crashCases(t)[1]
		if err := x.store.commit(c.next, c.add, c.remove); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
}

// killingDisk kills its own process at one of its writing calls, or half way through a write.
type killingDisk struct {
	osDisk
	calls, stop int
}

func (d *killingDisk) call() {
	if d.calls++; d.calls == d.stop {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Hour)
	}
}

func (d *killingDisk) Mkdir(p string) error {
	d.call()
	return d.osDisk.Mkdir(p)
}

func (d *killingDisk) Rename(from, to string) error {
	d.call()
	return d.osDisk.Rename(from, to)
}

func (d *killingDisk) Remove(p string) error {
	d.call()
	return d.osDisk.Remove(p)
}

func (d *killingDisk) SyncDir(p string) error {
	d.call()
	return d.osDisk.SyncDir(p)
}

func (d *killingDisk) Create(p string) (file, error) {
	d.call()
	f, err := d.osDisk.Create(p)
	return killingFile{f, d}, err
}

func (d *killingDisk) Rewrite(p string) (file, error) {
	d.call()
	f, err := d.osDisk.Rewrite(p)
	return killingFile{f, d}, err
}

type killingFile struct {
	file
	d *killingDisk
}

func (f killingFile) Write(b []byte) (int, error) {
	f.d.call()
	n, err := f.file.Write(b[:len(b)/2])
	if err != nil {
		return n, err
	}
	f.d.call()
	m, err := f.file.Write(b[len(b)/2:])
	return n + m, err
}

func (f killingFile) Sync() error {
	f.d.call()
	return f.file.Sync()
}

// SEC-7: a process that is killed at any write leaves the old state or the new, and the next one clears up
func TestKilledAtEveryWrite(t *testing.T) {
	c := crashCases(t)[1]
	oldDisk := c.disk()
	killed, wasOld, wasNew := 0, 0, 0
	for n := 1; n < 200; n++ {
		dir := t.TempDir()
		for name, x := range oldDisk.now {
			path := filepath.Join(dir, strings.TrimPrefix(name, "mesh"))
			if x.dir {
				_ = os.MkdirAll(path, 0o755)
				continue
			}
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, x.now, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		before, err := os.ReadFile(filepath.Join(dir, lock.File))
		if err != nil {
			t.Fatal(err)
		}
		cmd, in, _ := child(t, "commit", dir, n)
		err = cmd.Wait()
		_ = in.Close()
		if err != nil {
			if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
				t.Fatalf("the process was not killed at call %d: %v", n, err)
			}
			killed++
		}
		x, beginErr := Open(dir).Begin(t.Context(), Owner{PID: os.Getpid()})
		if beginErr != nil {
			t.Fatal(beginErr)
		}
		switch string(x.Lock) {
		case string(before):
			wasOld++
		case string(c.next):
			wasNew++
		default:
			t.Fatalf("killed at call %d: %s", n, x.Lock)
		}
		named := 0
		for _, s := range readLock(t, x.Lock).Secrets {
			for _, e := range s.Ends {
				b, err := os.ReadFile(filepath.Join(dir, sealedDir, e.Blob))
				if err != nil || sha256Hex(b) != e.SHA256 {
					t.Fatalf("killed at call %d: %s is %q (%v)", n, e.Blob, b, err)
				}
				named++
			}
		}
		if len(x.blobs) != named {
			t.Fatalf("killed at call %d: %d blobs, %d named", n, len(x.blobs), named)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		if killed < n { // it came to its end
			break
		}
	}
	if killed < 15 || wasOld == 0 || wasNew < 2 {
		t.Errorf("killed %d times, old %d, new %d", killed, wasOld, wasNew)
	}
}

// SEC-7: a second process waits, and is told who holds the folder when it waited long enough
func TestTwoProcesses(t *testing.T) {
	h, _, _ := twoPairs(t)
	cmd, in, out := child(t, "hold", h.dir, 0)
	if line, err := out.ReadString('\n'); line != "holding\n" {
		t.Fatal(line, err)
	}
	begin := func(wait time.Duration) (*Session, error) {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		return Open(h.dir).Begin(ctx, Owner{PID: os.Getpid(), Command: "meshc build"})
	}
	_, err := begin(200 * time.Millisecond)
	var busy *BusyError
	if !errors.As(err, &busy) || busy.Owner.PID != cmd.Process.Pid || busy.Owner.Command != "meshc hold" {
		t.Fatalf("the folder is held, and it is said %v", err)
	}
	if !strings.Contains(err.Error(), "process "+strconv.Itoa(cmd.Process.Pid)+", meshc hold, since ") {
		t.Errorf("%v", err)
	}
	// Whoever only looks does not wait.
	if v, err := Open(h.dir).Read(); err != nil || len(v.blobs) != 4 {
		t.Errorf("%v %v", v, err)
	}

	got := make(chan error)
	go func() {
		x, err := begin(10 * time.Second)
		if err == nil {
			err = x.Close()
		}
		got <- err
	}()
	time.Sleep(100 * time.Millisecond)
	_ = in.Close()
	if err := <-got; err != nil {
		t.Errorf("the folder is free, and it is said %v", err)
	}
	_ = cmd.Wait()

	// One that is killed holds nothing.
	cmd, in, out = child(t, "hold", h.dir, 0)
	if line, err := out.ReadString('\n'); line != "holding\n" {
		t.Fatal(line, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	_ = in.Close()
	x, err := begin(5 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	_ = x.Close()
}

// SEC-7: what the store keeps for itself on this machine is not for git
func TestStateIsNotForGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		if os.Getenv("MESHC_TEST_TOOLS") == "required" {
			t.Fatal(err)
		}
		t.Skip("git is not installed")
	}
	h, _, _ := twoPairs(t)
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(git, args...)
		cmd.Dir = h.dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		b, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %s", args, b)
		}
		return string(b)
	}
	run("init", "-q")
	run("add", "--all")
	got := run("ls-files")
	if strings.Contains(got, StateDir) || strings.Count(got, "\n") != 5 {
		t.Errorf("git takes\n%s", got)
	}
}

// SEC-7: readers that do not wait never see a lock without its blobs, whatever a writer does meanwhile
func TestReadWhileAnotherWrites(t *testing.T) {
	h, _, _ := twoPairs(t)
	all := []Name{Credential(pair(gitea))}
	stop := make(chan struct{})
	done := make(chan error)
	d := h.demand()
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			v, err := Open(h.dir).Read()
			if err != nil {
				done <- err
				return
			}
			lk, faults := lock.Read(lock.File, v.Lock)
			if !faults.HasErrors() {
				_, faults, err = Review(d, lk, v, Mode{Step: Locked})
				if faults.HasErrors() {
					err = errors.New(faults[0].Message)
				}
				if errors.Is(err, ErrChanged) {
					err = nil
				}
			}
			if err != nil {
				done <- err
				return
			}
		}
	}()
	for range 15 {
		h.must(Mode{Step: Relock, Rotate: all})
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
