package settle

import (
	"cmp"
	"slices"

	"meshc.dev/compiler/addr"
)

// ports gives every listen that is not fixed its number, machine by machine.
//
// On one machine no two have a number in common, tcp or udp, whatever they bind:
// the lock has numbers only, and a module that changes its protocol keeps its own.
func (r *run) ports() {
	if r.d.Pool.From < 1 || r.d.Pool.To > 65535 || r.d.Pool.Size() == 0 {
		r.fault(poolWrong(r.d))
		return
	}
	wants := map[addr.Node][]*Listen{}
	owner := make(map[addr.Listen]*Listen, len(r.d.Listens))
	for i := range r.d.Listens {
		if l := &r.d.Listens[i]; !l.Fixed {
			wants[l.Listen.Instance.Node] = append(wants[l.Listen.Instance.Node], l)
			owner[l.Listen] = l
		}
	}
	holders := map[addr.Node][]holder{}
	for k, port := range r.out.Ports {
		h := r.holder(k, port, owner[k])
		holders[k.Instance.Node] = append(holders[k.Instance.Node], h)
	}
	givenUp := r.givenUp(owner)

	p := &allotter{run: r, fast: newNumbers(), taken: newNumbers(), given: newNumbers()}
	for _, node := range nodesOf(wants, holders) {
		p.node(node, wants[node], holders[node], givenUp[node])
	}
}

// holder is an entry of the lock, and who owns it.
type holder struct {
	key      addr.Listen
	ports    Range
	listen   *Listen // nil where nobody does
	inParent bool    // the first parent of the merge has the very same entry
	arrived  bool
}

// rank orders those who hold a number: who comes first keeps it (PRT-6).
func (h holder) rank(o holder) int {
	return cmp.Or(trueFirst(!h.arrived, !o.arrived), trueFirst(h.listen != nil, o.listen != nil),
		trueFirst(h.inParent, o.inParent), h.key.Compare(o.key))
}

func (r *run) holder(k addr.Listen, port int, l *Listen) holder {
	h := holder{key: k, ports: Range{port, port}, listen: l, arrived: r.arrived[k.Instance]}
	if l != nil {
		h.ports.To += l.width() - 1
	}
	if r.parent.known {
		h.inParent = r.parent.now.Ports[k] == port
	}
	return h
}

// givenUp are the numbers which somebody on a machine had at the last commit, or
// before this step, and has no more. They are not handed to another in this step:
// the machine could be asked to start the new owner before the old one stopped.
func (r *run) givenUp(owner map[addr.Listen]*Listen) map[addr.Node][]holder {
	given := map[addr.Node][]holder{}
	for _, p := range []past{r.was, r.head} {
		for k, port := range p.onNodes.Ports {
			if r.out.Ports[k] != port {
				given[k.Instance.Node] = append(given[k.Instance.Node], r.holder(k, port, owner[k]))
			}
		}
	}
	return given
}

// nodesOf are the machines of both maps, in order.
func nodesOf(wants map[addr.Node][]*Listen, holders map[addr.Node][]holder) []addr.Node {
	nodes := make([]addr.Node, 0, len(wants))
	for n := range wants {
		nodes = append(nodes, n)
	}
	for n := range holders {
		if _, ok := wants[n]; !ok {
			nodes = append(nodes, n)
		}
	}
	slices.Sort(nodes)
	return nodes
}
