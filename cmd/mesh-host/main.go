// Command mesh-host makes a machine agree with its bundle. It parses flags, calls
// one function of package host, and prints.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"meshc.dev/host"
	"meshc.dev/host/machine"
	"meshc.dev/render/seal"
)

func main() {
	seal.KeepMemory()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// The exit codes.
const (
	done    = 0 // nothing to do, or done
	refused = 1 // nothing was changed, or the world failed us
	usage   = 2
	partly  = 3 // some of it was done
)

// command is one run of the program.
type command struct {
	out, err io.Writer
	root     string
	json     bool
	args     []string
	host     *host.Host
	now      func() time.Time

	allowOlder, otherMesh, ssh bool
	signers                    string
}

func run(args []string, out, errOut io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first interrupt ends what is being done in an orderly way, the second at once.
	context.AfterFunc(ctx, stop)
	c := &command{out: out, err: errOut, now: time.Now}
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		text := overview
		if len(args) > 1 {
			text = help[args[1]]
		}
		if text == "" || len(args) == 0 {
			fmt.Fprint(errOut, overview)
			return usage
		}
		fmt.Fprint(out, text)
		return done
	}
	commands := map[string]struct {
		do   func(*command, context.Context) (int, error)
		args int
	}{
		"init":    {(*command).init, 1},
		"check":   {(*command).check, 1},
		"apply":   {(*command).apply, 1},
		"status":  {(*command).status, 0},
		"open":    {(*command).open, 1},
		"version": {(*command).version, 0},
	}
	name := args[0]
	if name == "provision" {
		return provisionLoop(ctx, args[1:], out, errOut)
	}
	do, ok := commands[name]
	if !ok {
		fmt.Fprintf(errOut, "mesh-host: no command %q; there are init, check, apply, status, open, provision and version\n", name)
		return usage
	}
	err := c.parse(name, args[1:], do.args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(out, help[name])
		return done
	}
	if err != nil {
		fmt.Fprintf(errOut, "mesh-host %s: %v; `mesh-host help %s` says how\n", name, err, name)
		return usage
	}
	code, err := c.on(ctx, do.do)
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintf(errOut, "mesh-host: %s\n", strings.TrimSuffix(line, "\n"))
		}
		return max(code, refused)
	}
	return code
}

func (c *command) parse(name string, args []string, want int) error {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&c.root, "root", "", "")
	switch name {
	case "init":
		f.BoolVar(&c.ssh, "ssh-host-key", false, "")
		f.StringVar(&c.signers, "signers", "", "")
	case "check", "apply":
		f.BoolVar(&c.allowOlder, "allow-older", false, "")
		f.BoolVar(&c.otherMesh, "other-mesh", false, "")
	}
	if name != "open" && name != "version" {
		f.BoolVar(&c.json, "json", false, "")
	}
	// Flags may stand before and behind what they are for.
	for {
		if err := f.Parse(args); err != nil {
			return err
		}
		if f.NArg() == 0 {
			break
		}
		c.args = append(c.args, f.Arg(0))
		args = f.Args()[1:]
	}
	empty := false
	f.Visit(func(f *flag.Flag) { empty = empty || f.Name == "root" && f.Value.String() == "" })
	if empty { // a variable that is not set, say: it would be this machine itself
		return errors.New("--root names no folder")
	}
	if len(c.args) != want {
		return fmt.Errorf("it takes %d arguments, not %d", want, len(c.args))
	}
	return nil
}

// on opens the machine that the command is for.
func (c *command) on(ctx context.Context, do func(*command, context.Context) (int, error)) (int, error) {
	var m *machine.Machine
	var err error
	if c.root != "" {
		m, err = machine.Tree(c.root)
	} else {
		m, err = machine.Live()
	}
	if err != nil {
		return refused, err
	}
	defer m.Close()
	c.host = &host.Host{Machine: m, Now: c.now}
	code, err := do(c, ctx)
	if errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0 {
		err = fmt.Errorf("%w; mesh-host has to run as root", err)
	}
	return code, err
}

func (c *command) init(ctx context.Context) (int, error) {
	o := host.InitOptions{SSH: c.ssh}
	if c.signers != "" {
		data, err := os.ReadFile(c.signers)
		if err != nil {
			return refused, err
		}
		o.Signers = data
	}
	keys, err := c.host.Init(ctx, c.args[0], o)
	if err != nil {
		return refused, err
	}
	if c.json {
		return done, c.print(keys)
	}
	fmt.Fprint(c.out, keys.CUE())
	fmt.Fprintf(c.err, "put these lines into mesh.cue\n")
	return done, nil
}

func (c *command) check(ctx context.Context) (int, error) {
	o, err := c.host.Open(c.args[0], host.Policy{AllowOlder: c.allowOlder, OtherMesh: c.otherMesh})
	if err != nil {
		return refused, err
	}
	defer o.Close()
	r, err := c.host.Check(ctx, o)
	if err != nil {
		return refused, err
	}
	code := done
	if len(r.Contradictions) > 0 || r.Partly() {
		code = refused
	}
	if c.json {
		return code, c.print(r)
	}
	for _, e := range r.Events {
		fmt.Fprintln(c.out, e.Would())
	}
	for _, s := range r.Contradictions {
		fmt.Fprintf(c.err, "in the way: %s\n", s)
	}
	fmt.Fprintln(c.out, "in all, "+r.Summary())
	return code, nil
}

func (c *command) apply(ctx context.Context) (int, error) {
	o, err := c.host.Open(c.args[0], host.Policy{AllowOlder: c.allowOlder, OtherMesh: c.otherMesh})
	if err != nil {
		return refused, err
	}
	defer o.Close()
	clear := c.showProgress()
	r, err := c.host.Apply(ctx, o, func(e host.Event) {
		clear()
		switch {
		case c.json:
		case e.Verb == host.Failed || e.Verb == host.Skipped:
			fmt.Fprintln(c.err, e)
		default:
			fmt.Fprintln(c.out, e)
		}
	})
	clear()
	if err != nil {
		return refused, err
	}
	code := done
	if r.Partly() {
		code = partly
	}
	if c.json {
		return code, c.print(r)
	}
	fmt.Fprintln(c.out, r.Summary())
	switch {
	case r.Ended == host.Interrupted:
		fmt.Fprintf(c.err, "mesh-host: interrupted before everything was done; run `mesh-host apply %s` again: it takes up where this ended\n", c.args[0])
	case r.Ended != "":
		fmt.Fprintf(c.err, "mesh-host: %s; nothing more was done: mend that and run `mesh-host apply %s` again: it takes up where this ended\n", r.Ended, c.args[0])
	case code == partly:
		fmt.Fprintf(c.err, "mend what failed and run `mesh-host apply %s` again: it takes up where this ended\n", c.args[0])
	}
	return code, nil
}

// showProgress shows on a terminal, in one line, what a long step is at. What it
// gives takes the line away again.
func (c *command) showProgress() (clear func()) {
	f, ok := c.err.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func() {}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	c.host.Progress = func(line string) {
		line = strings.ToValidUTF8(line[:min(len(line), max(width-1, 0))], "")
		fmt.Fprintf(f, "\r\x1b[K%s", line)
	}
	return func() { fmt.Fprint(f, "\r\x1b[K") }
}

func (c *command) status(ctx context.Context) (int, error) {
	s, err := c.host.Status(ctx)
	if err != nil {
		return refused, err
	}
	code := done
	for _, p := range s.Providers {
		if len(p.Failing) > 0 {
			code = partly
		}
	}
	if c.json {
		return code, c.print(s)
	}
	switch {
	case s.Bundle == "":
		fmt.Fprintf(c.out, "%s: no bundle was applied yet\n", s.Node)
		return code, nil
	case s.Complete:
		fmt.Fprintf(c.out, "%s of mesh %s: bundle %.12s, %d things\n", s.Node, s.Mesh, s.Bundle, s.Things)
	default:
		fmt.Fprintf(c.out, "%s of mesh %s: bundle %.12s, %d things, partly applied\n", s.Node, s.Mesh, s.Bundle, s.Things)
	}
	if s.Commit != "" {
		fmt.Fprintf(c.out, "commit %s, serial %d\n", s.Commit, s.Serial)
	}
	for _, e := range s.Drifted {
		e.Verb = "drifted:"
		fmt.Fprintln(c.out, e)
	}
	for _, list := range [][]host.Event{s.Failed, s.Kept} {
		for _, e := range list {
			fmt.Fprintln(c.out, e)
		}
	}
	for _, p := range s.Providers {
		if p.Unreadable != "" {
			fmt.Fprintf(c.out, "provider %s: %s\n", p.Name, p.Unreadable)
		}
		for _, f := range p.Failing {
			fmt.Fprintf(c.out, "provider %s: %s\n", p.Name, f)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Secrets)) {
		fmt.Fprintf(c.out, "secret %s, generation %d\n", name, s.Secrets[name])
	}
	return code, nil
}

func (c *command) open(ctx context.Context) (int, error) {
	s, err := c.host.Secret(ctx, c.args[0])
	if err != nil {
		return refused, err
	}
	defer s.Wipe()
	s.Use(func(b []byte) { _, err = c.out.Write(b) })
	return done, err
}

func (c *command) version(context.Context) (int, error) {
	fmt.Fprintln(c.out, "mesh-host "+versionText())
	return done, nil
}

// print writes a result for programs.
func (c *command) print(v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := c.out.Write(buf.Bytes())
	return err
}
