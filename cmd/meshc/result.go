package main

import (
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/diag/show"
	"meshc.dev/render/build"
)

// result prints diagnostics as the result of a command, to standard output.
func (g *globals) result(ds diag.List, o *build.Outcome) error {
	p, err := show.New(g.format, show.Options{
		Read: func(file string) ([]byte, error) { return g.source(o, file) }, Prefix: repositoryPrefix(g.dir), Version: versionText(),
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

func count(o *build.Outcome) (nodes, instances int) {
	for _, n := range o.Plan.Nodes {
		instances += len(n.Instances)
	}
	return len(o.Plan.Nodes), instances
}
