package show

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"

	"meshc.dev/compiler/diag"
)

// gitlabPrinter writes a code quality report, which GitLab shows in merge requests:
// https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format.
type gitlabPrinter struct {
	Options
	known lookup
}

type gitlabIssue struct {
	Description string         `json:"description"`
	CheckName   string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitlabLocation `json:"location"`
}

type gitlabLocation struct {
	Path  string `json:"path"`
	Lines struct {
		Begin int `json:"begin"`
	} `json:"lines"`
}

// nowhere is the file named for a diagnostic that has no place: GitLab leaves out an
// issue without one.
const nowhere = "mesh.cue"

func (p gitlabPrinter) Print(w io.Writer, l diag.List) error {
	out := []gitlabIssue{}
	prints := fingerprints{}
	for _, d := range l.Sorted() {
		info, _ := p.known(d.Code)
		i := gitlabIssue{
			Description: plain(d),
			CheckName:   string(d.Code),
			Fingerprint: prints.of(d),
			Severity:    "major",
		}
		if info.Title != "" {
			i.Description = info.Title + ": " + i.Description
		}
		if d.Severity() == diag.Warning {
			i.Severity = "minor"
		}
		file := d.At.File
		if file == "" {
			file = nowhere
		}
		i.Location.Path = path.Join(p.Prefix, file)
		i.Location.Lines.Begin = max(1, d.At.Line)
		out = append(out, i)
	}
	return writeJSON(w, out)
}

// fingerprints tell diagnostics apart without their lines, so that one that only
// moved is the same to a forge; equal ones in one file are counted.
type fingerprints map[string]int

func (f fingerprints) of(d diag.Diagnostic) string {
	key := fmt.Sprintf("%q %q %q", d.Code, d.At.File, d.Message)
	f[key]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", key, f[key]))
	return hex.EncodeToString(sum[:16])
}
