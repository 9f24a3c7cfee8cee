package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/settle"
)

func lockCommand(g *globals) *cobra.Command {
	var remake, prune bool
	c := &cobra.Command{
		Use:   "lock",
		Short: "assign what is missing, move what has to move",
		Long: `lock assigns ports, addresses and logins that nothing has assigned yet, and moves
those that cannot stay: two that hold one number after a merge, or one that a machine
reserves. It writes mesh.lock.hcl and nothing else.

  meshc lock
  meshc lock --remake       make anew what the last commit has and the lock lost
  meshc lock --prune        list and remove what no longer has an owner`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			asJSON, err := g.asJSON()
			if err != nil {
				return err
			}
			r, ds, err := g.compile(settle.Mode{Step: settle.Relock, Remake: remake, Prune: prune})
			if err != nil {
				return err
			}
			if err := g.say(ds, r); err != nil {
				return err
			}
			wrote, err := g.writeLock(r)
			if err != nil {
				return fmt.Errorf("%s: %w", lock.File, err)
			}
			if asJSON {
				var changes []string
				for _, c := range r.Settled.Changes {
					changes = append(changes, changeText(c))
				}
				return g.printJSON(map[string]any{"lock": lock.File, "changes": changes})
			}
			for _, c := range r.Settled.Changes {
				fmt.Fprintln(g.stdout, changeText(c))
			}
			if !wrote {
				fmt.Fprintln(g.stdout, "nothing to do: everything is in "+lock.File)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&remake, "remake", false, "make anew what the last commit has and the lock lost")
	c.Flags().BoolVar(&prune, "prune", false, "remove what no longer has an owner")
	return c
}
