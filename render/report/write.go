package report

import (
	"bytes"
	"cmp"
	"html/template"
	"slices"

	"meshc.dev/render/bundle"
)

// fitter makes the machines' sections, as full as there is room for. Each machine has a
// line; then as many as possible have all but the contents of their files; and then as many
// as possible have those too. Those that a change touches most come first, the others in the
// mesh's order.
type fitter struct {
	template *template.Template
	input    Input
	changes  *changes
	room     int

	sections []template.HTML // in the mesh's order
	forms    []form
}

// form is how much of a machine its section has.
type form int

const (
	line           form = iota // its name, and those of what it runs
	withoutContent             // all but the contents of files
	whole
)

func (f *fitter) all() error {
	order := f.order()
	f.sections, f.forms = make([]template.HTML, len(order)), make([]form, len(order))
	for of := line; of <= whole; of++ {
		for _, k := range order {
			if of > line && f.forms[k] != of-1 {
				continue
			}
			section, err := f.section(k, of)
			if err != nil {
				return err
			}
			// The lines are there however many there are: no machine is passed over.
			if more := len(section) - len(f.sections[k]); of == line || more <= f.room {
				f.room -= more
				f.sections[k], f.forms[k] = section, of
			}
		}
	}
	return nil
}

// order is that in which machines are given room.
func (f *fitter) order() []int {
	nodes := f.input.Plan.Nodes
	order := make([]int, len(nodes))
	for k := range order {
		order[k] = k
	}
	if f.input.Diff != nil {
		rank := func(k int) int {
			impact, ok := f.input.Diff.Nodes[string(nodes[k].Name)]
			if !ok {
				return -1
			}
			return int(impact)
		}
		slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(rank(y), rank(x)) })
	}
	return order
}

func (f *fitter) section(k int, of form) (template.HTML, error) {
	var b *bundle.Bundle
	if k < len(f.input.Bundles) {
		b = f.input.Bundles[k]
	}
	m := machineOf(f.input.Plan.Nodes[k], b, f.changes)
	name := "machine"
	switch of {
	case line:
		name = "line"
	case withoutContent:
		m.ContentsLeftOut = true
	}
	var out bytes.Buffer
	if err := f.template.ExecuteTemplate(&out, name, m); err != nil {
		return "", err
	}
	return template.HTML(visible(out.String())), nil
}

func (f *fitter) leftOut() []string {
	count := map[form]int{}
	for k, of := range f.forms {
		// A machine without files has lost nothing with their contents.
		if of != withoutContent || k < len(f.input.Bundles) && len(f.input.Bundles[k].Entries) > 0 {
			count[of]++
		}
	}
	var out []string
	if n := count[withoutContent]; n > 0 {
		out = append(out, "the contents of files of "+plural(n, "node"))
	}
	if n := count[line]; n > 0 {
		out = append(out, "all but the names of what runs on "+plural(n, "node"))
	}
	return out
}
