package settle

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
)

// random is a demand of few names in a small pool, so that much of it meets.
func random(r *rand.Rand, listens int) Demand {
	d := want()
	d.Pool = Range{20000, 20000 + listens*3}
	d.Network = netip.MustParsePrefix("10.0.0.0/27")
	for range listens {
		l := Listen{
			Listen: addr.Listen{
				Instance: addr.Instance{Name: fmt.Sprintf("i%d", r.IntN(8)), Node: addr.Node(fmt.Sprintf("n%d", r.IntN(3)))},
				Name:     fmt.Sprintf("l%d", r.IntN(8)),
			},
			Port: 80, Protocol: []string{"tcp", "udp"}[r.IntN(2)], Address: []string{"", "10.0.0.1", "10.0.0.2", "::"}[r.IntN(4)], At: at(1 + r.IntN(1000)),
		}
		switch r.IntN(6) {
		case 0:
			l.To = l.Port + r.IntN(4)
		case 1: // from numbers below the pool, where only fixed ones meet
			l.Fixed, l.Port = true, 10000+r.IntN(400)
			l.To = l.Port + r.IntN(3)
		case 2: // from the pool
			l.Fixed, l.Port = true, d.Pool.From+r.IntN(d.Pool.Size())
		}
		if slices.ContainsFunc(d.Listens, func(o Listen) bool { return o.Listen == l.Listen }) {
			continue
		}
		d = d.with(l)
		d.Logins = append(d.Logins, Login{Pair: addr.Pair{
			Provider: addr.Instance{Name: "p", Node: "n0"}, Provision: "l1", Consumer: addr.Consumer{Instance: l.Listen.Instance, Label: l.Listen.Name},
		}})
	}
	for i := range d.Nodes {
		if r.IntN(2) == 0 {
			from := d.Pool.From + r.IntN(d.Pool.Size())
			d.Nodes[i].Reserved = append(d.Nodes[i].Reserved, must(ParseReserved(fmt.Sprintf("%d-%d", from, from+r.IntN(3)), "random")))
		}
	}
	return d
}

func shuffle(r *rand.Rand, d Demand) Demand {
	d.Listens, d.Nodes, d.Instances, d.Logins = slices.Clone(d.Listens), slices.Clone(d.Nodes), slices.Clone(d.Instances), slices.Clone(d.Logins)
	r.Shuffle(len(d.Listens), func(i, j int) { d.Listens[i], d.Listens[j] = d.Listens[j], d.Listens[i] })
	r.Shuffle(len(d.Nodes), func(i, j int) { d.Nodes[i], d.Nodes[j] = d.Nodes[j], d.Nodes[i] })
	r.Shuffle(len(d.Instances), func(i, j int) { d.Instances[i], d.Instances[j] = d.Instances[j], d.Instances[i] })
	r.Shuffle(len(d.Logins), func(i, j int) { d.Logins[i], d.Logins[j] = d.Logins[j], d.Logins[i] })
	return d
}

// meet finds two listens of one machine that would both bind one port, the long way round.
func meet(d Demand, s Settled) string {
	for i, a := range d.Listens {
		for _, b := range d.Listens[:i] {
			if a.Listen.Instance.Node != b.Listen.Instance.Node || a.Protocol != b.Protocol {
				continue
			}
			if a.Address != b.Address && a.Address != "" && b.Address != "" && a.Address != "::" && b.Address != "::" {
				continue
			}
			p, q := s.Ports[a.Listen], s.Ports[b.Listen]
			for n := p.From; n <= p.To; n++ {
				if q.From <= n && n <= q.To {
					return fmt.Sprintf("%s and %s meet at %d", a.Listen, b.Listen, n)
				}
			}
		}
		for _, n := range d.Nodes {
			for _, r := range n.Reserved {
				if p := s.Ports[a.Listen]; n.Name == a.Listen.Instance.Node && p.From <= r.To && r.From <= p.To {
					return fmt.Sprintf("%s has %s, where %d-%d is reserved", a.Listen, p, r.From, r.To)
				}
			}
		}
	}
	return ""
}

// PRT-1: no two hold one port of a machine, the order of the demand shows nowhere, and
// what comes later changes nothing of what was there; for random demands.
func TestRandomDemands(t *testing.T) {
	accepted := 0
	for seed := range uint64(250) {
		r := rand.New(rand.NewPCG(seed, 1))
		d := random(r, 4+r.IntN(40))
		s, lk, faults := Settle(d, nil, History{})
		again, same, others := Settle(shuffle(r, d), nil, History{})
		if !slices.EqualFunc(faults, others, func(a, b diag.Diagnostic) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
			t.Fatalf("seed %d: refused in another order:\n%v\n%v", seed, faults, others)
		}
		for _, f := range faults {
			if f.Code != diag.PortTaken && f.Code != diag.PortReserved {
				t.Fatalf("seed %d: %v", seed, f)
			}
		}
		if faults.HasErrors() {
			if meet(d, s) == "" {
				t.Fatalf("seed %d: refused, and nobody meets: %v", seed, faults)
			}
			continue
		}
		accepted++
		if m := meet(d, s); m != "" {
			t.Fatalf("seed %d: %s", seed, m)
		}
		if !bytes.Equal(lk.Bytes(), same.Bytes()) || !maps.Equal(s.Ports, again.Ports) || !slices.Equal(s.Changes, again.Changes) {
			t.Fatalf("seed %d: the order shows", seed)
		}
		for p, login := range s.Logins {
			for q, other := range s.Logins {
				if p.Consumer != q.Consumer && login == other && (p.Provider == q.Provider || p.Provider.Node == q.Provider.Node && p.Provision == q.Provision) {
					t.Fatalf("seed %d: %s and %s share a login", seed, p, q)
				}
			}
		}

		more := random(r, 10)
		grown := d
		for _, l := range more.Listens {
			if _, there := s.Ports[l.Listen]; !there && !l.Fixed {
				grown = grown.with(l)
			}
		}
		grown.Pool.To += 60
		later, _ := accept(t, grown, lk, History{Head: lk})
		for k, p := range s.Ports {
			if later.Ports[k] != p {
				t.Fatalf("seed %d: %s moved from %s to %s", seed, k, p, later.Ports[k])
			}
		}
		for k, a := range s.Addresses {
			if later.Addresses[k] != a {
				t.Fatalf("seed %d: %s moved", seed, k)
			}
		}
		for k, l := range s.Logins {
			if later.Logins[k] != l {
				t.Fatalf("seed %d: %s has another login", seed, k)
			}
		}
		if m := meet(grown, later); m != "" {
			t.Fatalf("seed %d: %s", seed, m)
		}
	}
	if accepted < 100 {
		t.Errorf("only %d of the demands were accepted", accepted)
	}
}

// merge is what git makes of two branches' locks: the lines of both. Where both have a
// key with two values a person keeps ours.
func merge(t *testing.T, base, ours, theirs *lock.Lock) *lock.Lock {
	t.Helper()
	out := map[string]bool{}
	for _, line := range strings.Split(string(base.Bytes()), "\n") {
		out[line] = true
	}
	var lines []string
	mine := string(ours.Bytes())
	for _, line := range strings.Split(mine, "\n") {
		lines = append(lines, line)
		if !strings.HasSuffix(line, "= {") {
			continue
		}
		section := line
		_, rest, _ := strings.Cut(string(theirs.Bytes()), section+"\n")
		for _, line := range strings.Split(rest, "\n") {
			if line == "}" {
				break
			}
			key, _, _ := strings.Cut(line, " = ")
			if !out[line] && !strings.Contains(mine, "\n"+key+" = ") {
				lines = append(lines, line)
			}
		}
	}
	l, faults := lock.Read(lock.File, []byte(strings.Join(lines, "\n")))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return l
}

// PRT-6: the locks of two branches, merged, work or are refused by name; then `lock`
// mends them, and what the first parent had stays where it was.
func TestMergedBranches(t *testing.T) {
	clean, refused := 0, 0
	for seed := range uint64(250) {
		r := rand.New(rand.NewPCG(seed, 2))
		d := random(r, 12)
		// Only assigned ones: that two branches fix one port is refused whatever is in the lock.
		d.Listens = slices.DeleteFunc(d.Listens, func(l Listen) bool { return l.Fixed })
		for i := range d.Nodes {
			d.Nodes[i].Reserved = nil
		}
		d.Pool = Range{20000, 20400}
		if r.IntN(2) == 0 {
			d.Pool.To = 20024 // so that branches meet
		}
		part := func(n int) Demand { // the first third, and every second of the others
			p := d
			p.Listens, p.Logins, p.Nodes = nil, nil, nil
			for i, l := range d.Listens {
				if i < len(d.Listens)/3 || n >= 0 && i%2 == n {
					p.Listens = append(p.Listens, l)
				}
			}
			for i, l := range d.Logins {
				if i < len(d.Logins)/3 || n >= 0 && i%2 == n {
					p.Logins = append(p.Logins, l)
				}
			}
			for i, node := range d.Nodes {
				if n >= 0 && i%2 == n {
					p.Nodes = append(p.Nodes, node)
				}
			}
			return p
		}
		_, base := accept(t, part(-1), nil, History{})
		_, ours := accept(t, part(0), base, History{Head: base})
		_, theirs := accept(t, part(1), base, History{Head: base})
		merged := merge(t, base, ours, theirs)

		h := History{Head: ours, FirstParent: ours}
		s, _, faults := Settle(d, merged, h)
		if !faults.HasErrors() {
			clean++
			if m := meet(d, s); m != "" {
				t.Fatalf("seed %d: %s", seed, m)
			}
			continue
		}
		refused++
		for _, f := range faults {
			if f.Code != diag.PortShared && f.Code != diag.AddressShared && f.Code != diag.LoginShared || f.Help != "meshc lock" || f.At.Line == 0 || len(f.Also) != 1 {
				t.Fatalf("seed %d: %+v", seed, f)
			}
		}
		s, out := relocked(t, d, merged, h)
		if m := meet(d, s); m != "" {
			t.Fatalf("seed %d: %s", seed, m)
		}
		for k, p := range ours.Ports {
			if out.Ports[k] != p {
				t.Fatalf("seed %d: %s, which the first parent had, moved", seed, k)
			}
		}
		for k, a := range ours.Addresses {
			if out.Addresses[k] != a {
				t.Fatalf("seed %d: %s, which the first parent had, moved", seed, k)
			}
		}
	}
	if clean < 20 || refused < 20 {
		t.Errorf("%d merged cleanly, %d were refused: neither is tested well", clean, refused)
	}
}

// fleet is a mesh of n nodes with twenty listens and logins each.
func fleet(n int) Demand {
	d := want()
	d.Network = netip.MustParsePrefix("10.86.0.0/16")
	for i := range n {
		node := addr.Node(fmt.Sprintf("node-%04d", i))
		d.Nodes = append(d.Nodes, Node{Name: node})
		for j := range 20 {
			in := addr.Instance{Name: fmt.Sprintf("module-%02d", j), Node: node}
			d.Instances = append(d.Instances, in)
			d.Listens = append(d.Listens, Listen{Listen: addr.Listen{Instance: in, Name: "http"}, Port: 80, Protocol: "tcp"})
			d.Logins = append(d.Logins, Login{Pair: addr.Pair{
				Provider: addr.Instance{Name: "postgres", Node: "node-0000"}, Provision: "database", Consumer: addr.Consumer{Instance: in, Label: "database"},
			}})
		}
	}
	return d
}

// 20,000 listens and logins of 1000 nodes, nothing settled yet.
func BenchmarkSettleNew(b *testing.B) {
	d := fleet(1000)
	for b.Loop() {
		if _, _, faults := Settle(d, nil, History{}); len(faults) > 0 {
			b.Fatal(faults)
		}
	}
}

// The same, settled already, with what HEAD has.
func BenchmarkSettleAgain(b *testing.B) {
	d := fleet(1000)
	_, lk, _ := Settle(d, nil, History{})
	for b.Loop() {
		if _, _, faults := Settle(d, lk, History{Head: lk, FirstParent: lk}); len(faults) > 0 {
			b.Fatal(faults)
		}
	}
}
