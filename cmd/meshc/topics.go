package main

import (
	"embed"
	"io/fs"
	"path"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed topics/*.txt
var topicFiles embed.FS

// topics are pages of help that belong to no one command: `meshc help layers`. A page's
// first line is what the list of topics says of it.
func topics() []*cobra.Command {
	names, _ := fs.Glob(topicFiles, "topics/*.txt") // in order of their names; the pattern is a good one
	var out []*cobra.Command
	for _, name := range names {
		b, _ := topicFiles.ReadFile(name)
		short, long, _ := strings.Cut(string(b), "\n")
		// A command that does nothing is a topic to cobra.
		out = append(out, &cobra.Command{Use: strings.TrimSuffix(path.Base(name), ".txt"), Short: short, Long: strings.TrimSpace(long)})
	}
	return out
}
