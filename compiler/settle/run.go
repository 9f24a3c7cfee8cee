package settle

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/plan"
)

// run is one settling under way.
type run struct {
	d     Demand // sorted, defaults filled in
	nodes map[addr.Node]*Node

	out *lock.Lock // what is being made
	// was, head and parent are what stood in the lock given, at HEAD and at the
	// merge's first parent, by today's names.
	was, head, parent past
	arrived           map[addr.Instance]bool // that were moved here from another node
	held              map[addr.Node][]claim

	settled Settled
	faults  diag.List
	missing []entry
	lost    []string
}

// past is a lock of the past.
type past struct {
	known bool
	now   *lock.Lock // by today's names
	// onNodes is the same before instances moved: the ports of a machine are those
	// it had, whatever is called otherwise or runs elsewhere now.
	onNodes *lock.Lock
}

// entry is an entry of the lock that is spoken of.
type entry struct {
	name string // "port board/gitea/http"
	at   diag.Pos
}

// begin brings everything into an order of its own, so that the result does not
// depend on the order of the demand.
func begin(d Demand, lk *lock.Lock) *run {
	d.Nodes = sorted(d.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	d.Listens = sorted(d.Listens, func(a, b Listen) int { return a.Listen.Compare(b.Listen) })
	d.Logins = sorted(d.Logins, func(a, b Login) int { return a.Pair.Compare(b.Pair) })
	d.Mappings = sorted(d.Mappings, func(a, b Mapping) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Resource.String(), b.Resource.String()),
			cmp.Compare(a.Port, b.Port), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Address, b.Address))
	})
	r := &run{
		d: d, out: lk,
		nodes: make(map[addr.Node]*Node, len(d.Nodes)),
		held:  map[addr.Node][]claim{},
		settled: Settled{
			Ports:     make(map[addr.Listen]Range, len(d.Listens)),
			Addresses: make(map[addr.Node]netip.Addr, len(d.Nodes)),
			Logins:    make(map[addr.Pair]string, len(d.Logins)),
			Reserved:  make(map[addr.Node][]plan.Reserved, len(d.Nodes)),
			Open:      make(map[addr.Node][]plan.Admit, len(d.Nodes)),
		},
	}
	for i := range r.d.Nodes {
		n := &r.d.Nodes[i]
		n.Reserved = WithDefaults(n.Reserved)
		if n.Outgoing == (Range{}) {
			n.Outgoing = usualOutgoing
		}
		r.nodes[n.Name] = n
		r.settled.Reserved[n.Name] = n.Reserved
		r.settled.Open[n.Name] = withDefaultOpen(n.Open)
	}
	return r
}

func sorted[T any](list []T, compare func(a, b T) int) []T {
	list = slices.Clone(list)
	slices.SortFunc(list, compare)
	return list
}

// end reports what was collected, and decides which lock it is.
func (r *run) end(lk *lock.Lock) (Settled, *lock.Lock, diag.List) {
	if len(r.lost) > 0 {
		slices.Sort(r.lost)
		r.fault(entriesLost(r.lost))
	}
	if len(r.missing) > 0 && lk.IsEmpty() {
		var names []string
		for _, m := range r.missing {
			names = append(names, m.name)
		}
		slices.Sort(names)
		r.fault(nothingSettled(names))
	} else {
		for _, m := range r.missing {
			r.fault(notSettled(m))
		}
	}
	slices.SortStableFunc(r.settled.Changes, func(a, b Change) int { return strings.Compare(a.Entry, b.Entry) })
	faults := r.faults.Sorted()
	if faults.HasErrors() {
		return r.settled, lk, faults
	}
	return r.settled, r.out, faults
}

func (r *run) fault(d diag.Diagnostic) { r.faults = append(r.faults, d) }

func (r *run) changed(c Change) { r.settled.Changes = append(r.settled.Changes, c) }

// isWanting notes an entry that is not in the lock, unless it may simply be made.
func (r *run) isWanting(e entry, headHasIt bool) {
	switch {
	case headHasIt && !r.d.Mode.Remake:
		r.lost = append(r.lost, e.name)
	case r.d.Mode.Step == Locked:
		r.missing = append(r.missing, e)
	}
}

// mayMove says whether this step is one that moves assignments.
func (r *run) mayMove() bool { return r.d.Mode.Step == Relock }
