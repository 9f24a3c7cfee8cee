package compiler

import (
	"slices"
	"strings"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/resolve"
)

// ofNames are faults of a name that a person wrote, which is wrong whatever else is.
var ofNames = []diag.Code{diag.UnknownModule, diag.UnknownSite, diag.UnknownGroup}

// ofSettings are faults of a setting, which is wrong wherever its module is as it should be.
var ofSettings = []diag.Code{diag.UnknownSetting, diag.WrongKind, diag.NotAllowed, diag.BadAddress}

// besides finds what is wrong besides the faults that loading found, and is no consequence of
// them: a misspelt field of one node hides no misspelt module of another (DIA-1). Whatever says
// that something is absent is left for when all is read.
func besides(in Input, src *load.Source, said diag.List) diag.List {
	if src.Mesh == nil || src.Mesh.Lacks {
		return nil // a site that is not there may be among what could not be read
	}
	codes := ofNames
	if !slices.ContainsFunc(said, func(d diag.Diagnostic) bool {
		return d.Severity() == diag.Error && strings.HasPrefix(d.At.File, "modules/")
	}) {
		codes = slices.Concat(ofNames, ofSettings)
	}
	var found diag.List
	failed := in.Options.Log.Do("the mesh", src.Mesh.At, func() {
		_, found = resolve.Resolve(src, evaluate.Contained(evaluate.NewCUE(src.Context, in.Cache), in.Options.Log))
	})
	if len(failed) > 0 {
		return nil // it was asked about half a mesh, and what is wrong with that has been said
	}
	return slices.DeleteFunc(found, func(d diag.Diagnostic) bool {
		return !slices.Contains(codes, d.Code) || slices.ContainsFunc(said, func(s diag.Diagnostic) bool { return s.At.Compare(d.At) == 0 })
	})
}
