package firewall

import (
	"fmt"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
)

func badPrefix(n *plan.Node, w plan.Network) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.NetworkRange, At: n.At,
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

func instance(n *plan.Node, name string) addr.Instance {
	return addr.Instance{Name: name, Node: n.Name}
}
