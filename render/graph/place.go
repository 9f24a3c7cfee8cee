package graph

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Everything in a picture is set in a fixed-width font, so that how wide a text is can
// be known without measuring it: 0.6 of its size a character, in all that are in use.
const (
	advance    = 0.602
	titleSize  = 14.0
	textSize   = 11.0
	labelSize  = 10.0
	titleLine  = 20.0
	textLine   = 15.0
	labelLine  = 12.0
	padding    = 12.0
	ruleSpace  = 8.0 // around the line between what a machine is and what it runs
	networkDot = 10.0
	smallest   = 120.0 // width of a box
)

func width(s string, size float64) float64 {
	return float64(utf8.RuneCountInString(s)) * advance * size
}

// size is how large a box is drawn.
func (x *Box) size() (w, h float64) {
	w = math.Max(smallest, width(x.Title, titleSize)+float64(len(x.Networks))*networkDot+4)
	h = padding + titleLine
	for _, l := range x.lines() {
		w = math.Max(w, width(l, textSize))
		h += textLine
	}
	runs := x.runs()
	for _, l := range runs {
		w = math.Max(w, width(l, textSize))
		h += textLine
	}
	if len(runs) > 0 {
		h += ruleSpace
	}
	return math.Ceil(w + 2*padding), h + padding/2
}

// layoutSource is what dot is given: boxes of fixed size, and edges with their labels.
func layoutSource(g *Graph) string {
	const inch = 72
	var b strings.Builder
	b.WriteString("digraph {\n  rankdir=LR nodesep=0.3 ranksep=0.55\n" +
		"  node [shape=box fixedsize=true label=\"\"]\n  edge [fontname=Courier fontsize=10 arrowsize=0.8]\n" +
		"  graph [fontname=Courier fontsize=13 labeljust=l margin=14]\n")
	clusters(&b, g, func(x *Box) string {
		w, h := x.size()
		return fmt.Sprintf("width=%.3f height=%.3f", w/inch, h/inch)
	})
	stagger := staggered(g.Edges)
	for k, e := range g.Edges {
		fmt.Fprintf(&b, "  %s -> %s [id=%s minlen=%d label=%s]\n", quoted(e.From), quoted(e.To), quoted(e.id()), stagger[k], quoted(strings.Join(padded(e.Labels()), "\n")))
	}
	for _, s := range g.Sites {
		for _, chain := range chains(s, g.Edges) {
			fmt.Fprintf(&b, "  %s [style=invis]\n", strings.Join(chain, " -> "))
		}
	}
	b.WriteString("}\n")
	return b.String()
}

func padded(labels []string) []string {
	var out []string
	for _, l := range labels {
		out = append(out, " "+l+" ")
	}
	return out
}

// staggered gives each edge the ranks that it spans. Where many boxes take from one and
// from nothing else, they would all stand in one long column; they are spread over several.
func staggered(edges []Edge) []int {
	from, toFrom := map[string]int{}, map[string]int{}
	for _, e := range edges {
		from[e.From]++
		toFrom[e.To]++
	}
	leaves := map[string]int{} // by whom they take from
	for _, e := range edges {
		if from[e.From] == 1 && toFrom[e.From] == 0 {
			leaves[e.To]++
		}
	}
	out, seen := make([]int, len(edges)), map[string]int{}
	for k, e := range edges {
		out[k] = 1
		if n := leaves[e.To]; n > 5 && from[e.From] == 1 && toFrom[e.From] == 0 {
			columns := int(math.Ceil(math.Sqrt(float64(n) / 3)))
			out[k] = 1 + seen[e.To]%columns
			seen[e.To]++
		}
	}
	return out
}

// chains are rows of boxes of a site that nothing connects, about as many rows as boxes in each.
func chains(s Site, edges []Edge) [][]string {
	var loose []string
	for _, x := range s.Boxes {
		if !slices.ContainsFunc(edges, func(e Edge) bool { return e.From == x.ID || e.To == x.ID }) {
			loose = append(loose, quoted(x.ID))
		}
	}
	if len(loose) < 3 {
		return nil
	}
	return slices.Collect(slices.Chunk(loose, int(math.Ceil(math.Sqrt(float64(len(loose)))))))
}

// id of an edge in its layout.
func (e Edge) id() string { return e.From + " " + e.To }
