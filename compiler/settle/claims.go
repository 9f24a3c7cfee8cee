package settle

import (
	"cmp"
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/plan"
)

// claims collects what cannot move on each machine, and refuses what two hold.
func (r *run) claims() {
	for _, n := range r.d.Nodes {
		for _, p := range n.Reserved {
			r.hold(n.Name, reservedClaim(p))
		}
	}
	for _, l := range r.d.Listens {
		if r.checkListen(l) && l.Fixed {
			r.hold(l.Listen.Instance.Node, fixedClaim(l))
			r.settled.Ports[l.Listen] = Range{l.Port, l.Port + l.width() - 1}
		}
	}
	for _, m := range r.d.Mappings {
		if _, ok := parseBinding(m.Address); !ok {
			r.fault(badBinding(m.At, m.Resource.String(), m.Node, m.Address))
		}
		r.hold(m.Node, mappingClaim(m))
	}
	for _, n := range r.d.Nodes {
		r.compare(n.Name)
	}
}

func (r *run) hold(node addr.Node, c claim) { r.held[node] = append(r.held[node], c) }

// checkListen refuses a listen that could never be bound.
func (r *run) checkListen(l Listen) bool {
	if l.To != 0 && l.To < l.Port {
		r.fault(rangeBackwards(l))
		return false
	}
	if _, ok := parseBinding(l.Address); !ok {
		r.fault(badBinding(l.At, l.Listen.Instance.Name+"/"+l.Listen.Name, l.Listen.Instance.Node, l.Address))
		return false
	}
	return true
}

func reservedClaim(p plan.Reserved) claim {
	b, _ := parseBinding(p.Address) // ParseReserved made it
	return claim{ports: Range{p.From, p.To}, protocol: p.Protocol, binding: b, address: p.Address, kind: reserved, who: p.Reason, at: p.At}
}

func fixedClaim(l Listen) claim {
	c := listenClaim(l, Range{l.Port, l.Port + l.width() - 1})
	c.kind = fixed
	return c
}

// listenClaim is a listen at the ports it has on the machine.
func listenClaim(l Listen, ports Range) claim {
	b, _ := parseBinding(l.Address) // a wildcard where it is malformed, which was said
	return claim{
		ports: ports, protocol: l.Protocol, binding: b, address: l.Address, kind: assigned,
		who: l.Listen.Instance.Name + "/" + l.Listen.Name, instance: l.Listen.Instance.Name, at: l.At,
	}
}

func mappingClaim(m Mapping) claim {
	b, _ := parseBinding(m.Address)
	return claim{
		ports: Range{m.Port, max(m.Port, m.To)}, protocol: m.Protocol, binding: b, address: m.Address, kind: mapping,
		who: m.Resource.String(), instance: m.Resource.Instance, at: m.At,
	}
}

// compare refuses the claims of one machine that meet, each with the first that it
// meets: reserved ports come first, so that their reason is told.
func (r *run) compare(node addr.Node) {
	claims := r.held[node]
	byPort := make([]int, len(claims))
	first := make([]int, len(claims))
	for i := range claims {
		byPort[i], first[i] = i, -1
	}
	slices.SortStableFunc(byPort, func(a, b int) int { return cmp.Compare(claims[a].ports.From, claims[b].ports.From) })
	var open []int // those whose range reaches to where we are
	for _, i := range byPort {
		open = slices.DeleteFunc(open, func(j int) bool { return claims[j].ports.To < claims[i].ports.From })
		for _, j := range open {
			a, b := min(i, j), max(i, j)
			if (first[b] < 0 || a < first[b]) && refused(claims[a], claims[b]) {
				first[b] = a
			}
		}
		open = append(open, i)
	}
	for b, a := range first {
		switch {
		case a < 0:
		case claims[a].kind == reserved:
			r.fault(portReserved(node, claims[b], claims[a], r.settled.Addresses[node], r.isFree(node, b)))
		default:
			r.fault(portTaken(node, claims[b], claims[a]))
		}
	}
}

// refused says whether a later claim is refused because of an earlier one. A
// machine may say twice what it uses; and an instance may map by hand what its own
// listen declares.
func refused(first, later claim) bool {
	if later.kind == reserved || first.kind == fixed && later.kind == mapping && first.instance == later.instance {
		return false
	}
	return first.meets(later)
}

// isFree says whether a claim would meet nobody if it bound the node's own address alone.
func (r *run) isFree(node addr.Node, i int) bool {
	a := r.settled.Addresses[node]
	c := r.held[node][i]
	if !a.IsValid() || c.kind != fixed || c.binding.isOne() {
		return false
	}
	c.binding = binding{a}
	for j, o := range r.held[node] {
		if j != i && c.meets(o) {
			return false
		}
	}
	return true
}
