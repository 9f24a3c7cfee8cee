package settle

import (
	"cmp"
	"math/big"
	"net/netip"
	"slices"

	"meshc.dev/compiler/addr"
)

// addresses gives every node its address (PRT-7). What the mesh gives by hand comes
// first and cannot move.
func (r *run) addresses() {
	if !r.checkNetwork() {
		return
	}
	byHand := r.addressesByHand()
	assigns := r.d.Network.IsValid()
	var holders []addressHolder
	for node, a := range r.out.Addresses {
		n := r.nodes[node]
		holders = append(holders, addressHolder{
			node: node, address: a,
			owned:    assigns && n != nil && !n.Address.IsValid(),
			inParent: r.parent.known && r.parent.now.Addresses[node] == a,
		})
	}
	slices.SortFunc(holders, addressHolder.rank)

	var unsettled []addr.Node
	for _, n := range r.d.Nodes {
		if _, ok := r.out.Addresses[n.Name]; !ok && assigns && !n.Address.IsValid() {
			_, had := r.head.now.Addresses[n.Name]
			r.isWanting(entry{"address " + string(n.Name), n.At}, had)
			unsettled = append(unsettled, n.Name)
		}
	}
	a := &addressBook{run: r, taken: byHand, given: map[netip.Addr]addr.Node{}, because: map[addr.Node]Change{}}
	for _, p := range []past{r.was, r.head} {
		for node, address := range p.now.Addresses {
			if r.out.Addresses[node] != address {
				a.giveUp(node, address)
			}
		}
	}
	for _, h := range holders {
		if a.keep(h) && h.owned {
			r.settled.Addresses[h.node] = h.address
		} else if h.owned {
			unsettled = append(unsettled, h.node)
		}
	}
	if len(a.outside) > 0 {
		slices.Sort(a.outside)
		r.fault(addressesOutside(r.d, a.outside))
	}
	if len(unsettled) > 0 {
		slices.Sort(unsettled)
		a.allot(unsettled)
	}
}

func (r *run) checkNetwork() bool {
	n := r.d.Network
	if n.IsValid() && (n != n.Masked() || n.Addr().Is4In6()) {
		r.fault(networkWrong(r.d))
		return false
	}
	return true
}

// addressesByHand checks the addresses that the mesh gives by hand, and gives who has which.
func (r *run) addressesByHand() map[netip.Addr]addr.Node {
	taken := map[netip.Addr]addr.Node{}
	for i := range r.d.Nodes {
		n := &r.d.Nodes[i]
		if !n.Address.IsValid() {
			continue
		}
		n.Address = n.Address.Unmap()
		r.settled.Addresses[n.Name] = n.Address
		if other, ok := taken[n.Address]; ok {
			r.fault(addressTwice(n, r.nodes[other]))
			continue
		}
		taken[n.Address] = n.Name
		if r.d.Network.IsValid() && !isUsable(r.d.Network, n.Address) {
			r.fault(addressUnusable(r.d, n))
		}
	}
	return taken
}

type addressHolder struct {
	node            addr.Node
	address         netip.Addr
	owned, inParent bool
}

// rank orders those who hold an address: who comes first keeps it.
func (h addressHolder) rank(o addressHolder) int {
	return cmp.Or(trueFirst(h.owned, o.owned), trueFirst(h.inParent, o.inParent), cmp.Compare(h.node, o.node))
}

// addressBook says who has which address.
type addressBook struct {
	*run
	taken   map[netip.Addr]addr.Node
	given   map[netip.Addr]addr.Node // given up, and by whom; the empty Node where two had it
	because map[addr.Node]Change
	outside []addr.Node // whose address has to move with the network
	unowned int
}

// keep leaves an entry as it is where that can be.
func (a *addressBook) keep(h addressHolder) bool {
	change := Change{Entry: "address " + string(h.node), Before: h.address.String()}
	if !h.owned && a.d.Mode.Prune {
		change.Because = "nobody owns it"
		a.drop(h, change)
		return true
	}
	other, isTaken := a.taken[h.address]
	byHand := isTaken && a.nodes[other] != nil && a.nodes[other].Address == h.address
	switch {
	case h.owned && !isUsable(a.d.Network, h.address):
		change.Because = "not in " + a.d.Network.String()
		if !a.mayMove() {
			a.outside = append(a.outside, h.node)
			return true
		}
	case h.owned && byHand:
		change.Because = "given to " + string(other) + " by hand"
		if !a.mayMove() {
			a.fault(addressMoves(h, a.nodes[other], a.out.AddressAt(h.node)))
			return true
		}
	case !isTaken:
		a.taken[h.address] = h.node
		if !h.owned {
			a.unowned++
		}
		return true
	case byHand: // nobody has the entry's address now: it does no harm
		return true
	default:
		change.Because = "gave way to " + string(other)
		if !a.mayMove() {
			a.fault(addressShared(h, other, a.out.AddressAt(h.node), a.out.AddressAt(other)))
			return true
		}
	}
	a.drop(h, change)
	return false
}

func (a *addressBook) drop(h addressHolder, c Change) {
	delete(a.out.Addresses, h.node)
	a.giveUp(h.node, h.address)
	if h.owned {
		a.because[h.node] = c
		return
	}
	a.changed(c)
}

func (a *addressBook) giveUp(node addr.Node, address netip.Addr) {
	if o, ok := a.given[address]; ok && o != node {
		node = ""
	}
	a.given[address] = node
}

func (a *addressBook) allot(nodes []addr.Node) {
	usable := usableAddresses(a.d.Network)
	var without []addr.Node
	m := room{abandoned: a.unowned}
	for _, node := range nodes {
		address, ok := a.free(node, usable, a.given)
		if !ok {
			without = append(without, node)
			_, later := a.free(node, usable, nil)
			m.later = m.later || later
			continue
		}
		a.taken[address] = node
		a.out.Addresses[node] = address
		a.settled.Addresses[node] = address
		change, ok := a.because[node]
		if !ok {
			change = Change{Entry: "address " + string(node), Because: isNew}
		}
		change.After = address.String()
		a.changed(change)
	}
	if len(without) > 0 {
		a.fault(networkFull(a.d, without, usable.count, m))
	}
}

// free finds the first free address from the one that the node's name chooses, going round once.
func (a *addressBook) free(node addr.Node, u usable, given map[netip.Addr]addr.Node) (netip.Addr, bool) {
	first := choose(u.count, string(node))
	tries := uint64(len(a.taken) + len(a.given) + 1) // one of so many is free, if any is
	for i := range min(u.count, tries) {
		address := u.at((first + i) % u.count)
		by, isGiven := given[address]
		if _, ok := a.taken[address]; !ok && (!isGiven || by == node) {
			return address, true
		}
	}
	return netip.Addr{}, false
}

// usable are the addresses of a network that nodes can have.
type usable struct {
	first netip.Addr
	count uint64
}

// maxUsable bounds what is made use of: 2^32 addresses of an IPv6 network keep
// hashes as far apart as they need to be, and the addresses short.
const maxUsable = 1 << 32

// usableAddresses leaves out the address of the network itself, which IPv6 gives to
// any of its routers (RFC 4291), and IPv4's broadcast address. Networks of one or
// two addresses have neither (RFC 3021, RFC 6164).
func usableAddresses(n netip.Prefix) usable {
	hostBits := n.Addr().BitLen() - n.Bits()
	u := usable{n.Addr(), maxUsable}
	if hostBits < 32 {
		u.count = 1 << hostBits
	}
	if hostBits > 1 {
		u.first = u.first.Next()
		u.count--
		if n.Addr().Is4() {
			u.count--
		}
	}
	return u
}

func (u usable) at(i uint64) netip.Addr {
	b := u.first.AsSlice()
	n := new(big.Int).SetBytes(b)
	n.Add(n, new(big.Int).SetUint64(i)).FillBytes(b)
	a, _ := netip.AddrFromSlice(b)
	return a
}

// isUsable says whether a node can have this address in this network.
func isUsable(n netip.Prefix, a netip.Addr) bool {
	switch {
	case !n.Contains(a):
		return false
	case n.Addr().BitLen()-n.Bits() <= 1:
		return true
	case a == n.Addr():
		return false
	}
	return !a.Is4() || n.Contains(a.Next())
}

func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
