// Package report is a mesh, or what a change does to it, as one HTML page that needs
// nothing besides itself: the picture, a search, and of every machine what it runs and why,
// its files, its ports, and the ends of its secrets, never a secret. Where a diff is
// given, what it changes comes first and is marked in the picture (REV-6).
//
// Everything in the page that a mesh says goes through html/template. The page forbids
// itself everything but its own style and script (policy.go), and is never larger than
// MaxPage: what does not fit is counted and named (write.go). Enter at Write.
package report

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"meshc.dev/compiler/plan"
	"meshc.dev/render/bundle"
	"meshc.dev/render/diff"
	"meshc.dev/render/graph"
)

// Input is what a report is about.
type Input struct {
	Plan    *plan.Plan
	Bundles []*bundle.Bundle // in the plan's order
	// Diff is what the change to this plan does; nil for a report of a mesh as it is.
	Diff *diff.Diff
	// Version of meshc, for the foot of the page; may be empty.
	Version string
	// MaxBytes bounds the page; MaxPage where it is 0.
	MaxBytes int
}

// MaxPage is the most that a page has, in bytes: what a phone still opens.
const MaxPage = 8 << 20

//go:embed page.html
var pageSource string

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// page is what page.html is filled with.
type page struct {
	Mesh, Domain, Version string
	Policy                string
	Style, Script         template.HTML
	Diff                  *changes
	Picture               template.HTML
	About                 string
	Boxes                 []several
	Networks              []graph.Network
	Nodes                 []template.HTML
	Count                 int
	LeftOut               []string
}

// several is a box of the picture that stands for more than one machine.
type several struct {
	ID, Title string
	Nodes     []string
}

// Write writes the page. The context bounds how long the picture may be laid out.
func Write(ctx context.Context, w io.Writer, in Input) error {
	t, err := template.New("page").Funcs(template.FuncMap{"join": strings.Join}).Parse(pageSource)
	if err != nil {
		return fmt.Errorf("the report's template: %w", err)
	}
	g := graph.Of(in.Plan, graph.Options{Diff: in.Diff})
	picture, err := graph.Inline(ctx, g, func(x *graph.Box) string { return link(x) })
	if err != nil {
		return err
	}
	style, script := "\n"+graph.Style+pageStyle, "\n"+pageScript
	p := page{
		Mesh: in.Plan.Mesh, Domain: in.Plan.Domain, Version: in.Version, Policy: policy(style, script),
		Style: template.HTML("<style>" + style + "</style>"), Script: template.HTML("<script>" + script + "</script>"),
		Picture: template.HTML(picture), About: g.Description(), Boxes: boxes(g), Networks: g.Networks, Count: len(in.Plan.Nodes),
	}
	room := in.MaxBytes
	if room == 0 {
		room = MaxPage
	}
	room -= len(style) + len(script) + len(picture) + 4096
	if in.Diff != nil {
		p.Diff = changesOf(in.Diff, room/4)
		p.LeftOut = append(p.LeftOut, p.Diff.leftOut()...)
		room -= room / 4
	}
	f := &fitter{template: t, room: room, input: in, changes: p.Diff}
	if err := f.all(); err != nil {
		return fmt.Errorf("the report: %w", err)
	}
	p.Nodes = f.sections
	p.LeftOut = append(p.LeftOut, f.leftOut()...)
	var out bytes.Buffer
	if err := t.Execute(&out, p); err != nil {
		return fmt.Errorf("the report: %w", err)
	}
	_, err = io.WriteString(w, visible(out.String()))
	return err
}

// link is where a box of the picture leads.
func link(x *graph.Box) string {
	switch x.Kind {
	case graph.Machine:
		return "#" + anchor(x.Nodes[0])
	case graph.Several:
		return "#box-" + x.ID
	case graph.Gone:
		return "#changes"
	}
	return ""
}

// anchor is a machine's place in the page.
func anchor(node string) string { return "node-" + node }

func boxes(g *graph.Graph) []several {
	var out []several
	for _, s := range g.Sites {
		for _, x := range s.Boxes {
			if x.Kind == graph.Several {
				title := x.Title
				if s.Name != "" {
					title += " at " + s.Name
				}
				out = append(out, several{"box-" + x.ID, title, x.Nodes})
			}
		}
	}
	return out
}
