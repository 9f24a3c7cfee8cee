package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// exit is an error that has been said already, or a code to end with.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// usageError is a wrong use of the command line.
type usageError struct{ error }

func run(args []string, w *world) int {
	w, end := w.shown()
	defer end()
	g := &globals{world: w}
	c := commands(g)
	g.watch()
	defer close(g.bounds.done)
	c.SetArgs(args)
	c.SetIn(w.stdin)
	c.SetOut(w.stdout)
	c.SetErr(w.stderr)
	err := c.Execute()
	var code exit
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		fmt.Fprintf(w.stderr, "meshc: %v\n", err)
		return exitUsage
	}
	fmt.Fprintf(w.stderr, "meshc: %v\n", err)
	return exitRefused
}

func root(w *world) *cobra.Command { return commands(&globals{world: w}) }

func commands(g *globals) *cobra.Command {
	c := &cobra.Command{
		Use:   "meshc",
		Short: "compile a fleet of machines into bundles",
		Long: `meshc reads a mesh, a folder of CUE files, and works out what every machine
runs and who talks to whom. It writes one bundle per machine.

  meshc init my-mesh        a mesh that builds
  meshc check               everything that is wrong with it
  meshc build               the bundles, in dist/
  meshc plan laptop         what a machine runs, takes and gives`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			var known []string
			for _, sub := range c.Commands() {
				known = append(known, sub.Name())
			}
			return usageError{fmt.Errorf("there is no command %s%s; see meshc --help", args[0], didYouMean(args[0], known))}
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.PersistentPreRun = func(sub *cobra.Command, _ []string) {
		if !sub.Flags().Changed("chdir") && sub.Name() != "init" {
			g.dir = meshAbove(".")
		}
	}
	f := c.PersistentFlags()
	f.StringVarP(&g.dir, "chdir", "C", ".", "the mesh's `folder`")
	f.StringArrayVarP(&g.tags, "tag", "t", nil, "fill a CUE tag, `key=value`; may be given again")
	f.StringVar(&g.format, "format", "text", "how to print: text, json, github, gitlab or sarif")
	f.BoolVar(&g.earlier, "earlier-secrets", false, "take secrets whose generation is lower than the last commit's")
	f.BoolVar(&g.json, "json", false, "short for --format json")
	g.bounds.time, g.bounds.memory = maxTime, maxMemory
	f.DurationVar(&g.bounds.time, "max-time", maxTime, "end a run in which one module, or the mesh, is computed for longer; 0 for no bound")
	f.Var(&g.bounds.memory, "max-memory", "end a run that computes with more memory than this `size`; 0 for no bound")
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	c.AddCommand(
		initCommand(g), checkCommand(g), lockCommand(g), buildCommand(g), planCommand(g), diffCommand(g), whyCommand(g), impactCommand(g), graphCommand(g),
		rotateCommand(g), acceptCommand(g), holdersCommand(g), retireCommand(g), catalogCommand(g), explainCommand(g), versionCommand(g),
	)
	complete(c, g)
	c.AddCommand(topics()...)
	c.CompletionOptions.HiddenDefaultCmd = false
	c.InitDefaultHelpCmd()
	for _, sub := range c.Commands() {
		if sub.Name() == "help" {
			ofKnown(sub)
		}
		checked(sub)
	}
	return c
}

// ofKnown refuses help for what there is not.
func ofKnown(help *cobra.Command) {
	help.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if found, rest, err := c.Root().Find(args); err == nil && found != c.Root() && len(rest) == 0 {
			return nil
		}
		var known []string
		for _, sub := range c.Root().Commands() {
			known = append(known, sub.Name())
		}
		return fmt.Errorf("there is no help for %s%s", args[0], didYouMean(args[0], known))
	}
}

// checked makes wrong arguments a wrong use, which ends with 2.
func checked(c *cobra.Command) {
	args := c.Args
	if args == nil {
		return
	}
	c.Args = func(c *cobra.Command, given []string) error {
		if err := args(c, given); err != nil {
			return usageError{fmt.Errorf("%w; see meshc %s --help", err, c.Name())}
		}
		return nil
	}
}
