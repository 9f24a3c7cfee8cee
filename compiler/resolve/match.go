package resolve

import (
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"meshc.dev/compiler/cuedata"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/work"
)

// scopeOf is the scope in which a module says it provides something, as far as
// its source says without settings.
func (r *resolver) scopeOf(m *load.Module, provision string) string {
	v, ds := m.Value()
	if ds.HasErrors() {
		return "node"
	}
	s, err := v.LookupPath(cue.MakePath(cue.Str("provides"), cue.Str(provision), cue.Str("scope"))).String()
	if err != nil {
		return "node"
	}
	return s
}

// matches says why what is served does not meet a requirement's `where`, or
// gives nothing where it does (SCP-8).
func (r *resolver) matches(q *evaluate.Require, of *evaluate.Interface, p *evaluate.Provide) string {
	for _, c := range q.Where {
		if why := conditionFails(c, p); why != "" {
			return why
		}
	}
	return ""
}

// notKnownYet is what conditionFails begins with where only ports would tell.
const notKnownYet = "serves"

func conditionFails(c evaluate.Condition, p *evaluate.Provide) string {
	path := strings.Join(c.Path, ".")
	got := p.Serves.Lookup(c.Path...)
	if got.Kind() == data.Absent {
		if !p.Whole {
			return notKnownYet + " no " + path + " before ports are assigned"
		}
		return "serves no " + path
	}
	if c.Value.Kind() != data.Absent {
		if c.Value.Equal(got) {
			return ""
		}
		return "serves " + path + " " + got.String()
	}
	fits := false
	failed := (*work.Log)(nil).Do("where", c.At, func() {
		fits = c.Want.Unify(cuecontext.New().BuildExpr(cuedata.Expr(got))).Validate(cue.Concrete(true)) == nil
	})
	if fits && len(failed) == 0 {
		return ""
	}
	return "serves " + path + " " + got.String()
}
