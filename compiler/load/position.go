package load

import (
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"meshc.dev/compiler/diag"
)

// PosOf is the place of a CUE position in the mesh's or the catalogue's files;
// the zero Pos for positions in the schema, which a person has not written.
func PosOf(p token.Pos) diag.Pos {
	if !p.IsValid() {
		return diag.Pos{}
	}
	pos := p.Position()
	file, ok := strings.CutPrefix(pos.Filename, root+"/")
	if !ok && !strings.HasPrefix(pos.Filename, "catalog/") {
		return diag.Pos{}
	}
	if !ok {
		file = pos.Filename
	}
	if strings.HasPrefix(file, "cue.mod/pkg/meshc.dev/schema") {
		return diag.Pos{}
	}
	return diag.Pos{File: file, Line: pos.Line, Column: pos.Column, EndLine: pos.Line, EndColumn: pos.Column + 1}
}

// span is the place from a node's beginning to its end.
func span(n ast.Node) diag.Pos {
	at := PosOf(n.Pos())
	if end := PosOf(n.End()); at.IsValid() && end.IsValid() && end.Compare(at) > 0 {
		at.EndLine, at.EndColumn = end.Line, end.Column
	}
	return at
}

// keyAt is where a field's name stands, valueAt where its value does.
func keyAt(v cue.Value) diag.Pos {
	if f, ok := v.Source().(*ast.Field); ok {
		if at := span(f.Label); at.IsValid() {
			return at
		}
	}
	if v.Source() == nil {
		if at := writtenAt(v); at.IsValid() {
			return at
		}
	}
	return PosOf(v.Pos())
}

// writtenAt finds the name of a field that several places speak of, such as a
// pattern and the schema. CUE gives the field itself before patterns that meet it.
func writtenAt(v cue.Value) diag.Pos {
	_, parts := v.Expr()
	for _, part := range parts {
		if f, ok := part.Source().(*ast.Field); ok {
			if at := span(f.Label); at.IsValid() {
				return at
			}
		}
	}
	return diag.Pos{}
}

func valueAt(v cue.Value) diag.Pos {
	switch n := v.Source().(type) {
	case *ast.Field:
		if at := span(n.Value); at.IsValid() {
			return at
		}
	case ast.Expr:
		if at := span(n); at.IsValid() {
			return at
		}
	}
	return PosOf(v.Pos())
}
