package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/settle"
	"meshc.dev/compiler/vault"
	"meshc.dev/render"
	"meshc.dev/render/build"
	"meshc.dev/render/bundle"
	"meshc.dev/render/bundle/dist"
	"meshc.dev/render/seal"
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
			r, ds, err := g.look()
			if err != nil {
				return err
			}
			if !ds.HasErrors() {
				_, rds := r.Bundles(render.Origin{})
				ds = append(append(ds, rds...), g.dataWarnings(r)...)
				if fsys, err := g.folder(); err == nil {
					ds = append(ds, load.Vendored(fsys)...)
				}
				ds = ds.Sorted()
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
	var out, key string
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
			} else if err := g.notOver(out); err != nil {
				return err
			}
			return g.build(buildOptions{out: out, locked: locked, archive: archive, nodes: nodes, json: asJSON, sign: key})
		},
	}
	f := c.Flags()
	f.StringVarP(&out, "output", "o", "", "the `folder` to write into; dist in the mesh's folder by default")
	f.BoolVar(&locked, "locked", false, "assign nothing that the lock does not have")
	f.BoolVar(&archive, "archive", false, "write one NODE.tar instead of a folder")
	f.StringVar(&key, "sign", "", "sign the bundles with an ssh-ed25519 `key`")
	f.StringSliceVar(&nodes, "nodes", nil, "replace the bundles of these nodes only, `a,b`")
	return c
}

type buildOptions struct {
	out             string
	sign            string // path of an ssh key
	locked, archive bool
	nodes           []string
	json            bool
}

// notOver refuses an output folder that is the mesh's own, or that it lies in: an output is replaced as a whole.
func (g *globals) notOver(out string) error {
	real := func(p string) string {
		if r, err := filepath.EvalSymlinks(p); err == nil {
			p = r
		}
		return p
	}
	rel, err := relative(real(out), real(g.dir))
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return nil
	}
	if rel == "." {
		return usageError{fmt.Errorf("-o %s is the mesh's own folder; name one for the bundles alone, such as %s", out, filepath.Join(out, "dist"))}
	}
	return usageError{fmt.Errorf("-o %s holds the mesh's own folder; name one for the bundles alone, such as %s", out, filepath.Join(g.dir, "dist"))}
}

// noStrangers refuses before anything is written what every machine would refuse.
func noStrangers(o buildOptions, bundles []*bundle.Bundle) error {
	if o.archive {
		return nil
	}
	nodes := slices.DeleteFunc(outputs(bundles), func(n dist.Node) bool { return len(o.nodes) > 0 && !slices.Contains(o.nodes, n.Name) })
	found, err := dist.Strangers(o.out, nodes)
	if err != nil || len(found) == 0 {
		return err
	}
	var errs []error
	for _, f := range found {
		errs = append(errs, fmt.Errorf("%s is in a bundle, and meshc did not write it: mesh-host refuses a bundle with a file that it does not list; move it elsewhere", f))
	}
	return errors.Join(errs...)
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
	opts := g.options("build")
	opts.Settle.Step, opts.Seal.Step = settle.Build, vault.Build
	var r *build.Outcome
	var ds diag.List
	var err error
	made := false // now, and so in no commit
	commit := func() error { return nil }
	if o.locked {
		// Nothing is made, so nobody has to wait.
		opts.Settle.Step, opts.Seal.Step = settle.Locked, vault.Locked
		if _, err := g.folder(); err != nil {
			return err
		}
		r, ds, err = build.Look(opts)
	} else {
		var run *build.Run
		if run, ds, err = g.begin(opts); err == nil {
			defer run.Close()
			r, commit = run.Outcome, run.Commit
			made = !ds.HasErrors() && run.Changes()
		}
	}
	if err != nil {
		return err
	}
	var bundles []*bundle.Bundle
	noSerial := "what was made just now is in no commit yet"
	if !ds.HasErrors() {
		origin, why, err := r.Origin(g.dir, versionText(), time.Now())
		if err != nil {
			return err
		}
		if made {
			origin.Commit, origin.Serial = "", 0 // no commit's serial fits
		} else {
			noSerial = why
		}
		var rds diag.List
		bundles, rds = r.Bundles(origin)
		ds = append(append(ds, rds...), g.dataWarnings(r)...).Sorted()
	}
	if err := g.say(ds, r); err != nil {
		return err
	}
	for _, n := range o.nodes {
		if !slices.ContainsFunc(bundles, func(b *bundle.Bundle) bool { return b.Node == n }) {
			return usageError{fmt.Errorf("--nodes names %s, which the mesh does not have", n)}
		}
	}
	if err := noStrangers(o, bundles); err != nil {
		return err
	}
	if o.sign != "" {
		if err := sign(bundles, o.sign); err != nil {
			return err
		}
	}
	// The lock and the sealed store first: a bundle must never hold a number or a
	// secret that nothing remembers.
	if err := commit(); err != nil {
		return err
	}
	report, err := dist.Write(o.out, r.Plan.Mesh, outputs(bundles), dist.Options{Nodes: o.nodes, Archive: o.archive, Progress: g.progress(len(bundles))})
	if err != nil {
		return err
	}
	res := built{Output: o.out, Changed: report.Changed, Unchanged: len(report.Unchanged), Removed: report.Removed, Kept: report.Foreign, Complete: r.Plan.Complete}
	res.Lock = changes(r)
	if o.json {
		return g.printJSON(res)
	}
	g.printChanges(res.Lock)
	if noSerial != "" {
		fmt.Fprintf(g.stderr, "the bundles have no serial: %s; a machine that has had one with a serial does not take them\n", noSerial)
	}
	for _, n := range report.Removed {
		fmt.Fprintf(g.stderr, "removed %s: the mesh does not have it\n", filepath.Join(o.out, n))
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
	bar := progressbar.NewOptions(nodes, progressbar.OptionSetWriter(g.bar), progressbar.OptionClearOnFinish(), progressbar.OptionSetDescription("writing"))
	return func(done, _ int) { _ = bar.Set(done) }
}

// changes says what was settled and made that was not before.
func changes(r *build.Outcome) []string {
	var out []string
	for _, c := range r.Settled.Changes {
		out = append(out, changeText(c))
	}
	for _, s := range r.Reviewed.Of(vault.Made, vault.Remade) {
		text := fmt.Sprintf("%s is %s, for %s", s.Name, s.Action, holders(s))
		if s.Because != "" {
			text += " (" + s.Because + ")"
		}
		out = append(out, text)
	}
	for _, f := range r.Reviewed.Forgotten {
		out = append(out, f+" is given up: nobody wants it")
	}
	out = append(out, withdrawn(r)...)
	if before, now := r.Lock, r.Change.Lock; before.Mesh != now.Mesh && !before.IsEmpty() && !now.IsEmpty() {
		out = append(out, "the lock says now that it is "+now.Mesh+"'s")
	}
	for _, b := range r.Reviewed.Removed {
		out = append(out, "sealed/"+b+" is taken away: the lock does not name it")
	}
	return out
}

// withdrawn says which copies of secrets that stay as they are go: those of a key that
// is none of the mesh's any more.
func withdrawn(r *build.Outcome) []string {
	var out []string
	for _, s := range r.Reviewed.Of(vault.Kept, vault.Awaited) {
		after := r.Change.Lock.Secrets[s.Name.String()].Ends
		for _, e := range r.Lock.Secrets[s.Name.String()].Ends {
			if s.Action == vault.Awaited && e.Role != string(seal.Recovery) {
				continue // its holder waits for another, and that is said
			}
			if !slices.ContainsFunc(after, func(a lock.End) bool { return a.Role == e.Role && a.Holder == e.Holder }) {
				out = append(out, fmt.Sprintf("%s: the copy for %s is taken away", s.Name, holder(seal.Role(e.Role), e.Holder)))
			}
		}
	}
	return out
}

// holders names who holds a secret.
func holders(s vault.Secret) string {
	var out []string
	for _, e := range s.Ends {
		out = append(out, holder(e.Role, e.Holder))
	}
	return strings.Join(out, " and ")
}

func holder(role seal.Role, name string) string {
	if role == seal.Recovery {
		return "the recovery key " + name
	}
	return name
}

func (g *globals) printChanges(cs []string) {
	const most = 20
	for k, c := range cs {
		if k == most {
			fmt.Fprintf(g.stderr, "  … and %d more\n", len(cs)-most)
			break
		}
		fmt.Fprintln(g.stderr, "  "+c)
	}
	if len(cs) > 0 {
		g.remindOfGit()
	}
}

func (g *globals) remindOfGit() {
	fmt.Fprintf(g.stderr, "%s changed; it belongs into git, with sealed/\n", lock.File)
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
