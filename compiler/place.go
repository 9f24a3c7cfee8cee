package compiler

import (
	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/plan"
	"meshc.dev/compiler/vault"
	"meshc.dev/render/seal"
)

// Place puts what was sealed into the plan: each secret's blob, generation and
// the name it was sealed under. What was not made leaves its place empty, and
// the plan incomplete.
func Place(p *plan.Plan, c *vault.Change) {
	byName := make(map[string]*vault.Secret, len(c.Secrets))
	for k := range c.Secrets {
		byName[c.Secrets[k].Name.String()] = &c.Secrets[k]
	}
	for _, n := range p.Nodes {
		for _, i := range n.Instances {
			for k, r := range i.Resources {
				if r.Secret == nil {
					continue
				}
				s := byName[r.Secret.Key]
				if s == nil {
					continue
				}
				copied, ok := s.Copy(seal.Role(r.Secret.Role), addr.Instance{Name: i.Name, Node: n.Name}.String())
				if !ok || copied.Blob == "" {
					continue
				}
				placed := *r.Secret
				placed.Sealed, placed.Generation, placed.SealedAs = vault.BundleName(r.ID), s.Generation, copied.Purpose.Name
				placed.Blob, placed.Recipient = c.Blob(copied.Blob), copied.Recipient
				i.Resources[k].Secret = &placed
			}
		}
	}
	p.Complete = c.IsComplete()
}

// PlaceGenerations puts the generation of every secret into the plan, as the lock has
// it, and no blob: for comparing two states of a mesh.
func PlaceGenerations(p *plan.Plan, lk *lock.Lock) {
	for _, n := range p.Nodes {
		for _, i := range n.Instances {
			for k, r := range i.Resources {
				if r.Secret == nil {
					continue
				}
				if s, ok := lk.Secrets[r.Secret.Key]; ok {
					placed := *r.Secret
					placed.Generation, placed.SealedAs = s.Generation, s.Sealed
					i.Resources[k].Secret = &placed
				}
			}
		}
	}
}
