package machine

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// programDirs are where programs are looked for.
var programDirs = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// environment that programs are run with: nothing of ours, and words in English,
// which some of their output is read for.
var environment = []string{
	"PATH=" + strings.Join(programDirs, ":"), "LC_ALL=C.UTF-8", "HOME=/root",
}

type hideKey struct{}

// Hiding is a context in which the words of programs go through hide before anybody
// is told them: a program may repeat a secret that it has read (HST-9).
func Hiding(ctx context.Context, hide func(string) string) context.Context {
	return context.WithValue(ctx, hideKey{}, hide)
}

func hidden(ctx context.Context, s string) string {
	if hide, ok := ctx.Value(hideKey{}).(func(string) string); ok && s != "" {
		return hide(s)
	}
	return s
}

// run runs a program and gives what it says.
func run(ctx context.Context, name string, args ...string) (string, error) {
	return runWith(ctx, nil, nil, name, args...)
}

// runIn runs a program with another folder as the top of the file system, or here
// where the folder is empty.
func runIn(ctx context.Context, root, name string, args ...string) (string, error) {
	if root == "" {
		return run(ctx, name, args...)
	}
	// env looks for the program, on the inside and by our PATH.
	var out lines
	cmd := exec.CommandContext(ctx, "/usr/bin/env", append([]string{"--", name}, args...)...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = environment, "/", &out, &out
	err := runGroup(ctx, cmd, syscall.SysProcAttr{Chroot: root})
	return out.String(), err
}

// lookPath finds a program where those of the machine are, whatever the PATH of whoever
// calls us: after a plain su, that has no sbin.
func lookPath(name string) (string, error) {
	for _, dir := range programDirs {
		if p, err := exec.LookPath(dir + "/" + name); err == nil {
			return p, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// Ask runs a program and gives its standard output; what it says otherwise is in the error.
func Ask(ctx context.Context, name string, args ...string) ([]byte, error) {
	p, err := lookPath(name)
	if err != nil {
		return nil, err
	}
	var said lines
	var out answer
	cmd := exec.CommandContext(ctx, p, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = environment, &out, &said
	if err := runGroup(ctx, cmd, syscall.SysProcAttr{}); err != nil {
		return nil, failed(ctx, name+" "+args[0], said.String(), err)
	}
	return out.all, nil
}

// maxAnswer bounds what a program is asked for, and maxTold what is kept of the words of
// one: the end, where the reason stands. It is more than any secret has in any form, so
// that none that is taken out is cut in two.
const (
	maxAnswer = 32 << 20
	maxTold   = 1 << 20
)

// answer collects output that is read, all of it or nothing.
type answer struct{ all []byte }

func (a *answer) Write(p []byte) (int, error) {
	if len(a.all)+len(p) > maxAnswer {
		return 0, tooLong(maxAnswer)
	}
	a.all = append(a.all, p...)
	return len(p), nil
}

// runWith runs a program with more environment, and tells each line of its output.
func runWith(ctx context.Context, env []string, line func(string), name string, args ...string) (string, error) {
	p := name
	if !strings.Contains(name, "/") {
		var err error
		if p, err = lookPath(name); err != nil {
			return "", err
		}
	}
	cmd := exec.CommandContext(ctx, p, args...)
	cmd.Env = append(append([]string{}, environment...), env...)
	out := &lines{}
	if tell := line; tell != nil {
		out.tell = func(s string) { tell(hidden(ctx, s)) }
	}
	cmd.Stdout, cmd.Stderr = out, out
	err := runGroup(ctx, cmd, syscall.SysProcAttr{})
	return out.String(), err
}

// runGroup runs a program in a group of processes of its own, so that an interrupt from
// the terminal comes to us alone, and what it has started ends with it.
func runGroup(ctx context.Context, cmd *exec.Cmd, attr syscall.SysProcAttr) error {
	attr.Setpgid = true
	cmd.SysProcAttr, cmd.WaitDelay = &attr, 5*time.Second
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	err := cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return err
}

// lines keeps the end of an output, and tells each line as it ends.
type lines struct {
	end  []byte
	line []byte // that has begun
	tell func(string)
}

func (l *lines) Write(p []byte) (int, error) {
	l.end = append(l.end, p[max(0, len(p)-maxTold):]...)
	if len(l.end) > 2*maxTold {
		l.end = append(l.end[:0], l.end[len(l.end)-maxTold:]...)
	}
	if l.tell == nil {
		return len(p), nil
	}
	for rest := p; ; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			l.line = append(l.line, rest[:min(len(rest), max(0, maxTold-len(l.line)))]...)
			return len(p), nil
		}
		l.tell(string(l.line) + string(rest[:i]))
		l.line, rest = l.line[:0], rest[i+1:]
	}
}

func (l *lines) String() string { return strings.TrimSpace(string(l.end[max(0, len(l.end)-maxTold):])) }
