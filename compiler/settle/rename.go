package settle

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
)

// renames brings locks to today's names.
type renames struct {
	*run
	nodes     map[addr.Node]step[addr.Node]
	instances map[addr.Instance]step[addr.Instance]
	used      map[string]bool        // records of the moves that carried anything over
	arrived   map[addr.Instance]bool // at another machine than they were on
}

// past is a lock by today's names; each entry that is carried over is reported.
func (n *renames) past(l *lock.Lock, report func(Change)) past {
	if l == nil {
		return past{now: lock.New(), onNodes: lock.New()}
	}
	n.used, n.arrived = map[string]bool{}, map[addr.Instance]bool{}
	nodes := byNode{n, l}
	onNodes := l
	if len(n.nodes) > 0 {
		onNodes = n.apply(l, nodes, quietly)
	}
	now := onNodes
	if len(n.instances) > 0 {
		now = n.apply(l, byBoth{nodes}, report)
	} else if len(n.nodes) > 0 {
		now = n.apply(l, nodes, report)
	}
	return past{known: true, onNodes: onNodes, now: now}
}

// renaming gives today's names; far counts the moves of a chain that an old name is away.
type renaming interface {
	node(addr.Node) (to addr.Node, far int)
	instance(addr.Instance) (to addr.Instance, far int)
}

// byNode renames nodes, and with them the instances there.
type byNode struct {
	*renames
	in *lock.Lock // which has a record of what was carried out
}

func (b byNode) node(n addr.Node) (addr.Node, int) {
	s, ok := b.nodes[n]
	if !ok || isDone(s, b.in) {
		return n, 0
	}
	b.used[s.record()] = true
	return s.ends, s.far
}

func (b byNode) instance(i addr.Instance) (addr.Instance, int) {
	to, far := b.node(i.Node)
	return addr.Instance{Name: i.Name, Node: to}, far
}

// byBoth renames nodes, then instances, which may come to run elsewhere.
type byBoth struct{ byNode }

func (b byBoth) instance(i addr.Instance) (addr.Instance, int) {
	i, far := b.byNode.instance(i)
	s, ok := b.instances[i]
	if !ok || isDone(s, b.in) {
		return i, far
	}
	b.used[s.record()] = true
	b.arrived[s.ends] = b.arrived[s.ends] || s.ends.Node != i.Node
	return s.ends, far + s.far
}

// isDone says whether a lock has a record that this very move was carried out.
func isDone[K comparable](s step[K], l *lock.Lock) bool {
	_, to := s.names()
	return s.again && l.Moved[s.record()] == to
}

// apply renames all that a lock has. Moves happen at once, so that two can swap.
func (n *renames) apply(l *lock.Lock, by renaming, report func(Change)) *lock.Lock {
	out := l.Clone()
	out.Ports = rekey(l.Ports, func(k addr.Listen) (addr.Listen, int) {
		to, far := by.instance(k.Instance)
		return addr.Listen{Instance: to, Name: k.Name}, far
	}, report, "port", addr.Listen.String, strconv.Itoa)
	out.Addresses = rekey(l.Addresses, by.node, report, "address", nameOf[addr.Node], netip.Addr.String)
	out.Logins = rekey(l.Logins, func(k addr.Pair) (addr.Pair, int) {
		provider, far1 := by.instance(k.Provider)
		consumer, far2 := by.instance(k.Consumer.Instance)
		k.Provider, k.Consumer.Instance = provider, consumer
		return k, far1 + far2
	}, report, "login", addr.Pair.String, strings.Clone)
	for name, s := range out.Secrets {
		if s.Sealed == "" {
			s.Sealed = name // which a new name does not change
			out.Secrets[name] = s
		}
	}
	out.Secrets = rekey(out.Secrets, func(k string) (string, int) {
		return renameWords(k, by)
	}, report, "secret", strings.Clone, func(s lock.Secret) string { return "generation " + strconv.Itoa(s.Generation) })
	for name, s := range out.Secrets {
		for i := range s.Ends {
			s.Ends[i].Holder, _ = renameWords(s.Ends[i].Holder, by)
		}
		slices.SortFunc(s.Ends, lock.End.Compare)
		out.Secrets[name] = s
	}
	return out
}

// rekey gives a map by the new names of its keys. What is carried over to a name wins
// over what the name has, which was made before anybody said that it was a new name;
// of two that are carried to one, the one with the later name does.
func rekey[K comparable, V any](m map[K]V, name func(K) (K, int), report func(Change), what string, key func(K) string, value func(V) string) map[K]V {
	type carry struct {
		from, to K
		far      int
	}
	var carries []carry
	out := make(map[K]V, len(m))
	for k, v := range m {
		if to, far := name(k); to == k {
			out[k] = v
		} else {
			carries = append(carries, carry{k, to, far})
		}
	}
	slices.SortFunc(carries, func(a, b carry) int { return cmp.Or(cmp.Compare(b.far, a.far), cmp.Compare(key(a.from), key(b.from))) })
	for _, c := range carries {
		v := value(m[c.from])
		out[c.to] = m[c.from]
		report(Change{what + " " + key(c.to), v, v, "carried over from " + key(c.from)})
	}
	return out
}

// renameWords renames the instances and listens in a secret's name or holder:
// gitea@board, board/gitea/secret-key.
func renameWords(s string, by renaming) (string, int) {
	words := strings.Split(s, " ")
	far := 0
	for i, w := range words {
		if instance, err := addr.ParseInstance(w); err == nil {
			to, f := by.instance(instance)
			words[i], far = to.String(), far+f
		} else if l, err := addr.ParseListen(w); err == nil {
			to, f := by.instance(l.Instance)
			l.Instance = to
			words[i], far = l.String(), far+f
		}
	}
	return strings.Join(words, " "), far
}

// record writes down which moves were carried out whose old name is in use again. A
// step that makes nothing refuses what is not carried out yet.
func (n *renames) record() {
	records := map[string]string{}
	places := map[string]diag.Pos{}
	add := func(record, to string, again bool, at diag.Pos) {
		places[record] = at
		if again {
			records[record] = to
		}
	}
	for _, s := range n.nodes {
		_, to := s.names()
		add(s.record(), to, s.again, s.at)
	}
	for _, s := range n.instances {
		_, to := s.names()
		add(s.record(), to, s.again, s.at)
	}
	if n.d.Mode.Step == Locked {
		for record, at := range places {
			if to, again := records[record]; n.used[record] || again && n.out.Moved[record] != to {
				n.fault(movePending(record, at))
			}
		}
		return
	}
	if !maps.Equal(records, n.out.Moved) {
		n.out.Moved = records
	}
}
