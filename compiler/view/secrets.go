package view

import (
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/plan"
	"meshc.dev/compiler/vault"
)

// Restart is a unit that restarts or reloads, and because of what.
type Restart struct {
	Node string `json:"node"`
	Unit string `json:"unit"`
	Does string `json:"does"` // restarts or reloads
}

// Restarts lists the units that restart or reload when secrets change, by their
// names in the lock: those that name one, or a file that one is filled into.
func Restarts(p *plan.Plan, secrets []string) []Restart {
	out := []Restart{}
	for _, n := range p.Nodes {
		changed := map[addr.Resource]bool{}
		for _, i := range n.Instances {
			for _, r := range i.Resources {
				if r.Secret != nil && slices.Contains(secrets, r.Secret.Key) {
					changed[r.ID] = true
				}
			}
		}
		for _, i := range n.Instances {
			for _, r := range i.Resources {
				if r.File != nil && slices.ContainsFunc(r.File.Fills, func(f plan.Placeholder) bool { return changed[f.Secret] }) {
					changed[r.ID] = true
				}
			}
		}
		any := func(ids []addr.Resource) bool {
			return slices.ContainsFunc(ids, func(id addr.Resource) bool { return changed[id] })
		}
		for _, i := range n.Instances {
			for _, r := range i.Resources {
				unit, restartOn, reloadOn := units(r)
				switch {
				case any(restartOn):
					out = append(out, Restart{string(n.Name), unit, "restarts"})
				case any(reloadOn):
					out = append(out, Restart{string(n.Name), unit, "reloads"})
				}
			}
		}
	}
	return out
}

func units(r plan.Resource) (name string, restartOn, reloadOn []addr.Resource) {
	switch {
	case r.Unit != nil:
		return r.Unit.Name, r.Unit.RestartOn, r.Unit.ReloadOn
	case r.Container != nil:
		return r.Container.Unit + ".service", r.Container.RestartOn, r.Container.ReloadOn
	}
	return "", nil, nil
}

// Holding is a secret and who holds it, as JSON.
type Holding struct {
	Name       string `json:"name"`
	Generation int    `json:"generation"`
	Ends       []End  `json:"ends"`
}

// End is one copy of a secret.
type End struct {
	Role      string `json:"role"`
	Holder    string `json:"holder"`
	Recipient string `json:"recipient"` // fingerprint
	Blob      string `json:"blob"`
}

// OfHoldings gives holdings as JSON has them.
func OfHoldings(hs []vault.Holding) []Holding {
	out := []Holding{}
	for _, h := range hs {
		x := Holding{Name: h.Name.String(), Generation: h.Generation}
		for _, e := range h.Ends {
			x.Ends = append(x.Ends, End{e.Role, e.Holder, e.To, e.Blob})
		}
		out = append(out, x)
	}
	return out
}
