package render

import (
	"slices"

	"meshc.dev/compiler/plan"
	"meshc.dev/render/bundle"
)

// noRemains refuses what a resource became where a piece of a placeholder is left in it:
// nothing after this looks at bytes again (SEC-10). Files were looked at when they were
// rendered, sealed secrets are nobody's text.
func (l *lowering) noRemains(r plan.Resource, items []bundle.Item, entries []bundle.Entry) {
	if r.Secret != nil {
		return
	}
	left := slices.ContainsFunc(entries, func(e bundle.Entry) bool {
		return plan.Remains([]byte(e.Name)) || r.File == nil && plan.Remains(e.Data)
	})
	if left || plan.Remains((&bundle.Declaration{Items: items}).Append(nil)) {
		l.ds = append(l.ds, secretChanged(r))
	}
}
