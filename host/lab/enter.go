package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const dirEnv = "MESHC_LAB_DIR"

// cgroups is where the run mounts the control groups, and group the one that all its
// machines are under.
const cgroups = "/sys/fs/cgroup"

// Enter runs prepare on this machine as it is, and then the program once more inside
// of namespaces, where it calls run. Both are given the run's folder. What comes back
// is the exit code. Whatever happens, all processes of the run are ended and its
// folder is removed before Enter returns.
func Enter(prepare func(dir string) error, run func(dir string) int) int {
	if dir := os.Getenv(dirEnv); dir != "" {
		if err := isolate(); err != nil {
			fmt.Fprintln(os.Stderr, "lab:", err)
			return 1
		}
		return run(dir)
	}
	// The run has a group of processes of its own, so that an interrupt from the terminal
	// comes here alone.
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code, err := outside(prepare, stop)
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		return 1
	}
	return code
}

func outside(prepare func(string) error, stop <-chan os.Signal) (code int, err error) {
	// Not /tmp, which may be memory: a machine's file system lies on a disk.
	dir, err := os.MkdirTemp("/var/tmp", "meshc-lab-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := prepare(dir); err != nil {
		return 1, err
	}
	c := exec.Command("/proc/self/exe", os.Args[1:]...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.Env = append(os.Environ(), dirEnv+"="+dir)
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
		Setpgid:    true,
	}
	if err := c.Start(); err != nil {
		return 1, fmt.Errorf("make namespaces: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err = <-ended:
	case s := <-stop:
		// With its first process, a namespace loses all others.
		_ = c.Process.Kill()
		<-ended
		err = fmt.Errorf("stopped by %v", s)
	}
	err = exitOnly(err)
	return c.ProcessState.ExitCode(), errors.Join(err, removeGroups(dir))
}

// exitOnly leaves out that a program ended with another code than 0.
func exitOnly(err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil
	}
	return err
}

// isolate makes what systemd-nspawn needs to see: processes of this namespace only,
// an empty /run, and control groups of the second kind alone.
func isolate() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	for _, m := range []struct{ kind, at string }{{"proc", "/proc"}, {"tmpfs", "/run"}} {
		if err := unix.Mount(m.kind, m.at, m.kind, unix.MS_NOSUID|unix.MS_NODEV, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.at, err)
		}
	}
	if err := unix.Unmount(cgroups, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("unmount %s: %w", cgroups, err)
	}
	if err := unix.Mount("cgroup2", cgroups, "cgroup2", 0, ""); err != nil {
		return fmt.Errorf("mount %s: %w", cgroups, err)
	}
	return nil
}

// groupOf is the name of the control group of a run.
func groupOf(dir string) string { return filepath.Base(dir) }

// removeGroups takes the run's control groups away, which are empty by now. Where
// they are seen on this machine is its own affair, so they are mounted once more.
func removeGroups(dir string) error {
	at := filepath.Join(dir, "cgroups")
	script := fmt.Sprintf(`mount -t cgroup2 cgroup2 %[1]s; [ ! -d %[1]s/%[2]s ] || find %[1]s/%[2]s -depth -type d -exec rmdir {} +`, at, groupOf(dir))
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	out, err := exec.Command("unshare", "--mount", "sh", "-euc", script).CombinedOutput()
	if err != nil {
		return fmt.Errorf("remove control groups: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
