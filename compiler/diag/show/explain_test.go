package show

import (
	"errors"
	"strings"
	"testing"

	"meshc.dev/compiler/diag"
)

// DIA-2: a code is explained with its rule, and with examples as one would write them.
func TestExplain(t *testing.T) {
	i := diag.Info{
		Code: "E0204", Rule: "CLM-1", Title: "claim held twice", Explain: "A claim is a name.\nOne holds it.",
		Wrong: "nodes: laptop: {\n\tassign: i3: {}\n\n\tassign: sway: {}\n}", Right: "nodes: laptop: assign: i3: {}",
	}
	const want = `E0204: claim held twice (rule CLM-1, refused)

A claim is a name.
One holds it.

wrong:

    nodes: laptop: {
        assign: i3: {}

        assign: sway: {}
    }

right:

    nodes: laptop: assign: i3: {}
`
	var b strings.Builder
	if err := Explain(&b, i); err != nil || b.String() != want {
		t.Errorf("%v\n%s", err, unified(want, b.String()))
	}
	if err := Explain(brokenWriter{}, i); !errors.Is(err, errBroken) {
		t.Errorf("the writer's error is lost: %v", err)
	}
}
