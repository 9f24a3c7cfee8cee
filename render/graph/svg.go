package graph

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"meshc.dev/render/graph/graphviz"
)

// Style is the style sheet of a picture: colours for light and dark as variables.
//
//go:embed picture.css
var Style string

// SVG writes the picture as a file of its own.
func SVG(ctx context.Context, w io.Writer, g *Graph) error {
	l, err := place(ctx, g)
	if err != nil {
		return err
	}
	p := &pen{graph: g, layout: l}
	p.printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
	p.picture(`role="img"`, "<style>\n"+Style+"</style>\n")
	_, err = w.Write(p.Bytes())
	return err
}

// Inline gives the picture as an element of a page that has Style in its own style sheet.
// Each box is a link to where link says; its children are reached one by one.
func Inline(ctx context.Context, g *Graph, link func(*Box) string) (string, error) {
	l, err := place(ctx, g)
	if err != nil {
		return "", err
	}
	p := &pen{graph: g, layout: l, link: link}
	// Within role "img" nothing can be reached, and the boxes are to be.
	p.picture(`role="group"`, "")
	return p.String(), nil
}

// pen draws what has been laid out.
type pen struct {
	bytes.Buffer
	graph  *Graph
	layout *graphviz.Layout
	link   func(*Box) string
}

func (p *pen) printf(format string, args ...any) { fmt.Fprintf(&p.Buffer, format, args...) }

const margin = 16

func (p *pen) picture(role, style string) {
	legend := p.legend()
	const legendLine = 20
	w := math.Max(p.layout.Width, legendWidth(legend)) + 2*margin
	h := p.layout.Height + 2*margin + float64(len(legend))*legendLine + 8
	p.printf("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mesh-picture\" %s aria-labelledby=\"picture-title picture-desc\" viewBox=\"0 0 %s %s\" width=\"%s\" height=\"%s\">\n",
		role, n(w), n(h), n(w), n(h))
	p.printf("<title id=\"picture-title\">The mesh %s</title>\n<desc id=\"picture-desc\">%s</desc>\n%s", text(p.graph.Mesh), text(p.graph.Description()), style)
	p.printf("<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"tip\" d=\"M0,0L8,4L0,8z\"/></marker></defs>\n")
	p.printf("<rect class=\"paper\" width=\"%s\" height=\"%s\"/>\n<g transform=\"translate(%d %d)\">\n", n(w), n(h), margin, margin)
	for _, s := range p.graph.Sites {
		p.site(s)
	}
	for _, e := range p.graph.Edges {
		p.edge(e, p.layout.Edges[e.id()])
	}
	for _, s := range p.graph.Sites {
		for _, x := range s.Boxes {
			p.box(x)
		}
	}
	p.printf("</g>\n")
	for k, line := range legend {
		p.printf("<g class=\"legend\" transform=\"translate(%d %s)\">%s<text x=\"36\" y=\"4\">%s</text></g>\n", margin, n(h-margin-float64(len(legend)-1-k)*legendLine), line.sign, text(line.text))
	}
	p.printf("</svg>\n")
}

type legendEntry struct{ sign, text string }

func legendWidth(l []legendEntry) float64 {
	w := 0.0
	for _, e := range l {
		w = math.Max(w, 36+width(e.text, textSize))
	}
	return w
}

// legend says what lines and dots mean, those that there are.
func (p *pen) legend() []legendEntry {
	var out []legendEntry
	credential := func(e Edge) bool { return e.Credential() }
	if slices.ContainsFunc(p.graph.Edges, credential) {
		out = append(out, legendEntry{`<path class="edge credential" d="M0,0H28" marker-end="url(#arrow)"/>`, "takes it with a login of its own"})
	}
	if slices.ContainsFunc(p.graph.Edges, func(e Edge) bool { return !e.Credential() }) {
		out = append(out, legendEntry{`<path class="edge" d="M0,0H28" marker-end="url(#arrow)"/>`, "takes it without a login"})
	}
	for k, w := range p.graph.Networks {
		if k == mostNetworks {
			out = append(out, legendEntry{"", fmt.Sprintf("and %d networks more", len(p.graph.Networks)-k)})
			break
		}
		line := "on the network " + w.Name
		if w.Prefix != "" {
			line += ", " + w.Prefix
		}
		out = append(out, legendEntry{fmt.Sprintf(`<circle class="network w%d" cx="14" r="4"/>`, k), fmt.Sprintf("%s (%d)", cut(line, 60), w.Nodes)})
	}
	if p.graph.Folded != "" {
		out = append(out, legendEntry{"", p.graph.Folded})
	}
	return out
}

// mostNetworks have a colour of their own.
const mostNetworks = 6

func (p *pen) site(s Site) {
	b, ok := p.layout.Clusters[s.id()]
	if s.Name == "" || !ok {
		return
	}
	p.printf("<g class=\"site\"><rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"10\"/><text x=\"%s\" y=\"%s\">%s</text></g>\n",
		n(b.Min.X), n(b.Min.Y), n(b.Max.X-b.Min.X), n(b.Max.Y-b.Min.Y), n(b.Min.X+10), n(b.Min.Y+17), text(s.Name))
}

func (p *pen) edge(e Edge, at graphviz.Edge) {
	class := "edge"
	if e.Credential() {
		class += " credential"
	}
	var d strings.Builder
	for k, c := range at.Curve {
		switch {
		case k == 0:
			d.WriteString("M")
		case k%3 == 1:
			d.WriteString("C")
		default:
			d.WriteString(" ")
		}
		d.WriteString(n(c.X) + "," + n(c.Y))
	}
	d.WriteString("L" + n(at.Tip.X) + "," + n(at.Tip.Y))
	p.printf("<g class=\"take\" data-from=\"%s\" data-to=\"%s\"><title>%s</title><path class=\"%s\" d=\"%s\" marker-end=\"url(#arrow)\"/>",
		text(e.From), text(e.To), text(e.description()), class, d.String())
	if at.HasLabel {
		labels := e.Labels()
		top := at.Label.Y - labelLine*float64(len(labels)-1)/2 + labelSize*0.35
		for k, l := range labels {
			p.printf("<text x=\"%s\" y=\"%s\">%s</text>", n(at.Label.X), n(top+labelLine*float64(k)), text(l))
		}
	}
	p.printf("</g>\n")
}

// description lists what is taken, as far as a tooltip is read.
func (e Edge) description() string {
	const most = 12
	var out []string
	for _, t := range e.Takes {
		for _, end := range t.Ends {
			out = append(out, t.Provision+": "+end.String())
		}
	}
	if len(out) > most {
		out = append(out[:most-1], fmt.Sprintf("and %d more", len(out)-most+1))
	}
	return strings.Join(out, "\n")
}

func (p *pen) box(x *Box) {
	at, ok := p.layout.Nodes[x.ID]
	if !ok {
		return
	}
	w, h := x.size()
	class := "box " + string(x.Kind)
	if x.Impact != "" {
		class += fmt.Sprintf(" changed i%d", x.Rank)
	}
	name := x.description()
	if p.link != nil && p.link(x) != "" {
		p.printf("<a href=\"%s\" aria-label=\"%s\" class=\"%s\" data-box=\"%s\" data-nodes=\"%s\"><title>%s</title>", text(p.link(x)), text(name), class, text(x.ID), text(strings.Join(x.Nodes, " ")), text(name))
		defer p.printf("</a>\n")
	} else {
		p.printf("<g class=\"%s\"><title>%s</title>", class, text(name))
		defer p.printf("</g>\n")
	}
	left, top := at.X-w/2, at.Y-h/2
	p.printf("<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"6\"/>", n(left), n(top), n(w), n(h))
	y := top + padding + titleSize*0.75
	p.printf("<text class=\"name\" x=\"%s\" y=\"%s\">%s</text>", n(left+padding), n(y), text(x.Title))
	for k, network := range x.Networks {
		if network < mostNetworks {
			p.printf("<circle class=\"network w%d\" cx=\"%s\" cy=\"%s\" r=\"4\"/>", network, n(left+w-padding-networkDot*float64(len(x.Networks)-1-k)), n(y-5))
		}
	}
	y += titleLine - titleSize*0.75 + textSize*0.75
	for _, l := range x.lines() {
		class := "fact"
		if strings.HasPrefix(l, "▲") {
			class = "impact"
		}
		p.printf("<text class=\"%s\" x=\"%s\" y=\"%s\">%s</text>", class, n(left+padding), n(y), text(l))
		y += textLine
	}
	runs := x.runs()
	if len(runs) == 0 {
		return
	}
	rule := y - textSize*0.75 + ruleSpace/2 - 3
	p.printf("<path class=\"rule\" d=\"M%s,%sH%s\"/>", n(left+padding), n(rule), n(left+w-padding))
	y += ruleSpace
	for _, l := range runs {
		p.printf("<text x=\"%s\" y=\"%s\">%s</text>", n(left+padding), n(y), text(l))
		y += textLine
	}
}

// description is the box in words.
func (x *Box) description() string {
	out := x.Title
	if x.Kind == Several {
		out += ": " + cut(strings.Join(x.Nodes, ", "), 200)
	}
	for _, l := range x.lines() {
		if x.Kind != Several || l != x.Address {
			out += ", " + strings.TrimPrefix(l, "▲ ")
		}
	}
	if len(x.Instances) > 0 {
		out += "; runs " + strings.Join(x.Instances, ", ")
	}
	return cut(out, 600)
}

// Description is the picture in words.
func (g *Graph) Description() string {
	machines, sites, changed, takes := 0, 0, 0, 0
	for _, s := range g.Sites {
		if s.Name != "" {
			sites++
		}
		for _, x := range s.Boxes {
			if x.Kind == Machine || x.Kind == Several {
				machines += len(x.Nodes)
			}
			if x.Impact != "" {
				changed++
			}
		}
	}
	for _, e := range g.Edges {
		for _, t := range e.Takes {
			takes += len(t.Ends)
		}
	}
	out := fmt.Sprintf("%s at %s; %s between machines.", plural(machines, "node"), plural(sites, "site"), plural(takes, "requirement"))
	if changed > 0 {
		out += fmt.Sprintf(" %s marked as changed.", plural(changed, "box"))
	}
	return out
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "x") {
		what += "e"
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// n is a number as short as it may be.
func n(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }

// text is text of XML and HTML alike.
func text(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
