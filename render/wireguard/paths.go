package wireguard

import (
	"cmp"
	"slices"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
)

// obstacle is why two nodes behind NAT have no path to each other.
type obstacle int

const (
	noObstacle obstacle = iota
	noHub               // nobody holds the claim, and somebody could
	hubElsewhere
	hubBehindNAT
	hubAtItsSite  // its endpoint is a private address
	nobodyOutside // no node of the network could be a hub
)

// use is a requirement that goes from one node behind NAT to another.
type use struct {
	from, to *member
	take     plan.Take
}

// checkPaths finds pairs without a path. Where one of the two takes something from
// the other that is refused; others are left without each other, and said once.
func (w *network) checkPaths() diag.List {
	why := w.obstacle()
	if why == noObstacle {
		return nil
	}
	var behind []*member
	for _, m := range w.members {
		if m.usable() && slices.ContainsFunc(w.members, func(o *member) bool { return o != m && o.usable() && !w.path(m, o) }) {
			behind = append(behind, m)
		}
	}
	if len(behind) == 0 {
		return nil
	}
	if uses := w.usesBetween(behind); len(uses) > 0 {
		return diag.List{noPath(w, why, uses)}
	}
	return diag.List{leftOut(w, why, behind)}
}

func (w *network) obstacle() obstacle {
	outside := slices.ContainsFunc(w.members, func(m *member) bool { return m.outside && m.usable() })
	hub := w.byName[w.plan.Hub]
	switch {
	case w.plan.Hub == "" && outside:
		return noHub
	case w.plan.Hub == "":
		return nobodyOutside
	case hub == nil:
		return hubElsewhere
	case hub.local:
		return hubAtItsSite
	case !hub.outside:
		return hubBehindNAT
	}
	// A hub whose key, address or endpoint is missing was refused for that.
	return noObstacle
}

// usesBetween lists what the nodes take from each other through this network, one
// entry a pair of nodes and requirement.
func (w *network) usesBetween(behind []*member) []use {
	var out []use
	for _, m := range behind {
		for _, t := range m.node.Takes {
			to := w.byName[t.Node]
			if t.Node == "" || to == nil || to == m || !to.usable() || w.path(m, to) || !w.carries(m, to, t) {
				continue
			}
			out = append(out, use{m, to, t})
		}
	}
	slices.SortStableFunc(out, func(a, b use) int {
		return cmp.Or(cmp.Compare(a.from.node.Name, b.from.node.Name), cmp.Compare(a.to.node.Name, b.to.node.Name),
			cmp.Compare(a.take.Instance, b.take.Instance), cmp.Compare(a.take.Label, b.take.Label))
	})
	return out
}

// carries says whether a binding goes through this network: it does unless its
// address is the provider's on another network that both are on (SCP-6).
func (w *network) carries(from, to *member, t plan.Take) bool {
	if t.At == to.net.Name || t.At == to.net.Address {
		return true
	}
	for _, net := range to.node.Networks {
		shared := slices.ContainsFunc(from.node.Networks, func(o plan.Network) bool { return o.Network == net.Network })
		if net.Network != w.name && shared && t.At != "" && (t.At == net.Name || t.At == net.Address) {
			return false
		}
	}
	return true
}
