package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/diag/show"
)

func explainCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "explain CODE",
		Short: "a refusal at length, with an example and its mend",
		Long: `explain says at length what a code means, why it is refused, and shows an example
and the same mended.

  meshc explain E0204`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			asJSON, err := g.asJSON()
			if err != nil {
				return err
			}
			code := diag.Code(strings.ToUpper(args[0]))
			info, ok := diag.Lookup(code)
			if !ok {
				var known []string
				for _, i := range diag.All() {
					known = append(known, string(i.Code))
				}
				return usageError{fmt.Errorf("there is no code %s%s", code, didYouMean(string(code), known))}
			}
			if asJSON {
				return g.printJSON(info)
			}
			return show.Explain(g.stdout, info)
		},
	}
}

func versionCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "the version of this meshc",
		Long: `version prints the version of this meshc, which a mesh's "meshc:" is held against.

  meshc version`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintln(g.stdout, "meshc "+versionText())
			return nil
		},
	}
}
