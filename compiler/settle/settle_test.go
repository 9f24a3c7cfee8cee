package settle

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
)

// at is a place in mesh.cue that tests can tell from others.
func at(line int) diag.Pos {
	return diag.Pos{File: "mesh.cue", Line: line, Column: 1, EndLine: line, EndColumn: 9}
}

func listenOf(s string) addr.Listen { return must(addr.ParseListen(s)) }

func instanceOf(s string) addr.Instance { return must(addr.ParseInstance(s)) }

func pairOf(s string) addr.Pair { return must(addr.ParsePair(s)) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// want is a demand of listens such as "board/gitea/http", with the nodes and instances they are on.
func want(listens ...string) Demand {
	d := Demand{Pool: Range{20000, 29999}, PoolAt: at(1), NetworkAt: at(2)}
	for i, s := range listens {
		d = d.with(Listen{Listen: listenOf(s), Port: 3000, Protocol: "tcp", At: at(100 + i)})
	}
	return d
}

// with adds a listen, and the node and instance it is on.
func (d Demand) with(l Listen) Demand {
	d.Listens = append(slices.Clip(d.Listens), l)
	return d.running(l.Listen.Instance)
}

func (d Demand) running(i addr.Instance) Demand {
	if !slices.Contains(d.Instances, i) {
		d.Instances = append(slices.Clip(d.Instances), i)
	}
	if !slices.ContainsFunc(d.Nodes, func(n Node) bool { return n.Name == i.Node }) {
		d.Nodes = append(slices.Clip(d.Nodes), Node{Name: i.Node, At: at(10 + len(d.Nodes))})
	}
	return d
}

// node gives a node of the demand to change it.
func (d Demand) node(t *testing.T, name addr.Node) *Node {
	t.Helper()
	for i := range d.Nodes {
		if d.Nodes[i].Name == name {
			return &d.Nodes[i]
		}
	}
	t.Fatalf("no node %s", name)
	return nil
}

// reserve has a node reserve a port.
func (d Demand) reserve(t *testing.T, node addr.Node, key, reason string) {
	t.Helper()
	p, err := ParseReserved(key, reason)
	if err != nil {
		t.Fatal(err)
	}
	p.At = at(50)
	n := d.node(t, node)
	n.Reserved = append(n.Reserved, p)
}

func (d Demand) in(step Step) Demand {
	d.Mode.Step = step
	return d
}

func fixedListen(s string, port int, protocol, address string) Listen {
	return Listen{Listen: listenOf(s), Port: port, Protocol: protocol, Address: address, Fixed: true, At: at(port)}
}

// locked is a lock of ports.
func locked(ports map[string]int) *lock.Lock {
	l := lock.New()
	for k, v := range ports {
		l.Ports[listenOf(k)] = v
	}
	return l
}

// accept settles without any diagnostic, and finds that doing it twice is doing it once.
func accept(t *testing.T, d Demand, lk *lock.Lock, h History) (Settled, *lock.Lock) {
	t.Helper()
	s, out, faults := Settle(d, lk, h)
	if len(faults) > 0 {
		t.Fatalf("refused: %v", faults)
	}
	again, same, faults := Settle(d, out, h)
	if len(faults) > 0 || string(same.Bytes()) != string(out.Bytes()) {
		t.Fatalf("settled twice it is another: %v\n%s\n%s", faults, out.Bytes(), same.Bytes())
	}
	if !maps.Equal(s.Ports, again.Ports) || !maps.Equal(s.Addresses, again.Addresses) || !maps.Equal(s.Logins, again.Logins) || len(again.Changes) > 0 {
		t.Fatalf("settled twice it is another: %+v and %+v", s, again)
	}
	return s, out
}

// refuse settles to exactly one diagnostic with this code, whose message says all of
// says; errors leave the lock as it was.
func refuse(t *testing.T, d Demand, lk *lock.Lock, h History, code diag.Code, says ...string) diag.Diagnostic {
	t.Helper()
	_, out, faults := Settle(d, lk, h)
	if len(faults) != 1 || faults[0].Code != code {
		t.Fatalf("wanted %s alone, got %v", code, faults)
	}
	if faults.HasErrors() && lk != nil && out != lk {
		t.Error("a refusal changed the lock")
	}
	for _, s := range says {
		if !strings.Contains(faults[0].Message, s) {
			t.Errorf("%q does not say %q", faults[0].Message, s)
		}
	}
	return faults[0]
}

// relocked is what `meshc lock` makes of what a build refused, and a build accepts it then.
func relocked(t *testing.T, d Demand, lk *lock.Lock, h History) (Settled, *lock.Lock) {
	t.Helper()
	s, out, faults := Settle(d.in(Relock), lk, h)
	if len(faults) > 0 {
		t.Fatalf("meshc lock refused: %v", faults)
	}
	built, same := accept(t, d.in(Build), out, h)
	if string(same.Bytes()) != string(out.Bytes()) || !maps.Equal(built.Ports, s.Ports) {
		t.Fatalf("a build after meshc lock changed the lock")
	}
	accept(t, d.in(Locked), out, h)
	return s, out
}

func ports(s Settled) map[string]string {
	m := map[string]string{}
	for k, r := range s.Ports {
		m[k.String()] = r.String()
	}
	return m
}

// changes prints what changed, for comparison.
func changes(s Settled) string {
	var b strings.Builder
	for _, c := range s.Changes {
		b.WriteString(c.Entry + ": " + c.Before + " to " + c.After + ": " + c.Because + "\n")
	}
	return b.String()
}

// SEC-8: a locked build makes nothing; what is missing is refused by name, each with the command.
func TestLockedMakesNothing(t *testing.T) {
	d := want("board/gitea/http", "board/gitea/ssh")
	d.Network = netip.MustParsePrefix("10.86.0.0/16")
	d.Logins = []Login{{pairOf("postgres@anchor database gitea@board"), at(7)}}
	_, lk := accept(t, d, nil, History{})
	accept(t, d.in(Locked), lk, History{})

	short := lk.Clone()
	delete(short.Ports, listenOf("board/gitea/ssh"))
	delete(short.Addresses, "board")
	delete(short.Logins, d.Logins[0].Pair)
	_, out, faults := Settle(d.in(Locked), short, History{})
	var got []string
	for _, f := range faults {
		if f.Code != diag.NotSettled || f.Help != "meshc lock" || !f.At.IsValid() {
			t.Errorf("got %+v", f)
		}
		got = append(got, f.Message)
	}
	wanted := []string{
		"the lock has no login postgres@anchor database gitea@board", "the lock has no address board", "the lock has no port board/gitea/ssh",
	}
	if !slices.Equal(got, wanted) || out != short {
		t.Errorf("got %q", got)
	}
	relocked(t, d, short, History{})

	// Without any lock that is one fault, not thousands.
	refuse(t, d.in(Locked), nil, History{}, diag.NotSettled, "nothing is settled yet", "there is to be: ")
}

// PRT-9: an entry that HEAD has and the work tree lost is not made anew in silence.
func TestLostEntries(t *testing.T) {
	d := want("board/gitea/http", "board/gitea/ssh", "anchor/old/http")
	d.Network = netip.MustParsePrefix("10.86.0.0/16")
	d.Logins = []Login{{pairOf("postgres@anchor database gitea@board"), at(7)}}
	_, head := accept(t, d, nil, History{})
	h := History{Head: head}

	for _, step := range []Step{Build, Locked, Relock} {
		f := refuse(t, d.in(step), locked(map[string]int{"board/gitea/http": head.Ports[listenOf("board/gitea/http")]}), h, diag.EntryLost,
			"address anchor, address board, login postgres@anchor database gitea@board, port anchor/old/http, port board/gitea/ssh")
		if f.Help != "git restore mesh.lock.hcl" { // T10: nothing else, since git has it
			t.Errorf("help %q", f.Help)
		}
	}
	// All that --remake changes is that it is made.
	d.Mode = Mode{Step: Relock, Remake: true}
	s, _ := accept(t, d, lock.New(), h)
	if len(s.Ports) != 3 || len(s.Logins) != 1 || len(s.Addresses) != 2 {
		t.Errorf("remade %+v", s)
	}

	// What nobody in the mesh owns may be gone from the lock: that is how it looks after --prune.
	d = want("board/gitea/http", "board/gitea/ssh")
	pruned := head.Clone()
	delete(pruned.Ports, listenOf("anchor/old/http"))
	accept(t, d, pruned, h)
}

// PRT-9: prune lists and removes what no longer has an owner. CON-8: until then it is kept.
func TestPrune(t *testing.T) {
	d := want("anchor/postgres/postgres", "board/gitea/http")
	d.Network = netip.MustParsePrefix("10.86.0.0/16")
	gone := want("board/gitea/http", "board/old/http", "tower/x/y")
	full := d
	full.Listens = append(slices.Clone(d.Listens), gone.Listens[1], gone.Listens[2])
	full.Nodes = append(slices.Clone(d.Nodes), Node{Name: "tower"})
	full.Logins = []Login{{pairOf("postgres@anchor database old@board"), at(7)}}
	before, lk := accept(t, full, nil, History{})

	_, kept := accept(t, d, lk, History{})
	if string(kept.Bytes()) != string(lk.Bytes()) {
		t.Errorf("what nobody owns was not kept:\n%s", kept.Bytes())
	}
	back, _ := accept(t, full, kept, History{})
	if !maps.Equal(back.Ports, before.Ports) || !maps.Equal(back.Logins, before.Logins) || !maps.Equal(back.Addresses, before.Addresses) {
		t.Error("who came back does not have what it had")
	}

	d.Mode = Mode{Step: Relock, Prune: true}
	s, pruned, faults := Settle(d, lk, History{Head: lk})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	wanted := "address tower: " + lk.Addresses["tower"].String() + " to : nobody owns it\n" +
		"login postgres@anchor database old@board: old_board to : nobody owns it\n" +
		"port board/old/http: " + before.Ports[listenOf("board/old/http")].String() + " to : nobody owns it\n" +
		"port tower/x/y: " + before.Ports[listenOf("tower/x/y")].String() + " to : nobody owns it\n"
	if changes(s) != wanted {
		t.Errorf("listed\n%s", changes(s))
	}
	if len(pruned.Ports) != 2 || len(pruned.Addresses) != 2 || len(pruned.Logins) != 0 {
		t.Errorf("left\n%s", pruned.Bytes())
	}
}

func TestInputsAreNotChanged(t *testing.T) {
	d := want("b/x/y", "a/x/y")
	d.Nodes = append(d.Nodes, Node{Name: "0"})
	d.Moved.Nodes = []MovedNode{{"old", "a", at(5)}}
	lk := locked(map[string]int{"old/x/y": 20500, "b/x/y": 20500})
	before := string(lk.Bytes())
	order := slices.Clone(d.Listens)
	if _, out, _ := Settle(d, lk, History{}); out.Ports[listenOf("a/x/y")] != 20500 {
		t.Errorf("nothing moved:\n%s", out.Bytes())
	}
	if string(lk.Bytes()) != before || !slices.Equal(d.Listens, order) || d.Nodes[2].Name != "0" || d.Nodes[0].Reserved != nil {
		t.Error("an input was changed")
	}
}
