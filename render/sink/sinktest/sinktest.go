// Package sinktest reads what render/sink writes, the way the programs do that will read
// it on a machine. Each reader is made from the program's own documented grammar and is as
// strict as that, so that a test can say what a process gets: it is no second opinion
// about the writers, and shares no code with them. Where the real program is at hand,
// the tests of render/sink hold these readers to it.
package sinktest

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// Tool finds a program that a test needs. Where it is missing the test is skipped, unless
// MESHC_TEST_TOOLS=required says that it has to be there.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, fmt.Sprintf("the program %s is not installed", name))
	}
	return path
}

// Missing skips a test, or fails it where MESHC_TEST_TOOLS=required.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("MESHC_TEST_TOOLS") == "required" {
		t.Fatal(what)
	}
	t.Skip(what)
}
