package hosts

import (
	"fmt"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
)

func badName(n *plan.Node, w plan.Network, err error) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BadHostsLine, At: n.At,
		Message: fmt.Sprintf("%s provides the network %s on %s under a name that is no host name: %v", w.Instance, w.Network, n.Name, err),
	}
}

func ownName(n *plan.Node, w plan.Network) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BadHostsLine, At: n.At,
		Message: fmt.Sprintf("%s provides the network %s on %s under the name %s, which every machine has for itself", w.Instance, w.Network, n.Name, w.Name),
	}
}

func badAddress(n *plan.Node, w plan.Network) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BadHostsLine, At: n.At,
		Message: fmt.Sprintf("%s provides the network %s on %s with %q, which is no address that a hosts file can hold", w.Instance, w.Network, n.Name, w.Address),
	}
}

func sameName(p *plan.Plan, a, b line) diag.Diagnostic {
	if a.node > b.node || a.node == b.node && a.network > b.network {
		a, b = b, a // the same words whichever node's block is looked at
	}
	d := diag.Diagnostic{Code: diag.SameHostName}
	if n := p.Node(b.node); n != nil {
		d.At = n.At
	}
	if a.node == b.node {
		d.Message = fmt.Sprintf("%s is called %s on the networks %s and %s, where it has two addresses", a.node, a.name, a.network, b.network)
		return d
	}
	d.Message = fmt.Sprintf("%s and %s are both called %s, the one on the network %s, the other on %s", a.node, b.node, a.name, a.network, b.network)
	if a.network == b.network {
		d.Message = fmt.Sprintf("%s and %s are both called %s on the network %s", a.node, b.node, a.name, a.network)
	}
	if n := p.Node(a.node); n != nil {
		d.Also = []diag.Note{{At: n.At, Text: fmt.Sprintf("%s is called so", a.node)}}
	}
	return d
}
