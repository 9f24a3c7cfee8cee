package load

import (
	"errors"
	"strings"

	"cuelang.org/go/cue"

	"meshc.dev/compiler/diag"
	"meshc.dev/render/seal"
)

// keyFault looks at a key that secrets are to be sealed to: the schema knows the form
// of one, and only reading it says what is wrong with another. The key itself is never
// repeated, since it could be a private one.
func keyFault(subject string, v cue.Value, path []string) (diag.Diagnostic, bool) {
	who := keyOwner(path)
	if subject != "the mesh" || who == "" {
		return diag.Diagnostic{}, false
	}
	text, err := v.String()
	if err != nil {
		return diag.Diagnostic{}, false // no text at all, which the schema says
	}
	var reason *seal.RecipientError
	if _, err := seal.ParseRecipient(text); errors.As(err, &reason) {
		return keyUnfit(valueAt(v), who, reason.Reason), true
	}
	return diag.Diagnostic{}, false
}

// keyOwner says whose key stands at a path of the mesh, if any does.
func keyOwner(path []string) string {
	switch {
	case len(path) == 3 && path[0] == "nodes" && path[2] == "recipient":
		return path[1]
	case len(path) == 2 && path[0] == "recovery" && strings.Trim(path[1], "[0123456789]") == "":
		return "the recovery key"
	}
	return ""
}
