package show

import (
	"fmt"
	"io"
	"strings"

	"meshc.dev/compiler/diag"
)

// Explain writes what is known of a code at length: the text of `meshc explain`.
func Explain(w io.Writer, i diag.Info) error {
	var b strings.Builder
	what := "refused"
	if strings.HasPrefix(string(i.Code), "W") {
		what = "warned of"
	}
	fmt.Fprintf(&b, "%s: %s (rule %s, %s)\n\n%s\n", i.Code, i.Title, i.Rule, what, strings.TrimSpace(i.Explain))
	for _, example := range []struct{ label, text string }{{"wrong", i.Wrong}, {"right", i.Right}} {
		fmt.Fprintf(&b, "\n%s:\n\n", example.label)
		for _, l := range strings.Split(strings.Trim(example.text, "\n"), "\n") {
			if l = strings.ReplaceAll(l, "\t", "    "); l != "" {
				l = "    " + l
			}
			b.WriteString(l + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
