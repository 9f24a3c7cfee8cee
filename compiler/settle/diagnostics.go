package settle

import (
	"fmt"
	"net/netip"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
)

// relock is the command that moves what has to move.
const relock = "meshc lock"

func poolWrong(d Demand) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.PoolWrong, At: d.PoolAt, Help: "ports: {from: 20000, to: 29999}",
		Message: fmt.Sprintf("ports are assigned from %d to %d, which is no range within 1 to 65535", d.Pool.From, d.Pool.To),
	}
}

// room is what could be made on a machine or network where there is none left.
type room struct {
	abandoned int  // entries of the lock that nobody owns
	later     bool // what was given up since the last commit would do
}

// mend says how to come to more room. Pruning gives it in two steps, since what was
// given up goes to nobody else in the same one.
func (m room) mend(d Demand, out *diag.Diagnostic) {
	switch {
	case m.later:
		out.Message += "; what was given up since the last commit is free after the next"
		out.Help = "git commit -m 'prune the lock' " + lock.File + "\nmeshc lock"
		if d.Mode.Prune {
			out.Code = diag.RoomLater
		}
	case m.abandoned > 0:
		out.Message += fmt.Sprintf("; %d that nobody owns are kept in the lock", m.abandoned)
		out.Help = "meshc lock --prune"
	}
}

func poolFull(d Demand, node addr.Node, without []*Listen, m room) diag.Diagnostic {
	names := make([]string, len(without))
	for i, l := range without {
		names[i] = l.Listen.Instance.Name + "/" + l.Listen.Name
	}
	out := diag.Diagnostic{
		Code: diag.PoolFull, At: d.PoolAt,
		Message: fmt.Sprintf("no port from %s is left on %s for %s", d.Pool, node, some(names)),
	}
	for _, l := range without[:min(len(without), atMost)] {
		out.Also = append(out.Also, diag.Note{At: l.At, Text: "listens here"})
	}
	m.mend(d, &out)
	return out
}

func rangeTooWide(l Listen, pool Range) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.RangeWrong, At: l.At,
		Message: fmt.Sprintf("%s listens on %d ports, and there are %d to be assigned (%s)", l.Listen, l.width(), pool.Size(), pool),
	}
}

func rangeBackwards(l Listen) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.RangeWrong, At: l.At,
		Message: fmt.Sprintf("%s listens from %d to %d, which ends before it begins", l.Listen, l.Port, l.To),
	}
}

func badBinding(at diag.Pos, who string, node addr.Node, address string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BindingWrong, At: at,
		Message: fmt.Sprintf("%s on %s binds %q, which is no IPv4 or IPv6 address", who, node, address),
	}
}

func portTaken(node addr.Node, c, first claim) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.PortTaken, At: c.at, Also: []diag.Note{{At: first.at, Text: first.who + " takes " + first.String()}},
		Message: fmt.Sprintf("%s takes %s on %s, where %s takes %s", c.who, c, node, first.who, first),
	}
}

// portReserved offers the node's own address where that is all it takes.
func portReserved(node addr.Node, c, r claim, own netip.Addr, isFree bool) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: diag.PortReserved, At: c.at,
		Message: fmt.Sprintf("%s takes %s on %s, where %s is reserved: %s", c.who, c, node, r, r.who),
	}
	if r.at.IsValid() {
		d.Also = []diag.Note{{At: r.at, Text: "reserved here"}}
	}
	if isFree && own.IsValid() {
		_, listen, _ := strings.Cut(c.who, "/")
		d.Help = fmt.Sprintf("listens: %q: address: in.node.address", listen)
	}
	return d
}

func portShared(h, keeper holder, at, keeperAt diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.PortShared, At: at, Also: []diag.Note{{At: keeperAt, Text: keeper.key.String() + " keeps it"}}, Help: relock,
		Message: fmt.Sprintf("%s and %s both hold port %s of %s in the lock", keeper.key, h.key, overlap(h.ports, keeper.ports), h.key.Instance.Node),
	}
}

func overlap(a, b Range) Range { return Range{max(a.From, b.From), min(a.To, b.To)} }

func portMoves(h holder, node addr.Node, why reason, lockAt diag.Pos) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: diag.PortMoves, At: h.listen.At, Help: relock,
		Also:    []diag.Note{{At: lockAt, Text: "it was given " + h.ports.String() + " here"}},
		Message: fmt.Sprintf("%s has to move from %s: %s", h.key, h.ports, why.text(node)),
	}
	if c := why.claim; c.at.IsValid() {
		d.At = c.at // what a person wrote last, most likely
		d.Also = append(d.Also, diag.Note{At: h.listen.At, Text: h.key.String() + " listens here"})
	}
	return d
}

// text says why a port cannot stay.
func (r reason) text(node addr.Node) string {
	switch {
	case r.tooHigh:
		return "its range would end above 65535"
	case r.claim.kind == reserved:
		return fmt.Sprintf("%s is reserved on %s: %s", r.claim, node, r.claim.who)
	}
	return fmt.Sprintf("%s takes %s on %s", r.claim.who, r.claim, node)
}

func networkWrong(d Demand) diag.Diagnostic {
	n := d.Network
	mended := n.Masked()
	out := diag.Diagnostic{Code: diag.NetworkWrong, At: d.NetworkAt}
	if n.Addr().Is4In6() {
		out.Message = fmt.Sprintf("network %s is IPv4 written as IPv6", n)
		if n.Bits() < 96 {
			return out
		}
		mended = netip.PrefixFrom(n.Addr().Unmap(), n.Bits()-96).Masked()
	} else {
		out.Message = fmt.Sprintf("network %s is the address of a machine in %s", n, mended)
	}
	out.Help = fmt.Sprintf("network: cidr: %q", mended)
	return out
}

func addressUnusable(d Demand, n *Node) diag.Diagnostic {
	out := diag.Diagnostic{
		Code: diag.AddressUnusable, At: n.AddressAt, Also: []diag.Note{{At: d.NetworkAt, Text: "the network"}},
		Message: fmt.Sprintf("address %s of %s is not in the mesh's network %s", n.Address, n.Name, d.Network),
	}
	if d.Network.Contains(n.Address) {
		out.Message = fmt.Sprintf("address %s of %s is one that network %s keeps for itself", n.Address, n.Name, d.Network)
	}
	return out
}

func addressTwice(n, first *Node) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.AddressTwice, At: n.AddressAt, Also: []diag.Note{{At: first.AddressAt, Text: string(first.Name) + " has it"}},
		Message: fmt.Sprintf("%s and %s both have the address %s", first.Name, n.Name, n.Address),
	}
}

func networkFull(d Demand, without []addr.Node, count uint64, m room) diag.Diagnostic {
	out := diag.Diagnostic{
		Code: diag.NetworkFull, At: d.NetworkAt,
		Message: fmt.Sprintf("network %s has room for %d nodes, and none for %s", d.Network, count, some(nodeNames(without))),
	}
	m.mend(d, &out)
	return out
}

func addressShared(h addressHolder, keeper addr.Node, at, keeperAt diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.AddressShared, At: at, Also: []diag.Note{{At: keeperAt, Text: string(keeper) + " keeps it"}}, Help: relock,
		Message: fmt.Sprintf("%s and %s both hold the address %s in the lock", keeper, h.node, h.address),
	}
}

func addressesOutside(d Demand, nodes []addr.Node) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.AddressMoves, At: d.NetworkAt, Help: relock,
		Message: fmt.Sprintf("the lock gives %s addresses that are not in network %s", some(nodeNames(nodes)), d.Network),
	}
}

func addressMoves(h addressHolder, byHand *Node, lockAt diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.AddressMoves, At: byHand.AddressAt, Help: relock,
		Also:    []diag.Note{{At: lockAt, Text: string(h.node) + " was given it here"}},
		Message: fmt.Sprintf("%s has to move from address %s, which is given to %s by hand", h.node, h.address, byHand.Name),
	}
}

func loginReserved(h loginHolder, at diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.LoginReserved, At: at, Help: relock,
		Message: fmt.Sprintf("the lock has the login %q for %s, a name that servers keep for themselves", h.login, h.pair),
	}
}

func loginShared(h, keeper loginHolder, at, keeperAt diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.LoginShared, At: at, Also: []diag.Note{{At: keeperAt, Text: keeper.pair.Consumer.String() + " keeps it"}}, Help: relock,
		Message: fmt.Sprintf("%q and %q both hold the login %s in the lock", keeper.pair, h.pair, h.login),
	}
}

func moveMalformed(at diag.Pos, s string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.MoveMalformed, At: at, Message: fmt.Sprintf("%q in moved.instances is not of the form instance@node", s)}
}

func movedStillThere(kind string, names func() (string, string), at diag.Pos) diag.Diagnostic {
	old, to := names()
	return diag.Diagnostic{
		Code: diag.MovedStillThere, At: at,
		Message: fmt.Sprintf("%s %s is still there, so it cannot have become %s", kind, old, to),
	}
}

func movedToNobody[K comparable](kind string, names func() (string, string), at diag.Pos, there []K) diag.Diagnostic {
	old, to := names()
	known := make([]string, len(there))
	for i, k := range there {
		known[i] = nameOf(k)
	}
	d := diag.Diagnostic{
		Code: diag.MovedToNobody, At: at,
		Message: fmt.Sprintf("there is no %s %s that %s could have become", kind, to, old),
	}
	if near := diag.Nearest(to, known); len(near) > 0 {
		d.Message += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return d
}

func movedTogether(names func() (string, string), other string, at, otherAt diag.Pos) diag.Diagnostic {
	old, to := names()
	return diag.Diagnostic{
		Code: diag.MovedTangled, At: at, Also: []diag.Note{{At: otherAt, Text: other + " moves there too"}},
		Message: fmt.Sprintf("%s and %s cannot both have become %s", other, old, to),
	}
}

func movedTwice(names func() (string, string), at, otherAt diag.Pos) diag.Diagnostic {
	old, _ := names()
	return diag.Diagnostic{
		Code: diag.MovedTangled, At: at, Also: []diag.Note{{At: otherAt, Text: "and here"}},
		Message: fmt.Sprintf("%s is moved twice", old),
	}
}

func movedNowhere(names func() (string, string), at diag.Pos) diag.Diagnostic {
	old, _ := names()
	return diag.Diagnostic{Code: diag.MovedTangled, At: at, Message: fmt.Sprintf("%s is moved to itself", old)}
}

func movePending(record string, at diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.MovePending, At: at, Help: relock, Message: fmt.Sprintf("the lock still knows %s by its old name", record)}
}

func notSettled(e entry) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.NotSettled, At: e.at, Help: relock, Message: fmt.Sprintf("the lock has no %s", e.name)}
}

func nothingSettled(names []string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.NotSettled, At: diag.Pos{File: lock.File}, Help: relock,
		Message: fmt.Sprintf("nothing is settled yet: there is no lock, or nothing in it, and there is to be: %s", some(names)),
	}
}

func entriesLost(names []string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.EntryLost, At: diag.Pos{File: lock.File},
		Help:    "git restore " + lock.File + "",
		Message: fmt.Sprintf("the lock lost what the last commit has: %s", some(names)),
	}
}

func poolReachesOutgoing(d Demand, outgoing Range, nodes []addr.Node) diag.Diagnostic {
	out := diag.Diagnostic{
		Code: diag.PoolOutgoing, At: d.PoolAt,
		Message: fmt.Sprintf("ports are assigned from %s, which reaches into %s, from which %s for outgoing connections", d.Pool, outgoing, takes(nodes)),
	}
	if d.Pool.From < outgoing.From {
		out.Help = fmt.Sprintf("ports: {from: %d, to: %d}", d.Pool.From, outgoing.From-1)
	}
	return out
}

func portIsOutgoing(c claim, outgoing Range, nodes []addr.Node) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.PortOutgoing, At: c.at,
		Message: fmt.Sprintf("%s takes %s, which is in %s, from which %s for outgoing connections", c.who, c, outgoing, takes(nodes)),
	}
}

func wideRange(l Listen, who string, nodes []addr.Node) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.RangeWide, At: l.At,
		Message: fmt.Sprintf("the container of %s has %d ports mapped one by one on %s", who, l.width(), some(nodeNames(nodes))),
	}
}

func takes(nodes []addr.Node) string {
	if len(nodes) == 1 {
		return string(nodes[0]) + " takes ports"
	}
	return some(nodeNames(nodes)) + " take ports"
}

func nodeNames(nodes []addr.Node) []string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = string(n)
	}
	return names
}

// atMost is how many of a list are named: with a thousand, the first tell it all.
const atMost = 20

// some names the first of a list, and counts the others.
func some(names []string) string {
	if len(names) <= atMost {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:atMost], ", "), len(names)-atMost)
}
