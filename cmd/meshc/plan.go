package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
	"meshc.dev/compiler/view"
	"meshc.dev/render/build"
	"meshc.dev/render/bundle"
	"meshc.dev/render/firewall"
)

// compiled compiles the mesh for a command that only looks at it.
func (g *globals) compiled() (*build.Outcome, bool, error) {
	asJSON, err := g.asJSON()
	if err != nil {
		return nil, false, err
	}
	if !asJSON && g.format != "text" {
		return nil, false, usageError{fmt.Errorf("this prints text or json, and has no form for %s; meshc check --format %s prints what is wrong", g.format, g.format)}
	}
	r, ds, err := g.look()
	if err != nil {
		return nil, false, err
	}
	return r, asJSON, g.say(ds, r)
}

// node finds a node of the plan, or says which there are.
func (g *globals) node(r *build.Outcome, name string) (*plan.Node, error) {
	if n := r.Plan.Node(addr.Node(name)); n != nil {
		return n, nil
	}
	var known []string
	for _, n := range r.Plan.Nodes {
		known = append(known, string(n.Name))
	}
	return nil, usageError{fmt.Errorf("the mesh has no node %s%s", name, didYouMean(name, known))}
}

func didYouMean(name string, known []string) string {
	if near := diag.Nearest(name, known); len(near) > 0 {
		return "; did you mean " + strings.Join(near, ", ") + "?"
	}
	return ""
}

func planCommand(g *globals) *cobra.Command {
	var files bool
	c := &cobra.Command{
		Use:   "plan [NODE] [--files [PATH]]",
		Short: "what a node runs, takes from elsewhere and gives to others",
		Long: `plan shows what every machine runs, or with a node what that one runs and why, what
it takes from elsewhere, what others take from it, and which ports it opens. With --files
it also shows every file that the machine would be given, or, with a path, that one
alone; where the machine fills a secret in, its name stands. Nothing is written.

  meshc plan
  meshc plan board --files
  meshc plan board --files /etc/gitea/app.ini
  meshc plan --json | jq '.nodes.board.takes'`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 2 && !files {
				return usageError{fmt.Errorf("plan %s: a file is shown with --files %s", args[0], args[1])}
			}
			if len(args) == 0 && files {
				return usageError{fmt.Errorf("--files is of one node: meshc plan NODE --files")}
			}
			r, asJSON, err := g.compiled()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				if asJSON {
					return g.printJSON(planJSON(r.Plan))
				}
				return view.Overview(g.stdout, r.Plan)
			}
			n, err := g.node(r, args[0])
			if err != nil {
				return err
			}
			var texts []bundle.Text
			if files {
				if texts, err = g.texts(r, n.Name, args[1:]); err != nil {
					return err
				}
			}
			switch {
			case asJSON:
				p := planJSON(r.Plan, args[0])
				addTexts(p.Nodes[args[0]], texts)
				return g.printJSON(p)
			case len(args) == 2:
				g.printText(texts)
				return nil
			}
			ways := firewall.Ways(n)
			var opens []string
			for _, w := range ways {
				opens = append(opens, w.String())
			}
			if err := view.Machine(g.stdout, n, opens, hasFirewall(n)); err != nil || !files {
				return err
			}
			fmt.Fprintln(g.stdout, "\nis given")
			if err := view.Resources(g.stdout, n); err != nil {
				return err
			}
			g.printTexts(texts)
			return nil
		},
	}
	c.Flags().BoolVar(&files, "files", false, "also show what the node would be given: every file, or the one at PATH")
	return c
}

// planJSON is the plan with what each node opens, which render works out.
func planJSON(p *plan.Plan, nodes ...string) view.Plan {
	out := view.OfPlan(p, nodes...)
	for _, n := range p.Nodes {
		v, ok := out.Nodes[string(n.Name)]
		if !ok {
			continue
		}
		v.Firewall = hasFirewall(n)
		for _, w := range firewall.Ways(n) {
			o := view.Open{Port: w.Port, To: w.To, Protocol: w.Protocol, From: w.From, For: w.For}
			if w.Address.IsValid() {
				o.Address = w.Address.String()
			}
			if w.Open {
				o.By = "open"
			}
			v.Opens = append(v.Opens, o)
		}
		out.Nodes[string(n.Name)] = v
	}
	return out
}

func hasFirewall(n *plan.Node) bool {
	for _, i := range n.Instances {
		for _, r := range i.Resources {
			if r.Computed != nil && r.Computed.Kind == "firewall" {
				return true
			}
		}
	}
	return false
}

func whyCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "why NODE INSTANCE [PATH] | NODE FILE[:LINE]",
		Short: "the chain that brought an instance, its answers, and who set what",
		Long: `why shows what brought an instance to a node, what answers each of its requirements
and which candidates were not taken; with a path, every layer that spoke of that
setting, and which one won. With a file of the machine, or a line of one, it shows the
resource and the module it comes from, and every setting, port and answer that the text
depends on.

  meshc why laptop xorg
  meshc why anchor postgres settings.conf.max_connections
  meshc why board /etc/gitea/app.ini:12`,
		Args: cobra.RangeArgs(2, 3),
		RunE: func(_ *cobra.Command, args []string) error {
			r, asJSON, err := g.compiled()
			if err != nil {
				return err
			}
			n, err := g.node(r, args[0])
			if err != nil {
				return err
			}
			if strings.Contains(args[1], "/") {
				return g.whyFile(r, n.Name, args[1], asJSON)
			}
			node := r.Resolved.Node(n.Name)
			i := node.Instance(args[1])
			if i == nil {
				var known []string
				for _, k := range node.Instances {
					known = append(known, k.Addr.Name)
				}
				return usageError{fmt.Errorf("%s does not run %s%s", n.Name, args[1], didYouMean(args[1], known))}
			}
			path := ""
			if len(args) == 3 {
				path = args[2]
			}
			y, err := view.OfInstance(node, i, instance(n, args[1]), n.Takes, r.Lock, path)
			if err != nil {
				return usageError{err}
			}
			if asJSON {
				return g.printJSON(y)
			}
			view.WriteWhy(g.stdout, y)
			return nil
		},
	}
}

func instance(n *plan.Node, name string) *plan.Instance {
	for _, i := range n.Instances {
		if i.Name == name {
			return i
		}
	}
	return nil
}

func impactCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "impact NODE[/INSTANCE]",
		Short: "what stops working without it",
		Long: `impact lists the instances that stop working when a node, or one instance on it, is
gone: those that take something from it, and those that take something from these.

  meshc impact anchor
  meshc impact anchor/postgres`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			r, asJSON, err := g.compiled()
			if err != nil {
				return err
			}
			name, inst, slash := strings.Cut(args[0], "/")
			n, err := g.node(r, name)
			if err != nil {
				return err
			}
			if slash && inst == "" {
				return usageError{fmt.Errorf("%q names no instance after the slash; without one it is the whole node", args[0])}
			}
			if inst != "" && instance(n, inst) == nil {
				return usageError{fmt.Errorf("%s does not run %s", name, inst)}
			}
			impact := view.OfImpact(r.Plan, name, inst)
			if asJSON {
				return g.printJSON(impact)
			}
			if len(impact) == 0 {
				fmt.Fprintf(g.stdout, "nothing elsewhere needs %s\n", args[0])
			}
			for _, i := range impact {
				what := "stops"
				if !i.Stops {
					what = "goes on without it"
				}
				fmt.Fprintf(g.stdout, "%s@%s takes %s from %s: %s\n", i.Instance, i.Node, i.Needs, i.From, what)
			}
			return nil
		},
	}
}
