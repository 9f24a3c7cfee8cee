package settle

import (
	"cmp"
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
)

// Moved is what has a new name (PRT-8).
type Moved struct {
	Nodes     []MovedNode
	Instances []MovedInstance
}

// MovedNode is a node that has a new name.
type MovedNode struct {
	Old, New addr.Node
	At       diag.Pos
}

// MovedInstance is an instance that has a new name, or runs on another node:
// instance@node, both as they are called once nodes have moved. Where nobody has the
// old name of a node any more, it will do too.
type MovedInstance struct {
	Old, New string
	At       diag.Pos
}

// A move stays in mesh.cue while anybody's branch may lack it, so it is carried out
// again and again. Mostly that does nothing, since nobody has the old name any more,
// and what still comes in by it is carried over. Where the old name is in use again,
// as when two swapped names, a second time would undo the first: the lock has a
// record of those that were carried out.

// move brings the lock, and what git knows of it, to today's names.
func (r *run) move(h History) {
	there := make([]addr.Node, len(r.d.Nodes))
	for i, n := range r.d.Nodes {
		there[i] = n.Name
	}
	nodes := resolve(r, r.movedNodes(), there)
	instances := resolve(r, r.movedInstances(nodes), r.d.Instances)

	names := &renames{run: r, nodes: nodes, instances: instances}
	r.head, r.parent = names.past(h.Head, quietly), names.past(h.FirstParent, quietly)
	r.was = names.past(r.out, r.changed)
	r.out = r.was.now.Clone()
	names.record()
	r.arrived = names.arrived
}

func quietly(Change) {}

// move is one move as it is written.
type move[K comparable] struct {
	kind    string // node or instance
	old, to K
	at      diag.Pos
}

func (m move[K]) names() (old, to string) { return nameOf(m.old), nameOf(m.to) }

// nameOf prints a node or an instance.
func nameOf[K comparable](k K) string {
	switch k := any(k).(type) {
	case addr.Node:
		return string(k)
	case addr.Instance:
		return k.String()
	}
	panic("settle: only nodes and instances have names that move")
}

// step is a move that makes sense.
type step[K comparable] struct {
	move[K]
	// ends is where the chain of moves ends that this one begins, far moves later.
	ends K
	far  int
	// again is true where somebody has the old name now.
	again bool
}

// record is the step's name in the lock.
func (s step[K]) record() string {
	old, _ := s.names()
	return s.kind + " " + old
}

func (r *run) movedNodes() []move[addr.Node] {
	var list []move[addr.Node]
	for _, m := range r.d.Moved.Nodes {
		list = append(list, move[addr.Node]{"node", m.Old, m.New, m.At})
	}
	return list
}

func (r *run) movedInstances(nodes map[addr.Node]step[addr.Node]) []move[addr.Instance] {
	var list []move[addr.Instance]
	for _, m := range r.d.Moved.Instances {
		old, err1 := addr.ParseInstance(m.Old)
		to, err2 := addr.ParseInstance(m.New)
		switch {
		case err1 != nil:
			r.fault(moveMalformed(m.At, m.Old))
			continue
		case err2 != nil:
			r.fault(moveMalformed(m.At, m.New))
			continue
		}
		if s, ok := nodes[old.Node]; ok && r.nodes[old.Node] == nil {
			old.Node = s.ends
		}
		list = append(list, move[addr.Instance]{"instance", old, to, m.At})
	}
	return list
}

// resolve refuses what makes no sense and follows the chains of the rest: of a to b
// and b to c, where only c is there, both end at c.
func resolve[K comparable](r *run, list []move[K], there []K) map[K]step[K] {
	if len(list) == 0 {
		return nil
	}
	exists := make(map[K]bool, len(there))
	for _, k := range there {
		exists[k] = true
	}
	slices.SortFunc(list, func(a, b move[K]) int { return cmp.Compare(nameOf(a.old), nameOf(b.old)) })
	byOld, byNew := map[K]move[K]{}, map[K]move[K]{}
	steps := map[K]step[K]{}
	for _, m := range list {
		if other, ok := byOld[m.old]; ok {
			r.fault(movedTwice(m.names, m.at, other.at))
			continue
		}
		byOld[m.old] = m
		if other, ok := byNew[m.to]; ok {
			old, _ := other.names()
			r.fault(movedTogether(m.names, old, m.at, other.at))
			continue
		}
		byNew[m.to] = m
	}
	for _, m := range list {
		if m.old == m.to {
			r.fault(movedNowhere(m.names, m.at))
			continue
		}
		if byNew[m.to] != m || byOld[m.old] != m {
			continue // said above
		}
		s := step[K]{move: m, ends: m.to, again: exists[m.old]}
		for next, ok := byOld[s.ends]; ok && !exists[s.ends] && s.far < len(list); next, ok = byOld[s.ends] {
			s.ends = next.to
			s.far++
		}
		if !exists[s.ends] {
			r.fault(movedToNobody(m.kind, m.names, m.at, there))
			continue
		}
		if _, taken := byNew[m.old]; s.again && !taken {
			r.fault(movedStillThere(m.kind, m.names, m.at))
			continue
		}
		steps[m.old] = s
	}
	return steps
}
