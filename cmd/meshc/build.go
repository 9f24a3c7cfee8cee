package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/settle"
	"meshc.dev/render/bundle"
	"meshc.dev/render/bundle/dist"
)

func checkCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "everything that build does, short of settling and writing",
		Long: `check compiles the mesh and renders every bundle, writes nothing, and prints
every fault: each once, with the place and, where one is known, the text that
mends it.

  meshc check
  meshc check --format github        annotations on the lines, in CI`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			asJSON, err := g.asJSON()
			if err != nil {
				return err
			}
			r, ds, err := g.compile(settle.Mode{})
			if err != nil {
				return err
			}
			if !ds.HasErrors() {
				_, rds := g.bundles(r)
				ds = append(ds, rds...).Sorted()
			}
			if asJSON || g.format != "text" {
				return g.result(ds, r)
			}
			if err := g.say(ds, r); err != nil {
				return err
			}
			nodes, instances := count(r)
			fmt.Fprintf(g.stdout, "%s holds: %s, %s\n", r.Plan.Mesh, plural(nodes, "node"), plural(instances, "instance"))
			return nil
		},
	}
}

func buildCommand(g *globals) *cobra.Command {
	var out string
	var locked, archive bool
	var nodes []string
	c := &cobra.Command{
		Use:   "build",
		Short: "the bundles, one per machine",
		Long: `build compiles the mesh and writes one bundle per machine into dist/ in the
mesh's folder, or into the folder given with -o. The output is replaced as a whole
or not at all. What was never assigned before (ports, addresses, logins) is
assigned now and kept in mesh.lock.hcl, which belongs into git; with --locked,
which is the default where CI is set, nothing is assigned and what is missing is
refused.

  meshc build
  meshc build --locked --nodes laptop,board`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			asJSON, err := g.asJSON()
			if err != nil {
				return err
			}
			if !c.Flags().Changed("locked") {
				locked = g.inCI()
			}
			if out == "" {
				out = filepath.Join(g.dir, "dist")
			}
			return g.build(buildOptions{out: out, locked: locked, archive: archive, nodes: nodes, json: asJSON})
		},
	}
	f := c.Flags()
	f.StringVarP(&out, "output", "o", "", "the `folder` to write into; dist in the mesh's folder by default")
	f.BoolVar(&locked, "locked", false, "assign nothing that the lock does not have")
	f.BoolVar(&archive, "archive", false, "write one NODE.tar instead of a folder")
	f.StringSliceVar(&nodes, "nodes", nil, "replace the bundles of these nodes only, `a,b`")
	return c
}

type buildOptions struct {
	out             string
	locked, archive bool
	nodes           []string
	json            bool
}

// built is what a build prints as JSON.
type built struct {
	Output    string   `json:"output"`
	Changed   []string `json:"changed"`
	Unchanged int      `json:"unchanged"`
	Removed   []string `json:"removed"`
	Kept      []string `json:"kept"`
	Lock      []string `json:"lock"`
	Complete  bool     `json:"complete"`
}

func (g *globals) build(o buildOptions) error {
	mode := settle.Mode{Step: settle.Build}
	if o.locked {
		mode.Step = settle.Locked
	}
	r, ds, err := g.compile(mode)
	if err != nil {
		return err
	}
	var bundles []*bundle.Bundle
	if !ds.HasErrors() {
		var rds diag.List
		bundles, rds = g.bundles(r)
		ds = append(ds, rds...).Sorted()
	}
	if err := g.say(ds, r); err != nil {
		return err
	}
	for _, n := range o.nodes {
		if !slices.ContainsFunc(bundles, func(b *bundle.Bundle) bool { return b.Node == n }) {
			return usageError{fmt.Errorf("--nodes names %s, which the mesh does not have", n)}
		}
	}
	// The lock first: a bundle must never hold a number that nothing remembers.
	wrote, err := g.writeLock(r)
	if err != nil {
		return fmt.Errorf("%s: %w", lock.File, err)
	}
	report, err := dist.Write(o.out, r.Plan.Mesh, outputs(bundles), dist.Options{Nodes: o.nodes, Archive: o.archive, Progress: g.progress(len(bundles))})
	if err != nil {
		return err
	}
	res := built{Output: o.out, Changed: report.Changed, Unchanged: len(report.Unchanged), Removed: report.Removed, Kept: report.Foreign, Complete: r.Plan.Complete}
	for _, c := range r.Settled.Changes {
		res.Lock = append(res.Lock, changeText(c))
	}
	if o.json {
		return g.printJSON(res)
	}
	if wrote {
		g.printChanges(r.Settled.Changes)
	}
	for _, f := range report.Foreign {
		fmt.Fprintf(g.stderr, "kept %s, which meshc did not write\n", filepath.Join(o.out, f))
	}
	fmt.Fprintf(g.stdout, "%s: %s in %s, %d changed\n", r.Plan.Mesh, plural(len(bundles), "bundle"), o.out, len(report.Changed)+len(report.Removed))
	return nil
}

func outputs(bundles []*bundle.Bundle) []dist.Node {
	var out []dist.Node
	for _, b := range bundles {
		out = append(out, dist.Node{Name: b.Node, Bundle: func() (*bundle.Bundle, error) { return b, nil }})
	}
	return out
}

// progress draws a bar on a terminal and nothing elsewhere.
func (g *globals) progress(nodes int) func(done, total int) {
	if !g.errTerminal || nodes < 20 {
		return nil
	}
	bar := progressbar.NewOptions(nodes, progressbar.OptionSetWriter(g.stderr), progressbar.OptionClearOnFinish(), progressbar.OptionSetDescription("writing"))
	return func(done, _ int) { _ = bar.Set(done) }
}

func (g *globals) printChanges(cs []settle.Change) {
	const most = 20
	for k, c := range cs {
		if k == most {
			fmt.Fprintf(g.stderr, "  … and %d more\n", len(cs)-most)
			break
		}
		fmt.Fprintln(g.stderr, "  "+changeText(c))
	}
	if len(cs) > 0 {
		fmt.Fprintf(g.stderr, "%s changed; it belongs into git\n", lock.File)
	}
}

func changeText(c settle.Change) string {
	text := c.Entry
	switch {
	case c.Before == "":
		text += " is " + c.After
	case c.After == "":
		text += " was " + c.Before + " and is gone"
	default:
		text += ": " + c.Before + " → " + c.After
	}
	if c.Because != "" {
		text += " (" + c.Because + ")"
	}
	return strings.TrimSpace(text)
}

func (g *globals) printJSON(v any) error {
	e := json.NewEncoder(g.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
