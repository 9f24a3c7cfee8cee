package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"meshc.dev/host/machine"
)

// baseChain is a chain of the packet filter that packets meet by themselves: those for
// the machine, or those that it forwards.
type baseChain struct {
	family, table, name string
	hook                string
	drops               bool // what no rule has judged
	rules               []rule
	in                  *tableChains
}

func (c baseChain) String() string { return c.family + " " + c.table + " " + c.name }

// tableChains is what rules of one table name.
type tableChains struct {
	chains map[string][]rule
	sets   map[string][]json.RawMessage
	cuts   []int // numbers in them at which a port may fare otherwise than the one below
}

// rule is the statements of one, each an object with one name.
type rule []map[string]json.RawMessage

// answer is whether a packet meets a condition.
type answer int

const (
	no     answer = iota
	partly        // some do: those from certain addresses
	maybe         // it cannot be told
	yes
)

// packet is the first one of a connection to a port that the bundle opens.
type packet struct {
	protocol string
	port     int
	// redirected is one that goes on into a container: its port is another by then.
	redirected bool
	// world is one that may come from any address.
	world bool
	// left is how many rules may still be looked at.
	left *int
}

// manyRules are looked at for one packet. Where there are more to be met, by many ways
// through the same chains, it cannot be told what becomes of it.
const manyRules = 1_000_000

// baseChains asks nft for the chains that judge what comes in.
func baseChains(ctx context.Context) ([]baseChain, error) {
	out, err := machine.Ask(ctx, "nft", "-j", "list", "ruleset")
	if errors.Is(err, exec.ErrNotFound) {
		return nil, nil // no packet filter, or none that we know of
	}
	if err != nil {
		return nil, err
	}
	return parseRuleset(out)
}

// parseRuleset reads libnftables-json(5).
func parseRuleset(data []byte) ([]baseChain, error) {
	type set struct {
		Family, Table, Name string
		Elem                []json.RawMessage
	}
	var doc struct {
		Nftables []struct {
			Chain *struct{ Family, Table, Name, Hook, Policy string }
			Rule  *struct {
				Family, Table, Chain string
				Expr                 rule
			}
			Set, Map *set
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("nft list ruleset: %w", err)
	}
	tables := map[string]*tableChains{}
	table := func(family, name string) *tableChains {
		t := tables[family+" "+name]
		if t == nil {
			t = &tableChains{chains: map[string][]rule{}, sets: map[string][]json.RawMessage{}}
			tables[family+" "+name] = t
		}
		return t
	}
	var out []baseChain
	for _, o := range doc.Nftables {
		if c := o.Chain; c != nil && (c.Hook == "input" || c.Hook == "forward") {
			out = append(out, baseChain{c.Family, c.Table, c.Name, c.Hook, c.Policy == "drop", nil, table(c.Family, c.Table)})
		}
		if r := o.Rule; r != nil {
			chains := table(r.Family, r.Table).chains
			chains[r.Chain] = append(chains[r.Chain], r.Expr)
		}
		for _, s := range []*set{o.Set, o.Map} {
			if s != nil {
				table(s.Family, s.Table).sets[s.Name] = s.Elem
			}
		}
	}
	for _, t := range tables {
		t.findCuts()
	}
	for i := range out {
		out[i].rules = out[i].in.chains[out[i].name]
	}
	return out, nil
}

// lets says whether a chain may let a packet through. It says no only where that is certain.
func (c baseChain) lets(p packet) bool {
	left := manyRules
	p.left = &left
	accepted, goesOn := c.in.walk(c.rules, p, 0)
	return accepted || goesOn && !c.drops
}

// maxJumps is the kernel's own limit (NFT_JUMP_STACK_SIZE).
const maxJumps = 16

// walk says whether rules may accept a packet, and whether it may come to their end.
func (t *tableChains) walk(rules []rule, p packet, depth int) (accepted, goesOn bool) {
	if depth > maxJumps {
		return true, true
	}
	for _, r := range rules {
		if *p.left--; *p.left < 0 {
			return true, true
		}
		meets := yes
		for _, statement := range r {
			for name, body := range statement {
				branches := []branch{{yes, name, body}}
				switch name {
				case "vmap":
					branches = t.branches(body, p)
				case "accept", "drop", "reject", "return", "jump", "goto", "queue", "xt":
				default:
					meets = min(meets, t.meets(name, body, p))
					continue
				}
				for _, b := range branches {
					a, ends, on := t.judge(b, min(meets, b.meets), p, depth)
					accepted = accepted || a
					if ends {
						return accepted, on
					}
				}
				if name == "xt" {
					meets = min(meets, maybe)
				}
			}
			if meets == no {
				break
			}
		}
	}
	return accepted, true
}

// branch is a verdict and whether a packet comes to it.
type branch struct {
	meets   answer
	verdict string
	body    json.RawMessage
}

// judge says what a verdict does with a packet: whether it may accept it, whether the
// rules end with it for certain, and if so whether the packet may go on behind them.
func (t *tableChains) judge(b branch, meets answer, p packet, depth int) (accepted, ends, goesOn bool) {
	if meets == no {
		return false, false, false
	}
	counts := meets > partly || !p.world
	switch b.verdict {
	case "accept", "queue":
		return counts, meets == yes, false
	case "drop", "reject":
		return false, meets == yes, false
	case "return":
		return false, meets == yes, true
	case "xt": // a target of iptables that nft has no word for
		var xt struct{ Type, Name string }
		drops := json.Unmarshal(b.body, &xt) == nil && xt.Type == "target" && xt.Name == "REJECT"
		return false, meets == yes && drops, false
	case "jump", "goto":
		var to struct{ Target string }
		if json.Unmarshal(b.body, &to) != nil {
			return true, false, false
		}
		a, on := t.walk(t.chains[to.Target], p, depth+1)
		return a && counts, meets == yes && (b.verdict == "goto" || !on), on
	}
	return true, false, false
}

// branches are the verdicts of a verdict map that a packet may come to.
func (t *tableChains) branches(body json.RawMessage, p packet) []branch {
	var v struct {
		Key  json.RawMessage
		Data json.RawMessage
	}
	if json.Unmarshal(body, &v) != nil {
		return []branch{{maybe, "accept", nil}}
	}
	elements, ok := t.elements(v.Data)
	if !ok {
		return []branch{{maybe, "accept", nil}}
	}
	var out []branch
	for _, e := range elements {
		var pair []json.RawMessage
		var verdict map[string]json.RawMessage
		if json.Unmarshal(e, &pair) != nil || len(pair) != 2 || json.Unmarshal(pair[1], &verdict) != nil {
			out = append(out, branch{maybe, "accept", nil})
			continue
		}
		for name, body := range verdict {
			out = append(out, branch{t.compare(v.Key, "==", pair[0], p), name, body})
		}
	}
	return out
}

// meets says whether a packet gets past a statement that is no verdict.
func (t *tableChains) meets(name string, body json.RawMessage, p packet) answer {
	switch name {
	case "counter", "log", "mangle", "notrack", "set", "map", "comment", "last", "flow", "secmark", "ct helper", "ct timeout", "ct expectation":
		return yes
	case "match":
		var m struct {
			Op          string
			Left, Right json.RawMessage
		}
		if json.Unmarshal(body, &m) == nil {
			return t.compare(m.Left, m.Op, m.Right, p)
		}
	}
	return maybe
}

// field is what a match looks at.
type field struct {
	Payload struct{ Protocol, Field string }
	Meta    struct{ Key string }
	CT      struct{ Key string } `json:"ct"`
}

func (t *tableChains) compare(left json.RawMessage, op string, right json.RawMessage, p packet) answer {
	var f field
	if json.Unmarshal(left, &f) != nil {
		return maybe
	}
	switch proto := f.Payload.Protocol; {
	case proto == "tcp" || proto == "udp" || proto == "th":
		if proto != "th" && proto != p.protocol {
			return no
		}
		if f.Payload.Field == "dport" && !p.redirected {
			return t.comparePort(op, right, p.port)
		}
		return maybe
	case slices.Contains([]string{"icmp", "icmpv6", "igmp", "esp", "ah", "sctp", "dccp", "udplite"}, proto):
		return no
	case f.CT.Key == "proto-dst":
		return t.comparePort(op, right, p.port)
	case f.Payload.Field == "protocol" || f.Payload.Field == "nexthdr" || f.Meta.Key == "l4proto":
		return t.compareWord(op, right, p.protocol)
	case f.CT.Key == "state":
		return t.compareWord(op, right, "new")
	case f.Payload.Field == "saddr" && op == "==" && !strings.HasPrefix(string(right), `"@`) && !strings.Contains(string(right), `"len": 0`):
		return partly
	case f.Meta.Key == "iif" || f.Meta.Key == "iifname":
		// What comes from the machine itself is of no interest, and what else there is is not known.
		if words, ok := t.words(right); ok && !slices.ContainsFunc(words, func(w string) bool { return w != "lo" }) {
			return t.compareWord(op, right, "another")
		}
	}
	return maybe
}

func (t *tableChains) compareWord(op string, right json.RawMessage, is string) answer {
	words, ok := t.words(right)
	if !ok {
		return maybe
	}
	return inSet(op, slices.Contains(words, is))
}

func inSet(op string, in bool) answer {
	switch {
	case op != "==" && op != "in" && op != "!=":
		return maybe
	case in == (op != "!="):
		return yes
	}
	return no
}

func (t *tableChains) comparePort(op string, right json.RawMessage, is int) answer {
	ranges, ok := t.ranges(right)
	if !ok {
		return maybe
	}
	truth := map[bool]answer{true: yes}
	if len(ranges) == 1 {
		n := ranges[0][0]
		switch op {
		case "<":
			return truth[is < n]
		case "<=":
			return truth[is <= n]
		case ">":
			return truth[is > n]
		case ">=":
			return truth[is >= n]
		}
	}
	return inSet(op, slices.ContainsFunc(ranges, func(r [2]int) bool { return r[0] <= is && is <= r[1] }))
}

// elements are what stands on the right of a match: one thing, or those of a set.
func (t *tableChains) elements(right json.RawMessage) ([]json.RawMessage, bool) {
	var list []json.RawMessage
	var set struct{ Set []json.RawMessage }
	var name string
	switch {
	case json.Unmarshal(right, &list) == nil:
		return list, true
	case json.Unmarshal(right, &set) == nil && set.Set != nil:
		return set.Set, true
	case json.Unmarshal(right, &name) == nil && strings.HasPrefix(name, "@"):
		elements, ok := t.sets[name[1:]]
		return elements, ok
	}
	return []json.RawMessage{right}, true
}

func (t *tableChains) words(right json.RawMessage) ([]string, bool) {
	elements, ok := t.elements(right)
	out := make([]string, len(elements))
	for i, e := range elements {
		ok = ok && json.Unmarshal(e, &out[i]) == nil
	}
	return out, ok
}

// ranges are the ports on the right of a match.
func (t *tableChains) ranges(right json.RawMessage) ([][2]int, bool) {
	elements, ok := t.elements(right)
	var out [][2]int
	for _, e := range elements {
		var n int
		var object struct {
			Range []int
			Elem  struct{ Val json.RawMessage } // of a set whose elements have more to them
		}
		switch {
		case json.Unmarshal(e, &n) == nil:
			out = append(out, [2]int{n, n})
		case json.Unmarshal(e, &object) != nil:
			return nil, false
		case len(object.Range) == 2:
			out = append(out, [2]int{object.Range[0], object.Range[1]})
		case object.Elem.Val != nil:
			inner, known := t.ranges(object.Elem.Val)
			if !known {
				return nil, false
			}
			out = append(out, inner...)
		default:
			return nil, false
		}
	}
	return out, ok
}

// pieces cuts ports where a number stands in a rule, so that all ports of a piece fare
// alike.
func (c baseChain) pieces(p port) []port {
	var out []port
	for _, cut := range c.in.cuts {
		if cut > p.from && cut <= p.to {
			out = append(out, port{from: p.from, to: cut - 1, protocol: p.protocol})
			p.from = cut
		}
	}
	return append(out, port{from: p.from, to: p.to, protocol: p.protocol})
}

// findCuts notes where ports may begin to fare otherwise.
func (t *tableChains) findCuts() {
	for _, rules := range t.chains {
		for _, r := range rules {
			for _, statement := range r {
				for _, body := range statement {
					t.cuts = append(t.cuts, numbers(string(body))...)
				}
			}
		}
	}
	for _, elements := range t.sets {
		for _, e := range elements {
			t.cuts = append(t.cuts, numbers(string(e))...)
		}
	}
	slices.Sort(t.cuts)
	t.cuts = slices.Compact(t.cuts)
}

// numbers are those in a text that could be a port's, and each one's successor.
func numbers(s string) []int {
	var out []int
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(word); err == nil && n < 1<<16 {
			out = append(out, n, n+1)
		}
	}
	return out
}
