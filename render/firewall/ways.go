package firewall

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
	"meshc.dev/compiler/screen"
	"meshc.dev/render/wireguard"
)

// Way is one way in to a node.
type Way struct {
	Port, To int    // To equals Port where it is no range
	Protocol string // tcp, udp, or empty for both
	From     string // machine, network, world, or a prefix; "site" where the site has none, which nothing comes from
	For      string // whose it is: gitea/http, or what the machine uses it for
	// Address is the one address that it is open at; the zero Addr for all.
	Address netip.Addr
	// Container is true where it is a port published into a container.
	Container bool
	// Open is true where a person opened it (PRT-5), and no module.
	Open bool
}

// String is the way in as a plan lists it: "tcp 20311 from network: gitea/http".
func (w Way) String() string {
	return fmt.Sprintf("%s %s from %s: %s", cmp.Or(w.Protocol, "tcp+udp"), w.ports(), w.From, screen.Text(w.For))
}

// Ways lists the ways in that a node has, by port: those of its instances, those of
// its tunnels, and what a person opened. What is bound to the loopback
// address is no way in, and neither is what cannot be read: settling refused that
// before, and closed is the safe side.
func Ways(n *plan.Node) []Way {
	var out []Way
	for _, x := range n.Admits {
		a, ok := bound(x.Address)
		for _, f := range x.From {
			if from, known := openedFrom(f); ok && known {
				out = append(out, Way{x.Port, cmp.Or(x.To, x.Port), x.Protocol, from, x.For, a, false, true})
			}
		}
	}
	for _, o := range n.Opens {
		a, ok := bound(o.Address)
		from, known := openedFrom(o.From)
		if ok && known {
			out = append(out, Way{o.Port, cmp.Or(o.To, o.Port), o.Protocol, from, o.Instance + "/" + o.Name, a, o.Container, false})
		}
	}
	for _, t := range wireguard.Tunnels(n) {
		w := Way{t.Port, t.Port, "udp", "world", t.Instance + ", from the tunnels' other ends", netip.Addr{}, false, false}
		same := func(o Way) bool {
			return o.Port <= t.Port && t.Port <= o.To && o.Protocol != "tcp" && o.From == "world" && !o.Address.IsValid()
		}
		// A node behind NAT is dialled by nobody.
		if n.Endpoint != "" && !slices.ContainsFunc(out, same) {
			out = append(out, w)
		}
	}
	slices.SortFunc(out, compare)
	return slices.Compact(out)
}

// openedFrom reads from where something is open.
func openedFrom(from string) (string, bool) {
	switch from {
	case "machine", "site", "network", "world":
		return from, true
	}
	p, err := netip.ParsePrefix(from)
	return p.Masked().String(), err == nil
}

// bound reads the address that something can be reached at: the zero Addr for every
// address, false where nobody else comes to it.
func bound(s string) (netip.Addr, bool) {
	if s == "" {
		return netip.Addr{}, true
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	switch {
	case err != nil || a.Zone() != "" || a.IsLoopback():
		return netip.Addr{}, false
	case a.IsUnspecified():
		return netip.Addr{}, true
	}
	return a.Unmap(), true
}

func compare(a, b Way) int {
	return cmp.Or(cmp.Compare(a.Port, b.Port), cmp.Compare(a.To, b.To), cmp.Compare(a.Protocol, b.Protocol),
		cmp.Compare(a.For, b.For), cmp.Compare(a.From, b.From), a.Address.Compare(b.Address), yes(a.Container)-yes(b.Container), yes(a.Open)-yes(b.Open))
}

func yes(b bool) int {
	if b {
		return 1
	}
	return 0
}

// closesWayIn warns where the table closes the port that administrators come in by,
// unless another one is open whose name says that it is ssh.
func closesWayIn(n *plan.Node, ways []Way) diag.List {
	for _, w := range ways {
		admits := w.Protocol != "udp" && w.From != "machine"
		if admits && (w.Port <= 22 && 22 <= w.To || w.Open && namesSSH(w.For)) {
			return nil
		}
	}
	return diag.List{wayInClosed(n)}
}

// unopened refuses what is reserved for ssh and nobody says from where it is open: the
// reservation opens nothing, and whoever administers the machine would be shut out.
func unopened(n *plan.Node) diag.List {
	var l diag.List
	for _, r := range n.Reserved {
		if _, ok := bound(r.Address); !ok || !namesSSH(r.Reason) {
			continue
		}
		if !slices.ContainsFunc(n.Admits, func(a plan.Admit) bool { return speaksOf(a, r) }) {
			l = append(l, sshNotOpen(n, r))
		}
	}
	return l
}

func namesSSH(reason string) bool { return strings.Contains(strings.ToLower(reason), "ssh") }

// speaksOf says whether an opening is of a reserved port.
func speaksOf(a plan.Admit, r plan.Reserved) bool {
	from, to := r.From, cmp.Or(r.To, r.From)
	x, _ := bound(a.Address)
	y, _ := bound(r.Address)
	return a.Port <= to && from <= cmp.Or(a.To, a.Port) && (a.Protocol == r.Protocol || a.Protocol == "" || r.Protocol == "") &&
		(x == y || !x.IsValid() || !y.IsValid())
}

func (w Way) ports() string {
	if w.To == w.Port {
		return strconv.Itoa(w.Port)
	}
	return strconv.Itoa(w.Port) + "-" + strconv.Itoa(w.To)
}

// fromAnywhere says whether the rule for it stands in the chain that every packet
// meets: it is open to the world, or to a prefix that the rule names.
func (w Way) fromAnywhere() bool { return w.From != "machine" && w.From != "network" }

// arriving is the rule for what is delivered to the machine.
func (w Way) arriving() string {
	var b strings.Builder
	b.WriteString(w.saddr())
	if w.Address.IsValid() {
		b.WriteString(family(w.Address) + " daddr " + w.Address.String() + " ")
	}
	if w.Protocol == "" {
		b.WriteString("meta l4proto { tcp, udp } th dport ")
	} else {
		b.WriteString(w.Protocol + " dport ")
	}
	b.WriteString(w.ports() + " accept" + comment(w.why()))
	return b.String()
}

// redirected is the rule for what was redirected into a container, by what was
// asked for before it was.
func (w Way) redirected(verdict string) string {
	var b strings.Builder
	why := w.why()
	if verdict == "accept" {
		b.WriteString(w.saddr())
	} else {
		why += ": nobody else"
	}
	if w.Address.IsValid() {
		b.WriteString("ct original " + family(w.Address) + " daddr " + w.Address.String() + " ")
	}
	b.WriteString("meta l4proto ")
	if w.Protocol == "" {
		b.WriteString("{ tcp, udp }")
	} else {
		b.WriteString(w.Protocol)
	}
	b.WriteString(" ct original proto-dst " + w.ports() + " " + verdict + comment(why))
	return b.String()
}

// saddr matches the prefix that a way is open to, where it is open to one.
func (w Way) saddr() string {
	p, err := netip.ParsePrefix(w.From)
	if err != nil {
		return ""
	}
	return family(p.Addr()) + " saddr " + p.String() + " "
}

func (w Way) why() string {
	if w.Open {
		return "open: " + w.For
	}
	return w.For
}

// family is how nftables calls an address's protocol.
func family(a netip.Addr) string {
	if a.Is4() {
		return "ip"
	}
	return "ip6"
}
