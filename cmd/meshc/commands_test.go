package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// docs/commands.md is the help of every command; UPDATE=1 rewrites it.
func TestCommandsPage(t *testing.T) {
	const page = "../../docs/commands.md"
	var b strings.Builder
	b.WriteString("# Commands\n\nThe help of each command, as `meshc help COMMAND` prints it. Made by `make gen`.\n")
	for _, c := range append([]*cobra.Command{root(process())}, root(process()).Commands()...) {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		if strings.TrimSpace(c.Long) == "" || !strings.Contains(c.Long, "\n  meshc") {
			t.Errorf("the help of %s does not end in an example", c.CommandPath())
		}
		fmt.Fprintf(&b, "\n## %s\n\n", c.CommandPath())
		usage := c.UsageString()
		if c.HasParent() {
			usage, _, _ = strings.Cut(usage, "\nGlobal Flags:") // the same everywhere
		}
		for line := range strings.Lines(strings.TrimRight(c.Long, "\n") + "\n\n" + strings.TrimRight(usage, "\n")) {
			if line = strings.TrimRight(line, " \n"); line != "" {
				line = "    " + line
			}
			b.WriteString(line + "\n")
		}
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != b.String() {
		t.Errorf("%s is not what the commands say: run make gen (%v)", page, err)
	}
}
