package settle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
)

// PRT-1: the first choice depends on the names of instance and listen, not on the node.
func TestOneNumberNearlyEverywhere(t *testing.T) {
	s, lk := accept(t, want("anchor/gitea/http", "board/gitea/http", "board/gitea/ssh", "cabin/gitea/ssh"), nil, History{})
	p := ports(s)
	if p["anchor/gitea/http"] != p["board/gitea/http"] || p["board/gitea/ssh"] != p["cabin/gitea/ssh"] || p["board/gitea/http"] == p["board/gitea/ssh"] {
		t.Errorf("got %v", p)
	}
	for k, r := range s.Ports {
		if r.From < 20000 || r.To > 29999 || lk.Ports[k] != r.From {
			t.Errorf("%s has %s, and %d in the lock", k, r, lk.Ports[k])
		}
	}
	// What is in locks everywhere depends on the choice: it never changes.
	if p["board/gitea/http"] != "29815" || p["board/gitea/ssh"] != "27568" {
		t.Errorf("another choice than ever: %v", p)
	}
}

// PRT-1: where the first choice is taken it is the next free one, and the pool goes round.
func TestNextFree(t *testing.T) {
	d := want("board/gitea/http")
	d.Pool = Range{20000, 20004}
	s, _ := accept(t, d, nil, History{})
	first := s.Ports[listenOf("board/gitea/http")].From
	lk := lock.New()
	for i := range 4 {
		// the first choice and all behind it are held, then those before it
		k := listenOf(fmt.Sprintf("board/other-%d/http", i))
		d = d.with(Listen{Listen: k, Protocol: "tcp", Port: 1})
		lk.Ports[k] = 20000 + (first-20000+i)%5
		s, _ := accept(t, d, lk, History{})
		if got, want := s.Ports[listenOf("board/gitea/http")].From, 20000+(first-20000+i+1)%5; got != want {
			t.Errorf("with %d held it has %d, wanted %d", i+1, got, want)
		}
	}
}

// PRT-1: what has a number keeps it, whatever the pool is now and whoever comes.
func TestKept(t *testing.T) {
	d := want("board/gitea/http", "board/a/b")
	s, _ := accept(t, d, locked(map[string]int{"board/gitea/http": 1234}), History{})
	if got := ports(s)["board/gitea/http"]; got != "1234" {
		t.Errorf("moved to %s", got)
	}
	if got := changes(s); !strings.HasPrefix(got, "port board/a/b:  to 2") || strings.Count(got, "\n") != 1 {
		t.Errorf("changes %s", got)
	}
}

// PRT-1: a range has numbers that follow each other, and holds all of them.
func TestRanges(t *testing.T) {
	media := Listen{Listen: listenOf("board/media/rtp"), Port: 40000, To: 40099, Protocol: "udp", At: at(3)}
	d := want().with(media)
	d.Pool = Range{20000, 20199}
	for i := range 100 {
		d = d.with(Listen{Listen: listenOf(fmt.Sprintf("board/other-%d/http", i)), Port: 80, Protocol: "tcp"})
	}
	s, lk := accept(t, d, nil, History{})
	r := s.Ports[media.Listen]
	if r.Size() != 100 || lk.Ports[media.Listen] != r.From || !(Range{20000, 20199}).Contains(r.To) {
		t.Errorf("the range is %s", r)
	}
	for k, o := range s.Ports {
		if k != media.Listen && o.Meets(r) {
			t.Errorf("%s has %s, within %s", k, o, r)
		}
	}

	// A range that grew stays where there is room, and moves in `meshc lock` where there is none.
	d = want("board/next/http").with(media)
	lk = locked(map[string]int{"board/media/rtp": 20000, "board/next/http": 20100})
	accept(t, d, lk, History{})
	d.Listens[1].To++
	refuse(t, d, lk, History{}, diag.PortShared, "board/media/rtp and board/next/http both hold port 20100 of board")
	relocked(t, d, lk, History{})
	lk = locked(map[string]int{"board/media/rtp": 65436})
	accept(t, want().with(media), lk, History{})
	media.To++
	refuse(t, want().with(media), lk, History{}, diag.PortMoves, "board/media/rtp has to move from 65436-65536: its range would end above 65535")
	relocked(t, want().with(media), lk, History{})
}

// PRT-1: a range that cannot be is refused.
func TestRangesThatCannotBe(t *testing.T) {
	l := Listen{Listen: listenOf("board/media/rtp"), Port: 40000, To: 39999, Protocol: "udp", At: at(3)}
	if f := refuse(t, want().with(l), nil, History{}, diag.RangeWrong, "from 40000 to 39999, which ends before it begins"); f.At != at(3) {
		t.Errorf("at %v", f.At)
	}
	l.To = 40010
	d := want().with(l)
	d.Pool = Range{20000, 20009}
	refuse(t, d, nil, History{}, diag.RangeWrong, "11 ports", "10 to be assigned")
	d.Pool.To++
	accept(t, d, nil, History{})
}

// PRT-1: the pool is a range of ports.
func TestPool(t *testing.T) {
	for _, pool := range []Range{{}, {29999, 20000}, {0, 10}, {65000, 65536}} {
		d := want("board/gitea/http")
		d.Pool = pool
		d.Nodes[0].Outgoing = Range{62000, 62000} // not what this is about
		if f := refuse(t, d, nil, History{}, diag.PoolWrong); f.At != at(1) || f.Help != "ports: {from: 20000, to: 29999}" {
			t.Errorf("%v: %+v", pool, f)
		}
	}
	d := want("board/gitea/http")
	d.Pool = Range{20000, 20000}
	accept(t, d, nil, History{})
}

// PRT-1: a number that was given up is not handed to another owner in the same step.
func TestGivenUp(t *testing.T) {
	s, _ := accept(t, want("board/gitea/http"), nil, History{})
	n := s.Ports[listenOf("board/gitea/http")].From

	t.Run("pruned", func(t *testing.T) {
		d := want("board/gitea/http")
		d.Mode = Mode{Step: Relock, Prune: true}
		lk := locked(map[string]int{"board/old/http": n})
		s, out, faults := Settle(d, lk, History{Head: lk})
		if len(faults) > 0 || len(out.Ports) != 1 || s.Ports[listenOf("board/gitea/http")].From != n+1 {
			t.Errorf("got %v, %v", ports(s), faults)
		}
	})
	t.Run("pruned and not committed", func(t *testing.T) {
		d, head := want("board/gitea/http"), locked(map[string]int{"board/old/http": n})
		s, _ := accept(t, d, lock.New(), History{Head: head})
		if s.Ports[listenOf("board/gitea/http")].From != n+1 {
			t.Errorf("got %v", ports(s))
		}
		s, _ = accept(t, d, lock.New(), History{Head: lock.New()})
		if s.Ports[listenOf("board/gitea/http")].From != n {
			t.Errorf("after the commit: %v", ports(s))
		}
	})
	t.Run("reserved", func(t *testing.T) {
		// other holds gitea's first choice, and has to leave it for a reservation of udp alone
		d := want("board/gitea/http").with(Listen{Listen: listenOf("board/other/dns"), Port: 53, Protocol: "udp"}).in(Relock)
		d.reserve(t, "board", fmt.Sprintf("%d/udp", n), "the scanner")
		s, _ := accept(t, d, locked(map[string]int{"board/other/dns": n}), History{})
		if p := s.Ports; p[listenOf("board/gitea/http")].From == n || p[listenOf("board/other/dns")].From == n {
			t.Errorf("got %v", ports(s))
		}
	})
	t.Run("on another machine", func(t *testing.T) {
		d, lk := want("board/gitea/http"), locked(map[string]int{"anchor/old/http": n})
		d.Mode = Mode{Step: Relock, Prune: true}
		s, _, _ := Settle(d, lk, History{Head: lk})
		if s.Ports[listenOf("board/gitea/http")].From != n {
			t.Errorf("got %v", ports(s))
		}
	})
	t.Run("to who had it", func(t *testing.T) {
		d := want("board/gitea/http")
		d.Mode = Mode{Step: Relock, Remake: true}
		s, _ := accept(t, d, lock.New(), History{Head: locked(map[string]int{"board/gitea/http": n})})
		if s.Ports[listenOf("board/gitea/http")].From != n {
			t.Errorf("got %v", ports(s))
		}
	})
}

// PRT-1: a number that two gave up is neither's, so that the order shows nowhere.
func TestGivenUpByTwo(t *testing.T) {
	for i := range 10 {
		a, b := fmt.Sprintf("board/a%d/x", i), fmt.Sprintf("board/b%d/x", i)
		d := want(a, b)
		d.Pool = Range{20000, 20002}
		d.Mode = Mode{Step: Relock, Remake: true}
		s, _ := accept(t, d, lock.New(), History{Head: locked(map[string]int{a: 20001, b: 20001})})
		if p := ports(s); p[a] == "20001" || p[b] == "20001" {
			t.Errorf("got %v", p)
		}
	}
}

// PRT-1: a pool without room is refused, and pruning makes room in two steps.
func TestPoolFull(t *testing.T) {
	d := want("board/a/x", "board/b/x", "board/c/x")
	d.Pool = Range{20000, 20001}
	f := refuse(t, d, nil, History{}, diag.PoolFull, "no port from 20000-20001 is left on board for c/x")
	if f.Help != "" || f.At != at(1) || f.Also[0].At != at(102) {
		t.Errorf("got %+v", f)
	}

	lk := locked(map[string]int{"board/a/x": 20000, "board/old/x": 20001})
	d = want("board/a/x", "board/b/x")
	d.Pool = Range{20000, 20001}
	h := History{Head: lk}
	f = refuse(t, d, lk, h, diag.PoolFull, "1 that nobody owns are kept in the lock")
	if f.Help != "meshc lock --prune" {
		t.Fatalf("help %q", f.Help)
	}
	d.Mode = Mode{Step: Relock, Prune: true}
	f = refuse(t, d, lk, h, diag.RoomLater, "free after the next")
	if !strings.HasSuffix(f.Help, "\nmeshc lock") {
		t.Fatalf("help %q", f.Help)
	}
	_, lk, _ = Settle(d, lk, h)
	d.Mode = Mode{Step: Relock}
	refuse(t, d, lk, h, diag.PoolFull, "free after the next") // nothing was committed
	accept(t, d, lk, History{Head: lk})
}

// PRT-6: a lock in which two hold one number is refused, naming both; `lock` moves the
// one that the first parent did not have, else the greater name.
func TestBadMerge(t *testing.T) {
	d := want("board/gitea/http", "board/forge/http")
	lk := locked(map[string]int{"board/gitea/http": 20311, "board/forge/http": 20311})
	src := lk.Bytes()
	lk, _ = lock.Read(lock.File, src)

	f := refuse(t, d, lk, History{}, diag.PortShared, "board/forge/http and board/gitea/http both hold port 20311 of board")
	if f.Help != "meshc lock" || f.At.Line != 4 || f.Also[0].At.Line != 3 {
		t.Errorf("got %+v", f)
	}
	refuse(t, d.in(Locked), lk, History{}, diag.PortShared)

	s, _ := relocked(t, d, lk, History{})
	if p := ports(s); p["board/forge/http"] != "20311" || p["board/gitea/http"] == "20311" {
		t.Errorf("without a first parent the greater name moves: %v", p)
	}
	if got := changes(s); !strings.Contains(got, "port board/gitea/http: 20311 to 2") || !strings.Contains(got, "gave way to board/forge/http") {
		t.Errorf("changes %s", got)
	}
	parent := locked(map[string]int{"board/gitea/http": 20311})
	s, _ = relocked(t, d, lk, History{Head: parent, FirstParent: parent})
	if p := ports(s); p["board/gitea/http"] != "20311" || p["board/forge/http"] == "20311" {
		t.Errorf("the first parent's moved: %v", p)
	}
	// It had forge too, with another number: that is not what the lock has now.
	parent.Ports[listenOf("board/forge/http")] = 20400
	s, _ = relocked(t, d, lk, History{FirstParent: parent})
	if p := ports(s); p["board/gitea/http"] != "20311" {
		t.Errorf("the first parent's moved: %v", p)
	}
	// Who is in the mesh keeps it before who is not.
	s, out := relocked(t, want("board/gitea/http"), lk, History{FirstParent: locked(map[string]int{"board/forge/http": 20311})})
	if _, there := out.Ports[listenOf("board/forge/http")]; there || ports(s)["board/gitea/http"] != "20311" {
		t.Errorf("got\n%s", out.Bytes())
	}
	// On two machines one number is no fault.
	accept(t, want("board/gitea/http", "anchor/gitea/http"), locked(map[string]int{"board/gitea/http": 20311, "anchor/gitea/http": 20311}), History{})
}

// PRT-6: of three that hold one number, two move.
func TestBadMergeOfThree(t *testing.T) {
	d := want("b/x/a", "b/x/b", "b/x/c")
	lk := locked(map[string]int{"b/x/a": 20311, "b/x/b": 20311, "b/x/c": 20311})
	if _, _, faults := Settle(d, lk, History{}); len(faults) != 2 {
		t.Errorf("got %v", faults)
	}
	s, _ := relocked(t, d, lk, History{})
	if len(slices.Compact(slices.Sorted(maps.Values(ports(s))))) != 3 {
		t.Errorf("got %v", ports(s))
	}
}

// PRT-5: reserving a number that the mesh assigned moves the assignment, in the next `lock`.
func TestReservedMoves(t *testing.T) {
	d := want("board/gitea/http")
	lk := locked(map[string]int{"board/gitea/http": 20311})
	d.reserve(t, "board", "20300-20400", "the scanner")
	f := refuse(t, d, lk, History{}, diag.PortMoves, "board/gitea/http has to move from 20311: 20300-20400 is reserved on board: the scanner")
	if f.At != at(50) || f.Help != "meshc lock" || f.Also[0].At.File != lock.File || f.Also[1].At != at(100) {
		t.Errorf("got %+v", f)
	}
	refuse(t, d.in(Locked), lk, History{}, diag.PortMoves)
	s, _ := relocked(t, d, lk, History{})
	if r := s.Ports[listenOf("board/gitea/http")]; r.From >= 20300 && r.From <= 20400 {
		t.Errorf("moved to %s", r)
	}
	if got := changes(s); !strings.Contains(got, "port board/gitea/http: 20311 to 2") || !strings.Contains(got, "20300-20400 is reserved on board: the scanner") {
		t.Errorf("changes %s", got)
	}
}

// PRT-5: reserved ports are never assigned, one address or one protocol of them neither.
func TestReservedIsNotAssigned(t *testing.T) {
	d := want("board/gitea/http")
	s, _ := accept(t, d, nil, History{})
	n := s.Ports[listenOf("board/gitea/http")].From
	for _, key := range []string{"%d", "%d/udp", "127.0.0.9:%d/tcp"} {
		d := want("board/gitea/http")
		d.reserve(t, "board", fmt.Sprintf(key, n), "the scanner")
		s, _ := accept(t, d, nil, History{})
		if got := s.Ports[listenOf("board/gitea/http")].From; got != n+1 {
			t.Errorf("%s: assigned %d", key, got)
		}
	}
	// What has the number already and does not meet the reservation stays.
	d.reserve(t, "board", fmt.Sprintf("%d/udp", n), "the scanner")
	accept(t, d, locked(map[string]int{"board/gitea/http": n}), History{})
}

// PRT-5: what was assigned moves for a fixed listen and a mapping too, since these cannot.
func TestAssignedMovesForWhatCannot(t *testing.T) {
	lk := locked(map[string]int{"board/gitea/http": 20311})
	d := want("board/gitea/http").with(fixedListen("board/web/http", 20311, "tcp", ""))
	refuse(t, d, lk, History{}, diag.PortMoves, "web/http takes 20311/tcp on board")
	relocked(t, d, lk, History{})
	d.Listens[1].Protocol = "udp"
	accept(t, d, lk, History{})

	d = want("board/gitea/http").running(instanceOf("web@board"))
	d.Mappings = []Mapping{{Node: "board", Resource: resourceOf("web/container.server"), Address: "127.0.0.1", Port: 20311, Protocol: "tcp", At: at(9)}}
	refuse(t, d, lk, History{}, diag.PortMoves, "web/container.server takes 127.0.0.1:20311/tcp on board")
	relocked(t, d, lk, History{})
}

// A listen that is fixed now needs no entry; what it had is kept until it is pruned.
func TestFixedNow(t *testing.T) {
	lk := locked(map[string]int{"board/web/http": 20311})
	s, out := accept(t, want().with(fixedListen("board/web/http", 80, "tcp", "")), lk, History{})
	if ports(s)["board/web/http"] != "80" || out.Ports[listenOf("board/web/http")] != 20311 {
		t.Errorf("got %v and\n%s", ports(s), out.Bytes())
	}
	s, _ = accept(t, want("board/web/http"), out, History{})
	if ports(s)["board/web/http"] != "20311" {
		t.Errorf("got %v", ports(s))
	}
	// Nobody listens there meanwhile, so another may be fixed to it.
	accept(t, want().with(fixedListen("board/web/http", 80, "tcp", "")).with(fixedListen("board/other/http", 20311, "tcp", "")), out, History{})
}
