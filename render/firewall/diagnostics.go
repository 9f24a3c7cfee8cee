package firewall

import (
	"fmt"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
)

func fromNowhere(n *plan.Node, o plan.Open) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.OpenFromNowhere, At: placeOf(o.At, n),
		Message: fmt.Sprintf("%s opens %s from %q, which is neither machine, network nor world, nor a prefix such as 192.168.1.0/24",
			instance(n, o.Instance), o.Name, o.From),
	}
}

func badAddress(n *plan.Node, at diag.Pos, what, address string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.OpenAtNoAddress, At: placeOf(at, n),
		Message: fmt.Sprintf("%s on %s is bound to %q, which is no address", what, n.Name, address),
	}
}

func badPrefix(n *plan.Node, w plan.Network) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.OpenAtNoAddress, At: n.At,
		Message: fmt.Sprintf("%s serves %q as the range of the network %s, which is none", instance(n, w.Instance), w.Prefix, w.Network),
	}
}

func badInterface(n *plan.Node, whose, name string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BadInterface, At: n.At,
		Message: fmt.Sprintf("%q, an interface that %s on %s names, is no name of a network interface", name, whose, n.Name),
	}
}

func networkUnknown(n *plan.Node, w plan.Network) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.NetworkUnknown, At: n.At,
		Message: fmt.Sprintf("%s serves neither interface nor range of the network %s, so the firewall of %s opens nothing to it", instance(n, w.Instance), w.Network, n.Name),
	}
}

func wayInClosed(n *plan.Node) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.WayInClosed, At: n.At,
		Message: fmt.Sprintf("the firewall of %s closes port 22, and no reserved port there says that it is ssh", n.Name),
		Help:    `reserved: ports: "22": "sshd"`,
	}
}

func placeOf(at diag.Pos, n *plan.Node) diag.Pos {
	if at.IsValid() {
		return at
	}
	return n.At
}

func instance(n *plan.Node, name string) addr.Instance {
	return addr.Instance{Name: name, Node: n.Name}
}
