package report

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"slices"

	"meshc.dev/render/bundle"
)

// fitter makes the machines' sections, as many and as full as there is room for: those
// that a change touches most first, the others in the mesh's order. A section that does
// not fit leaves out the contents of its files; then everything but a line.
type fitter struct {
	template *template.Template
	input    Input
	changes  *changes
	room     int

	sections         []template.HTML // in the mesh's order
	bare, noContents int
}

// lineSize is about what the line of a machine takes.
const lineSize = 400

func (f *fitter) all() error {
	nodes := f.input.Plan.Nodes
	f.sections = make([]template.HTML, len(nodes))
	f.room -= lineSize * len(nodes)
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
	for _, k := range order {
		var b *bundle.Bundle
		if k < len(f.input.Bundles) {
			b = f.input.Bundles[k]
		}
		section, err := f.section(machineOf(nodes[k], b, f.changes))
		if err != nil {
			return err
		}
		f.sections[k] = section
	}
	return nil
}

func (f *fitter) section(m machine) (template.HTML, error) {
	whole, err := f.render("machine", m)
	if err != nil || f.take(whole) {
		return whole, err
	}
	m.ContentsLeftOut = true
	for k := range m.Files {
		m.Files[k].Pieces = nil
	}
	short, err := f.render("machine", m)
	if err != nil {
		return "", err
	}
	if f.take(short) {
		f.noContents++
		return short, nil
	}
	f.bare++
	return f.render("bare", m)
}

func (f *fitter) take(s template.HTML) bool {
	if len(s)-lineSize > f.room {
		return false
	}
	f.room -= len(s) - lineSize
	return true
}

func (f *fitter) render(name string, m machine) (template.HTML, error) {
	var b bytes.Buffer
	if err := f.template.ExecuteTemplate(&b, name, m); err != nil {
		return "", err
	}
	return template.HTML(visible(b.String())), nil
}

func (f *fitter) leftOut() []string {
	var out []string
	if f.noContents > 0 {
		out = append(out, "the contents of files of "+plural(f.noContents, "node"))
	}
	if f.bare > 0 {
		out = append(out, fmt.Sprintf("all but the names of what runs on %s", plural(f.bare, "node")))
	}
	return out
}
