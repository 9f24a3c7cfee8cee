package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// T45: docs/mesh-host.md is the help of every command, in the order of the overview; UPDATE=1 rewrites it.
func TestHostPage(t *testing.T) {
	const page = "../../docs/mesh-host.md"
	var b strings.Builder
	b.WriteString("# mesh-host\n\nThe help of each command, as `mesh-host help COMMAND` prints it. Made by `make gen`.\n\n")
	block := func(text string) {
		for line := range strings.Lines(strings.TrimSpace(text) + "\n") {
			if line = strings.TrimRight(line, " \n"); line != "" {
				line = "    " + line
			}
			b.WriteString(line + "\n")
		}
	}
	block(overview)
	told := map[string]bool{"help": true}
	for _, m := range regexp.MustCompile(`(?m)^  mesh-host ([a-z]+)`).FindAllStringSubmatch(overview, -1) {
		if name := m[1]; !told[name] {
			told[name] = true
			if help[name] == "" {
				t.Errorf("the overview has %s, which has no help", name)
			}
			fmt.Fprintf(&b, "\n## mesh-host %s\n\n", name)
			block(help[name])
		}
	}
	for name := range help {
		if !told[name] {
			t.Errorf("the overview does not have %s", name)
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
