package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Machine is a booted one.
type Machine struct {
	Name string
	lab  *Lab
	root string
	init int // its systemd, as this namespace numbers it

	nspawn *exec.Cmd
	ended  chan error
}

// bootTime is as long as a machine may take to boot. On a machine of its own it is
// 15 s.
const bootTime = 3 * time.Minute

// Boot boots machines, all at once, each in the network namespace of its name.
func (l *Lab) Boot(names ...string) error {
	for _, name := range names {
		m, err := l.start(name)
		if err != nil {
			return fmt.Errorf("boot %s: %w", name, err)
		}
		l.machines = append(l.machines, m)
	}
	for _, m := range l.machines {
		if err := m.await(); err != nil {
			return fmt.Errorf("boot %s: %w", m.Name, err)
		}
	}
	return nil
}

// Machine finds one by name.
func (l *Lab) Machine(name string) *Machine {
	i := slices.IndexFunc(l.machines, func(m *Machine) bool { return m.Name == name })
	return l.machines[i]
}

func (l *Lab) start(name string) (*Machine, error) {
	root, err := l.root(name)
	if err != nil {
		return nil, err
	}
	group := filepath.Join(cgroups, groupOf(l.Dir), name)
	if err := os.MkdirAll(group, 0o755); err != nil {
		return nil, err
	}
	g, err := os.Open(group)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	console, err := os.Create(filepath.Join(l.Dir, "machines", name, "console"))
	if err != nil {
		return nil, err
	}
	defer console.Close()
	c := exec.Command("systemd-nspawn",
		"--directory="+root, "--machine="+name, "--boot", "--network-namespace-path=/run/netns/"+name,
		"--register=no", "--keep-unit", "--bind=/dev/net/tun",
		// All but to load modules: the kernel is this machine's.
		"--capability=all", "--drop-capability=CAP_SYS_MODULE",
		// Podman's runtime says with a program of bpf(2) which devices a container may use.
		"--system-call-filter=bpf",
		// Podman puts layers into an overlay, which does not lie on another.
		"--tmpfs=/var/lib/containers:mode=0700",
		"--resolv-conf=off", "--timezone=off", "--link-journal=no", "--console=pipe", "--quiet")
	c.Env = append(os.Environ(), "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1", "SYSTEMD_NSPAWN_API_VFS_WRITABLE=network")
	c.Stdout, c.Stderr = console, console
	c.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(g.Fd())}
	if err := c.Start(); err != nil {
		return nil, err
	}
	m := &Machine{Name: name, lab: l, root: root, nspawn: c, ended: make(chan error, 1)}
	go func() { m.ended <- c.Wait() }()
	return m, nil
}

// await waits until the machine has started all that it starts.
func (m *Machine) await() error {
	var said string
	for end := time.Now().Add(bootTime); time.Now().Before(end); time.Sleep(time.Second) {
		select {
		case err := <-m.ended:
			m.ended <- err
			return fmt.Errorf("systemd-nspawn ended: %v\n%s", err, m.console())
		default:
		}
		if m.init == 0 && !m.findInit() {
			continue
		}
		out, _ := m.quietly("systemctl is-system-running")
		switch said = strings.TrimSpace(out); said {
		case "running":
			return nil
		case "degraded":
			failed, _ := m.quietly("systemctl list-units --failed --plain --no-legend")
			return fmt.Errorf("units failed:\n%s", failed)
		}
	}
	return fmt.Errorf("it did not come up in %v: systemctl says %q\n%s", bootTime, said, m.console())
}

// findInit finds the child of systemd-nspawn that is the first process of another
// namespace of processes.
func (m *Machine) findInit() bool {
	pid := strconv.Itoa(m.nspawn.Process.Pid)
	children, err := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
	if err != nil {
		return false
	}
	for child := range strings.FieldsSeq(string(children)) {
		status, _ := os.ReadFile("/proc/" + child + "/status")
		for line := range strings.Lines(string(status)) {
			ids := strings.Fields(line)
			if len(ids) > 2 && ids[0] == "NSpid:" && ids[len(ids)-1] == "1" {
				m.init, _ = strconv.Atoi(child)
				return true
			}
		}
	}
	return false
}

// Path is where a path of the machine lies on this one.
func (m *Machine) Path(p string) string { return filepath.Join(m.root, p) }

// command is a shell's command inside of the machine.
func (m *Machine) command(script string) *exec.Cmd {
	return exec.Command("nsenter", "--target", strconv.Itoa(m.init), "--mount", "--uts", "--ipc", "--net", "--pid", "--",
		"/usr/bin/env", "-i", "HOME=/root", "LANG=C.UTF-8", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"sh", "-c", "cd; "+script)
}

func (m *Machine) quietly(script string) (string, error) {
	out, err := m.command(script).Output()
	return string(out), err
}

// Sh runs a shell's command on the machine, and writes both down.
func (m *Machine) Sh(format string, args ...any) Result {
	script := fmt.Sprintf(format, args...)
	return m.lab.run(m.Name+"#", script, m.command(script))
}

// Ask runs a command on the machine and writes nothing down.
func (m *Machine) Ask(format string, args ...any) Result {
	var r Result
	out, err := m.command(fmt.Sprintf(format, args...)).CombinedOutput()
	r.Out, r.Code = string(out), exitCode(err)
	return r
}

// console is what the machine said while it booted, the end of it.
func (m *Machine) console() string {
	data, _ := os.ReadFile(filepath.Join(m.lab.Dir, "machines", m.Name, "console"))
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}

// stop ends the machine: its first process, and with it all others.
func (m *Machine) stop() {
	if m.init != 0 {
		_ = syscall.Kill(m.init, syscall.SIGKILL)
	} else {
		_ = m.nspawn.Process.Kill()
	}
	select {
	case <-m.ended:
	case <-time.After(20 * time.Second):
		_ = m.nspawn.Process.Kill()
	}
}

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}
