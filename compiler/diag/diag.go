// Package diag is what meshc says about what a person wrote. A diagnostic is
// data: a code, a place, everyone involved and, where one is known, the text
// that mends it. Stages make them with named constructors; drawing them as text,
// JSON or annotations is the work of diag/show; what a code means is in codes.go,
// from which `meshc explain` and docs/diagnostics.md are made.
package diag

import (
	"cmp"
	"fmt"
	"slices"

	"meshc.dev/compiler/addr"
)

// Severity tells a refusal from a warning.
type Severity int

// Error refuses the mesh; Warning lets it pass.
const (
	Error Severity = iota
	Warning
)

func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Pos is a span in a file of the mesh. Lines and columns begin at 1, columns
// count bytes; the end is exclusive. The zero Pos is no place.
type Pos struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
}

// IsValid says whether the position is a place.
func (p Pos) IsValid() bool { return p.File != "" }

func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Compare orders positions by file, line and column.
func (p Pos) Compare(o Pos) int {
	return cmp.Or(cmp.Compare(p.File, o.File), cmp.Compare(p.Line, o.Line), cmp.Compare(p.Column, o.Column))
}

// Note is another place involved, and what it has to do with it.
type Note struct {
	At   Pos
	Text string
}

// Diagnostic is one thing wrong. Message says what is wrong with whom in one
// sentence, lower case, without a full stop; Help is text to paste that was
// tried, or a command, or empty (DIA-3).
type Diagnostic struct {
	Code    Code
	Message string
	At      Pos
	Also    []Note
	Help    string
	// On are the nodes that it is about, where the message names them as Nodes. What
	// is wrong in the same way on several is said once, with all of them.
	On []string
	// By are the instances that it was found at. What is wrong at one place of a module in
	// the same way for several of its instances is said once, with all of them.
	By []addr.Instance
}

// FoundAt gives the list with the instance that was being made when all of it was found.
func (l List) FoundAt(i addr.Instance) List {
	out := slices.Clone(l)
	for k := range out {
		if len(out[k].On) == 0 && out[k].At.IsValid() {
			out[k].By = []addr.Instance{i}
		}
	}
	return out
}

// Nodes stands in a message for the nodes that a diagnostic is on.
const Nodes = "\x00nodes"

// Severity of the diagnostic, which its code decides: codes beginning with W warn.
func (d Diagnostic) Severity() Severity {
	if len(d.Code) > 0 && d.Code[0] == 'W' {
		return Warning
	}
	return Error
}

// List is all that a run found.
type List []Diagnostic

// HasErrors says whether anything refuses the mesh.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity() == Error })
}

// Sorted gives the list in file order, each diagnostic once (DIA-1).
func (l List) Sorted() List {
	sorted := slices.Clone(l)
	slices.SortStableFunc(sorted, func(a, b Diagnostic) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	return fold(sorted)
}
