package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/history"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/vault"
	"meshc.dev/render/build"
	"meshc.dev/render/bundle"
	"meshc.dev/render/diff"
	"meshc.dev/render/report"
)

// diffFormats are those in which a diff can be drawn.
var diffFormats = []string{"text", "markdown", "json", "html"}

func diffCommand(g *globals) *cobra.Command {
	var against, format, built, node string
	var exitCode, stat bool
	c := &cobra.Command{
		Use:   "diff [REV]",
		Short: "what a change does to every node",
		Long: `diff compiles two states of the mesh, from git's objects and from the folder, and says
what becomes other on which machines: what restarts and because of what, what becomes
reachable, which credentials change, and every file. What matters most comes first.

Without a revision the folder is compared with the last commit; with one, with that; with
--against, the two revisions are compared.

  meshc diff
  meshc diff --format markdown origin/main
  meshc diff --format html HEAD~1 > change.html
  meshc diff --stat
  meshc diff --node anchor
  meshc diff my-branch --against main --exit-code`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if g.json {
				format = "json"
			}
			if !slices.Contains(diffFormats, format) {
				return usageError{fmt.Errorf("unknown format %q; there are %v", format, diffFormats)}
			}
			if stat && format != "text" {
				return usageError{fmt.Errorf("--stat is text; it goes with no other format")}
			}
			g.format = "text" // of diagnostics
			rev := ""
			if len(args) == 1 {
				rev = args[0]
			}
			from, to, err := g.sides(rev, against)
			if err != nil {
				return err
			}
			d := diff.Compare(from.side, to.side)
			if built != "" {
				if err := addCompiler(d, from, built); err != nil {
					return err
				}
			}
			if node != "" {
				if from.side.Plan.Node(addr.Node(node)) == nil {
					if _, err := g.node(to.outcome, node); err != nil {
						return err
					}
				}
				d = d.On(node)
			}
			if stat {
				format = "stat"
			}
			if err := g.printDiff(d, to, format); err != nil {
				return err
			}
			if exitCode && !d.IsEmpty() {
				return exit(exitDiffers)
			}
			return nil
		},
	}
	c.Flags().StringVar(&against, "against", "", "compare REV with this `revision` instead of the folder")
	c.Flags().StringVar(&format, "format", "text", "how to print: text, markdown, json or html")
	c.Flags().StringVar(&built, "built", "", "a `folder` of bundles that were built from the first state: what differs from them only because this meshc is another is shown as such")
	c.Flags().StringVar(&node, "node", "", "only what becomes other on this `node`")
	c.Flags().BoolVar(&stat, "stat", false, "one line a node: the gravest, and how many of what")
	c.Flags().BoolVar(&exitCode, "exit-code", false, "end with 3 where anything changes")
	return c
}

// compared is one compiled state.
type compared struct {
	side    diff.Side
	outcome *build.Outcome
}

// sides compiles both states with one cache, so that what did not change between
// them is evaluated once.
func (g *globals) sides(rev, against string) (from, to *compared, err error) {
	repo, err := history.Open(g.dir)
	if err != nil {
		return nil, nil, err
	}
	if repo == nil {
		return nil, nil, usageError{fmt.Errorf("%s is in no git repository, so there is nothing to compare with", g.dir)}
	}
	cache := &evaluate.Cache{}
	at := func(rev string) (*compared, error) {
		tree, err := repo.Tree(rev)
		if err != nil {
			return nil, usageError{err}
		}
		return g.side(tree, rev, cache)
	}
	if against != "" {
		if rev == "" {
			rev = "HEAD"
		}
		if from, err = at(against); err == nil {
			to, err = at(rev)
		}
	} else {
		fsys, missing := g.folder()
		if missing != nil {
			return nil, nil, missing
		}
		if rev == "" {
			rev = "HEAD"
		}
		if from, err = at(rev); err == nil {
			to, err = g.side(fsys, "this folder", cache)
		}
	}
	if err == nil && from.outcome != nil && to.outcome != nil {
		// Age has no sender, so that only this shows a value that somebody else sealed (SEC-5).
		e := vault.Earlier{Lock: from.outcome.Lock, Whose: "the", Allowed: g.earlier}
		if e.Whose = from.side.Name + "'s"; from.side.Name == "HEAD" {
			e.Whose, e.Rev = "the last commit's", "HEAD"
		}
		if ds := e.Replaced(to.outcome.Lock); ds.HasErrors() {
			return nil, nil, g.say(ds, to.outcome)
		}
		var ds diag.List
		from.side.Bundles, to.side.Bundles, ds = build.BundlesOfBoth(from.outcome, to.outcome)
		if ds.HasErrors() {
			return nil, nil, g.say(ds, to.outcome)
		}
	}
	return from, to, err
}

func (g *globals) side(fsys fs.FS, name string, cache *evaluate.Cache) (*compared, error) {
	o, ds, err := build.State(fsys, g.options("diff"), cache)
	if err != nil {
		return nil, err
	}
	if ds.HasErrors() {
		fmt.Fprintf(g.stderr, "%s does not hold:\n\n", name)
		return nil, g.say(ds, o)
	}
	return &compared{sideOf(name, o), o}, nil
}

// sideOf is a compiled state without its bundles.
func sideOf(name string, o *build.Outcome) diff.Side {
	side := diff.Side{Name: name, Plan: o.Plan, Lock: o.Lock, Moved: moved(o.Source.Mesh.Moved)}
	side.Set = func(i addr.Instance) data.Value {
		for _, n := range o.Exchanged.Nodes {
			for _, x := range n.Instances {
				if x.Addr == i {
					return x.Inputs.Settings.Data()
				}
			}
		}
		return data.Value{}
	}
	for _, r := range o.Source.Mesh.Recovery {
		side.Recovery = append(side.Recovery, r.Value)
	}
	return side
}

// moved are the renames that a mesh declares; what names nothing was refused.
func moved(m load.Moved) diff.Moved {
	out := diff.Moved{Nodes: map[addr.Node]addr.Node{}, Instances: map[addr.Instance]addr.Instance{}}
	for old, now := range m.Nodes {
		out.Nodes[addr.Node(old)] = addr.Node(now.Value)
	}
	for old, now := range m.Instances {
		a, err := addr.ParseInstance(old)
		b, err2 := addr.ParseInstance(now.Value)
		if err == nil && err2 == nil {
			out.Instances[a] = b
		}
	}
	return out
}

func (g *globals) printDiff(d *diff.Diff, to *compared, format string) error {
	switch format {
	case "markdown":
		return diff.Markdown(g.stdout, d)
	case "json":
		return g.printJSON(d)
	case "stat":
		return diff.Stat(g.stdout, d, g.colour(g.outTerminal))
	case "html":
		return g.printReport(report.Input{Plan: to.side.Plan, Bundles: to.side.Bundles, Diff: d})
	}
	return diff.Text(g.stdout, d, g.colour(g.outTerminal))
}

// addCompiler compares what was built from the first state with what this meshc
// makes of it.
func addCompiler(d *diff.Diff, from *compared, dir string) error {
	was := from.side
	was.Bundles = nil
	version := ""
	for _, n := range from.side.Plan.Nodes {
		b, err := bundle.Open(filepath.Join(dir, string(n.Name)))
		if err != nil {
			return fmt.Errorf("--built: %s: %w", n.Name, err)
		}
		was.Bundles = append(was.Bundles, b)
		version = b.Provenance.Version
	}
	d.AddCompiler(diff.Compare(was, from.side), fmt.Sprintf("%s was built by meshc %s, this is %s", from.side.Name, version, versionText()))
	return nil
}
