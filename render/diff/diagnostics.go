package diff

import (
	"fmt"
	"strings"

	"meshc.dev/compiler/diag"
)

// dataLeft has no help: whether the data is to be copied, or left, only a person knows.
func dataLeft(at diag.Pos, x Change) diag.Diagnostic {
	message := fmt.Sprintf("on %s, %s", strings.Join(x.Nodes, ", "), x.What)
	if len(x.Because) > 0 {
		message += ": " + strings.Join(x.Because, ", ")
	}
	return diag.Diagnostic{Code: diag.DataLeft, At: at, Message: message}
}
