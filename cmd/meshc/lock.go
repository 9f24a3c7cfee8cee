package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/settle"
	"meshc.dev/compiler/vault"
)

func lockCommand(g *globals) *cobra.Command {
	var remake, prune bool
	var recipients []string
	c := &cobra.Command{
		Use:   "lock",
		Short: "assign and make what is missing, move what has to move",
		Long: `lock assigns ports, addresses and logins that nothing has assigned yet, makes and
seals the secrets that are missing, and moves what cannot stay: two that hold one
number after a merge, or one that a machine reserves. It writes mesh.lock.hcl and
sealed/, both or neither, and nothing else.

  meshc lock
  meshc lock --new-recipient board    accept a machine's new key: everything that it
                                      shares is made anew, at both ends
  meshc lock --remake                 make anew what the last commit has and the lock lost
  meshc lock --prune                  list and remove what no longer has an owner`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			asJSON, err := g.asJSON()
			if err != nil {
				return err
			}
			o := g.options("lock")
			o.Settle = settle.Mode{Step: settle.Relock, Remake: remake, Prune: prune}
			o.Seal = vault.Mode{Step: vault.Relock, Remake: remake, Prune: prune, NewRecipients: recipients}
			r, ds, err := g.begin(o)
			if err != nil {
				return err
			}
			defer r.Close()
			if err := g.say(ds, r.Outcome); err != nil {
				return err
			}
			if !asJSON {
				g.newRecipients(r.Reviewed)
			}
			if err := r.Commit(); err != nil {
				return err
			}
			cs := changes(r.Outcome)
			if asJSON {
				return g.printJSON(map[string]any{"lock": lock.File, "changes": cs, "awaited": names(r.Reviewed.Of(vault.Awaited))})
			}
			for _, c := range cs {
				fmt.Fprintln(g.stdout, c)
			}
			if len(cs) == 0 {
				fmt.Fprintln(g.stdout, "nothing to do: everything is in "+lock.File)
			}
			for _, s := range r.Reviewed.Of(vault.Awaited) {
				fmt.Fprintf(g.stdout, "%s waits for its value: meshc accept %s\n", s.Name, acceptName(s.Name))
			}
			return nil
		},
	}
	f := c.Flags()
	f.BoolVar(&remake, "remake", false, "make anew what the last commit has and the lock lost")
	f.BoolVar(&prune, "prune", false, "remove what no longer has an owner")
	f.StringArrayVar(&recipients, "new-recipient", nil, "accept the new key of a `node`, or of \"recovery\"; may be given again")
	return c
}

// newRecipients shows each key that changed, old and new, and all that is made anew for it (SEC-2).
func (g *globals) newRecipients(p *vault.Plan) {
	for _, n := range p.NewRecipients {
		if !n.Confirmed {
			continue
		}
		who := string(n.Node)
		if who == "" {
			who = "recovery"
		}
		for _, old := range n.Old {
			fmt.Fprintf(g.stderr, "%s had the key %s\n", who, old)
		}
		fmt.Fprintf(g.stderr, "%s has the key %s\n", who, n.New)
		for _, s := range n.Secrets {
			fmt.Fprintf(g.stderr, "  made anew: %s\n", s)
		}
	}
}

func names(ss []vault.Secret) []string {
	out := []string{}
	for _, s := range ss {
		out = append(out, s.Name.String())
	}
	return out
}
