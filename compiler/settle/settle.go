// Package settle assigns what is assigned once and then kept: the port of each
// listen, the address of each node, the login of each consumer. What was settled
// before stands in the lock and wins; what is new is chosen by a hash of its name,
// so that two branches seldom choose the same.
//
// It also holds what cannot be moved against each other: ports that a protocol
// fixes, mappings that an author wrote himself, ports that a machine uses already,
// addresses that the mesh gives by hand.
//
// Enter at Settle. It is a function of its arguments alone, and changes none of
// them: whoever learns more, as of mappings that show only once resources were
// computed, calls it again with the same lock and a longer Demand. Secrets are made
// elsewhere; of them only the names are kept in step with moves. Reading git and
// writing the lock is the caller's.
package settle

import (
	"net/netip"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/plan"
)

// Demand is everything that a mesh wants settled, in any order.
type Demand struct {
	Mode Mode
	// Pool is the range from which ports are assigned, both ends included.
	Pool   Range
	PoolAt diag.Pos
	// Network is the range from which nodes get addresses; the zero Prefix where the mesh has none.
	Network   netip.Prefix
	NetworkAt diag.Pos

	Nodes []Node
	// Instances are all there are, with listens or without: moves name them.
	Instances []addr.Instance
	Listens   []Listen
	Mappings  []Mapping
	Logins    []Login
	Moved     Moved
}

// Mode says what may be done about what is missing or does not fit.
type Mode struct {
	Step Step
	// Remake makes anew what the last commit has and the lock lost (PRT-9).
	Remake bool
	// Prune removes ports, addresses and logins that nobody in the mesh owns.
	Prune bool
}

// Step is the command that settles.
type Step int

const (
	// Build makes what is missing. Where something has to move it is refused.
	Build Step = iota
	// Locked makes nothing: `build --locked`.
	Locked
	// Relock makes what is missing and moves what has to move: `meshc lock`.
	Relock
)

// Range is a range of ports, both ends included.
type Range struct{ From, To int }

// Node is one machine.
type Node struct {
	Name addr.Node
	At   diag.Pos
	// Address that the mesh gives by hand; the zero Addr where it is assigned.
	Address   netip.Addr
	AddressAt diag.Pos
	// Reserved ports as ParseReserved gives them; WithDefaults is applied here.
	Reserved []plan.Reserved
	// Open is what the mesh's layers open, as ParseOpen gives it; the default for sshd is added here.
	Open []plan.Admit
	// Outgoing is the range of ports for outgoing connections; zero for the kernel's usual one.
	Outgoing Range
}

// Listen is a port that an instance listens on.
type Listen struct {
	Listen   addr.Listen
	Module   string
	Port, To int // as the module says; To is 0 where it is no range
	Protocol string
	Address  string // to bind; empty for all
	Fixed    bool   // Port is the number on the machine too
	// PerPort says that a container runtime maps each port of a range by itself.
	PerPort bool
	// Shielded says that its module keeps the port from outgoing connections itself
	// (net.ipv4.ip_local_reserved_ports).
	Shielded bool
	At       diag.Pos
}

// width is the number of ports.
func (l Listen) width() int { return max(l.To-l.Port, 0) + 1 }

// Mapping is a port mapping that an author wrote whole (PRT-4).
type Mapping struct {
	Node     addr.Node
	Resource addr.Resource
	Address  string // empty for all
	Port, To int    // on the machine; To is 0 where it is no range
	Protocol string
	At       diag.Pos
}

// Login asks for the login of a consumer at its provider.
type Login struct {
	Pair addr.Pair
	At   diag.Pos
}

// History is what git knows of the lock; a nil lock where it knows nothing.
type History struct {
	// Head is the lock of the last commit.
	Head *lock.Lock
	// FirstParent is the lock at the first parent of the last merge: HEAD's while a
	// merge is under way, else that of the commit which HEAD merged into.
	FirstParent *lock.Lock
}

// Settled is what every listen, node and consumer has.
type Settled struct {
	// Ports of every listen, the fixed ones too.
	Ports     map[addr.Listen]Range
	Addresses map[addr.Node]netip.Addr
	Logins    map[addr.Pair]string
	// Reserved ports of every node, with the defaults.
	Reserved map[addr.Node][]plan.Reserved
	// Open ports of every node, with the default for sshd.
	Open map[addr.Node][]plan.Admit
	// Changes are what the lock that is given back has and the one given did not.
	Changes []Change
}

// Change is an entry that was made, moved, carried over to a new name or removed.
type Change struct {
	Entry         string // "port board/gitea/http"
	Before, After string // empty where there was, or is, none
	Because       string
}

// Settle gives what was settled, and the lock to write. Where anything is refused,
// the lock is the one given, and Settled the best that could be found, so that
// later stages can look for more faults.
func Settle(d Demand, lk *lock.Lock, h History) (Settled, *lock.Lock, diag.List) {
	if lk == nil {
		lk = lock.New()
	}
	r := begin(d, lk)
	r.move(h) // first, since everything below goes by the new names
	r.addresses()
	r.claims() // before ports: what cannot move decides what has to
	r.ports()
	r.logins()
	r.warn()
	return r.end(lk)
}

// Addresses gives the address that Settle will give each node. It needs only the
// nodes, the network, the moves and the mode, so that modules can read in.node.address
// before anybody knows what listens where.
func Addresses(d Demand, lk *lock.Lock, h History) (map[addr.Node]netip.Addr, diag.List) {
	if lk == nil {
		lk = lock.New()
	}
	r := begin(d, lk)
	r.move(h)
	r.addresses()
	s, _, faults := r.end(lk)
	return s.Addresses, faults
}
