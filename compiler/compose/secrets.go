package compose

import (
	"cmp"
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/exchange"
	"meshc.dev/compiler/plan"
)

// Secret is one secret of the mesh and who holds it.
type Secret struct {
	Key      string
	Ends     []End
	Supplied bool
	// Supply is what `meshc accept` calls it: a licence, or NODE/INSTANCE/NEED.
	Supply string
	Format string
	Length int
	At     diag.Pos
}

// End is a holder of a secret.
type End struct {
	Holder    addr.Instance
	Role      string // consumer, provider or holder
	Recipient string
	At        diag.Pos
}

func credentialKey(p addr.Pair) string { return "credential " + p.String() }

func secretKey(t exchange.Taken) string {
	if t.Answer.Licence != "" {
		return "licence " + t.Answer.Licence
	}
	return credentialKey(t.Pair)
}

// needKey names a need: one per instance, or one for all instances of a module in its scope (SEC-4).
func needKey(i *exchange.Instance, n evaluate.Need, site string) string {
	switch n.Scope {
	case "site":
		return "need site " + site + " " + i.Module.Name + " " + n.Name
	case "mesh":
		return "need mesh " + i.Module.Name + " " + n.Name
	}
	return "need " + i.Addr.String() + " " + n.Name
}

// secrets collects every secret of the plan with all its holders, by key.
func (c *composer) secrets(p *plan.Plan) []Secret {
	byKey := map[string]*Secret{}
	for k, n := range c.x.Nodes {
		spec := n.Spec
		for j, i := range n.Instances {
			for _, r := range p.Nodes[k].Instances[j].Resources {
				if r.Secret == nil {
					continue
				}
				s := byKey[r.Secret.Key]
				if s == nil {
					s = &Secret{Key: r.Secret.Key, Format: "password", Length: 32, At: r.At}
					byKey[r.Secret.Key] = s
				}
				end := End{i.Addr, r.Secret.Role, spec.Recipient.Value, spec.At}
				if spec.Recipient.At.IsValid() {
					end.At = spec.Recipient.At
				}
				if !slices.ContainsFunc(s.Ends, func(o End) bool { return o.Holder == end.Holder && o.Role == end.Role }) {
					s.Ends = append(s.Ends, end)
				}
			}
			for _, need := range i.Told.Needs {
				s := byKey[needKey(i, need, spec.Site.Value)]
				s.Supplied, s.Format, s.Length = need.Supplied, need.Format, need.Length
				if need.Supplied && s.Supply == "" {
					s.Supply = string(i.Addr.Node) + "/" + i.Addr.Name + "/" + need.Name
				}
			}
			for _, t := range i.Taken {
				if l := t.Answer.Licence; l != "" && t.Secret {
					s := byKey["licence "+l]
					s.Supplied, s.Supply, s.At = true, l, c.mesh.Licences[l].At
				}
			}
		}
	}
	var out []Secret
	for _, s := range byKey {
		slices.SortFunc(s.Ends, func(a, b End) int { return cmp.Or(a.Holder.Compare(b.Holder), cmp.Compare(a.Role, b.Role)) })
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Secret) int { return cmp.Compare(a.Key, b.Key) })
	return out
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
