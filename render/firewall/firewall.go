// Package firewall works out one nftables file for a node: every way in that its
// instances have, in a table of our own (CMP-5, BLD-8).
//
// The table judges twice. What arrives at the machine comes through its input chain,
// which drops what nothing opens. What a container runtime has redirected to a
// published port is forwarded and never meets that chain, which is how published
// ports come to bypass a host's firewall; so the forward chain lets a redirected
// connection into a container only where its original port is open to whoever asks.
// Everything else that is forwarded (containers' own traffic, other bridges, what an
// administrator redirects) is left as it is.
//
// A verdict in nftables ends one base chain, not the packet: accept here does not
// overrule a drop in another table, and the other way round. So the priorities are the
// ordinary ones, nothing of others is touched, and the file can be loaded again
// at any time: the table is replaced in one transaction.
//
// Ways lists the ways in as data: what Table renders, and what the plan of a node
// without a firewall says would be opened.
package firewall

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/wireguard"
)

// Table renders a node's file. Nothing is rendered where something is refused.
func Table(p *plan.Plan, n *plan.Node, c plan.Computed) ([]byte, diag.List) {
	ways := Ways(n)
	t := table{node: n, mesh: p.Mesh, hub: p.Hub != "" && p.Hub == n.Name, computed: c, ways: ways, tunnels: wireguard.Tunnels(n)}
	l := slices.Concat(t.findBridges(), t.findSources(p), unopened(n), t.fromNowhere())
	if l.HasErrors() {
		return nil, l.Sorted()
	}
	l = append(l, closesWayIn(n, ways)...)
	return t.render(), l.Sorted()
}

// table is what the chains of one node are written from.
type table struct {
	node     *plan.Node
	mesh     string
	hub      bool
	computed plan.Computed
	ways     []Way
	tunnels  []wireguard.Tunnel
	bridges  []string // interfaces that containers are behind
	sources  []source // what "network" is on this node
	b        bytes.Buffer
}

// dropped is how many lines a minute are logged of what is refused.
const dropped = "10/minute burst 20 packets"

// pings is how many echo requests a second are answered unless said otherwise: more
// than monitoring sends, and too few to keep a machine busy.
const pings = 50

func (t *table) render() []byte {
	t.text(`#!/usr/sbin/nft -f
# Written by meshc for ` + string(t.node.Name) + ` of mesh ` + t.mesh + `; what is changed here is lost.
#
# This table is ours alone: it is replaced as a whole, and no other is touched. Every table
# has its say: what is accepted here can still be dropped in another one.

table inet meshc
delete table inet meshc

table inet meshc {
`)
	t.input()
	t.text("\n")
	t.forward()
	if len(t.tunnels) > 0 {
		t.text("\n")
		t.clamp()
	}
	t.text("}\n")
	return t.b.Bytes()
}

// input judges what arrives at the machine.
func (t *table) input() {
	t.text(`	chain input {
		type filter hook input priority filter; policy drop;

		ct state vmap { established : accept, related : accept, invalid : drop }
		iifname "lo" accept
`)
	for _, i := range t.computed.Trusted {
		t.text("\t\tiifname " + quoted(i) + " accept" + comment("trusted") + "\n")
	}
	t.text("\n\t\t# without these a network does not work\n")
	rate := strconv.Itoa(cmp.Or(t.computed.Ping, pings))
	for _, rule := range []string{
		"icmp type { destination-unreachable, time-exceeded, parameter-problem } accept",
		"icmp type echo-request limit rate " + rate + "/second burst " + rate + " packets accept",
		"ip protocol igmp accept",
		"udp sport 67 udp dport 68 accept" + comment("the machine's own address, by DHCP"),
		"icmpv6 type { destination-unreachable, packet-too-big, time-exceeded, parameter-problem } accept",
		"icmpv6 type echo-request limit rate " + rate + "/second burst " + rate + " packets accept",
		"ip6 hoplimit 255 icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert } accept",
		"ip6 saddr fe80::/10 icmpv6 type { mld-listener-query, mld-listener-report, mld-listener-done, mld2-listener-report } accept",
		"ip6 saddr fe80::/10 udp sport 547 udp dport 546 accept" + comment("the machine's own address, by DHCPv6"),
	} {
		t.text("\t\t" + rule + "\n")
	}
	t.section("open to the world, or to the addresses that a rule names", t.where(func(w Way) bool { return w.fromAnywhere() }), Way.arriving)
	if t.opensTo("network") {
		t.text("\n")
		t.jump("network", "")
	}
	t.text("\n")
	for _, i := range t.bridges {
		t.text("\t\tiifname " + quoted(i) + " jump containers\n")
	}
	if t.computed.Log {
		t.text("\t\tlimit rate " + dropped + ` log prefix "meshc input: "` + "\n")
	}
	t.text("\t\tcounter" + comment("dropped: everything else") + "\n\t}\n")

	if t.opensTo("network") {
		t.chain("network", t.where(func(w Way) bool { return w.From == "network" }), Way.arriving)
	}
	t.text("\n\t# the machine's own containers are part of it\n\tchain containers {\n")
	if t.node.Runtime != "docker" {
		t.text("\t\tmeta l4proto { tcp, udp } th dport 53 accept" + comment("their names, from podman") + "\n")
	}
	for _, w := range t.where(func(w Way) bool { return w.From == "machine" || w.From == "network" }) {
		t.text("\t\t" + w.arriving() + "\n")
	}
	t.text("\t}\n")
}

// where gives the ways in that a chain is for.
func (t *table) where(is func(Way) bool) []Way {
	var out []Way
	for _, w := range t.ways {
		if is(w) {
			out = append(out, w)
		}
	}
	return out
}

func (t *table) opensTo(from string) bool {
	return len(t.sources) > 0 && len(t.where(func(w Way) bool { return w.From == from })) > 0
}

// jump sends what comes from a private network of the node to a chain. The address
// of a tunnel is asked for through the tunnel: somebody on the house's network could
// set a route to it. How the address asked for is matched differs where it was redirected.
func (t *table) jump(chain, original string) {
	for _, s := range t.sources {
		match := s.match()
		for _, other := range t.sources {
			if s.iface == "" && other.iface != "" && other.addr.IsValid() && other.addr.Is4() == s.prefix.Addr().Is4() {
				match += " " + original + family(other.addr) + " daddr != " + other.addr.String()
			}
		}
		t.text("\t\t" + match + " jump " + chain + comment(s.name) + "\n")
	}
}

func (t *table) chain(name string, ways []Way, as func(Way) string) {
	t.text("\n\tchain " + name + " {\n")
	for _, w := range ways {
		t.text("\t\t" + as(w) + "\n")
	}
	t.text("\t}\n")
}

func (t *table) section(title string, ways []Way, as func(Way) string) {
	if len(ways) == 0 {
		return
	}
	t.text("\n\t\t# " + title + "\n")
	for _, w := range ways {
		t.text("\t\t" + as(w) + "\n")
	}
}

func (t *table) text(s string) { t.b.WriteString(s) }
