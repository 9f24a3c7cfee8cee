package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/settle"
	"meshc.dev/compiler/vault"
	"meshc.dev/render/build"
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
			o.Seal = vault.Mode{Step: vault.Relock, Remake: remake, Prune: prune, NewRecipients: recipients, EarlierSecrets: g.earlier}
			r, ds, err := g.begin(o)
			if err != nil {
				return err
			}
			defer r.Close()
			if err := knownRecipients(r.Outcome, recipients); err != nil {
				return err
			}
			if err := g.say(ds, r.Outcome); err != nil {
				return err
			}
			if !asJSON {
				g.newRecipients(r.Reviewed, recipients)
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
			if len(cs) > 0 {
				g.remindOfGit()
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

// knownRecipients refuses a confirmation for a machine that the mesh does not have.
func knownRecipients(r *build.Outcome, names []string) error {
	if r.Source == nil || r.Source.Mesh == nil {
		return nil // the mesh cannot be read, and that is said
	}
	known := []string{vault.RecoveryName}
	for n := range r.Source.Mesh.Nodes {
		known = append(known, string(n))
	}
	for _, n := range names {
		if slices.Contains(known, n) {
			continue
		}
		err := fmt.Errorf("--new-recipient names %s, which the mesh does not have", n)
		if near := diag.Nearest(n, known); len(near) > 0 {
			err = fmt.Errorf("%w; the nearest is %s", err, near[0])
		}
		return usageError{err}
	}
	return nil
}

// newRecipients shows each key that changed, old and new, and what becomes of all that
// was sealed to the old one (SEC-2).
func (g *globals) newRecipients(p *vault.Plan, asked []string) {
	changed := map[string]bool{}
	for _, n := range p.NewRecipients {
		if !n.Confirmed {
			continue
		}
		who := string(n.Node)
		if who == "" {
			who = vault.RecoveryName
		}
		changed[who] = true
		for _, old := range n.Old {
			fmt.Fprintf(g.stderr, "%s had the key %s\n", who, old)
		}
		fmt.Fprintf(g.stderr, "%s has the key %s\n", who, n.New)
		for _, s := range n.Secrets {
			fmt.Fprintf(g.stderr, "  %s: %s\n", becomes(p, s), s)
		}
	}
	for _, who := range asked {
		if !changed[who] {
			fmt.Fprintf(g.stderr, "%s has no new key: everything of it is sealed to the one that it has\n", who)
		}
	}
}

// becomes says what happens to a secret that was sealed to a key which is no more.
func becomes(p *vault.Plan, name string) string {
	n, err := vault.ParseName(name)
	switch {
	case slices.Contains(p.Forgotten, name):
		return "given up, since nobody wants it"
	case err == nil && n.IsSupplied():
		return "to be supplied again"
	}
	return "made anew"
}

func names(ss []vault.Secret) []string {
	out := []string{}
	for _, s := range ss {
		out = append(out, s.Name.String())
	}
	return out
}
