package main

import (
	"meshc.dev/compiler"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/diag/show"
	"meshc.dev/render"
	"meshc.dev/render/bundle"
)

// bundles renders a compiled mesh; where it is not to be written, its origin does not matter.
func (g *globals) bundles(r *compiler.Result) ([]*bundle.Bundle, diag.List) {
	return render.New(r.Plan, g.origin()).All()
}

// result prints diagnostics as the result of a command, to standard output.
func (g *globals) result(ds diag.List, r *compiler.Result) error {
	p, err := show.New(g.format, show.Options{
		Read: func(file string) ([]byte, error) { return g.source(r, file) }, Prefix: repositoryPrefix(g.dir), Version: versionText(),
	})
	if err != nil {
		return err
	}
	if err := p.Print(g.stdout, ds); err != nil {
		return err
	}
	if ds.HasErrors() {
		return exit(exitRefused)
	}
	return nil
}

func count(r *compiler.Result) (nodes, instances int) {
	for _, n := range r.Plan.Nodes {
		instances += len(n.Instances)
	}
	return len(r.Plan.Nodes), instances
}
