// Command meshc compiles a mesh, written in CUE, into one bundle per machine. Each
// command parses its flags, calls one function of the compiler or of render, and
// prints what that gives; begin at root.go for the list.
package main

import (
	"os"
	"runtime/debug"

	"meshc.dev/render/seal"
)

func main() {
	keepMemory()
	// A compilation lives for seconds and keeps most of what it makes, so collecting
	// less often saves a fifth of its time; the limit keeps a thousand nodes within 1.5 GB.
	debug.SetGCPercent(300)
	debug.SetMemoryLimit(1200 << 20)
	seal.KeepMemory()
	os.Exit(run(os.Args[1:], process()))
}

// process is the world as the running process has it.
func process() *world {
	return &world{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv, exit: os.Exit,
		errTerminal: isTerminal(os.Stderr), outTerminal: isTerminal(os.Stdout),
	}
}
