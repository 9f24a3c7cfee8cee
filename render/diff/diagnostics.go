package diff

import (
	"fmt"
	"strings"

	"meshc.dev/compiler/addr"
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

// movedData: where the data of a moved instance is, is decided by a setting that nobody set.
func movedData(at diag.Pos, was, is addr.Instance, setting []string, old, now string) diag.Diagnostic {
	line := fmt.Sprintf("nodes: %s: assign: %s: settings: %s: ", is.Node, is.Name, strings.Join(setting, ": "))
	return diag.Diagnostic{
		Code: diag.MovedData, At: at, Help: line + old,
		Message: fmt.Sprintf("%s is %s now, and what it has in %s would stay behind: it would begin anew in %s; where that was brought there by hand, set %s to %s",
			was, is, old, now, strings.Join(setting, "."), now),
	}
}

// NoEarlier says of a clone without history that nothing can be said (DAT-1).
func NoEarlier(now *plan.Plan) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.NoEarlier, At: anyPlace(now), Help: "git fetch --deepen=1",
		Message: "whether this commit moves data cannot be told: the clone is shallow, and the commit before it is not here",
	}
}

// Unrecorded says of a commit that its lock has data where it was before (DAT-1).
func Unrecorded(now *plan.Plan, whose string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.DataUnrecorded, At: anyPlace(now), Help: "meshc lock",
		Message: fmt.Sprintf("the lock was not written when data of %s moved, or came to be read by another version; until it is, a change back goes unnoticed", whose),
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
