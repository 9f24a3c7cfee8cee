package firewall

import (
	"cmp"
	"fmt"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/netaddr"
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
	at := n.At
	for _, a := range n.Admits {
		if a.Port <= 22 && 22 <= a.To && a.At.IsValid() {
			at = a.At
		}
	}
	return diag.Diagnostic{
		Code: diag.WayInClosed, At: at, On: []string{string(n.Name)},
		Message: fmt.Sprintf("the firewall closes 22/tcp of %s, and nothing else is open there that says it is ssh", diag.Nodes),
	}
}

// sshNotOpen offers the line that opens it as 22/tcp was; whoever wants it narrower writes that.
func sshNotOpen(n *plan.Node, r plan.Reserved) diag.Diagnostic {
	port := fmt.Sprint(r.From)
	if r.To > r.From {
		port = fmt.Sprintf("%d-%d", r.From, r.To)
	}
	key := port + "/" + cmp.Or(r.Protocol, "tcp")
	if a, _ := bound(r.Address); a.IsValid() {
		key = strings.TrimSuffix(netaddr.Join(a.String(), 0), "0") + key
	}
	return diag.Diagnostic{
		Code: diag.SSHNotOpen, At: cmp.Or(r.At, n.At),
		Message: fmt.Sprintf("%s on %s is reserved for %q, and reserving opens nothing: its firewall would shut out whoever comes in by it", port, n.Name, r.Reason),
		Help:    fmt.Sprintf("nodes: %q: open: %q: {for: %q, from: \"world\"}", n.Name, key, r.Reason),
	}
}

func noSitePrefix(n *plan.Node, a plan.Admit) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: diag.OpenFromNowhere, At: a.At,
		Message: fmt.Sprintf("%d for %q is open to the site of %s, and it stands at none", a.Port, a.For, n.Name),
	}
	if n.Site != "" {
		d.Message = fmt.Sprintf("%d for %q is open to the site of %s, and %s has no prefix", a.Port, a.For, n.Name, n.Site)
	}
	return d
}

func noNetwork(n *plan.Node, a plan.Admit) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.OpenFromNowhere, At: a.At,
		Message: fmt.Sprintf("%d for %q is open to the private network, and %s is on none that a firewall can tell", a.Port, a.For, n.Name),
	}
}

func instance(n *plan.Node, name string) addr.Instance {
	return addr.Instance{Name: name, Node: n.Name}
}
