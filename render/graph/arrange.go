package graph

import (
	"context"
	"fmt"
	"math"

	"meshc.dev/render/graph/graphviz"
)

// gap is between parts of a picture that nothing connects.
const gap = 24

// place lays the picture out: each part that nothing connects with the others by dot, and
// the parts in rows, in the order of their sites. (dot would put them into one column.)
func place(ctx context.Context, g *Graph) (*graphviz.Layout, error) {
	parts := parts(g)
	var sources []string
	for _, p := range parts {
		sources = append(sources, layoutSource(p))
	}
	layouts, err := graphviz.Place(ctx, sources...)
	if err != nil {
		return nil, fmt.Errorf("the picture: %w", err)
	}
	return inRows(layouts), nil
}

// parts splits a picture where nothing connects it; a site stays whole.
func parts(g *Graph) []*Graph {
	site := map[string]int{} // by box
	root := make([]int, 0, len(g.Sites))
	var sites []Site
	for _, s := range g.Sites {
		if s.Name != "" {
			sites = append(sites, s)
			continue
		}
		for _, x := range s.Boxes {
			sites = append(sites, Site{Boxes: []*Box{x}})
		}
	}
	for k, s := range sites {
		root = append(root, k)
		for _, x := range s.Boxes {
			site[x.ID] = k
		}
	}
	find := func(k int) int {
		for root[k] != k {
			k = root[k]
		}
		return k
	}
	for _, e := range g.Edges {
		a, b := find(site[e.From]), find(site[e.To])
		root[max(a, b)] = min(a, b)
	}
	of := map[int]*Graph{}
	var out []*Graph
	for k, s := range sites {
		r := find(k)
		if of[r] == nil {
			of[r] = &Graph{}
			out = append(out, of[r])
		}
		of[r].Sites = append(of[r].Sites, s)
	}
	for _, e := range g.Edges {
		p := of[find(site[e.From])]
		p.Edges = append(p.Edges, e)
	}
	return out
}

// inRows puts layouts beside and below each other, so that the whole is somewhat wider than high.
func inRows(parts []*graphviz.Layout) *graphviz.Layout {
	area, widest := 0.0, 0.0
	for _, p := range parts {
		area += (p.Width + gap) * (p.Height + gap)
		widest = math.Max(widest, p.Width)
	}
	limit := math.Max(widest, math.Sqrt(area*2))
	out := &graphviz.Layout{Clusters: map[string]graphviz.Box{}, Nodes: map[string]graphviz.Point{}, Edges: map[string]graphviz.Edge{}}
	x, y, high := 0.0, 0.0, 0.0
	for _, p := range parts {
		if x > 0 && x+p.Width > limit {
			x, y, high = 0, y+high+gap, 0
		}
		out.Add(p, graphviz.Point{X: x, Y: y})
		x += p.Width + gap
		high = math.Max(high, p.Height)
	}
	return out
}
