package sink

import (
	"fmt"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
)

// Diagnostic is the error as said to a person: the data of this resource has no place in that format.
func (e *Error) Diagnostic(at diag.Pos, id addr.Resource, format string) diag.Diagnostic {
	what := "the data"
	if len(e.Path) > 0 {
		what = PathString(e.Path)
	}
	return diag.Diagnostic{
		Code: diag.FormatValue, At: at,
		Message: fmt.Sprintf("%s of %s, written as %s, %s", what, id, format, e.Reason),
	}
}
