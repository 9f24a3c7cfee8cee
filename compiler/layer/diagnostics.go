package layer

import (
	"fmt"
	"strings"

	"meshc.dev/compiler/diag"
)

func groupsDisagree(instance, module string, path []string, a, b Spoken) diag.Diagnostic {
	key := strings.Join(append([]string{module}, path...), ".")
	return diag.Diagnostic{
		Code: diag.GroupsDisagree, At: b.Setting.Span,
		Message: fmt.Sprintf("%s and %s set %s for %s to different values, and neither is stronger", a.Layer, b.Layer, key, instance),
		Also:    []diag.Note{{At: a.Setting.Span, Text: a.Layer + " sets it here"}},
	}
}
