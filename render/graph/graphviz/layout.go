package graphviz

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Point is a place in points (1/72 inch); y grows downwards.
type Point struct{ X, Y float64 }

// Box is a rectangle from its upper left to its lower right corner.
type Box struct{ Min, Max Point }

// Edge is a line: a start, and for each piece two control points and an end, as in
// SVG's C command. Tip is where its arrow ends.
type Edge struct {
	Curve    []Point
	Tip      Point
	Label    Point // the middle of its label
	HasLabel bool
}

// Layout is where everything of a graph is.
type Layout struct {
	Width, Height float64
	Clusters      map[string]Box   // by name
	Nodes         map[string]Point // middles, by name
	Edges         map[string]Edge  // by id
}

// Add takes another layout in, at a place.
func (l *Layout) Add(o *Layout, at Point) {
	move := func(p Point) Point { return Point{p.X + at.X, p.Y + at.Y} }
	l.Width, l.Height = max(l.Width, at.X+o.Width), max(l.Height, at.Y+o.Height)
	for name, b := range o.Clusters {
		l.Clusters[name] = Box{move(b.Min), move(b.Max)}
	}
	for name, p := range o.Nodes {
		l.Nodes[name] = move(p)
	}
	for id, e := range o.Edges {
		curve := make([]Point, len(e.Curve))
		for k, p := range e.Curve {
			curve[k] = move(p)
		}
		l.Edges[id] = Edge{curve, move(e.Tip), move(e.Label), e.HasLabel}
	}
}

// Place lays out graphs in the dot language, each for itself.
func Place(ctx context.Context, sources ...string) ([]*Layout, error) {
	outs, err := run(ctx, sources)
	if err != nil {
		return nil, err
	}
	var ls []*Layout
	for _, out := range outs {
		l, err := parse(out)
		if err != nil {
			return nil, err
		}
		ls = append(ls, l)
	}
	return ls, nil
}

// drawn is what Graphviz writes as json0.
type drawn struct {
	BB      string `json:"bb"`
	Objects []struct {
		Name, BB, Pos string
	} `json:"objects"`
	Edges []struct {
		ID, Pos, LP string
	} `json:"edges"`
}

func parse(out []byte) (*Layout, error) {
	var d drawn
	if err := json.Unmarshal(out, &d); err != nil {
		return nil, fmt.Errorf("graphviz: its answer: %w", err)
	}
	r := reader{}
	whole := r.numbers(d.BB, 4)
	r.height = whole[3]
	l := &Layout{
		Width: whole[2], Height: whole[3],
		Clusters: map[string]Box{}, Nodes: map[string]Point{}, Edges: map[string]Edge{},
	}
	for _, o := range d.Objects {
		if o.BB != "" {
			b := r.numbers(o.BB, 4)
			l.Clusters[o.Name] = Box{Min: r.flip(b[0], b[3]), Max: r.flip(b[2], b[1])}
		} else if o.Pos != "" {
			l.Nodes[o.Name] = r.point(o.Pos)
		}
	}
	for _, e := range d.Edges {
		l.Edges[e.ID] = r.edge(e.Pos, e.LP)
	}
	return l, r.err
}

// reader reads Graphviz's numbers, and keeps the first thing that is none.
type reader struct {
	height float64
	err    error
}

// flip turns y around: Graphviz's grows upwards.
func (r *reader) flip(x, y float64) Point { return Point{x, r.height - y} }

func (r *reader) numbers(s string, n int) []float64 {
	out := make([]float64, n)
	parts := strings.Split(s, ",")
	if len(parts) != n {
		r.fail(s)
		return out
	}
	for k, p := range parts {
		v, err := strconv.ParseFloat(p, 64)
		if err != nil {
			r.fail(s)
		}
		out[k] = v
	}
	return out
}

func (r *reader) fail(s string) {
	if r.err == nil {
		r.err = fmt.Errorf("graphviz: its answer has %q for a place", s)
	}
}

func (r *reader) point(s string) Point {
	v := r.numbers(s, 2)
	return r.flip(v[0], v[1])
}

// edge reads a spline: "e,X,Y" is the arrow's tip, the rest are the curve's points.
func (r *reader) edge(pos, label string) Edge {
	var e Edge
	for _, p := range strings.Fields(pos) {
		if tip, ok := strings.CutPrefix(p, "e,"); ok {
			e.Tip = r.point(tip)
			continue
		}
		e.Curve = append(e.Curve, r.point(p))
	}
	if len(e.Curve) < 4 || len(e.Curve)%3 != 1 {
		r.fail(pos)
	}
	if label != "" {
		e.Label, e.HasLabel = r.point(label), true
	}
	return e
}
