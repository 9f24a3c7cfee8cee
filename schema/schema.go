// Package schema holds the CUE definitions of the language: #Mesh, #Module and
// what they are made of. They are embedded here for the compiler and written
// into a mesh's cue.mod by `meshc init`, so that plain CUE tools resolve them.
package schema

import "embed"

// ImportPath is the CUE import path of the schema.
const ImportPath = "meshc.dev/schema"

// Files holds the schema's CUE files at its root.
//
//go:embed *.cue
var Files embed.FS
