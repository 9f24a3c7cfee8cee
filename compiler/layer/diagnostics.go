package layer

import (
	"fmt"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
)

func groupsDisagree(instance addr.Instance, module string, path []string, a, b Spoken) diag.Diagnostic {
	key := strings.Join(append([]string{module}, path...), ".")
	return diag.Diagnostic{
		Code: diag.GroupsDisagree, At: b.Setting.Span,
		Message: fmt.Sprintf("%s and %s set %s to different values for %s on %s, and neither is stronger", a.Layer, b.Layer, key, instance.Name, diag.Nodes),
		On:      []string{string(instance.Node)},
		Also:    []diag.Note{{At: a.Setting.Span, Text: a.Layer + " sets it here"}},
	}
}
