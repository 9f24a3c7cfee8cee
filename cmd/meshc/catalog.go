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

func catalogCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "catalog [NAME]",
		Short: "the modules there are, or one of them with all its settings",
		Long: `catalog lists the modules that are built in and those of the mesh; with a name it
shows what that module provides, requires and listens on, and every setting with
its type, its default and what it is for.

  meshc catalog
  meshc catalog postgres`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			asJSON, err := g.asJSON()
			if err != nil {
				return err
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
				page := view.OfModule(m)
				if asJSON {
					return g.printJSON(page)
				}
				return view.WriteModule(g.stdout, page)
			}
			var pages []view.Module
			for _, n := range names {
				pages = append(pages, view.OfModule(modules[n]))
			}
			if asJSON {
				return g.printJSON(pages)
			}
			return view.WriteCatalog(g.stdout, pages)
		},
	}
}
