package load

import (
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/token"
)

// ownWords begins what a module says itself with error("…"), so that it is told from CUE's words
// by where it stands in the module and not by how it reads. It never reaches a person.
const ownWords = "\u2063\u2064\u2063"

// markOwnWords marks every error("…") of a package.
func markOwnWords(inst *build.Instance) *build.Instance {
	for _, f := range inst.Files {
		ast.Walk(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			if name, ok := call.Fun.(*ast.Ident); !ok || name.Name != "error" {
				return true
			}
			switch said := call.Args[0].(type) {
			case *ast.BasicLit:
				markText(said)
			case *ast.Interpolation:
				for i, e := range said.Elts {
					lit, ok := e.(*ast.BasicLit)
					if !ok {
						continue
					}
					lit.Value = strings.ReplaceAll(lit.Value, "%", "%%") // CUE takes it for a format
					if i == 0 {
						markText(lit)
					}
				}
			}
			return true
		}, nil)
	}
	return inst
}

// markText puts the mark behind the quote that a text begins with.
func markText(lit *ast.BasicLit) {
	if rest, ok := strings.CutPrefix(lit.Value, `"`); ok && lit.Kind == token.STRING || ok && lit.Kind == token.INTERPOLATION {
		if !strings.HasPrefix(rest, `""`) {
			lit.Value = `"` + ownWords + rest
		}
	}
}
