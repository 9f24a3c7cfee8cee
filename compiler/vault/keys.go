package vault

import (
	"maps"
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
	"meshc.dev/render/seal"
)

// keys are the public keys of a mesh, each read once.
type keys struct {
	nodes    map[addr.Node]seal.Recipient // those that can be sealed to
	recovery []seal.Recipient
	written  map[addr.Node]Node
	// changed are the nodes whose key is not the one that something is sealed to.
	changed map[addr.Node]*NewRecipient
}

// sample is the recipient that `meshc init` used to write into every mesh, one for all of
// them. Nothing is sealed to it, since no machine has its other half.
const sample = "age1fjnq5xu92jg8e59u85qdj90vv7nyst86wr23dau3mepzw8nk5eequ6y06q"

// readKeys reads every key, and finds those that are none and those that two have.
func readKeys(d Demand) (keys, diag.List) {
	k := keys{nodes: map[addr.Node]seal.Recipient{}, written: map[addr.Node]Node{}, changed: map[addr.Node]*NewRecipient{}}
	var faults diag.List
	type owner struct {
		name string
		at   diag.Pos
	}
	first := map[string]owner{}
	read := func(name, text string, at diag.Pos) (seal.Recipient, bool) {
		r, err := seal.ParseRecipient(text)
		if err != nil {
			faults = append(faults, recipientInvalid(name, at, err))
			return r, false
		}
		if o, ok := first[r.Fingerprint()]; ok {
			faults = append(faults, recipientTwice(name, at, o.name, o.at, r))
			return r, false
		}
		first[r.Fingerprint()] = owner{name, at}
		return r, true
	}
	for _, n := range slices.SortedFunc(slices.Values(d.Nodes), func(a, b Node) int { return a.At.Compare(b.At) }) {
		k.written[n.Name] = n
		if n.Recipient == "" || n.Recipient == sample {
			continue // a fault only where it has something to hold
		}
		if r, ok := read(string(n.Name), n.Recipient, n.At); ok {
			k.nodes[n.Name] = r
		}
	}
	for _, key := range d.Recovery {
		if key.Recipient == sample {
			faults = append(faults, recipientSample("the recovery key", "", key.At))
			continue
		}
		if r, ok := read("the recovery key", key.Recipient, key.At); ok {
			k.recovery = append(k.recovery, r)
		}
	}
	return k, faults
}

// of is the key of who holds an end.
func (k keys) of(e lock.End) (seal.Recipient, bool) {
	if e.Role != string(seal.Recovery) {
		r, ok := k.nodes[e.Node()]
		return r, ok
	}
	for _, r := range k.recovery {
		if r.Fingerprint() == e.Holder {
			return r, true
		}
	}
	return seal.Recipient{}, false
}

// compare holds the nodes' keys against those that the lock says things are sealed
// to, whether these things are wanted or not: a key that changed is not taken for
// new things either before a person said so (SEC-2).
func (k keys) compare(lk *lock.Lock, confirmed []string) {
	for _, name := range slices.Sorted(maps.Keys(lk.Secrets)) {
		for _, e := range lk.Secrets[name].Ends {
			r, ok := k.nodes[e.Node()]
			if !ok || e.Role == string(seal.Recovery) || e.To == r.Fingerprint() {
				continue
			}
			c := k.changed[e.Node()]
			if c == nil {
				c = &NewRecipient{
					Node: e.Node(), New: r.Fingerprint(), At: k.written[e.Node()].At,
					Confirmed: slices.Contains(confirmed, string(e.Node())),
				}
				k.changed[e.Node()] = c
			}
			if !slices.Contains(c.Old, e.To) {
				c.Old = append(c.Old, e.To)
			}
			if len(c.Secrets) == 0 || c.Secrets[len(c.Secrets)-1] != name {
				c.Secrets = append(c.Secrets, name)
			}
		}
	}
}

// held says whether a node's key is one that nobody confirmed.
func (k keys) held(n addr.Node) bool {
	c := k.changed[n]
	return c != nil && !c.Confirmed
}
