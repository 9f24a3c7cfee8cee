package evaluate

import (
	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/work"
)

// Contained is an evaluator whose questions can neither panic nor be lost sight of: what CUE
// panics at is the module's fault, and the log knows what is asked at the moment (DIA-5).
func Contained(e Evaluator, log *work.Log) Evaluator { return contained{e, log} }

type contained struct {
	Evaluator
	log *work.Log
}

// place is where a module stands or, where it is built in, where it was assigned.
func place(m *load.Module, in Inputs) diag.Pos {
	if m.Builtin && in.At.IsValid() {
		return in.At
	}
	return m.At
}

func (c contained) ask(m *load.Module, in Inputs, ask func() diag.List) diag.List {
	var ds diag.List
	failed := c.log.Do("module "+m.Name, place(m, in), func() { ds = ask() })
	return append(ds, failed...).FoundAt(addr.Instance{Node: addr.Node(in.Node.Name), Name: in.Instance})
}

func (c contained) Interface(m *load.Module, in Inputs) (i *Interface, ds diag.List) {
	ds = c.ask(m, in, func() (ds diag.List) {
		i, ds = c.Evaluator.Interface(m, in)
		return ds
	})
	return i, ds
}

func (c contained) Exchange(m *load.Module, in Inputs) (i *Interface, ds diag.List) {
	ds = c.ask(m, in, func() (ds diag.List) {
		i, ds = c.Evaluator.Exchange(m, in)
		return ds
	})
	return i, ds
}

func (c contained) Resources(m *load.Module, in Inputs) (r *Resources, ds diag.List) {
	ds = c.ask(m, in, func() (ds diag.List) {
		r, ds = c.Evaluator.Resources(m, in)
		return ds
	})
	return r, ds
}

func (c contained) Derive(of *Interface, provision string, consumer data.Value) (v data.Value, ds diag.List) {
	failed := c.log.Do("what is derived for "+provision, of.Provision(provision).At, func() { v, ds = c.Evaluator.Derive(of, provision, consumer) })
	return v, append(ds, failed...)
}

func (c contained) Accepts(of *Interface, provision string, values data.Value) (ds diag.List) {
	at := diag.Pos{}
	if p := of.Provision(provision); p != nil {
		at = p.AcceptsAt
	}
	failed := c.log.Do("what "+provision+" accepts", at, func() { ds = c.Evaluator.Accepts(of, provision, values) })
	return append(ds, failed...)
}
