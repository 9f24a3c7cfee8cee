// Command gotest runs `go test -v` and prints what a person wants to see of it: one
// line a package, all of what a failing test said, why a test was skipped, and at the
// end how many there were, subtests included:
//
//	gotest ./...
//	…
//	412 passed, 0 failed, 3 skipped
//
// It exits as go test does.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

func main() {
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
	}
	os.Exit(code)
}

// run starts go test and gives its exit code.
func run(args []string, out io.Writer) (int, error) {
	cmd := exec.Command("go", append([]string{"test", "-v"}, args...)...)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	total, readErr := summarise(pipe, out)
	waitErr := cmd.Wait()
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) {
		return 1, waitErr
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		total.failed = max(total.failed, 1) // a run that never began has failed too
		fmt.Fprintln(out, total)
		return code, readErr
	}
	fmt.Fprintln(out, total)
	if readErr != nil || total.failed > 0 {
		return 1, readErr
	}
	return 0, nil
}

// summarise reads the output of go test -v and writes the short form of it.
func summarise(in io.Reader, out io.Writer) (counts, error) {
	s := summary{out: out}
	s.begin()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			s.line(line)
		}
		if err == io.EOF {
			s.flush()
			return s.total, nil
		}
		if err != nil {
			return s.total, fmt.Errorf("reading what go test says: %w", err)
		}
	}
}
