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
	cmd := exec.CommandContext(ctx, "/usr/bin/env", append([]string{"--", name}, args...)...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = environment, "/", 5*time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// runWith runs a program with more environment, and tells each line of its output.
func runWith(ctx context.Context, env []string, line func(string), name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(append([]string{}, environment...), env...)
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	if tell := line; tell != nil {
		line = func(s string) { tell(hidden(ctx, s)) }
	}
	cmd.Stdout = &lines{out: &out, tell: line}
	cmd.Stderr = cmd.Stdout
	err := cmd.Run()
	return strings.TrimSpace(out.String()), err
}

// lines collects output, and tells each line as it ends.
type lines struct {
	out  *bytes.Buffer
	told int
	tell func(string)
}

func (l *lines) Write(p []byte) (int, error) {
	l.out.Write(p)
	if l.tell == nil {
		return len(p), nil
	}
	for {
		rest := l.out.Bytes()[l.told:]
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		l.tell(string(rest[:i]))
		l.told += i + 1
	}
}
