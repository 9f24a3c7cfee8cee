package settle

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
)

// mesh is a demand of nodes alone.
func mesh(cidr string, nodes ...addr.Node) Demand {
	d := want()
	if cidr != "" {
		d.Network = netip.MustParsePrefix(cidr)
	}
	for i, n := range nodes {
		d.Nodes = append(d.Nodes, Node{Name: n, At: at(10 + i), AddressAt: at(30 + i)})
	}
	return d
}

func (d Demand) byHand(t *testing.T, node addr.Node, address string) {
	t.Helper()
	d.node(t, node).Address = netip.MustParseAddr(address)
}

// addressed is a lock of addresses.
func addressed(m map[addr.Node]string) *lock.Lock {
	l := lock.New()
	for k, v := range m {
		l.Addresses[k] = netip.MustParseAddr(v)
	}
	return l
}

// PRT-7: every node has an address of the network, chosen by its name, and keeps it.
func TestAddresses(t *testing.T) {
	d := mesh("10.86.0.0/16", "anchor", "board")
	s, lk := accept(t, d, nil, History{})
	if a, b := s.Addresses["anchor"], s.Addresses["board"]; a == b || !d.Network.Contains(a) || !d.Network.Contains(b) {
		t.Errorf("got %v", s.Addresses)
	}
	// What is in locks everywhere depends on the choice: it never changes.
	if got := s.Addresses["anchor"].String(); got != "10.86.85.116" {
		t.Errorf("another choice than ever: %s", got)
	}
	more, _ := accept(t, mesh("10.86.0.0/16", "zeta", "board", "aleph", "anchor"), lk, History{})
	if more.Addresses["anchor"] != s.Addresses["anchor"] || more.Addresses["board"] != s.Addresses["board"] {
		t.Errorf("moved: %v", more.Addresses)
	}
	if none, out := accept(t, mesh("", "anchor"), nil, History{}); len(none.Addresses)+len(out.Addresses) > 0 {
		t.Errorf("without a network: %v", none.Addresses)
	}
	first, faults := Addresses(d, nil, History{})
	if len(faults) > 0 || first["anchor"] != s.Addresses["anchor"] {
		t.Errorf("Addresses gives %v, %v", first, faults)
	}
}

// PRT-7: every address that a node can have is given before the network is full, and no other.
func TestSmallNetworks(t *testing.T) {
	for cidr, all := range map[string][]string{
		"10.0.0.0/29":   {"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"},
		"10.0.0.8/30":   {"10.0.0.9", "10.0.0.10"},
		"10.0.0.8/31":   {"10.0.0.8", "10.0.0.9"},
		"10.0.0.8/32":   {"10.0.0.8"},
		"fd00::8/126":   {"fd00::9", "fd00::a", "fd00::b"},
		"fd00::8/127":   {"fd00::8", "fd00::9"},
		"fd00::8/128":   {"fd00::8"},
		"0.0.0.0/0":     nil,
		"fd00::/8":      nil,
		"fd00:1::/64":   nil,
		"fd00:1::/96":   nil,
		"fd00:1::/97":   nil,
		"172.16.0.0/12": nil,
	} {
		d := mesh(cidr)
		n := max(len(all), 50)
		if all != nil {
			n = len(all)
		}
		for i := range n {
			d.Nodes = append(d.Nodes, Node{Name: addr.Node(fmt.Sprintf("node-%d", i))})
		}
		s, _ := accept(t, d, nil, History{})
		got := map[string]bool{}
		for _, a := range s.Addresses {
			got[a.String()] = true
			if !d.Network.Contains(a) || a == d.Network.Addr() && d.Network.Bits() < a.BitLen()-1 {
				t.Errorf("%s: %s", cidr, a)
			}
		}
		if len(got) != n {
			t.Errorf("%s: %d nodes have %d addresses", cidr, n, len(got))
		}
		if all == nil {
			continue
		}
		for _, a := range all {
			if !got[a] {
				t.Errorf("%s: nobody has %s", cidr, a)
			}
			// The same by hand.
			d := mesh(cidr, "anchor")
			d.byHand(t, "anchor", a)
			accept(t, d, nil, History{})
		}
		d.Nodes = append(d.Nodes, Node{Name: "one-more"})
		refuse(t, d, nil, History{}, diag.NetworkFull, fmt.Sprintf("network %s has room for %d nodes, and none for ", cidr, n))
	}
}

// PRT-7: in a network that is full of what nobody owns, pruning makes room in two steps.
func TestNetworkFull(t *testing.T) {
	lk := addressed(map[addr.Node]string{"anchor": "10.0.0.9", "old": "10.0.0.10"})
	d, h := mesh("10.0.0.8/30", "anchor", "board"), History{Head: lk}
	if f := refuse(t, d, lk, h, diag.NetworkFull, "none for board; 1 that nobody owns are kept in the lock"); f.Help != "meshc lock --prune" || f.At != at(2) {
		t.Errorf("got %+v", f)
	}
	d.Mode = Mode{Step: Relock, Prune: true}
	refuse(t, d, lk, h, diag.RoomLater)
	_, lk, _ = Settle(d, lk, h)
	d.Mode = Mode{Step: Relock}
	s, _ := accept(t, d, lk, History{Head: lk})
	if s.Addresses["board"].String() != "10.0.0.10" {
		t.Errorf("got %v", s.Addresses)
	}
}

// PRT-7: an address in mesh.cue wins, and is in the network.
func TestAddressByHand(t *testing.T) {
	d := mesh("10.86.0.0/16", "anchor", "board")
	lk := addressed(map[addr.Node]string{"anchor": "10.86.0.7", "board": "10.86.0.8"})
	d.byHand(t, "anchor", "10.86.1.1")
	s, out := accept(t, d, lk, History{})
	if s.Addresses["anchor"].String() != "10.86.1.1" || s.Addresses["board"].String() != "10.86.0.8" {
		t.Errorf("got %v", s.Addresses)
	}
	// What the lock has for it is kept, in case the mesh takes its own back.
	back, _ := accept(t, mesh("10.86.0.0/16", "anchor", "board"), out, History{})
	if back.Addresses["anchor"].String() != "10.86.0.7" {
		t.Errorf("got %v", back.Addresses)
	}
	// It is not in anybody's way meanwhile.
	d.byHand(t, "board", "10.86.0.7")
	accept(t, d, lk, History{})

	for address, says := range map[string]string{
		"10.87.0.1": "not in the mesh's network", "fd00::1": "not in the mesh's network",
		"10.86.0.0": "keeps for itself", "10.86.255.255": "keeps for itself",
	} {
		d := mesh("10.86.0.0/16", "anchor")
		d.byHand(t, "anchor", address)
		if f := refuse(t, d, nil, History{}, diag.AddressUnusable, address, says); f.At != at(30) || f.Also[0].At != at(2) {
			t.Errorf("got %+v", f)
		}
	}
	// Without a network of the mesh's own it is whatever the person says.
	d = mesh("", "anchor")
	d.byHand(t, "anchor", "192.168.1.5")
	if s, _ := accept(t, d, nil, History{}); s.Addresses["anchor"].String() != "192.168.1.5" {
		t.Errorf("got %v", s.Addresses)
	}
}

// SEL-11: two nodes with one address are refused.
func TestAddressTwice(t *testing.T) {
	for _, second := range []string{"10.86.0.1", "::ffff:10.86.0.1"} {
		d := mesh("10.86.0.0/16", "board", "anchor")
		d.byHand(t, "board", "10.86.0.1")
		d.byHand(t, "anchor", second)
		if f := refuse(t, d, nil, History{}, diag.AddressTwice, "anchor and board both have the address 10.86.0.1"); f.At != at(30) || f.Also[0].At != at(31) {
			t.Errorf("got %+v", f)
		}
	}
	d := mesh("10.86.0.0/16", "board", "anchor")
	d.byHand(t, "board", "10.86.0.1")
	d.byHand(t, "anchor", "10.86.0.2")
	accept(t, d, nil, History{})
}

// PRT-7: an address given by hand is never assigned; who has it moves in the next `lock`.
func TestAddressMovesForOneByHand(t *testing.T) {
	free, _ := accept(t, mesh("10.86.0.0/16", "anchor", "board"), nil, History{})
	d := mesh("10.86.0.0/16", "anchor", "board")
	d.byHand(t, "anchor", free.Addresses["board"].String())
	s, _ := accept(t, d, nil, History{})
	if s.Addresses["board"] != free.Addresses["board"].Next() {
		t.Errorf("got %v", s.Addresses)
	}

	lk := addressed(map[addr.Node]string{"board": free.Addresses["board"].String()})
	f := refuse(t, d, lk, History{}, diag.AddressMoves, "board has to move from address", "given to anchor by hand")
	if f.At != at(30) || f.Help != "meshc lock" || f.Also[0].At.File != lock.File {
		t.Errorf("got %+v", f)
	}
	s, _ = relocked(t, d, lk, History{})
	if s.Addresses["board"] == free.Addresses["board"] || !strings.Contains(changes(s), "given to anchor by hand") {
		t.Errorf("got %v: %s", s.Addresses, changes(s))
	}
}

// PRT-7: with another network, the nodes that are not in it move in the next `lock`; that is one fault.
func TestAnotherNetwork(t *testing.T) {
	d := mesh("10.86.0.0/16", "anchor", "board", "cabin")
	_, lk := accept(t, d, nil, History{})
	lk.Addresses["cabin"] = netip.MustParseAddr("10.87.0.9")
	d.Network = netip.MustParsePrefix("10.87.0.0/16")
	f := refuse(t, d, lk, History{}, diag.AddressMoves, "the lock gives anchor, board addresses that are not in network 10.87.0.0/16")
	if f.At != at(2) || f.Help != "meshc lock" {
		t.Errorf("got %+v", f)
	}
	s, _ := relocked(t, d, lk, History{})
	for n, a := range s.Addresses {
		if !d.Network.Contains(a) {
			t.Errorf("%s has %s", n, a)
		}
	}
	if s.Addresses["cabin"].String() != "10.87.0.9" {
		t.Errorf("cabin moved too: %v", s.Addresses)
	}
}

// PRT-7: addresses are merged as ports are (PRT-6).
func TestAddressShared(t *testing.T) {
	d := mesh("10.86.0.0/16", "anchor", "board")
	lk, _ := lock.Read(lock.File, addressed(map[addr.Node]string{"anchor": "10.86.0.7", "board": "10.86.0.7"}).Bytes())
	f := refuse(t, d, lk, History{}, diag.AddressShared, "anchor and board both hold the address 10.86.0.7")
	if f.At.Line != 6 || f.Also[0].At.Line != 5 || f.Help != "meshc lock" {
		t.Errorf("got %+v", f)
	}
	s, _ := relocked(t, d, lk, History{})
	if s.Addresses["anchor"].String() != "10.86.0.7" {
		t.Errorf("the smaller name moved: %v", s.Addresses)
	}
	s, _ = relocked(t, d, lk, History{FirstParent: addressed(map[addr.Node]string{"board": "10.86.0.7"})})
	if s.Addresses["board"].String() != "10.86.0.7" {
		t.Errorf("the first parent's moved: %v", s.Addresses)
	}
}

// PRT-7: an address that was given up is not handed to another in the same step.
func TestAddressGivenUp(t *testing.T) {
	free, _ := accept(t, mesh("10.86.0.0/16", "board"), nil, History{})
	old := addressed(map[addr.Node]string{"old": free.Addresses["board"].String()})
	d := mesh("10.86.0.0/16", "board")
	d.Mode = Mode{Step: Relock, Prune: true}
	s, out, _ := Settle(d, old, History{Head: old})
	if s.Addresses["board"] != free.Addresses["board"].Next() || len(out.Addresses) != 1 {
		t.Errorf("got %v", s.Addresses)
	}
	if s, _ := accept(t, d, lock.New(), History{Head: old}); s.Addresses["board"] != free.Addresses["board"].Next() {
		t.Errorf("got %v", s.Addresses)
	}
}

// PRT-9: who had it may have it again.
func TestAddressRemade(t *testing.T) {
	d := mesh("10.86.0.0/16", "board")
	_, head := accept(t, d, nil, History{})
	d.Mode = Mode{Step: Relock, Remake: true}
	s, _ := accept(t, d, lock.New(), History{Head: head})
	if s.Addresses["board"] != head.Addresses["board"] {
		t.Errorf("got %v, had %v", s.Addresses, head.Addresses)
	}
}

// PRT-7: a network is written as one.
func TestNetworkWrong(t *testing.T) {
	for cidr, help := range map[string]string{
		"10.86.0.1/16": `network: cidr: "10.86.0.0/16"`, "fd00::1/64": `network: cidr: "fd00::/64"`,
		"::ffff:10.0.0.0/104": `network: cidr: "10.0.0.0/8"`, "::ffff:0.0.0.0/95": "",
	} {
		d := mesh(cidr, "anchor")
		f := refuse(t, d, nil, History{}, diag.NetworkWrong, "network ")
		if f.Help != help || f.At != at(2) {
			t.Errorf("%s: %+v", cidr, f)
		}
		if help == "" {
			continue
		}
		_, mended, _ := strings.Cut(strings.TrimSuffix(help, `"`), `"`)
		accept(t, mesh(mended, "anchor"), nil, History{})
	}
}
