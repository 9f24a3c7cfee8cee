package load

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"

	"meshc.dev/compiler/diag"
)

// translate says what CUE found wrong with a value in words of this language
// (DIA-4): one diagnostic for all errors of one path.
func translate(errs []errors.Error, subject string, path []string, at diag.Pos) diag.List {
	return translateAgainst(cue.Value{}, errs, subject, path, at)
}

func translateAgainst(shape cue.Value, errs []errors.Error, subject string, path []string, at diag.Pos) diag.List {
	errs = telling(errs)
	places := positions(errs)
	if custom := customMessage(errs); custom != "" {
		d := notAllowed(at, subject, path, custom, places)
		if slices.ContainsFunc(errs, saysAddress) {
			d.Code = diag.BadAddress
		}
		return diag.List{d}
	}
	if shape.Exists() {
		if values := enumeration(shape); len(values) > 0 {
			return diag.List{notAllowed(at, subject, path, "it is one of "+strings.Join(values, ", "), places)}
		}
	}
	for _, e := range errs {
		format, args := e.Msg()
		switch {
		case strings.HasPrefix(format, "conflicting values"):
			if len(places) >= 2 && !shape.Exists() {
				return diag.List{setTwice(subject, path, places)}
			}
			if len(args) >= 2 {
				return diag.List{conflict(at, subject, path, fmt.Sprint(args[0]), fmt.Sprint(args[1]), places)}
			}
		case strings.HasPrefix(format, "invalid value"):
			return diag.List{outOfBounds(at, subject, path, boundOf(fmt.Sprintf(format, args...)), places)}
		case strings.HasPrefix(format, "incomplete"), strings.HasPrefix(format, "non-concrete"):
			return diag.List{noValue(at, subject, path)}
		case strings.Contains(format, "cycle"):
			return diag.List{cycle(at, subject, path, places)}
		case strings.HasPrefix(format, "reference"):
			return diag.List{unknownReference(firstOf(places, at), fmt.Sprint(args[0]))}
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return diag.List{cueFault(firstOf(places, at), subject, path, plain(errs[0]), places)}
}

// telling leaves out the branches of a choice that say less than another: that a
// value is not the default says nothing where a bound says what it may be.
func telling(errs []errors.Error) []errors.Error {
	var bounds []errors.Error
	for _, e := range errs {
		if format, _ := e.Msg(); strings.HasPrefix(format, "invalid value") {
			bounds = append(bounds, e)
		}
	}
	if len(bounds) > 0 && customMessage(errs) == "" {
		return bounds
	}
	return errs
}

// customMessage is what error("…") in a schema or module says.
func customMessage(errs []errors.Error) string {
	for _, e := range errs {
		format, args := e.Msg()
		if _, own, marked := strings.Cut(fmt.Sprintf(format, args...), ownWords); marked {
			return strings.ReplaceAll(own, ownWords, "")
		}
	}
	for _, e := range errs {
		format, args := e.Msg()
		msg := fmt.Sprintf(format, args...)
		switch {
		case strings.HasPrefix(format, "conflicting"), strings.HasPrefix(format, "invalid"), strings.HasPrefix(format, "%d errors"),
			strings.Contains(format, "empty disjunction"), strings.HasPrefix(format, "field not"), strings.HasPrefix(format, "incomplete"),
			strings.HasPrefix(format, "reference"), strings.Contains(format, "cycle"), strings.HasPrefix(format, "non-concrete"),
			strings.HasPrefix(format, "invalid operand"), strings.HasPrefix(format, "undefined"), strings.HasPrefix(format, "cannot"),
			strings.HasPrefix(format, "key value"), strings.HasPrefix(format, "adding field"), strings.HasPrefix(format, "failed"), strings.HasPrefix(format, "un"),
			strings.HasPrefix(format, "index"), strings.HasPrefix(format, "error in call"), strings.Contains(format, "mismatched"):
			continue
		}
		// An interpolated text comes with %v for each value in it.
		if format == "%s" || !strings.Contains(strings.ReplaceAll(format, "%v", ""), "%") || strings.HasPrefix(format, "%v") {
			return msg
		}
	}
	return ""
}

// saysAddress says whether an error is that of one of the schema's kinds of address, which
// have a code of their own wherever they stand: in the mesh, or in a module's settings.
func saysAddress(e errors.Error) bool {
	format, args := e.Msg()
	msg := fmt.Sprintf(format, args...)
	return slices.ContainsFunc([]string{"a network is an address and ", "an address is one of IPv4 or ", "a host is a name of letters, "}, func(begins string) bool { return strings.HasPrefix(msg, begins) })
}

// enumeration lists the values of a choice between a few scalars, as they are written.
func enumeration(shape cue.Value) []string {
	op, args := shape.Expr()
	if op != cue.OrOp {
		return nil
	}
	var out []string
	for _, a := range args {
		if a.Kind()&(cue.StringKind|cue.IntKind|cue.BoolKind|cue.NullKind) == 0 || a.Kind() == cue.BottomKind {
			if a.Kind() == cue.BottomKind && a.IncompleteKind() == cue.BottomKind {
				continue
			}
			return nil
		}
		b, err := a.MarshalJSON()
		if err != nil {
			return nil
		}
		if s := string(b); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

var bound = regexp.MustCompile(`\(out of bound (.*)\)$`)

func boundOf(msg string) string {
	m := bound.FindStringSubmatch(msg)
	if m == nil {
		return ""
	}
	b := m[1]
	for _, w := range []struct{ op, words string }{
		{">=", "at least "},
		{"<=", "at most "},
		{"!~", "nothing that matches "},
		{"=~", "something that matches "},
		{">", "more than "},
		{"<", "less than "},
		{"!=", "anything but "},
	} {
		if rest, ok := strings.CutPrefix(b, w.op); ok {
			return w.words + rest
		}
	}
	return b
}

var internals = regexp.MustCompile(`#[A-Z][A-Za-z]*\.?`)

// plain is an error's own text without definition paths.
func plain(e errors.Error) string {
	format, args := e.Msg()
	s := internals.ReplaceAllString(fmt.Sprintf(format, args...), "")
	s = strings.ReplaceAll(s, root+"/", "")
	s = strings.ReplaceAll(s, ownWords, "")
	return strings.Replace(s, "undefined field: ", "there is no field ", 1)
}

func firstOf(places []diag.Pos, at diag.Pos) diag.Pos {
	if at.IsValid() || len(places) == 0 {
		return at
	}
	return places[0]
}
