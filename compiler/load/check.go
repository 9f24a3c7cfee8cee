package load

import (
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"meshc.dev/compiler/cuedata"
	"meshc.dev/compiler/diag"
)

// Checker holds a value against a shape, field by field. CUE itself would stop
// at the first contradiction it meets in a struct and hide the others (DIA-1);
// here each field is unified with its own part of the shape alone.
type Checker struct {
	// Subject says what is checked, for messages: "the mesh", "module gitea".
	Subject string
	// Partial values may still lack fields that are required: a module before it is filled in.
	Partial bool
	// Unknown and Missing make the diagnostics for a field that the shape does not
	// have and for one that it wants; SET-3 has its own.
	Unknown func(at diag.Pos, path []string, near []string) diag.Diagnostic
	Missing func(at diag.Pos, path []string) diag.Diagnostic
}

// Check gives everything in v that the shape does not allow. v must have been
// built without the shape's own constraints.
func (c Checker) Check(shape, v cue.Value) diag.List {
	return c.check(shape, v, nil)
}

func (c Checker) check(shape, v cue.Value, path []string) diag.List {
	if v.IncompleteKind() == cue.StructKind || v.Kind() == cue.BottomKind && len(fieldsOf(v)) > 0 {
		if kind := shape.IncompleteKind(); kind&cue.StructKind == 0 && kind != cue.BottomKind {
			return diag.List{wrongKind(valueAt(v), c.Subject, path, "a struct", kindNames(kind))}
		}
		if isStruct(shape) {
			return c.checkStruct(shape, v, path)
		}
	}
	if own := ownErrors(v); len(own) > 0 {
		return translate(own, c.Subject, path, valueAt(v))
	}
	if v.IncompleteKind() == cue.ListKind && shape.IncompleteKind() == cue.ListKind {
		return c.checkList(shape, v, path)
	}
	return c.checkLeaf(shape, v, path)
}

// isStruct says whether a shape is a plain struct, whose fields can be checked
// one by one, rather than a choice that has structs among its branches.
func isStruct(shape cue.Value) bool {
	if shape.IncompleteKind() != cue.StructKind {
		return false
	}
	op, _ := shape.Expr()
	return op != cue.OrOp
}

func (c Checker) checkStruct(shape, v cue.Value, path []string) diag.List {
	var ds diag.List
	have := map[string]bool{}
	for _, f := range fieldsOf(v) {
		have[f.name] = true
		at := slices.Concat(path, []string{f.name})
		sel := cue.Str(f.name)
		if !shape.Allows(sel) {
			known := namesOf(shape)
			if len(known) == 0 && shape.Allows(cue.Str("a")) {
				ds = append(ds, badName(keyAt(f.value), at))
				continue
			}
			if len(known) == 0 && c.Subject == "the mesh" {
				ds = append(ds, nothingInside(keyAt(f.value), path))
				continue
			}
			if len(known) == 0 { // of a module: only a pattern says which keys there can be
				ds = append(ds, badKey(keyAt(f.value), c.Subject, path, f.name))
				continue
			}
			ds = append(ds, c.Unknown(keyAt(f.value), at, diag.Nearest(f.name, known)))
			continue
		}
		sub := shape.LookupPath(cue.MakePath(sel.Optional()))
		if !sub.Exists() {
			ds = append(ds, ownFaults(f.value, c.Subject, at)...)
			continue
		}
		ds = append(ds, c.check(sub, f.value, at)...)
	}
	if c.Partial && len(path) > 0 && !concreteStruct(v) {
		return ds
	}
	it, err := shape.Fields(cue.Optional(true))
	if err != nil {
		return ds
	}
	for it.Next() {
		name := cuedata.Label(it.Selector())
		if it.FieldType()&cue.RequiredConstraint != 0 && !have[name] {
			ds = append(ds, c.Missing(keyAt(v), slices.Concat(path, []string{name})))
		}
	}
	return ds
}

// concreteStruct says whether a struct's fields are all there already; one that
// holds an unresolved comprehension or disjunction may still get more.
func concreteStruct(v cue.Value) bool { return v.Err() == nil }

func (c Checker) checkList(shape, v cue.Value, path []string) diag.List {
	elem := shape.LookupPath(cue.MakePath(cue.AnyIndex))
	if !elem.Exists() {
		return c.checkLeaf(shape, v, path)
	}
	var ds diag.List
	it, err := v.List()
	if err != nil {
		return translate(errors.Errors(err), c.Subject, path, valueAt(v))
	}
	for it.Next() {
		ds = append(ds, c.check(elem, it.Value(), slices.Concat(path, []string{"[" + it.Selector().String() + "]"}))...)
	}
	if len(ds) == 0 {
		return c.checkLeaf(shape, v, path)
	}
	return ds
}

func (c Checker) checkLeaf(shape, v cue.Value, path []string) diag.List {
	var opts []cue.Option
	if !c.Partial {
		opts = append(opts, cue.Concrete(true))
	}
	err := v.Unify(shape).Validate(opts...)
	if d, bad := keyFault(c.Subject, v, path); bad {
		return diag.List{d}
	}
	if err == nil {
		return nil
	}
	if v.Kind() == cue.BytesKind && shape.IncompleteKind()&cue.StringKind != 0 && shape.IncompleteKind()&cue.BytesKind == 0 {
		return diag.List{singleQuotes(v, c.Subject, path)}
	}
	sk, vk := shape.IncompleteKind(), v.IncompleteKind()
	if sk != cue.BottomKind && vk != cue.BottomKind && sk&vk == 0 {
		if custom := customMessage(errors.Errors(err)); custom != "" {
			d := notAllowed(valueAt(v), c.Subject, path, custom, nil)
			if last(path) == "mode" && v.Kind() == cue.IntKind {
				d = modeIsNumber(d, v)
			}
			return diag.List{d}
		}
		return diag.List{wrongKind(valueAt(v), c.Subject, path, kindNames(vk), kindNames(sk))}
	}
	return translateAgainst(shape, errors.Errors(err), c.Subject, path, valueAt(v))
}

// ownFaults are the contradictions inside a value that no shape constrains.
func ownFaults(v cue.Value, subject string, path []string) diag.List {
	if fs := fieldsOf(v); len(fs) > 0 {
		var ds diag.List
		for _, f := range fs {
			ds = append(ds, ownFaults(f.value, subject, slices.Concat(path, []string{f.name}))...)
		}
		return ds
	}
	if own := ownErrors(v); len(own) > 0 {
		return translate(own, subject, path, valueAt(v))
	}
	return nil
}

// ownErrors are the errors of a value itself, without those that only say it is not known yet.
func ownErrors(v cue.Value) []errors.Error {
	if v.Kind() != cue.BottomKind || v.IncompleteKind() != cue.BottomKind {
		return nil
	}
	err := v.Validate()
	if err == nil {
		return nil
	}
	return errors.Errors(err)
}

type field struct {
	name  string
	value cue.Value
}

func fieldsOf(v cue.Value) []field {
	it, err := v.Fields()
	if err != nil {
		return nil
	}
	var out []field
	for it.Next() {
		out = append(out, field{cuedata.Label(it.Selector()), it.Value()})
	}
	return out
}

// namesOf are the fields that a shape names.
func namesOf(shape cue.Value) []string {
	it, err := shape.Fields(cue.Optional(true))
	if err != nil {
		return nil
	}
	var out []string
	for it.Next() {
		out = append(out, cuedata.Label(it.Selector()))
	}
	return out
}

// kindNames says a kind in words a person uses.
func kindNames(k cue.Kind) string {
	var out []string
	for _, n := range []struct {
		kind cue.Kind
		name string
	}{
		{cue.StructKind, "a struct"},
		{cue.ListKind, "a list"},
		{cue.StringKind, "a string"},
		{cue.BytesKind, "bytes"},
		{cue.NumberKind, "a number"},
		{cue.IntKind, "a whole number"},
		{cue.FloatKind, "a number"},
		{cue.BoolKind, "true or false"},
		{cue.NullKind, "null"},
	} {
		if k&n.kind == n.kind {
			out = append(out, n.name)
			k &^= n.kind
		}
	}
	return strings.Join(out, " or ")
}

// positions of an error in files that a person wrote, sorted, each line once.
func positions(errs []errors.Error) []diag.Pos {
	var out []diag.Pos
	for _, e := range errs {
		for _, p := range append(errors.Positions(e), []token.Pos{e.Position()}...) {
			if at := PosOf(p); at.IsValid() && !slices.ContainsFunc(out, func(o diag.Pos) bool { return o.Compare(at) == 0 }) {
				out = append(out, at)
			}
		}
	}
	slices.SortFunc(out, diag.Pos.Compare)
	return out
}
