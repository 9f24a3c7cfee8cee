// Package show draws diagnostics: as text for a person, as JSON for a program, as
// annotations for GitHub and GitLab, and as SARIF. What is drawn is data from
// compiler/diag; the titles and rules come from its table of codes. Begin at New.
//
// Whatever stands in a mesh may stand in a diagnostic, so nothing of it reaches
// a terminal unescaped, and no position is trusted to lie within its file (DIA-5).
package show

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"meshc.dev/compiler/diag"
)

// Printer draws a list of diagnostics in one format: in file order, each once.
type Printer interface {
	Print(w io.Writer, l diag.List) error
}

// Options are what the printers need to know besides the diagnostics. The zero
// Options show no source lines and use no colour.
type Options struct {
	// Read gives the content of a file that a diagnostic names, so that lines of it
	// can be shown and columns be counted in characters. Where it fails, or is nil,
	// the place is named alone.
	Read func(file string) ([]byte, error)
	// Colour draws text with ANSI colours; other formats have none.
	Colour bool
	// Width is the number of columns that a source line may take in text, 100 where it is 0.
	Width int
	// Prefix is the mesh's folder within its repository, which the formats that a
	// forge reads put before file names. Empty where the mesh is the repository.
	Prefix string
	// Version of meshc, which SARIF names.
	Version string
}

// lookup finds what is known of a code; tests bring a table of their own.
type lookup func(diag.Code) (diag.Info, bool)

// New makes the printer of a format, one of Formats.
func New(format string, o Options) (Printer, error) {
	return newPrinter(format, o, diag.Lookup)
}

// Formats lists the names of the formats.
func Formats() []string { return []string{"text", "json", "github", "gitlab", "sarif"} }

func newPrinter(format string, o Options, known lookup) (Printer, error) {
	if o.Width <= 0 {
		o.Width = 100
	}
	switch format {
	case "text":
		return textPrinter{o, known}, nil
	case "json":
		return jsonPrinter{known}, nil
	case "github":
		return githubPrinter{o, known}, nil
	case "gitlab":
		return gitlabPrinter{o, known}, nil
	case "sarif":
		return sarifPrinter{o, known}, nil
	}
	return nil, fmt.Errorf("there is no format %q for diagnostics, only %s", format, strings.Join(Formats(), ", "))
}

// FromFS reads the files that diagnostics name from a file system.
func FromFS(fsys fs.FS) func(file string) ([]byte, error) {
	return func(file string) ([]byte, error) { return fs.ReadFile(fsys, file) }
}

// Summary counts errors and warnings: "3 errors, 1 warning". It is empty where
// there are none, and counts what a printer would show, each diagnostic once.
func Summary(l diag.List) string {
	sorted := l.Sorted()
	warnings := 0
	for _, d := range sorted {
		if d.Severity() == diag.Warning {
			warnings++
		}
	}
	parts := []string{count(len(sorted)-warnings, "error"), count(warnings, "warning")}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// More is the command that says more of the gravest of them: of the first error or, where
// there is none, of the first warning. It is empty where none has a code that is explained.
func More(l diag.List) string {
	more := ""
	for _, d := range l.Sorted() {
		if _, known := diag.Lookup(d.Code); !known || more != "" && d.Severity() == diag.Warning {
			continue
		}
		more = "meshc explain " + string(d.Code)
		if d.Severity() == diag.Error {
			break
		}
	}
	return more
}

func count(n int, what string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
