package main

import (
	"io"
	"os"
	"runtime/debug"

	"golang.org/x/term"
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
	exit                     func(code int) // ends the process
	// random gives sources of random bytes for secrets; the system's where it is nil.
	random func() io.Reader
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
