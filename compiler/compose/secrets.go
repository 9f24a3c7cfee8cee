package compose

import (
	"cmp"
	"slices"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/exchange"
	"meshc.dev/compiler/plan"
	"meshc.dev/compiler/vault"
	"meshc.dev/render/seal"
)

// secretName names the credential of a requirement, or the secret of a licence.
func secretName(t exchange.Taken) vault.Name {
	if t.Answer.Licence != "" {
		return vault.Licence(t.Answer.Licence)
	}
	return vault.Credential(t.Pair)
}

// needName names a need: one per instance, or one for all instances of a module in its scope (SEC-4).
func needName(i *exchange.Instance, n evaluate.Need, site string) vault.Name {
	name := vault.Need(i.Addr, n.Name)
	switch n.Scope {
	case "site":
		name = vault.SharedNeed(i.Module.Name, n.Name, site)
	case "mesh":
		name = vault.SharedNeed(i.Module.Name, n.Name, "")
	}
	if n.Supplied {
		name = vault.Supplied(name)
	}
	return name
}

// secrets is every secret that the plan places, with all its holders, and the
// keys that those have.
func (c *composer) secrets(p *plan.Plan) vault.Demand {
	d := vault.Demand{Mesh: p.Mesh, MeshAt: c.mesh.At}
	for _, r := range c.mesh.Recovery {
		d.Recovery = append(d.Recovery, vault.Key{Recipient: r.Value, At: r.At})
	}
	byKey := map[string]*vault.Want{}
	for k, n := range c.x.Nodes {
		node := vault.Node{Name: n.Name, Recipient: n.Spec.Recipient.Value, At: n.Spec.Recipient.At}
		if !node.At.IsValid() {
			node.At = n.Spec.At
		}
		d.Nodes = append(d.Nodes, node)
		for j, i := range n.Instances {
			want := func(name vault.Name, at diag.Pos) *vault.Want {
				w := byKey[name.String()]
				if w == nil {
					w = &vault.Want{Name: name, At: at}
					byKey[name.String()] = w
				}
				return w
			}
			for _, t := range i.Taken {
				if t.Secret {
					at := i.At
					if l := c.mesh.Licences[t.Answer.Licence]; l != nil {
						at = l.At
					}
					want(secretName(t), at)
				}
			}
			for _, need := range i.Told.Needs {
				w := want(needName(i, need, n.Spec.Site.Value), i.At)
				w.Format, w.Length = seal.Format(need.Format), need.Length
			}
			for _, r := range p.Nodes[k].Instances[j].Resources {
				if r.Secret == nil {
					continue
				}
				w := byKey[r.Secret.Key]
				if w == nil { // a provider is composed before its consumer was looked at
					name, err := vault.ParseName(r.Secret.Key)
					if err != nil {
						panic(err) // written by secretName
					}
					w = want(name, i.At)
				}
				w.Ends = append(w.Ends, vault.End{Holder: i.Addr, Role: seal.Role(r.Secret.Role), At: i.At})
			}
		}
	}
	for _, w := range byKey {
		d.Wants = append(d.Wants, *w)
	}
	slices.SortFunc(d.Wants, func(a, b vault.Want) int { return cmp.Compare(a.Name.String(), b.Name.String()) })
	return d
}

// roots are what certificate authorities of the mesh serve as `root` (CMP-3).
func (c *composer) roots() []plan.Root {
	var out []plan.Root
	for _, n := range c.x.Nodes {
		for _, i := range n.Instances {
			if p := i.Told.Provision("certificate-authority"); p != nil {
				if pem := p.Serves.Get("root").Text(); pem != "" {
					out = append(out, plan.Root{Authority: i.Addr, PEM: pem})
				}
			}
		}
	}
	return out
}
