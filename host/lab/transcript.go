package lab

import (
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// Transcript is what is done, as a person at the terminals would see it.
type Transcript struct {
	w     io.Writer
	start time.Time
}

// NewTranscript is one that is written to w.
func NewTranscript(w io.Writer) *Transcript { return &Transcript{w, time.Now()} }

// Result of a command.
type Result struct {
	Out  string // of both outputs
	Code int
}

// longest is how many lines of an output are shown.
const longest = 40

// Section begins a part.
func (t *Transcript) Section(title string) {
	fmt.Fprintf(t.w, "\n## %s  [%d s]\n\n", title, int(time.Since(t.start).Seconds()))
}

// Say writes down what was found out.
func (t *Transcript) Say(format string, args ...any) {
	fmt.Fprintf(t.w, "# "+format+"\n", args...)
}

// run runs a command that is shown as a person would type it.
func (t *Transcript) run(prompt, shown string, c *exec.Cmd) Result {
	fmt.Fprintf(t.w, "%s %s\n", prompt, shown)
	out, err := c.CombinedOutput()
	r := Result{string(out), exitCode(err)}
	if r.Code == -1 {
		r.Out += err.Error() + "\n"
	}
	lines := strings.Split(strings.TrimRight(r.Out, "\n"), "\n")
	for i, line := range lines {
		if i == longest && len(lines) > longest+1 {
			fmt.Fprintf(t.w, "    … and %d lines more\n", len(lines)-longest)
			break
		}
		if line != "" {
			fmt.Fprintf(t.w, "    %s\n", line)
		}
	}
	if r.Code != 0 {
		fmt.Fprintf(t.w, "    (exit %d)\n", r.Code)
	}
	return r
}

// Sh runs a shell's command as the operator, in a folder of the run's.
func (l *Lab) Sh(dir, format string, args ...any) Result {
	script := fmt.Sprintf(format, args...)
	c := exec.Command("sh", "-c", script)
	c.Dir = dir
	return l.run("$", script, c)
}
