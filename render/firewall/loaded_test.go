//go:build linux

package firewall

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"meshc.dev/compiler/plan"
	"meshc.dev/render/wireguard/netns"
)

// CMP-5: nft itself takes every file.
func TestAccepted(t *testing.T) {
	if !netns.Possible(t, "nft") {
		return
	}
	files, err := filepath.Glob("testdata/*.nft")
	if err != nil || len(files) != len(goldens()) {
		t.Fatal(files, err)
	}
	n := netns.New(t)
	for _, f := range files {
		if out, err := n.Try("nft", "-c", "-f", f); err != nil {
			t.Errorf("%s: %v\n%s", f, err, out)
		}
	}
}

// lab is a machine with everything around it that a firewall has to tell apart.
type lab struct{ machine, outside, house, peer, container, behind, other *netns.Namespace }

func newLab(t *testing.T) lab {
	l := lab{netns.New(t), netns.New(t), netns.New(t), netns.New(t), netns.New(t), netns.New(t), netns.New(t)}
	for _, w := range []struct {
		name, here, there, gateway string
		to                         *netns.Namespace
	}{
		{"eth0", "203.0.113.7/24", "203.0.113.9/24", "203.0.113.7", l.outside},
		{"eth1", "192.168.1.2/24", "192.168.1.50/24", "192.168.1.2", l.house},
		{"wg0", "10.86.0.1/16", "10.86.0.2/16", "10.86.0.1", l.peer},
		{"podman0", "10.88.0.1/16", "10.88.0.2/16", "10.88.0.1", l.container},
		{"eth2", "10.13.0.1/24", "10.13.0.5/24", "10.13.0.1", l.behind},
		{"virbr0", "192.168.122.1/24", "192.168.122.2/24", "192.168.122.1", l.other},
	} {
		netns.Wire(l.machine, w.name, []string{w.here}, w.to, "uplink", []string{w.there})
		w.to.Run("ip", "route", "add", "default", "via", w.gateway)
	}
	l.machine.Run("ip", "address", "add", "2001:db8::7/64", "dev", "eth0", "nodad")
	l.outside.Run("ip", "address", "add", "2001:db8::9/64", "dev", "uplink", "nodad")
	l.machine.Set("net/ipv4/ip_forward", "1")
	// What the container runtime, and an administrator by hand, have redirected.
	l.machine.Run("nft", `table ip theirs {
		chain pre {
			type nat hook prerouting priority dstnat;
			ip daddr 10.86.0.1 tcp dport 20000 dnat to 10.88.0.2:5432
			fib daddr type local tcp dport 20311 dnat to 10.88.0.2:3000
			fib daddr type local tcp dport 20312 dnat to 10.88.0.2:2222
			fib daddr type local tcp dport 9090 dnat to 10.88.0.2:80
			fib daddr type local tcp dport 9080 dnat to 10.88.0.2:80
			fib daddr type local tcp dport 8001 dnat to 10.88.0.2:81
			fib daddr type local tcp dport { 9100, 9101, 9102 } dnat to 10.88.0.2:80
			fib daddr type local tcp dport { 9301, 9302 } dnat to 192.168.122.2:443
			fib daddr type local tcp dport 20700 dnat to 192.168.122.2:443
			ip daddr 203.0.113.7 tcp dport 4443 dnat to 192.168.122.2:443
		}
		chain in { type filter hook input priority 0; tcp dport 9998 drop; }
	}`)
	for _, address := range []string{":22", ":443", ":445", ":20400", ":20600", ":9999", ":8050", ":9443", ":9201", ":9202", ":9203"} {
		l.machine.Answer("tcp", address, "machine")
	}
	for _, address := range []string{":40001", ":51820", ":39999", ":53"} {
		l.machine.Answer("udp", address, "machine")
	}
	for _, address := range []string{":5432", ":3000", ":2222", ":80", ":81"} {
		l.container.Answer("tcp", address, "container")
	}
	l.outside.Answer("tcp", ":80", "outside")
	l.house.Answer("tcp", ":80", "house")
	l.peer.Answer("tcp", ":80", "peer")
	l.behind.Answer("tcp", ":80", "behind")
	l.other.Answer("tcp", ":443", "other")
	return l
}

// probe is a question, and who answers it where it is let through.
type probe struct {
	from             *netns.Namespace
	network, address string
	answer           string
	open             bool
}

func (l lab) probes() []probe {
	return []probe{
		// What arrives at the machine.
		{l.outside, "tcp", "203.0.113.7:22", "machine", true},
		{l.outside, "tcp", "[2001:db8::7]:22", "machine", true},
		{l.outside, "tcp", "203.0.113.7:443", "machine", true},
		{l.outside, "tcp", "[2001:db8::7]:443", "machine", true},
		{l.outside, "udp", "203.0.113.7:40001", "machine", true},
		{l.outside, "udp", "203.0.113.7:51820", "machine", true},
		{l.outside, "udp", "[2001:db8::7]:51820", "machine", true},
		{l.outside, "tcp", "203.0.113.7:8050", "machine", true},  // opened by a person
		{l.outside, "tcp", "203.0.113.7:9443", "machine", false}, // reserved, which opens nothing
		{l.peer, "tcp", "10.86.0.1:9443", "machine", false},
		{l.house, "tcp", "192.168.1.2:9443", "machine", false},
		{l.outside, "tcp", "203.0.113.7:9201", "machine", false}, // opened to a site
		{l.house, "tcp", "192.168.1.2:9201", "machine", true},
		{l.peer, "tcp", "10.86.0.1:9201", "machine", false},
		{l.outside, "tcp", "203.0.113.7:9202", "machine", false}, // opened to the network
		{l.outside, "tcp", "[2001:db8::7]:9202", "machine", false},
		{l.peer, "tcp", "10.86.0.1:9202", "machine", true},
		{l.house, "tcp", "192.168.1.2:9202", "machine", true},
		{l.outside, "tcp", "203.0.113.7:9203", "machine", false}, // opened to the machine
		{l.peer, "tcp", "10.86.0.1:9203", "machine", false},
		{l.container, "tcp", "10.88.0.1:9203", "machine", true},
		{l.outside, "udp", "203.0.113.7:39999", "machine", false},
		{l.outside, "tcp", "203.0.113.7:9999", "machine", false},
		{l.outside, "tcp", "[2001:db8::7]:9999", "machine", false},
		{l.outside, "tcp", "203.0.113.7:445", "machine", false},
		{l.outside, "tcp", "203.0.113.7:20400", "machine", false},
		{l.outside, "tcp", "203.0.113.7:20600", "machine", false},
		{l.outside, "udp", "203.0.113.7:53", "machine", false},
		{l.house, "tcp", "192.168.1.2:22", "machine", true},
		{l.house, "tcp", "192.168.1.2:445", "machine", true},
		{l.house, "tcp", "192.168.1.2:20400", "machine", true},
		{l.house, "udp", "192.168.1.2:53", "machine", true}, // opened at that address
		{l.house, "tcp", "10.86.0.1:20400", "machine", false},
		{l.house, "tcp", "192.168.1.2:20600", "machine", false},
		{l.house, "tcp", "192.168.1.2:9999", "machine", false},
		{l.peer, "tcp", "10.86.0.1:20400", "machine", true},
		{l.peer, "tcp", "10.86.0.1:22", "machine", true},
		{l.peer, "tcp", "10.86.0.1:9999", "machine", false},
		{l.peer, "tcp", "10.86.0.1:445", "machine", false},
		{l.peer, "tcp", "10.86.0.1:20600", "machine", false},
		{l.container, "tcp", "10.88.0.1:20600", "machine", true},
		{l.container, "tcp", "10.88.0.1:20400", "machine", true},
		{l.container, "udp", "10.88.0.1:53", "machine", true},
		{l.container, "tcp", "10.88.0.1:9999", "machine", false},
		{l.machine, "tcp", "203.0.113.7:9999", "machine", true},
		{l.machine, "tcp", "127.0.0.1:20600", "machine", true},

		// What the container runtime redirected.
		{l.outside, "tcp", "203.0.113.7:20312", "container", true},
		{l.outside, "tcp", "203.0.113.7:20311", "container", false},
		{l.outside, "tcp", "203.0.113.7:9080", "container", false}, // started by hand
		{l.outside, "tcp", "203.0.113.7:9090", "container", true},  // started by hand, and opened by a rule
		{l.outside, "tcp", "203.0.113.7:8001", "container", true},  // started by hand, and opened by a person
		{l.outside, "tcp", "203.0.113.7:9100", "container", false}, // to a site
		{l.house, "tcp", "192.168.1.2:9100", "container", true},
		{l.peer, "tcp", "10.86.0.1:9100", "container", false},
		{l.outside, "tcp", "203.0.113.7:9101", "container", false}, // to the network
		{l.peer, "tcp", "10.86.0.1:9101", "container", true},
		{l.outside, "tcp", "203.0.113.7:9102", "container", false}, // to the machine
		{l.peer, "tcp", "10.86.0.1:9102", "container", false},
		{l.outside, "tcp", "203.0.113.7:9301", "other", false}, // to a site, on a network that is not the runtime's own
		{l.house, "tcp", "192.168.1.2:9301", "other", true},
		{l.outside, "tcp", "203.0.113.7:9302", "other", false}, // to the network
		{l.peer, "tcp", "10.86.0.1:9302", "other", true},
		{l.outside, "tcp", "10.86.0.1:20000", "container", false},
		{l.house, "tcp", "10.86.0.1:20000", "container", false},
		{l.house, "tcp", "192.168.1.2:20311", "container", false},
		{l.house, "tcp", "192.168.1.2:20312", "container", true},
		{l.peer, "tcp", "10.86.0.1:20000", "container", true},
		{l.peer, "tcp", "10.86.0.1:20312", "container", true},
		{l.peer, "tcp", "10.86.0.1:20311", "container", false},
		{l.peer, "tcp", "10.86.0.1:9080", "container", false},
		{l.machine, "tcp", "10.88.0.2:3000", "container", true},

		// Into a container of ours on a network that is not the runtime's own.
		{l.peer, "tcp", "10.86.0.1:20700", "other", true},
		{l.outside, "tcp", "203.0.113.7:20700", "other", false},
		{l.behind, "tcp", "10.13.0.1:20700", "other", false},

		// Straight to a container, past what is published.
		{l.outside, "tcp", "10.88.0.2:3000", "container", false},
		{l.house, "tcp", "10.88.0.2:5432", "container", false},
		{l.peer, "tcp", "10.88.0.2:5432", "container", false},

		// What is forwarded otherwise.
		{l.container, "tcp", "203.0.113.9:80", "outside", true},
		{l.container, "tcp", "10.86.0.2:80", "peer", true},
		{l.container, "tcp", "10.13.0.5:80", "behind", true},
		{l.peer, "tcp", "10.13.0.5:80", "behind", true}, // a route
		{l.peer, "tcp", "192.168.1.50:80", "house", false},
		{l.peer, "tcp", "192.168.122.2:443", "other", false},
		{l.outside, "tcp", "203.0.113.7:4443", "other", true}, // redirected by an administrator
		{l.house, "tcp", "192.168.122.2:443", "other", true},
		{l.house, "tcp", "203.0.113.9:80", "outside", true},
		{l.behind, "tcp", "203.0.113.9:80", "outside", true},
	}
}

// ask sends all probes at once and says which are not answered as they are to be.
func ask(t *testing.T, probes []probe, want func(probe) bool) {
	t.Helper()
	var wg sync.WaitGroup
	for _, p := range probes {
		wg.Add(1)
		go func() {
			defer wg.Done()
			wait := 400 * time.Millisecond
			if want(p) {
				wait = 5 * time.Second
			}
			got := p.from.Ask(p.network, p.address, wait)
			if want(p) && got != p.answer {
				t.Errorf("%s %s, answered by %s: got %q", p.network, p.address, p.answer, got)
			} else if !want(p) && got != "" {
				t.Errorf("%s %s is to be closed: got %q", p.network, p.address, got)
			}
		}()
	}
	wg.Wait()
}

// CMP-5, BLD-8, O20: in a real network what is open is reached, the rest is not, 22 stays
// open, containers are reached only as far as their ports are open, and what is not ours is
// left alone.
func TestLoaded(t *testing.T) {
	if !netns.Possible(t, "nft") {
		return
	}
	l := newLab(t)
	p, n := anchor()
	n.Opens = append(n.Opens,
		plan.Open{Instance: "api", Name: "http", Port: 20600, To: 20600, Protocol: "tcp", From: "machine"},
		plan.Open{Instance: "store", Name: "web", Port: 9090, Protocol: "tcp", From: "world"},
		plan.Open{Instance: "app", Name: "http", Port: 20700, To: 20700, Protocol: "tcp", From: "network", Container: true, Inside: 443})
	b, ds := Table(p, n, plan.Computed{})
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	file := filepath.Join(t.TempDir(), "meshc.nft")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}

	// Without the table every question is answered, so that it is the table which closes.
	ask(t, l.probes(), func(probe) bool { return true })
	theirs := l.machine.Run("nft", "list", "table", "ip", "theirs")
	for range 2 { // loading it again replaces it
		l.machine.Run("nft", "-f", file)
	}
	ask(t, l.probes(), func(p probe) bool { return p.open })

	if got := l.machine.Run("nft", "list", "table", "ip", "theirs"); got != theirs {
		t.Errorf("another table was touched:\n%s\nbefore:\n%s", got, theirs)
	}
	if got := l.machine.Run("nft", "list", "tables"); got != "table ip theirs\ntable inet meshc\n" {
		t.Errorf("the tables are\n%s", got)
	}

	// A connection that is up stays up while the table is replaced.
	n.Opens = nil
	closed, _ := Table(p, n, plan.Computed{})
	if err := os.WriteFile(file, closed, 0o644); err != nil {
		t.Fatal(err)
	}
	l.machine.Run("nft", "-f", file)
	ask(t, []probe{
		{l.outside, "tcp", "203.0.113.7:22", "machine", true},
		{l.outside, "tcp", "203.0.113.7:443", "machine", false},
		{l.outside, "tcp", "203.0.113.7:20312", "container", false},
		{l.peer, "tcp", "10.86.0.1:20400", "machine", false},
	}, func(p probe) bool { return p.open })
}

// CMP-5: a firewall that is told to drops what is forwarded and has nothing to do with the
// mesh, and lets everything in from interfaces that are trusted.
func TestStrict(t *testing.T) {
	if !netns.Possible(t, "nft") {
		return
	}
	l := newLab(t)
	p, n := anchor()
	b, ds := Table(p, n, plan.Computed{Forward: "drop", Trusted: []string{"virbr*"}, Log: true})
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	file := filepath.Join(t.TempDir(), "meshc.nft")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	probes := []probe{
		{l.outside, "tcp", "203.0.113.7:22", "machine", true},
		{l.outside, "tcp", "203.0.113.7:20312", "container", true},
		{l.outside, "tcp", "203.0.113.7:9999", "machine", false},
		{l.other, "tcp", "192.168.122.1:9999", "machine", true},
		{l.other, "tcp", "203.0.113.9:80", "outside", true},
		{l.container, "tcp", "203.0.113.9:80", "outside", true},
		{l.peer, "tcp", "10.13.0.5:80", "behind", true},
		{l.house, "tcp", "203.0.113.9:80", "outside", false},
		{l.outside, "tcp", "203.0.113.7:4443", "other", false},
	}
	ask(t, probes, func(probe) bool { return true })
	l.machine.Run("nft", "-f", file)
	ask(t, probes, func(p probe) bool { return p.open })
}

// O26: connections through the tunnel agree on segments that fit into it, in both directions.
func TestClamp(t *testing.T) {
	if !netns.Possible(t, "nft") {
		return
	}
	l := newLab(t)
	p, n := anchor()
	b, _ := Table(p, n, plan.Computed{})
	file := filepath.Join(t.TempDir(), "meshc.nft")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	l.machine.Run("nft", "-f", file)
	const mss = "1372" // 1492 of the way out, less 80 of the tunnel, less 40 of IP and TCP
	// The counter sits behind the clamp, and counts what is larger than it may be.
	l.machine.Run("nft", `table ip watch {
		chain f {
			type filter hook forward priority 0;
			tcp flags & syn == syn tcp option maxseg size `+mss+` counter comment "clamped"
			tcp flags & syn == syn tcp option maxseg size != `+mss+` counter comment "larger"
		}
	}`)
	if got := l.container.Ask("tcp", "10.86.0.2:80", 5*time.Second); got != "peer" {
		t.Fatalf("got %q", got)
	}
	out := l.machine.Run("nft", "list", "table", "ip", "watch")
	if !strings.Contains(out, "counter packets 2 ") || !strings.Contains(out, "counter packets 0 ") {
		t.Errorf("the two SYN of one connection are to have %s:\n%s", mss, out)
	}
}

// BLD-6: whatever a person gives as a reason, the file is taken and the reason is in its comment.
func TestReasons(t *testing.T) {
	if !netns.Possible(t, "nft") {
		return
	}
	r := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{`"`, `\`, "*", "#", ";", "{", "}", "$x", "\n", "\r\n", "\t", "\x00", "ä", "日本", "\xff", " ", "a", "b", "'", "`", "@", "comment", "%", "\u2028"}
	reasons := []string{"", " ", "*", `\`, `\*`, `"`, `""; flush ruleset; "`, "x*", "\n", strings.Repeat("a", 127), strings.Repeat("a", 128), strings.Repeat("ä", 70), strings.Repeat("日", 100)}
	for len(reasons) < 200 {
		var s strings.Builder
		for range r.IntN(80) {
			s.WriteString(alphabet[r.IntN(len(alphabet))])
		}
		reasons = append(reasons, s.String())
	}
	ns := netns.New(t)
	got := map[int]string{}
	for at := 0; at < len(reasons); at += 50 { // without root nft cannot send much at once
		n := &plan.Node{Name: "anchor", Runtime: "podman", Admits: []plan.Admit{{Port: 22, To: 22, For: "sshd", From: []string{"world"}}}}
		for i, reason := range reasons[at : at+50] {
			n.Admits = append(n.Admits, plan.Admit{Port: 1000 + at + i, To: 1000 + at + i, Protocol: "tcp", For: reason, From: []string{"world"}})
		}
		b, ds := Table(&plan.Plan{Mesh: "home", Nodes: []*plan.Node{n}}, n, plan.Computed{})
		if len(ds) > 0 {
			t.Fatal(ds)
		}
		file := filepath.Join(t.TempDir(), "meshc.nft")
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
		ns.Run("nft", "-f", file)
		maps.Copy(got, comments(t, ns.Run("nft", "-j", "list", "chain", "inet", "meshc", "input")))
	}
	for i, reason := range reasons {
		if _, ok := got[1000+i]; !ok {
			t.Errorf("port %d is not open: %q", 1000+i, reason)
		}
	}
	if want := "open: " + strings.Repeat("a", 122); got[1000+10] != want {
		t.Errorf("a long reason: %q", got[1000+10])
	}
	if want := "open: ''; flush ruleset; '"; got[1000+6] != want {
		t.Errorf("a reason with quotes: %q", got[1000+6])
	}
}

// comments reads the comment of each rule for one port out of what nft lists.
func comments(t *testing.T, list string) map[int]string {
	t.Helper()
	var doc struct {
		Nftables []struct {
			Rule *struct {
				Comment string
				Expr    []struct {
					Match *struct{ Right json.RawMessage }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(list), &doc); err != nil {
		t.Fatal(err)
	}
	out := map[int]string{}
	for _, x := range doc.Nftables {
		if x.Rule == nil {
			continue
		}
		for _, e := range x.Rule.Expr {
			var port int
			if e.Match != nil && json.Unmarshal(e.Match.Right, &port) == nil {
				out[port] = x.Rule.Comment
			}
		}
	}
	return out
}

// DIA-5: no reason makes a comment that leaves its quotes or its length.
func FuzzComment(f *testing.F) {
	nft, err := exec.LookPath("nft")
	f.Add(`"; flush ruleset; "`)
	f.Add(strings.Repeat("日", 100))
	f.Fuzz(func(t *testing.T, s string) {
		c := comment(s)
		inner, ok := strings.CutPrefix(c, ` comment "`)
		inner, ok2 := strings.CutSuffix(inner, `"`)
		if !ok || !ok2 || strings.ContainsAny(inner, "\"\n\r\x00") || len(inner) > longestComment {
			t.Errorf("%q gives %q", s, c)
		}
		if err == nil && os.Geteuid() == 0 && len(s)%64 == 1 {
			rules := fmt.Sprintf("table inet t { chain c { tcp dport 1 accept%s\n}\n}\n", c)
			cmd := exec.Command(nft, "-c", "-f", "-")
			cmd.Stdin = strings.NewReader(rules)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%q: %v %s", s, err, out)
			}
		}
	})
}
