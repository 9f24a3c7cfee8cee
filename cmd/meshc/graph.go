package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"meshc.dev/render"
	"meshc.dev/render/build"
	"meshc.dev/render/graph"
	"meshc.dev/render/report"
)

// graphFormats are those in which the picture can be drawn.
var graphFormats = []string{"svg", "dot", "mermaid", "html"}

func graphCommand(g *globals) *cobra.Command {
	// A flag of its own takes the place of the one that all commands have: that is
	// about diagnostics, which are text here.
	var format string
	c := &cobra.Command{
		Use:   "graph",
		Short: "the picture of the mesh",
		Long: `graph draws the mesh to standard output: its sites with their machines, what each runs,
and who takes what from whom. Machines of a large mesh that are alike are drawn as one.

  svg       a picture that browsers and forges show, light and dark
  html      one page that needs no network: the picture, and of every machine what it
            runs, its files, ports and secrets' ends, with a search
  mermaid   for a README on a forge
  dot       for Graphviz

  meshc graph > mesh.svg
  meshc graph --format html > mesh.html`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if g.json {
				format = "json"
			}
			if !slices.Contains(graphFormats, format) {
				return usageError{fmt.Errorf("unknown format %q; there are %s", format, strings.Join(graphFormats, ", "))}
			}
			r, ds, err := g.look()
			if err != nil {
				return err
			}
			if err := g.say(ds, r); err != nil {
				return err
			}
			return g.printGraph(r, format)
		},
	}
	c.Flags().StringVar(&format, "format", "svg", "how to draw: svg, dot, mermaid or html")
	return c
}

// mostDrawing is how long laying the picture out may take.
const mostDrawing = 2 * time.Minute

func (g *globals) printGraph(r *build.Outcome, format string) error {
	switch format {
	case "dot":
		return graph.Dot(g.stdout, graph.Of(r.Plan, graph.Options{}))
	case "mermaid":
		return graph.Mermaid(g.stdout, graph.Of(r.Plan, graph.Options{}))
	case "svg":
		ctx, cancel := context.WithTimeout(context.Background(), mostDrawing)
		defer cancel()
		return graph.SVG(ctx, g.stdout, graph.Of(r.Plan, graph.Options{}))
	}
	bundles, ds := r.Bundles(render.Origin{})
	if err := g.say(ds, r); err != nil {
		return err
	}
	return g.printReport(report.Input{Plan: r.Plan, Bundles: bundles})
}

// printReport prints a mesh, or what a change does to it, as one page.
func (g *globals) printReport(in report.Input) error {
	ctx, cancel := context.WithTimeout(context.Background(), mostDrawing)
	defer cancel()
	in.Version = version
	return report.Write(ctx, g.stdout, in)
}
