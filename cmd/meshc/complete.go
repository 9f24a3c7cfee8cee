package main

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/diag/show"
	"meshc.dev/compiler/folder"
	"meshc.dev/compiler/history"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/plan"
	"meshc.dev/compiler/vault"
	"meshc.dev/render/build"
)

// suggest gives what can stand in the place of an argument, each with what it is
// behind a tab, from what stands before it.
type suggest func(before []string) []string

// complete gives a command's arguments and flags the shell's completion (`meshc completion`).
func complete(c *cobra.Command, g *globals) {
	arguments := map[string]suggest{
		"plan":    g.first(g.nodeNames),
		"diff":    g.first(g.revisions),
		"why":     g.whyArguments,
		"impact":  g.first(func() []string { return append(g.nodeNames(), g.instanceNames("/", true)...) }),
		"rotate":  g.first(g.secretNames),
		"holders": g.first(g.secretNames),
		"accept":  g.first(g.suppliedNames),
		"retire":  g.first(g.nodeNames),
		"catalog": g.first(g.moduleNames),
		"explain": g.first(codes),
		"help":    g.first(func() []string { return helpNames(c) }),
	}
	c.InitDefaultHelpCmd()
	flags := map[string]map[string]func() []string{
		"lock":    {"new-recipient": func() []string { return append(g.nodeNames(), "recovery\tthe offline key") }},
		"rotate":  {"consumer": func() []string { return g.instanceNames("@", false) }},
		"diff":    {"format": func() []string { return diffFormats }, "against": g.revisions, "node": g.nodeNames},
		"catalog": {"format": func() []string { return catalogFormats }},
		"graph":   {"format": func() []string { return graphFormats }},
		"init":    {"ci": func() []string { return append(ciNames(), "none") }},
	}
	for _, sub := range c.Commands() {
		if s := arguments[sub.Name()]; s != nil {
			sub.ValidArgsFunction = func(_ *cobra.Command, before []string, _ string) ([]string, cobra.ShellCompDirective) {
				return s(before), cobra.ShellCompDirectiveNoFileComp
			}
		} else if sub.Args != nil && sub.Name() != "init" {
			sub.ValidArgsFunction = cobra.NoFileCompletions
		}
		for name, s := range flags[sub.Name()] {
			_ = sub.RegisterFlagCompletionFunc(name, fixed(s)) // fails only for a flag that is not there, which a test sees
		}
	}
	if build, _, err := c.Find([]string{"build"}); err == nil {
		_ = build.RegisterFlagCompletionFunc("nodes", listed(g.nodeNames))
	}
	_ = c.RegisterFlagCompletionFunc("format", fixed(show.Formats))
	_ = c.MarkPersistentFlagDirname("chdir")
}

func fixed(s func() []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return s(), cobra.ShellCompDirectiveNoFileComp
	}
}

// listed suggests the next one of a list with commas.
func listed(s func() []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		var out []string
		for _, name := range s() {
			out = append(out, before+name)
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// first suggests for the first argument only.
func (g *globals) first(s func() []string) suggest {
	return func(before []string) []string {
		if len(before) > 0 {
			return nil
		}
		return s()
	}
}

// patience is how long somebody who pressed Tab waits. A mesh that takes longer to compile
// gives no names; what is compiled by then is left to the end of the process.
const patience = 3 * time.Second

// soon compiles the folder, or gives nil where it does not compile, or not in time.
func (g *globals) soon() *build.Outcome {
	if _, err := g.folder(); err != nil {
		return nil
	}
	done := make(chan *build.Outcome, 1)
	go func() {
		o, _, err := build.Look(g.options("completion"))
		if err != nil || o.Result == nil || o.Plan == nil {
			o = nil
		}
		done <- o
	}()
	select {
	case o := <-done:
		return o
	case <-time.After(patience):
		return nil
	}
}

// nodes are those of the folder's plan.
func (g *globals) nodes() []*plan.Node {
	if o := g.soon(); o != nil {
		return o.Plan.Nodes
	}
	return nil
}

func (g *globals) nodeNames() []string {
	var out []string
	for _, n := range g.nodes() {
		about := plural(len(n.Instances), "instance")
		if n.Site != "" {
			about = n.Site + ", " + about
		}
		out = append(out, string(n.Name)+"\t"+about)
	}
	return out
}

// instanceNames are node/instance, or instance@node.
func (g *globals) instanceNames(between string, nodeFirst bool) []string {
	var out []string
	for _, n := range g.nodes() {
		for _, i := range n.Instances {
			a, b := i.Name, string(n.Name)
			if nodeFirst {
				a, b = b, a
			}
			out = append(out, a+between+b+"\t"+i.Module)
		}
	}
	return out
}

// whyArguments are a node, then an instance or a file of it, then a setting of it.
func (g *globals) whyArguments(before []string) []string {
	if len(before) == 0 {
		return g.nodeNames()
	}
	var out []string
	for _, n := range g.nodes() {
		if string(n.Name) != before[0] {
			continue
		}
		for _, i := range n.Instances {
			switch {
			case len(before) == 1:
				out = append(out, i.Name+"\t"+strings.Join(i.Because, ", "))
				for _, r := range i.Resources {
					if r.File != nil {
						out = append(out, r.File.Path+"\t"+i.Name)
					}
				}
			case len(before) == 2 && i.Name == before[1]:
				for _, f := range i.Settings.Fields() {
					out = append(out, "settings."+f.Name)
				}
			}
		}
	}
	return out
}

// secretNames are the provisions, licences and needs that have a secret in the lock.
func (g *globals) secretNames() []string {
	v, err := vault.Open(g.dir).Read()
	if err != nil {
		return nil
	}
	lk, _ := lock.Read(lock.File, v.Lock)
	if lk == nil {
		return nil
	}
	return vault.HeldLabels(lk)
}

// suppliedNames are the secrets that a person supplies.
func (g *globals) suppliedNames() []string {
	o := g.soon()
	if o == nil || o.Reviewed == nil {
		return nil
	}
	var out []string
	for _, s := range o.Reviewed.Of(vault.Awaited, vault.Kept) {
		switch {
		case s.Action == vault.Awaited:
			out = append(out, acceptName(s.Name)+"\twaits for its value")
		case s.Name.IsSupplied():
			out = append(out, acceptName(s.Name)+"\thas its value")
		}
	}
	return out
}

func (g *globals) moduleNames() []string {
	fsys, err := folder.Open(g.dir)
	if err != nil {
		return nil
	}
	modules := load.Modules(fsys)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		out = append(out, name+"\t"+modules[name].Summary)
	}
	return out
}

// revisions are the branches and tags of the mesh's repository.
func (g *globals) revisions() []string {
	repo, err := history.Open(g.dir)
	if err != nil || repo == nil {
		return nil
	}
	return repo.Revisions()
}

// helpNames are the commands, and the topics, which cobra's own help does not suggest.
func helpNames(c *cobra.Command) []string {
	var out []string
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Name() != "help" {
			out = append(out, sub.Name()+"\t"+sub.Short)
		}
	}
	return out
}

func codes() []string {
	var out []string
	for _, i := range diag.All() {
		out = append(out, string(i.Code)+"\t"+i.Title)
	}
	return out
}
