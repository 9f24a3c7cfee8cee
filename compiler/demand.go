package compiler

import (
	"fmt"
	"net/netip"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/resolve"
	"meshc.dev/compiler/settle"
)

// demand is everything that a resolved mesh wants settled.
func demand(r *resolve.Resolved, mode settle.Mode) (settle.Demand, diag.List) {
	m := r.Mesh
	ds := append(openFaults(m), networkFaults(m)...)
	d := settle.Demand{
		Mode: mode, Pool: settle.Range{From: m.Ports.From, To: m.Ports.To}, PoolAt: m.Ports.At, NetworkAt: m.CIDR.At,
	}
	if prefix, err := netip.ParsePrefix(m.CIDR.Value); err == nil {
		d.Network = prefix
	}
	for _, n := range r.Nodes {
		node := settle.Node{Name: n.Name, At: n.Spec.At, AddressAt: n.Spec.Address.At}
		if t := n.Spec.Address; t.Value != "" {
			a, err := netip.ParseAddr(t.Value)
			if err != nil {
				ds = append(ds, badAddress(n.Name, t.Value, t.At))
			}
			node.Address = a
		}
		for key, reason := range n.Spec.Reserved {
			p, err := settle.ParseReserved(key, reason.Value)
			if err != nil {
				ds = append(ds, badReserved(n.Name, key, reason.At, err))
				continue
			}
			p.At = reason.At
			node.Reserved = append(node.Reserved, p)
		}
		open, ods := opened(m, n)
		node.Open, ds = open, append(ds, ods...)
		if outgoing, err := settle.ParseRange(n.Spec.Outgoing.Value); err == nil {
			node.Outgoing = outgoing
		} else {
			ds = append(ds, badReserved(n.Name, n.Spec.Outgoing.Value, n.Spec.Outgoing.At, err))
		}
		d.Nodes = append(d.Nodes, node)
		for _, i := range n.Instances {
			d.Instances = append(d.Instances, i.Addr)
			for _, l := range i.Interface.Listens {
				d.Listens = append(d.Listens, settle.Listen{
					Listen: addr.Listen{Instance: i.Addr, Name: l.Name}, Module: i.Module.Name, Port: l.Port, To: l.To, Protocol: l.Protocol,
					Address: l.Address, Fixed: l.Fixed, PerPort: i.Module.Containers, Shielded: i.Module.Shields, At: i.At,
				})
			}
			for _, a := range i.Answers {
				if a.Provider == nil || !a.Provide.Credential {
					continue
				}
				d.Logins = append(d.Logins, settle.Login{
					Pair: addr.Pair{Provider: a.Provider.Addr, Provision: a.Provision, Consumer: addr.Consumer{Instance: i.Addr, Label: a.Label}},
					At:   i.At,
				})
			}
		}
	}
	for from, to := range m.Moved.Nodes {
		d.Moved.Nodes = append(d.Moved.Nodes, settle.MovedNode{Old: addr.Node(from), New: addr.Node(to.Value), At: to.At})
	}
	for from, to := range m.Moved.Instances {
		d.Moved.Instances = append(d.Moved.Instances, settle.MovedInstance{Old: from, New: to.Value, At: to.At})
	}
	return d, ds
}

func badReserved(node addr.Node, key string, at diag.Pos, err error) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.BadReserved, At: at, Message: fmt.Sprintf("%s reserves %q: %v", node, key, err)}
}

func badAddress(node addr.Node, text string, at diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.BadAddress, At: at, Message: fmt.Sprintf("%q is no address for %s", text, node)}
}

func mappingsMove(ms []settle.Mapping) diag.Diagnostic {
	m := ms[0]
	return diag.Diagnostic{
		Code: diag.BadResource, At: m.At,
		Message: fmt.Sprintf("%s on %s writes a port mapping that moves whenever ports are assigned around it; publish a listen instead", m.Resource, m.Node),
	}
}
