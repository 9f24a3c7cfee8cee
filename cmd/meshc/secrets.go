package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/history"
	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/vault"
	"meshc.dev/compiler/view"
	"meshc.dev/render/build"
	"meshc.dev/render/bundle"
	"meshc.dev/render/seal"
	"meshc.dev/render/sshsig"
)

func rotateCommand(g *globals) *cobra.Command {
	var consumer string
	c := &cobra.Command{
		Use:   "rotate PROVISION",
		Short: "new credentials, at both ends",
		Long: `rotate makes the credentials of a provision anew, or a secret that instances need,
at both ends in one step or not at all. It names all holders first, and says which
units will restart and in which order the machines should apply.

  meshc rotate database
  meshc rotate database --consumer gitea@board`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var of *addr.Instance
			if consumer != "" {
				i, err := addr.ParseInstance(consumer)
				if err != nil {
					return usageError{fmt.Errorf("--consumer: %w", err)}
				}
				of = &i
			}
			r, err := g.held("rotate")
			if err != nil {
				return err
			}
			defer r.Close()
			names, ds := vault.Select(r.Secrets, args[0], of)
			if err := g.say(ds, r.Outcome); err != nil {
				return err
			}
			return g.remake(r, vault.Mode{Step: vault.Relock, Rotate: names}, nil)
		},
	}
	c.Flags().StringVar(&consumer, "consumer", "", "only the credential of `instance@node`")
	return c
}

// held begins a run for a command that changes secrets; everything else has to hold already.
func (g *globals) held(command string) (*build.Run, error) {
	o := g.options(command)
	r, ds, err := g.begin(o)
	if err != nil {
		return nil, err
	}
	if err := g.say(ds, r.Outcome); err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

// remake makes secrets anew for all their holders, or nothing at all (SEC-6). As JSON
// it says more besides.
func (g *globals) remake(r *build.Run, m vault.Mode, more map[string]any) error {
	asJSON, err := g.asJSON()
	if err != nil {
		return err
	}
	p, ds, err := r.Review(m)
	if err != nil {
		return err
	}
	if err := g.say(ds, r.Outcome); err != nil {
		return err
	}
	remade := p.Of(vault.Remade)
	if !asJSON {
		for _, s := range remade {
			fmt.Fprintf(g.stdout, "%s is held by %s\n", s.Name, holders(s))
		}
	}
	change, err := r.Make(context.Background(), p)
	if err != nil {
		return err
	}
	if err := r.CommitOther(change); err != nil {
		return err
	}
	restarts := view.Restarts(r.Plan, names(remade))
	order := vault.ApplyOrder(remade)
	r.Reviewed, r.Change = p, change
	cs := changes(r.Outcome)
	if asJSON {
		out := map[string]any{"remade": names(remade), "restarts": restarts, "order": order, "forgotten": append([]string{}, p.Forgotten...), "changes": append([]string{}, cs...)}
		maps.Copy(out, more)
		return g.printJSON(out)
	}
	for _, c := range cs {
		fmt.Fprintln(g.stdout, c)
	}
	if len(remade) == 0 {
		fmt.Fprintln(g.stdout, "nothing is made anew")
	}
	if len(cs) == 0 {
		return nil
	}
	for _, x := range restarts {
		fmt.Fprintf(g.stdout, "%s on %s: %s\n", x.Unit, x.Node, x.Does)
	}
	if len(remade) > 0 {
		fmt.Fprintln(g.stdout, window(remade, order))
	}
	g.remindOfGit()
	return nil
}

// window says in which order machines should apply a new value, and what happens until
// all of them have (SEC-6).
func window(remade []vault.Secret, order []addr.Node) string {
	var nodes []string
	for _, n := range order {
		nodes = append(nodes, string(n))
	}
	text := "build, and apply on " + strings.Join(nodes, ", then ")
	switch {
	case slices.ContainsFunc(remade, func(s vault.Secret) bool { return s.Name.IsCredential() }):
		text += "\nuntil all of them have applied, consumers may be refused: the old value ends with the provider's apply, the new one begins with the consumer's"
	case len(nodes) > 1:
		text += "\nuntil all of them have applied, some have the new value and some the old"
	}
	return text
}

func acceptCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "accept LICENCE|NODE/INSTANCE/NEED",
		Short: "take a value, seal it to each holder, forget it",
		Long: `accept reads a secret that only a person can supply, from standard input or from the
terminal without showing it, seals it to each of its holders, and drops it.

  meshc accept personal < token.txt
  meshc accept anchor/reverse-proxy/dns-token`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			asJSON, err := g.asJSON()
			if err != nil {
				return err
			}
			r, err := g.held("accept")
			if err != nil {
				return err
			}
			defer r.Close()
			name, ds := vault.FindSupplied(r.Secrets, args[0])
			if err := g.say(ds, r.Outcome); err != nil {
				return err
			}
			value, err := g.supplied(args[0])
			if err != nil {
				return err
			}
			change, ds, err := vault.Accept(r.Secrets, r.Lock, r.Head, name, value)
			if err != nil {
				return err
			}
			if err := g.say(ds, r.Outcome); err != nil {
				return err
			}
			if err := r.CommitOther(change); err != nil {
				return err
			}
			s, _ := change.Find(name)
			if asJSON {
				entry := change.Lock.Secrets[name.String()]
				held := view.OfHoldings([]vault.Holding{{Name: name, Generation: entry.Generation, Ends: entry.Ends}})
				return g.printJSON(map[string]any{"accepted": held[0], "changes": append([]string{}, changes(r.Outcome)...)})
			}
			for _, c := range changes(r.Outcome) {
				fmt.Fprintln(g.stdout, c)
			}
			fmt.Fprintf(g.stdout, "%s is sealed to %s, generation %d\n", name, holders(s), s.Generation)
			g.remindOfGit()
			return nil
		},
	}
}

// maxSupplied is more than any token, key or certificate chain has.
const maxSupplied = 1 << 20

// supplied reads a secret from a person.
func (g *globals) supplied(name string) (seal.Secret, error) {
	var b []byte
	var err error
	if f, ok := g.stdin.(*os.File); ok && isTerminal(f) {
		fmt.Fprintf(g.stderr, "value of %s (not shown): ", name)
		b, err = term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(g.stderr)
	} else {
		b, err = io.ReadAll(io.LimitReader(g.stdin, maxSupplied+1))
	}
	if err != nil {
		return seal.Secret{}, fmt.Errorf("reading the value of %s: %w", name, err)
	}
	if len(b) > maxSupplied {
		clear(b)
		return seal.Secret{}, fmt.Errorf("the value of %s has more than 1 MB; nothing was sealed", name)
	}
	s, err := seal.ForPerson(b)
	if err != nil {
		return s, fmt.Errorf("%w; nothing was sealed. To give it from a file: meshc accept %s < FILE", err, name)
	}
	return s, nil
}

func holdersCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "holders [NAME]",
		Short: "who holds a secret, and to which key it is sealed",
		Long: `holders lists who holds the secrets of a provision, licence or need, or all that there
are: each copy, its generation, and the fingerprint of the key that it is sealed to.

  meshc holders database`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			asJSON, err := g.asJSON()
			if err != nil {
				return err
			}
			if _, err := g.folder(); err != nil {
				return err
			}
			v, err := vault.Open(g.dir).Read()
			if err != nil {
				return err
			}
			lk, ds := lock.Read(lock.File, v.Lock)
			if err := g.say(ds, nil); err != nil {
				return err
			}
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			held := vault.Holders(lk, name)
			if asJSON {
				return g.printJSON(view.OfHoldings(held))
			}
			if len(held) == 0 {
				return noHoldings(lk, name)
			}
			for _, h := range held {
				fmt.Fprintf(g.stdout, "%s, generation %d\n", h.Name, h.Generation)
				for _, e := range h.Ends {
					fmt.Fprintf(g.stdout, "  %s %s  %s\n", e.Role, e.Holder, e.To)
				}
			}
			return nil
		},
	}
}

// noHoldings says what there is instead.
func noHoldings(lk *lock.Lock, name string) error {
	known := vault.HeldLabels(lk)
	near := diag.Nearest(name, known)
	switch {
	case name == "":
		return errors.New("the lock has no secret yet: meshc lock")
	case len(near) > 0:
		return fmt.Errorf("the lock has no secret of %q; the nearest is %s", name, near[0])
	case len(known) == 0:
		return fmt.Errorf("the lock has no secret of %q, nor any other yet: meshc lock", name)
	case len(known) > 12:
		return fmt.Errorf("the lock has no secret of %q", name)
	}
	return fmt.Errorf("the lock has no secret of %q; there are %s", name, strings.Join(known, ", "))
}

func retireCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "retire NODE",
		Short: "make anew for the others everything that a machine's key could ever open",
		Long: `retire finds every secret that a machine's keys could ever open, in the lock and in
all of git's history, and makes each anew for its other holders, in one step. What only
its issuer can change, a token or a licence, is listed. Take the machine out of the mesh,
or give it a new key, before.

  meshc retire board`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			repo, err := history.Open(g.dir)
			if err != nil {
				return err
			}
			var locks []*lock.Lock
			if repo != nil {
				shallow, err := repo.IsShallow()
				if err != nil {
					return err
				}
				if shallow {
					return errors.New("this clone lacks part of its history, where secrets may be that the machine could open; fetch all of it first: git fetch --unshallow")
				}
				all, err := repo.AllLocks()
				if err != nil {
					return err
				}
				for _, b := range all {
					if lk, _ := lock.Read(lock.File, b); lk != nil {
						locks = append(locks, lk)
					}
				}
			}
			r, err := g.held("retire")
			if err != nil {
				return err
			}
			defer r.Close()
			ret, ds := vault.Retire(r.Secrets, r.Lock, locks, addr.Node(args[0]))
			if err := g.say(ds, r.Outcome); err != nil {
				return err
			}
			if g.format == "text" && !g.json {
				if repo == nil {
					fmt.Fprintln(g.stderr, "this folder is in no git repository, so only the lock was looked at")
				}
				for _, k := range ret.Keys {
					fmt.Fprintf(g.stdout, "%s had the key %s\n", args[0], k)
				}
				if ret.Stays != "" {
					fmt.Fprintf(g.stderr, "%s has the key %s now, which is not retired: take %s out of the mesh to retire that too\n", args[0], ret.Stays, args[0])
				}
				for _, i := range ret.Issuer {
					fmt.Fprintln(g.stdout, issued(r.Secrets, args[0], i))
				}
			}
			keys, issuer := append([]string{}, ret.Keys...), []string{}
			for _, i := range ret.Issuer {
				issuer = append(issuer, i.Name.String())
			}
			return g.remake(r, ret.Mode(), map[string]any{"keys": keys, "stays": ret.Stays, "issuer": issuer})
		},
	}
}

// issued says what is to be done about a secret that only its issuer can change.
func issued(d vault.Demand, node string, i vault.Issued) string {
	text := fmt.Sprintf("%s: %s could open it, and only who issued it can make it worthless", i.Name, node)
	if slices.ContainsFunc(d.Wants, func(w vault.Want) bool { return w.Name == i.Name }) {
		text += "; with the new one: meshc accept " + acceptName(i.Name)
	}
	return text
}

// acceptName is what `meshc accept` calls a supplied secret.
func acceptName(n vault.Name) string {
	if n.Licence != "" {
		return n.Licence
	}
	return string(n.Instance.Node) + "/" + n.Instance.Name + "/" + n.Need
}

// sign signs every bundle's provenance with an ssh key; one of a dirty tree is not signed.
func sign(bundles []*bundle.Bundle, path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--sign: %w", err)
	}
	key, err := sshsig.ParseKey(bytes.TrimSpace(b))
	if err != nil {
		return fmt.Errorf("--sign %s: %w", path, err)
	}
	for _, x := range bundles {
		if x.Provenance.Commit == "" {
			return errors.New("--sign: the bundles would hold what is in no commit, so they have no serial; commit first, mesh.lock.hcl and sealed/ with the rest")
		}
		if x.Declaration == nil {
			continue
		}
		x.Signature = key.Sign(x.ProvenanceBytes())
	}
	return nil
}
