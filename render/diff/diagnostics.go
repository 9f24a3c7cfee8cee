package diff

import (
	"fmt"
	"strings"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
)

// renamedUnsaid: a key is one machine's, so a node that has the key of one that is gone is that one.
func renamedUnsaid(gone, now *plan.Node) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.RenamedUnsaid, At: now.At, Help: movedLine(gone.Name, now.Name),
		Message: fmt.Sprintf("%s has the key of %s, which is gone: as a machine of its own it gets another address and other ports, logins and credentials", now.Name, gone.Name),
	}
}

// dataLeft has no help: whether the data is to be copied, or left, only a person knows.
func dataLeft(at diag.Pos, x Change) diag.Diagnostic {
	message := fmt.Sprintf("on %s, %s", strings.Join(x.Nodes, ", "), x.What)
	if len(x.Because) > 0 {
		message += ": " + strings.Join(x.Because, ", ")
	}
	return diag.Diagnostic{Code: diag.DataLeft, At: at, Message: message}
}
