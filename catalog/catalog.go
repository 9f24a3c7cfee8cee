// Package catalog holds the modules that every mesh can assign, as CUE: one folder
// a module, named after it. They are embedded here and loaded by compiler/load as
// a mesh's own modules are; nothing in Go knows what any of them does.
package catalog

import "embed"

// ImportPath is the CUE import path under which the modules lie.
const ImportPath = "meshc.dev/catalog"

// Files holds each module's CUE files in the folder of its name.
//
//go:embed */*.cue
var Files embed.FS
