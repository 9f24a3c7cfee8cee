package settle

import (
	"meshc.dev/compiler/addr"
)

// warn says what is allowed and likely to fail later. What many machines have in
// common is said once.
func (r *run) warn() {
	r.warnOfOutgoing()
	r.warnOfWideRanges()
}

// warnOfOutgoing: a port inside the range for outgoing connections is taken now and
// then when a program wants to listen there, which then fails to start.
func (r *run) warnOfOutgoing() {
	pool := map[Range][]addr.Node{}
	for _, n := range r.d.Nodes {
		if n.Outgoing.Meets(r.d.Pool) {
			pool[n.Outgoing] = append(pool[n.Outgoing], n.Name)
		}
	}
	for outgoing, nodes := range pool {
		r.fault(poolReachesOutgoing(r.d, outgoing, nodes))
	}

	type key struct {
		who, what string
		outgoing  Range
	}
	inside := map[key][]addr.Node{}
	example := map[key]claim{}
	look := func(node addr.Node, c claim) {
		n := r.nodes[node]
		if n == nil || !c.ports.Meets(n.Outgoing) {
			return
		}
		k := key{c.who, c.String(), n.Outgoing}
		if len(inside[k]) == 0 {
			example[k] = c
		}
		inside[k] = append(inside[k], node)
	}
	for _, l := range r.d.Listens {
		// An assigned port is outside the pool where the pool was another one before;
		// that the pool reaches in has been said.
		if ports, ok := r.settled.Ports[l.Listen]; ok && !l.Shielded && (l.Fixed || !r.d.Pool.Contains(ports.From)) {
			look(l.Listen.Instance.Node, listenClaim(l, ports))
		}
	}
	for _, m := range r.d.Mappings {
		look(m.Node, mappingClaim(m))
	}
	for k, nodes := range inside {
		r.fault(portIsOutgoing(example[k], k.outgoing, nodes))
	}
}

// manyPorts is from where on a range that a container runtime maps port by port is
// slow to start and can stop the machine: each port costs a rule or a process.
const manyPorts = 1000

func (r *run) warnOfWideRanges() {
	type key struct {
		who   string
		width int
	}
	nodes := map[key][]addr.Node{}
	example := map[key]Listen{}
	for _, l := range r.d.Listens {
		if !l.PerPort || l.width() <= manyPorts {
			continue
		}
		k := key{l.Listen.Instance.Name + "/" + l.Listen.Name, l.width()}
		if len(nodes[k]) == 0 {
			example[k] = l
		}
		nodes[k] = append(nodes[k], l.Listen.Instance.Node)
	}
	for k, on := range nodes {
		r.fault(wideRange(example[k], k.who, on))
	}
}
