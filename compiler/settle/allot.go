package settle

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"

	"meshc.dev/compiler/addr"
)

// allotter works through the machines one after the other.
type allotter struct {
	*run
	// Of the machine at hand: the numbers that claims hold, those that entries of
	// the lock hold, and those that were given up.
	fast, taken, given *numbers
	kept, past         []holder // whom the marks in taken and given mean
	moving             map[addr.Listen]Change
	abandoned          int // entries that nobody owns
}

func (p *allotter) node(node addr.Node, wants []*Listen, holders, givenUp []holder) {
	p.fast.reset()
	p.taken.reset()
	p.given.reset()
	p.kept, p.past, p.abandoned = p.kept[:0], p.past[:0], 0
	p.moving = nil
	for _, c := range p.held[node] {
		// Whatever the protocol and the address: what is new has room to keep away.
		p.fast.mark(c.ports, heldFast)
	}
	for _, g := range givenUp {
		p.giveUp(g)
	}

	var unsettled []*Listen
	for _, l := range wants {
		if _, ok := p.out.Ports[l.Listen]; !ok {
			_, had := p.head.now.Ports[l.Listen]
			p.isWanting(entry{"port " + l.Listen.String(), l.At}, had)
			unsettled = append(unsettled, l)
		}
	}
	slices.SortFunc(holders, holder.rank)
	for _, h := range holders {
		if !p.keep(node, h) && h.listen != nil {
			unsettled = append(unsettled, h.listen)
		}
	}
	slices.SortFunc(unsettled, func(a, b *Listen) int { return a.Listen.Compare(b.Listen) })
	p.allot(node, unsettled)
	for _, l := range wants {
		if port, ok := p.out.Ports[l.Listen]; ok {
			p.settled.Ports[l.Listen] = Range{port, port + l.width() - 1}
		}
	}
}

// keep leaves an entry as it is where that can be, and says whether it has been dealt with.
func (p *allotter) keep(node addr.Node, h holder) bool {
	change := Change{Entry: "port " + h.key.String(), Before: strconv.Itoa(h.ports.From)}
	if h.listen == nil && p.d.Mode.Prune {
		change.Because = "nobody owns it"
		p.drop(h, change)
		return true
	}
	reason, mustMove := p.mustMove(node, h)
	other := p.taken.first(h.ports)
	switch {
	case !mustMove && other == 0:
		p.kept = append(p.kept, h)
		p.taken.mark(h.ports, len(p.kept))
		if h.listen == nil {
			p.abandoned++
		}
		return true
	case h.arrived: // its number is another's on this machine
		change.Because = "its number is taken on " + string(node)
		p.drop(h, change)
		return false
	case mustMove && !p.mayMove():
		p.fault(portMoves(h, node, reason, p.out.PortAt(h.key)))
		return true
	case mustMove:
		change.Because = reason.text(node)
		p.drop(h, change)
		return false
	case !p.mayMove():
		keeper := p.kept[other-1]
		p.fault(portShared(h, keeper, p.out.PortAt(h.key), p.out.PortAt(keeper.key)))
		return true
	}
	change.Because = "gave way to " + p.kept[other-1].key.String()
	p.drop(h, change)
	return false
}

// reason is why an assigned port cannot stay where it is.
type reason struct {
	tooHigh bool
	claim   claim // what it meets otherwise
}

func (p *allotter) mustMove(node addr.Node, h holder) (reason, bool) {
	if h.listen == nil {
		return reason{}, false // nobody listens there
	}
	if h.ports.To > 65535 {
		return reason{tooHigh: true}, true
	}
	if p.fast.first(h.ports) == 0 {
		return reason{}, false
	}
	own := listenClaim(*h.listen, h.ports)
	for _, c := range p.held[node] {
		if c.meets(own) {
			return reason{claim: c}, true
		}
	}
	return reason{}, false
}

// drop takes an entry out of the lock. Where somebody owns it, what changes is known
// once there is another.
func (p *allotter) drop(h holder, c Change) {
	delete(p.out.Ports, h.key)
	p.giveUp(h)
	if h.listen == nil {
		p.changed(c)
		return
	}
	if p.moving == nil {
		p.moving = map[addr.Listen]Change{}
	}
	p.moving[h.key] = c
}

// giveUp keeps a number from everybody but the one who had it.
func (p *allotter) giveUp(h holder) {
	p.past = append(p.past, h)
	for n := h.ports.From; n <= min(h.ports.To, maxPort); n++ {
		id := len(p.past)
		if o := p.given.by[n]; o != 0 && (o == heldFast || p.past[o-1].key != h.key) {
			id = heldFast // two had it
		}
		p.given.mark(Range{n, n}, id)
	}
}

// allot gives numbers to those who have none.
func (p *allotter) allot(node addr.Node, listens []*Listen) {
	var without []*Listen
	m := room{abandoned: p.abandoned}
	for _, l := range listens {
		if l.width() > p.d.Pool.Size() {
			p.fault(rangeTooWide(*l, p.d.Pool))
			continue
		}
		port, ok := p.free(l, p.given)
		if !ok {
			without = append(without, l)
			_, later := p.free(l, newNumbers())
			m.later = m.later || later
			continue
		}
		p.out.Ports[l.Listen] = port
		p.kept = append(p.kept, holder{key: l.Listen})
		p.taken.mark(Range{port, port + l.width() - 1}, len(p.kept))
		change, ok := p.moving[l.Listen]
		if !ok {
			change = Change{Entry: "port " + l.Listen.String(), Because: isNew}
		}
		change.After = strconv.Itoa(port)
		p.changed(change)
	}
	if len(without) > 0 {
		p.fault(poolFull(p.d, node, without, m))
	}
}

const isNew = "new"

// free finds the first number from the one that the names choose on, going round
// the pool once. The choice does not depend on the machine, so that a module has one
// number nearly everywhere (PRT-1).
func (p *allotter) free(l *Listen, given *numbers) (int, bool) {
	width, pool := l.width(), p.d.Pool
	starts := pool.Size() - width + 1
	first := pool.From + int(choose(uint64(starts), l.Listen.Instance.Name, l.Listen.Name))
	for _, span := range []Range{{first, pool.From + starts - 1}, {pool.From, first - 1}} {
		for n := span.From; n <= span.To; {
			last, blocked := p.lastBlocked(Range{n, n + width - 1}, l.Listen, given)
			if !blocked {
				return n, true
			}
			n = last + 1
		}
	}
	return 0, false
}

func (p *allotter) lastBlocked(r Range, l addr.Listen, given *numbers) (int, bool) {
	for n := r.To; n >= r.From; n-- {
		if p.taken.by[n] != 0 || p.fast.by[n] != 0 {
			return n, true
		}
		if g := given.by[n]; g == heldFast || g > 0 && p.past[g-1].key != l {
			return n, true
		}
	}
	return 0, false
}

// choose gives a number below n that depends on the names alone, for ever: what is
// in locks depends on it. Names hold no zero bytes.
func choose(n uint64, names ...string) uint64 {
	var b []byte
	for _, name := range names {
		b = append(append(b, name...), 0)
	}
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:8]) % n
}

const (
	maxPort  = 65535
	heldFast = -1
)

// numbers says of each port of a machine by whom it is held; 0 is nobody.
type numbers struct {
	by     [maxPort + 1]int32
	marked []Range
}

func newNumbers() *numbers { return &numbers{} }

func (n *numbers) mark(r Range, id int) {
	r = Range{max(r.From, 0), min(r.To, maxPort)}
	if r.Size() == 0 {
		return
	}
	for p := r.From; p <= r.To; p++ {
		n.by[p] = int32(id)
	}
	n.marked = append(n.marked, r)
}

// first is who holds the first held port of a range.
func (n *numbers) first(r Range) int {
	for p := max(r.From, 0); p <= min(r.To, maxPort); p++ {
		if n.by[p] != 0 {
			return int(n.by[p])
		}
	}
	return 0
}

// reset forgets what was marked, at the cost of what was, not of all ports there are.
func (n *numbers) reset() {
	for _, r := range n.marked {
		clear(n.by[r.From : r.To+1])
	}
	n.marked = n.marked[:0]
}
