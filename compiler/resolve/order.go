package resolve

// ordered puts a node's instances in the order in which they are applied: what
// answers before what asked, otherwise as assigned and then as brought in. Those
// that require each other stay in that order too (SEL-8).
func ordered(instances []*Instance) []*Instance {
	t := &tarjan{number: map[*Instance]int{}, low: map[*Instance]int{}, onStack: map[*Instance]bool{}, rank: map[*Instance]int{}}
	for k, i := range instances {
		t.rank[i] = k
	}
	for _, i := range instances {
		if t.number[i] == 0 {
			t.visit(i)
		}
	}
	return t.out
}

// tarjan finds circles of requirements: strongly connected components come out
// after everything they depend on (Tarjan, 1972).
type tarjan struct {
	next    int
	number  map[*Instance]int
	low     map[*Instance]int
	rank    map[*Instance]int
	onStack map[*Instance]bool
	stack   []*Instance
	out     []*Instance
}

func (t *tarjan) visit(i *Instance) {
	t.next++
	t.number[i], t.low[i] = t.next, t.next
	t.stack, t.onStack[i] = append(t.stack, i), true
	for _, a := range i.Answers {
		p := a.Provider
		if _, here := t.rank[p]; p == nil || !here {
			continue
		}
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
