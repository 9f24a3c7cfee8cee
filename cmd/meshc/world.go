package main

import (
	"io"
	"os"
	"runtime/debug"

	"golang.org/x/term"

	"meshc.dev/compiler/screen"
)

// Exit codes (cli.md).
const (
	exitDone    = 0
	exitRefused = 1
	exitUsage   = 2
	exitDiffers = 3
)

// version of this build; set by the linker for a release.
var version = ""

// versionText is what `meshc version` prints; a build that nobody released says so.
func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// world is what a command may touch besides the mesh's folder.
type world struct {
	stdin                    io.Reader
	stdout, stderr           io.Writer
	env                      func(string) string
	outTerminal, errTerminal bool
	bar                      io.Writer      // standard error as it is, for what draws with no word of a mesh
	exit                     func(code int) // ends the process
	// random gives sources of random bytes for secrets; the system's where it is nil.
	random func() io.Reader
}

// shown is the world in which everything that is printed is seen (screen.New). What it gives
// besides ends the streams.
func (w *world) shown() (*world, func()) {
	out, errs := screen.New(w.stdout), screen.New(w.stderr)
	s := *w
	s.bar, s.stdout, s.stderr = w.stderr, out, errs
	return &s, func() { _, _ = out.Close(), errs.Close() }
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// colour says whether a stream is drawn in colour: on a terminal, unless NO_COLOR
// is set to anything (no-color.org).
func (w *world) colour(terminal bool) bool {
	return terminal && w.env("NO_COLOR") == "" && w.env("TERM") != "dumb"
}

// inCI says whether this is a CI run, where nothing is made anew (SEC-8).
func (w *world) inCI() bool {
	ci := w.env("CI")
	return ci != "" && ci != "false" && ci != "0"
}
