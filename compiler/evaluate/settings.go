package evaluate

import (
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"

	"meshc.dev/compiler/cuedata"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/load"
)

// checkSettings holds what the layers came to against the module's own settings:
// unknown keys (SET-3), types and ranges, and what the module keeps for itself (SET-2).
func (c *CUE) checkSettings(k *compiled, in Inputs) diag.List {
	if in.Settings == nil {
		return nil
	}
	var ds diag.List
	in.Settings.Data().Walk(func(path []string, v data.Value) {
		if v.Kind() == data.String && HasPlaceholder(v.Text()) {
			ds = append(ds, speltPlaceholder(spoken(in, path).Span, "the setting "+strings.Join(path, ".")+" of "+in.Instance))
		}
	})
	subject := "module " + k.module.Name
	merged := c.ctx.BuildExpr(in.Settings.Expr())
	k.asking.Lock()
	defer k.asking.Unlock()
	for _, d := range (load.Checker{
		Subject: subject, Partial: true, Unknown: unknownSetting(k.module.Name), Missing: missingSetting(in),
	}).Check(k.settings, merged) {
		if s := in.Settings.Find(d.At); s != nil {
			d.At = s.Span
			if d.Code == diag.UnknownSetting {
				d.At = s.At
			}
		}
		ds = append(ds, asSetting(d))
	}
	return ds
}

// spoken is the setting at a path, or the list that holds it.
func spoken(in Inputs, path []string) *load.Setting {
	m := in.Settings
	for _, p := range path {
		if m.Fields[p] == nil {
			break
		}
		m = m.Fields[p]
	}
	return m.Won.Setting
}

// asSetting turns the two codes for values into those for settings, which name SET-2.
func asSetting(d diag.Diagnostic) diag.Diagnostic {
	switch d.Code {
	case diag.SetTwice, diag.NotAllowed, diag.WrongKind:
		d.Code = diag.SettingKept
	}
	return d
}

// missingSettings names every setting that has neither a value nor a default.
func missingSettings(k *compiled, v cue.Value, in Inputs) diag.List {
	var ds diag.List
	var walk func(path []string, v cue.Value)
	walk = func(path []string, v cue.Value) {
		if v.IncompleteKind() == cue.StructKind {
			it, err := v.Fields()
			if err == nil {
				for it.Next() {
					walk(append(path[:len(path):len(path)], cuedata.Label(it.Selector())), it.Value())
				}
				return
			}
		}
		_, err := cuedata.From(v)
		if err == nil {
			return
		}
		if rounded := load.Rounded(err); len(rounded) > 0 {
			ds = append(ds, rounded...)
			return
		}
		if v.IncompleteKind() == cue.BottomKind {
			ds = append(ds, load.Translate(v.Validate(), "module "+k.module.Name, append([]string{"settings"}, path...), load.ValueAt(v))...)
			return
		}
		ds = append(ds, missingSettingOf(in, k.module.Name, path, load.ValueAt(v), load.KindNames(v.IncompleteKind())))
	}
	walk(nil, v)
	return ds
}

// unknownValue says why a value of a module is not known.
func unknownValue(v cue.Value, what string, err error) diag.List {
	if ds := load.Rounded(err); len(ds) > 0 {
		return ds
	}
	var inc *cuedata.Incomplete
	if errors.As(err, &inc) {
		v = inc.Value
	}
	if e := v.Validate(cue.Concrete(true)); e != nil {
		err = e
	}
	return load.Translate(err, what, nil, load.ValueAt(v))
}

// fault is what is wrong with a module's own computation. What the module says with
// error("…") of what it was given speaks to whoever assigned it, and is told there.
func (in Inputs) fault(err error, what string, path []string, at diag.Pos) diag.List {
	if said := load.Said(err); said != "" && in.At.IsValid() {
		return diag.List{moduleRefuses(in, said, at)}
	}
	return load.Translate(err, what, path, at)
}
