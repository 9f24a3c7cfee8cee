package resolve

import "slices"

// ordered puts a node's instances in the order in which they are applied: the firewall
// first, what answers before what asked, the private network and its names before what
// uses them, otherwise as assigned and then as brought in. Those that require each other
// stay in that order too (SEL-8).
func ordered(instances []*Instance) []*Instance {
	t := &tarjan{
		number: map[*Instance]int{}, low: map[*Instance]int{}, onStack: map[*Instance]bool{}, rank: map[*Instance]int{},
		first: map[*Instance][]*Instance{},
	}
	for k, i := range instances {
		t.rank[i] = k
	}
	walls, network := providers(instances, "firewall"), providers(instances, "private-network", "name-resolution")
	behindWalls, base := t.closure(walls), t.closure(network)
	for _, i := range instances {
		if behindWalls[i] {
			continue
		}
		t.first[i] = append(t.first[i], walls...)
		if !base[i] && usesNetwork(i, instances) {
			i.After = network
			t.first[i] = append(t.first[i], network...)
		}
	}
	for _, i := range instances {
		if t.number[i] == 0 {
			t.visit(i)
		}
	}
	return t.out
}

// providers are the instances that provide one of these on their node.
func providers(instances []*Instance, provisions ...string) []*Instance {
	var out []*Instance
	for _, i := range instances {
		if i.Interface != nil && slices.ContainsFunc(provisions, func(p string) bool { return i.Interface.Provision(p) != nil }) {
			out = append(out, i)
		}
	}
	return out
}

// closure is instances and all that answers them on their node.
func (t *tarjan) closure(of []*Instance) map[*Instance]bool {
	out := map[*Instance]bool{}
	for todo := slices.Clone(of); len(todo) > 0; todo = todo[1:] {
		i := todo[0]
		if out[i] {
			continue
		}
		out[i] = true
		todo = append(todo, i.Beside...)
		for _, a := range i.Answers {
			if _, here := t.rank[a.Provider]; here {
				todo = append(todo, a.Provider)
			}
		}
	}
	return out
}

// usesNetwork says whether an instance may bind an address of the private network, or is
// told a name on it: its own listens, what it answers beyond its node, what it asks. How
// far a listen is reached is known only later, so that all count that may be reached.
func usesNetwork(i *Instance, instances []*Instance) bool {
	if i.Interface == nil {
		return true
	}
	for _, l := range i.Interface.Listens {
		if l.Reach != "machine" {
			return true
		}
	}
	for _, p := range i.Interface.Provides {
		if p.Scope != "node" {
			return true
		}
	}
	for _, a := range i.Answers {
		if a.Provider != nil && (a.Network != "" || !slices.Contains(instances, a.Provider)) {
			return true
		}
	}
	return false
}

// tarjan finds circles of requirements: strongly connected components come out
// after everything they depend on (Tarjan, 1972).
type tarjan struct {
	next    int
	number  map[*Instance]int
	low     map[*Instance]int
	rank    map[*Instance]int
	onStack map[*Instance]bool
	first   map[*Instance][]*Instance // what comes before each besides what answers it
	stack   []*Instance
	out     []*Instance
}

func (t *tarjan) visit(i *Instance) {
	t.next++
	t.number[i], t.low[i] = t.next, t.next
	t.stack, t.onStack[i] = append(t.stack, i), true
	before := slices.Concat(t.first[i], i.Beside)
	for _, a := range i.Answers {
		if _, here := t.rank[a.Provider]; here {
			before = append(before, a.Provider)
		}
	}
	for _, p := range before {
		if t.number[p] == 0 {
			t.visit(p)
			t.low[i] = min(t.low[i], t.low[p])
		} else if t.onStack[p] {
			t.low[i] = min(t.low[i], t.number[p])
		}
	}
	if t.low[i] != t.number[i] {
		return
	}
	from := len(t.stack) - 1
	for t.stack[from] != i {
		from--
	}
	circle := t.stack[from:]
	t.stack = t.stack[:from]
	for k := 1; k < len(circle); k++ {
		for j := k; j > 0 && t.rank[circle[j]] < t.rank[circle[j-1]]; j-- {
			circle[j], circle[j-1] = circle[j-1], circle[j]
		}
	}
	for _, c := range circle {
		t.onStack[c] = false
	}
	t.out = append(t.out, circle...)
}
