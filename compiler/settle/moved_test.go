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

// before is the lock of a mesh in which board runs gitea, and anchor its database.
func before() *lock.Lock {
	l := locked(map[string]int{"board/gitea/http": 20311, "anchor/postgres/postgres": 20412})
	l.Addresses["board"] = netip.MustParseAddr("10.86.0.7")
	l.Addresses["anchor"] = netip.MustParseAddr("10.86.0.8")
	l.Logins[pairOf("postgres@anchor database gitea@board")] = "gitea_board"
	l.Secrets["credential postgres@anchor database gitea@board"] = lock.Secret{Generation: 2, Ends: []lock.End{
		{Role: "consumer", Holder: "gitea@board", To: "SHA256:b", Blob: "board/x.age", SHA256: strings.Repeat("0", 64)},
		{Role: "provider", Holder: "postgres@anchor", To: "SHA256:a", Blob: "anchor/x.age", SHA256: strings.Repeat("1", 64)},
	}}
	l.Secrets["need board/gitea/secret-key"] = lock.Secret{Generation: 1, Ends: []lock.End{
		{Role: "holder", Holder: "gitea@board", To: "SHA256:b", Blob: "board/y.age", SHA256: strings.Repeat("2", 64)},
	}}
	return l
}

// after is a demand of the same mesh once gitea and its node are called otherwise.
func after(gitea, postgres string, moved Moved) Demand {
	d := asking("postgres@anchor database gitea@board")
	d.Network = netip.MustParsePrefix("10.86.0.0/16")
	g, p := instanceOf(gitea), instanceOf(postgres)
	pair := addr.Pair{Provider: p, Provision: "database", Consumer: addr.Consumer{Instance: g, Label: "database"}}
	d.Instances, d.Nodes = nil, nil
	d.Logins = []Login{{pair, at(5)}}
	d = d.with(Listen{Listen: addr.Listen{Instance: g, Name: "http"}, Port: 3000, Protocol: "tcp"})
	d = d.with(Listen{Listen: addr.Listen{Instance: p, Name: "postgres"}, Port: 5432, Protocol: "tcp"})
	d.Moved = moved
	return d
}

func nodesMoved(pairs ...addr.Node) Moved {
	var m Moved
	for i := 0; i < len(pairs); i += 2 {
		m.Nodes = append(m.Nodes, MovedNode{pairs[i], pairs[i+1], at(70 + i)})
	}
	return m
}

func (m Moved) instances(pairs ...string) Moved {
	for i := 0; i < len(pairs); i += 2 {
		m.Instances = append(m.Instances, MovedInstance{pairs[i], pairs[i+1], at(80 + i)})
	}
	return m
}

// PRT-8: moved carries ports, addresses, logins and credentials over to the new name.
func TestMovedCarriesAll(t *testing.T) {
	for name, c := range map[string]struct {
		gitea, postgres string
		moved           Moved
		board           addr.Node // as it is called now
	}{
		"node":                   {"gitea@office", "postgres@anchor", nodesMoved("board", "office"), "office"},
		"instance":               {"forge@board", "postgres@anchor", Moved{}.instances("gitea@board", "forge@board"), "board"},
		"node, then instance":    {"forge@office", "postgres@anchor", nodesMoved("board", "office").instances("gitea@office", "forge@office"), "office"},
		"instance by old node":   {"forge@office", "postgres@anchor", nodesMoved("board", "office").instances("gitea@board", "forge@office"), "office"},
		"provider":               {"gitea@board", "pg@anchor", Moved{}.instances("postgres@anchor", "pg@anchor"), "board"},
		"both ends":              {"gitea@office", "pg@hub", nodesMoved("board", "office", "anchor", "hub").instances("postgres@hub", "pg@hub"), "office"},
		"nodes swap":             {"gitea@anchor", "postgres@board", nodesMoved("board", "anchor", "anchor", "board"), "anchor"},
		"swap, then instance":    {"forge@anchor", "postgres@board", nodesMoved("board", "anchor", "anchor", "board").instances("gitea@anchor", "forge@anchor"), "anchor"},
		"chain of two":           {"gitea@anchor", "postgres@hub", nodesMoved("board", "anchor", "anchor", "hub"), "anchor"},
		"a name between":         {"gitea@office", "postgres@anchor", nodesMoved("board", "desk", "desk", "office"), "office"},
		"instance between":       {"forge@board", "postgres@anchor", Moved{}.instances("gitea@board", "git@board", "git@board", "forge@board"), "board"},
		"instance to other node": {"gitea@cabin", "postgres@anchor", Moved{}.instances("gitea@board", "gitea@cabin"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := after(c.gitea, c.postgres, c.moved)
			g, p := instanceOf(c.gitea), instanceOf(c.postgres)
			old := before()
			for _, h := range []History{{}, {Head: before()}, {Head: before(), FirstParent: before()}} {
				s, out := accept(t, d, old, h)
				if string(old.Bytes()) != string(before().Bytes()) {
					t.Fatal("the old lock changed")
				}
				if s.Ports[addr.Listen{Instance: g, Name: "http"}].From != 20311 || s.Ports[addr.Listen{Instance: p, Name: "postgres"}].From != 20412 {
					t.Errorf("ports %v", ports(s))
				}
				if s.Logins[d.Logins[0].Pair] != "gitea_board" {
					t.Errorf("logins %v", s.Logins)
				}
				if c.board != "" && s.Addresses[c.board].String() != "10.86.0.7" {
					t.Errorf("addresses %v", s.Addresses)
				}
				want := before()
				credential, need := "credential "+d.Logins[0].Pair.String(), "need "+string(g.Node)+"/"+g.Name+"/secret-key"
				if len(out.Secrets) != 2 || out.Secrets[credential].Generation != 2 || out.Secrets[need].Generation != 1 {
					t.Fatalf("secrets %v", out.Secrets)
				}
				if got := out.Secrets[credential]; !slices.ContainsFunc(got.Ends, func(e lock.End) bool {
					return e.Role == "consumer" && e.Holder == c.gitea && e.Blob == "board/x.age"
				}) || !slices.ContainsFunc(got.Ends, func(e lock.End) bool {
					return e.Role == "provider" && e.Holder == c.postgres && e.Blob == "anchor/x.age"
				}) {
					t.Errorf("ends %v", got.Ends)
				}
				// What its blobs say it is sealed for stays the same.
				if got := out.Secrets[credential].Sealed; credential != "credential postgres@anchor database gitea@board" && got != "credential postgres@anchor database gitea@board" {
					t.Errorf("sealed as %q", got)
				}
				if len(out.Ports) != len(want.Ports) || len(out.Logins) != len(want.Logins) {
					t.Errorf("left over:\n%s", out.Bytes())
				}
				// CI has a lock by the new names, and nothing to do.
				accept(t, d.in(Locked), out, History{Head: out})
			}
			// Until then a locked build is refused.
			_, _, faults := Settle(d.in(Locked), before(), History{})
			if len(faults) == 0 || slices.ContainsFunc(faults, func(f diag.Diagnostic) bool {
				return f.Code != diag.MovePending && (c.board != "" || f.Code != diag.NotSettled)
			}) {
				t.Errorf("locked: %v", faults)
			}
		})
	}
}

// PRT-8: two that swapped names are not swapped back, and once more only when they are said to have been again.
func TestSwapOnce(t *testing.T) {
	swap := nodesMoved("board", "anchor", "anchor", "board")
	lk := locked(map[string]int{"board/x/y": 20001, "anchor/x/y": 20002})
	d := want("board/x/y", "anchor/x/y")
	d.Moved = swap
	s, swapped := accept(t, d, lk, History{Head: lk})
	if p := ports(s); p["board/x/y"] != "20002" || p["anchor/x/y"] != "20001" {
		t.Fatalf("got %v", p)
	}
	if got := changes(s); got != "port anchor/x/y: 20001 to 20001: carried over from board/x/y\nport board/x/y: 20002 to 20002: carried over from anchor/x/y\n" {
		t.Errorf("changes\n%s", got)
	}
	// The file says so, and a reader of it knows.
	reread, faults := lock.Read(lock.File, swapped.Bytes())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	s, _ = accept(t, d, reread, History{Head: swapped})
	if p := ports(s); p["board/x/y"] != "20002" {
		t.Errorf("swapped back: %v", p)
	}
	// The line goes, later it comes again.
	d.Moved = Moved{}
	_, plain := accept(t, d, reread, History{})
	if len(plain.Moved) > 0 {
		t.Errorf("still recorded: %v", plain.Moved)
	}
	d.Moved = swap
	s, _ = accept(t, d, plain, History{})
	if p := ports(s); p["board/x/y"] != "20001" {
		t.Errorf("not swapped again: %v", p)
	}
	if f := refuseAll(t, d.in(Locked), lk, History{}); len(f) != 2 || f[0].Code != diag.MovePending || f[0].Help != "meshc lock" {
		t.Errorf("locked: %v", f)
	}
}

func refuseAll(t *testing.T, d Demand, lk *lock.Lock, h History) diag.List {
	t.Helper()
	_, _, faults := Settle(d, lk, h)
	return faults
}

// PRT-8: instances that swap names, on one node and on two.
func TestInstancesSwap(t *testing.T) {
	for _, pair := range [][2]string{{"a@n", "b@n"}, {"a@n", "a@m"}, {"a@n", "b@m"}} {
		a, b := addr.Listen{Instance: instanceOf(pair[0]), Name: "x"}, addr.Listen{Instance: instanceOf(pair[1]), Name: "x"}
		lk := locked(map[string]int{a.String(): 20001, b.String(): 20002})
		d := want(a.String(), b.String())
		d.Moved = Moved{}.instances(pair[0], pair[1], pair[1], pair[0])
		s, _ := accept(t, d, lk, History{})
		if s.Ports[a].From != 20002 || s.Ports[b].From != 20001 {
			t.Errorf("%v: %v", pair, ports(s))
		}
	}
}

// PRT-8: what comes in by the old name later, as from a branch that was made before, is carried over too.
func TestMovedLate(t *testing.T) {
	d := want("office/gitea/http", "office/late/http")
	d.Moved = nodesMoved("board", "office")
	s, _ := accept(t, d, locked(map[string]int{"office/gitea/http": 20311, "board/late/http": 20500}), History{})
	if p := ports(s); p["office/gitea/http"] != "20311" || p["office/late/http"] != "20500" {
		t.Errorf("got %v", p)
	}
}

// PRT-8: the same where it was a swap once, and nobody took over the old name for long.
func TestMovedLateAfterASwap(t *testing.T) {
	d := want("office/late/http")
	d.Moved = nodesMoved("board", "office")
	lk := locked(map[string]int{"board/late/http": 20500})
	lk.Moved["node board"] = "office"
	s, out := accept(t, d, lk, History{})
	if ports(s)["office/late/http"] != "20500" || len(out.Moved) > 0 {
		t.Errorf("got\n%s", out.Bytes())
	}
}

// PRT-8: who forgot to say it, and built, has the old numbers back by saying it.
func TestMovedSaidAfterwards(t *testing.T) {
	d := want("office/gitea/http")
	_, lk := accept(t, d, locked(map[string]int{"board/gitea/http": 20311}), History{})
	if lk.Ports[listenOf("office/gitea/http")] == 20311 {
		t.Fatal("it has it anyway")
	}
	d.Moved = nodesMoved("board", "office")
	s, out := accept(t, d, lk, History{})
	if ports(s)["office/gitea/http"] != "20311" || len(out.Ports) != 1 {
		t.Errorf("got\n%s", out.Bytes())
	}
}

// PRT-8: an instance that comes to another machine gives way to who has its number there.
func TestMovedWhereItsNumberIsTaken(t *testing.T) {
	d := want("cabin/gitea/http", "cabin/old/http")
	d.Moved = Moved{}.instances("gitea@board", "gitea@cabin")
	lk := locked(map[string]int{"board/gitea/http": 20311, "cabin/old/http": 20311})
	s, _ := accept(t, d, lk, History{Head: lk})
	if p := ports(s); p["cabin/old/http"] != "20311" || p["cabin/gitea/http"] == "20311" {
		t.Errorf("got %v", p)
	}
	d = want("cabin/gitea/http").with(fixedListen("cabin/fixed/http", 20311, "tcp", ""))
	d.Moved = Moved{}.instances("gitea@board", "gitea@cabin")
	s, _ = accept(t, d, locked(map[string]int{"board/gitea/http": 20311}), History{})
	if p := ports(s); p["cabin/gitea/http"] == "20311" {
		t.Errorf("got %v", p)
	}
	// On the same machine that is a bad merge, as ever.
	d = want("board/forge/http", "board/old/http")
	d.Moved = Moved{}.instances("gitea@board", "forge@board")
	refuse(t, d, locked(map[string]int{"board/gitea/http": 20311, "board/old/http": 20311}), History{}, diag.PortShared)
}

// PRT-1: what an instance had on the machine that it left is given up there.
func TestMovedAwayIsGivenUp(t *testing.T) {
	free, _ := accept(t, want("board/new/http"), nil, History{})
	n := free.Ports[listenOf("board/new/http")].From
	d := want("cabin/gitea/http", "board/new/http")
	d.Moved = Moved{}.instances("gitea@board", "gitea@cabin")
	lk := locked(map[string]int{"board/gitea/http": n})
	for _, h := range []History{{}, {Head: lk}} {
		s, out, faults := Settle(d, lk, h)
		if p := s.Ports; len(faults) > 0 || p[listenOf("cabin/gitea/http")].From != n || p[listenOf("board/new/http")].From != n+1 {
			t.Errorf("got %v, %v", ports(s), faults)
		}
		accept(t, d, out, h)
	}
}

// PRT-9: what HEAD has by the old name is not lost.
func TestMovedIsNotLost(t *testing.T) {
	d := after("gitea@office", "postgres@anchor", nodesMoved("board", "office"))
	_, out := accept(t, d, before(), History{Head: before()})
	delete(out.Ports, listenOf("office/gitea/http"))
	refuse(t, d, out, History{Head: before()}, diag.EntryLost, "port office/gitea/http")
}

// PRT-8: a move whose old name still exists is refused, or whose new one does not.
func TestMovesRefused(t *testing.T) {
	base := func() Demand {
		return want("board/gitea/http", "office/gitea/http", "office/forge/http", "anchor/postgres/x")
	}
	for _, c := range []struct {
		moved Moved
		code  diag.Code
		says  string
	}{
		{nodesMoved("board", "office"), diag.MovedStillThere, "node board is still there, so it cannot have become office"},
		{nodesMoved("desk", "ofice"), diag.MovedToNobody, "there is no node ofice that desk could have become; did you mean office?"},
		{nodesMoved("desk", "office", "table", "office"), diag.MovedTangled, "desk and table cannot both have become office"},
		{nodesMoved("desk", "office", "desk", "board"), diag.MovedTangled, "desk is moved twice"},
		{nodesMoved("board", "board"), diag.MovedTangled, "board is moved to itself"},
		{Moved{}.instances("gitea@office", "forge@office"), diag.MovedStillThere, "instance gitea@office is still there"},
		{Moved{}.instances("git@office", "forg@office"), diag.MovedToNobody, "there is no instance forg@office that git@office could have become; did you mean forge@office"},
		{Moved{}.instances("git", "forge@office"), diag.MoveMalformed, `"git" in moved.instances`},
		{Moved{}.instances("git@office", "forge"), diag.MoveMalformed, `"forge" in moved.instances`},
		{Moved{}.instances("a@office", "forge@office", "b@office", "forge@office"), diag.MovedTangled, "a@office and b@office"},
	} {
		d := base()
		d.Moved = c.moved
		if f := refuse(t, d, nil, History{}, c.code, c.says); !f.At.IsValid() {
			t.Errorf("%s has no place", c.code)
		}
	}
	// A circle through names that nobody has.
	d := base()
	d.Moved = nodesMoved("x", "y", "y", "x")
	for _, f := range refuseAll(t, d, nil, History{}) {
		if f.Code != diag.MovedToNobody {
			t.Errorf("got %v", f)
		}
	}
	// Accepted: what is nowhere any more may be said to have become what is there.
	d.Moved = nodesMoved("desk", "office").instances("git@board", "gitea@board")
	accept(t, d, nil, History{})
}

// PRT-8: of two that come to one name, through a chain of moves, the later has it.
func TestChainIntoOne(t *testing.T) {
	d := want("c/x/y")
	d.Moved = nodesMoved("a", "b", "b", "c")
	s, out := accept(t, d, locked(map[string]int{"a/x/y": 20001, "b/x/y": 20002}), History{})
	if ports(s)["c/x/y"] != "20002" || len(out.Ports) != 1 {
		t.Errorf("got\n%s", out.Bytes())
	}
}

func TestMovesDoNotDependOnOrder(t *testing.T) {
	d := after("forge@anchor", "postgres@board", nodesMoved("board", "anchor", "anchor", "board").instances("gitea@anchor", "forge@anchor"))
	s, out := accept(t, d, before(), History{})
	slices.Reverse(d.Moved.Nodes)
	slices.Reverse(d.Listens)
	slices.Reverse(d.Instances)
	again, same := accept(t, d, before(), History{})
	if string(out.Bytes()) != string(same.Bytes()) || !maps.Equal(s.Ports, again.Ports) || !slices.Equal(s.Changes, again.Changes) {
		t.Errorf("got\n%s\nand\n%s", out.Bytes(), same.Bytes())
	}
}
