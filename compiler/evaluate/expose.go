package evaluate

import (
	"slices"
	"strings"

	"cuelang.org/go/cue"

	"meshc.dev/compiler/cuedata"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/plan"
)

// exposed refuses a placeholder anywhere but in a file's content or data: in an
// argument, an environment, a unit, a path or a name it would show (SEC-10).
func (d *decoder) exposed(kind string) {
	d.x.Walk(func(p []string, v data.Value) {
		if kind == "file" && len(p) > 0 && (p[0] == "content" || p[0] == "data") {
			return
		}
		if v.Kind() == data.String && HasPlaceholder(v.Text()) {
			d.ds = append(d.ds, secretShows(d.fieldAt(p[0]), d.id, strings.Join(p, ".")))
		}
		for _, f := range v.Fields() {
			if HasPlaceholder(f.Name) {
				d.ds = append(d.ds, secretShows(d.at, d.id, strings.Join(p, ".")))
			}
		}
	})
}

// ownSecrets refuses a placeholder that was spelled out for a secret which the
// instance does not have (SEC-10).
func (d *decoder) ownSecrets(fills []plan.Placeholder) {
	for _, f := range fills {
		kind, name, _ := strings.Cut(f.Secret.Name, ".")
		if kind == "requires" && slices.Contains(d.in.Secrets, name) || kind == "needs" && slices.Contains(d.in.Needs, name) {
			continue
		}
		d.ds = append(d.ds, speltPlaceholder(d.at, d.id.String()))
		return
	}
}

// transformed compares resources that were evaluated with placeholders of both
// marks: where they differ in more than that, the module computed with one (SEC-10).
func transformed(k *compiled, a, b cue.Value) diag.List {
	ra, rb := a.LookupPath(cue.ParsePath("resources")), b.LookupPath(cue.ParsePath("resources"))
	xa, err := cuedata.From(ra)
	if err != nil {
		return nil
	}
	xb, err := cuedata.From(rb)
	if err != nil {
		return diag.List{secretComputed(load.ValueAt(ra), k.module.Name, "resources")}
	}
	var ds diag.List
	compare(nil, xa, xb, func(path []string) {
		sels := []cue.Selector{cue.Str("resources")}
		for _, p := range path[:min(2, len(path))] {
			sels = append(sels, cue.Str(p))
		}
		at := load.KeyAt(a.LookupPath(cue.MakePath(sels...)))
		ds = append(ds, secretComputed(at, k.module.Name, strings.Join(path, ".")))
	})
	// A piece of a placeholder that is the same in both is no placeholder any more.
	xa.Walk(func(path []string, v data.Value) {
		if v.Kind() == data.String || v.Kind() == data.Bytes {
			if rest := placeholderText.ReplaceAllString(v.Text(), ""); HasPlaceholder(rest) && len(ds) == 0 {
				ds = append(ds, secretComputed(load.ValueAt(ra), k.module.Name, strings.Join(path, ".")))
			}
		}
	})
	return ds
}

// compare calls differ for every path at which two values, of the one marks and the
// other, are not equal. A field's name that holds a placeholder differs too.
func compare(path []string, a, b data.Value, differ func(path []string)) {
	switch {
	case a.Kind() != b.Kind(), len(a.Items()) != len(b.Items()), len(a.Fields()) != len(b.Fields()), a.Text() != asPlaced(b.Text()):
		differ(slices.Clone(path))
		return
	}
	for i := range a.Items() {
		compare(append(path[:len(path):len(path)], "item"), a.Items()[i], b.Items()[i], differ)
	}
	for i, f := range a.Fields() {
		if f.Name != b.Fields()[i].Name {
			differ(slices.Clone(path))
			return
		}
		compare(append(path[:len(path):len(path)], f.Name), f.Value, b.Fields()[i].Value, differ)
	}
}
