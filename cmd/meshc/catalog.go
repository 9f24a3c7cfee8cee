package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"meshc.dev/compiler/folder"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/view"
)

var catalogFormats = []string{"text", "markdown", "json"}

func catalogCommand(g *globals) *cobra.Command {
	var format string
	var provisions bool
	c := &cobra.Command{
		Use:   "catalog [NAME]",
		Short: "the modules there are, or one of them with its interfaces and all its settings",
		Long: `catalog lists the modules that are built in and those of the mesh; with a name it
shows what that module provides (what it accepts, serves and derives, and whether
everybody gets a login), requires (and what it contributes), listens on, claims and
needs, and every setting with its type, its default and what it is for. What is
there under a condition only says so: "if settings.ssh.enabled".

--provisions lists what can be required, and who provides it.

  meshc catalog
  meshc catalog --provisions
  meshc catalog --format markdown postgres
  meshc catalog postgres`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if g.json {
				format = "json"
			}
			if !slices.Contains(catalogFormats, format) {
				return usageError{fmt.Errorf("unknown format %q; there are %v", format, catalogFormats)}
			}
			if provisions && (len(args) > 0 || format == "markdown") {
				return usageError{fmt.Errorf("--provisions is a list over all modules, as text or json; it goes with no name and no other format")}
			}
			fsys, err := folder.Open(g.dir)
			if err != nil {
				return usageError{fmt.Errorf("%s is not a folder", g.dir)}
			}
			modules := load.Modules(fsys)
			names := slices.Sorted(maps.Keys(modules))
			if len(args) == 1 {
				m := modules[args[0]]
				if m == nil {
					return usageError{fmt.Errorf("there is no module %s%s", args[0], didYouMean(args[0], names))}
				}
				return g.printModule(view.OfModule(m), format)
			}
			var pages []view.Module
			for _, n := range names {
				pages = append(pages, view.OfModule(modules[n]))
			}
			if provisions {
				return g.printProvisions(view.Provisions(pages), format)
			}
			return g.printCatalog(pages, format)
		},
	}
	c.Flags().StringVar(&format, "format", "text", "how to print: text, markdown or json")
	c.Flags().BoolVar(&provisions, "provisions", false, "what can be required, with the modules that provide it")
	return c
}

func (g *globals) printModule(m view.Module, format string) error {
	switch format {
	case "json":
		return g.printJSON(m)
	case "markdown":
		return view.MarkdownModule(g.stdout, m)
	}
	return view.WriteModule(g.stdout, m)
}

func (g *globals) printProvisions(ps []view.Provision, format string) error {
	if format == "json" {
		return g.printJSON(ps)
	}
	return view.WriteProvisions(g.stdout, ps)
}

func (g *globals) printCatalog(ms []view.Module, format string) error {
	switch format {
	case "json":
		return g.printJSON(ms)
	case "markdown":
		return view.MarkdownCatalog(g.stdout, ms)
	}
	return view.WriteCatalog(g.stdout, ms)
}
