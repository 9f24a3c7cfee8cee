package settle

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
)

func resourceOf(s string) addr.Resource { return must(addr.ParseResource(s)) }

// PRT-3: tcp and udp are two, a wildcard meets every address, two addresses do not meet, ranges overlap.
// O16: one number for tcp and udp. O17: wildcards. O19: ranges.
func TestFixed(t *testing.T) {
	type one struct {
		port, to          int
		protocol, address string
	}
	for _, c := range []struct {
		a, b  one
		meets bool
	}{
		{one{443, 0, "tcp", ""}, one{443, 0, "udp", ""}, false},
		{one{443, 0, "tcp", ""}, one{443, 0, "tcp", ""}, true},
		{one{443, 0, "tcp", ""}, one{444, 0, "tcp", ""}, false},
		{one{53, 0, "udp", "10.0.0.2"}, one{53, 0, "udp", "10.0.0.3"}, false},
		{one{53, 0, "udp", "10.0.0.2"}, one{53, 0, "udp", "10.0.0.2"}, true},
		{one{53, 0, "udp", "10.0.0.2"}, one{53, 0, "udp", ""}, true},
		{one{53, 0, "udp", "10.0.0.2"}, one{53, 0, "udp", "0.0.0.0"}, true},
		{one{53, 0, "udp", "10.0.0.2"}, one{53, 0, "udp", "::"}, true},
		{one{53, 0, "udp", "0.0.0.0"}, one{53, 0, "udp", "::"}, true},
		{one{53, 0, "udp", "0.0.0.0"}, one{53, 0, "udp", "0.0.0.0"}, true},
		{one{53, 0, "udp", "0.0.0.0"}, one{53, 0, "udp", "fd00::1"}, false},
		{one{53, 0, "udp", "::"}, one{53, 0, "udp", "fd00::1"}, true},
		{one{53, 0, "udp", ""}, one{53, 0, "udp", "fd00::1"}, true},
		{one{53, 0, "udp", "fd00::1"}, one{53, 0, "udp", "fd00:0::1"}, true},
		{one{53, 0, "udp", "fd00::1"}, one{53, 0, "udp", "fd00::2"}, false},
		{one{53, 0, "udp", "::ffff:10.0.0.2"}, one{53, 0, "udp", "10.0.0.2"}, true},
		{one{53, 0, "udp", "fe80::1%eth0"}, one{53, 0, "udp", "fe80::1%eth1"}, false},
		{one{53, 0, "udp", "fe80::1%eth0"}, one{53, 0, "udp", "fe80::1"}, true},
		{one{10000, 10999, "udp", ""}, one{10152, 11609, "udp", ""}, true},
		{one{10000, 10999, "udp", ""}, one{10500, 0, "udp", ""}, true},
		{one{10500, 0, "udp", ""}, one{10000, 10999, "udp", ""}, true},
		{one{10000, 10999, "udp", ""}, one{10999, 0, "udp", ""}, true},
		{one{10000, 10999, "udp", ""}, one{11000, 0, "udp", ""}, false},
		{one{10000, 10999, "udp", ""}, one{10500, 0, "tcp", ""}, false},
	} {
		listen := func(s string, o one) Listen {
			l := fixedListen(s, o.port, o.protocol, o.address)
			l.To = o.to
			return l
		}
		// Reading the one first or the other is the same.
		for _, d := range []Demand{
			want().with(listen("board/a/x", c.a)).with(listen("board/b/x", c.b)),
			want().with(listen("board/b/x", c.b)).with(listen("board/a/x", c.a)),
			want().with(listen("board/a/x", c.b)).with(listen("board/b/x", c.a)),
		} {
			_, _, faults := Settle(d, nil, History{})
			if c.meets && (len(faults) != 1 || faults[0].Code != diag.PortTaken) || !c.meets && len(faults) > 0 {
				t.Errorf("%v and %v: %v", c.a, c.b, faults)
			}
		}
		// On two machines nobody meets.
		accept(t, want().with(listen("board/a/x", c.a)).with(listen("anchor/b/x", c.b)), nil, History{})
	}
}

// CLM-3: a fixed port that two take is refused, naming both.
func TestPortTaken(t *testing.T) {
	d := want().with(fixedListen("board/web/https", 443, "tcp", "")).with(fixedListen("board/proxy/https", 443, "tcp", "10.0.0.2"))
	d.Listens[0].At, d.Listens[1].At = at(7), at(8)
	f := refuse(t, d, nil, History{}, diag.PortTaken, "web/https takes 443/tcp on board, where proxy/https takes 10.0.0.2:443/tcp")
	if f.At != at(7) || f.Also[0].At != at(8) {
		t.Errorf("got %+v", f)
	}
	// Of three that meet, each later one is told once.
	d = d.with(fixedListen("board/third/https", 443, "tcp", ""))
	if _, _, faults := Settle(d, nil, History{}); len(faults) != 2 {
		t.Errorf("got %v", faults)
	}
	// Two of one instance cannot both bind it either.
	refuse(t, want().with(fixedListen("board/web/a", 443, "tcp", "")).with(fixedListen("board/web/b", 443, "tcp", "")), nil, History{}, diag.PortTaken)
}

// PRT-4: a mapping that an author wrote whole is a claim too.
func TestMappings(t *testing.T) {
	mapping := func(resource, address string, port, to int) Mapping {
		return Mapping{Node: "board", Resource: resourceOf(resource), Address: address, Port: port, To: to, Protocol: "tcp", At: at(port)}
	}
	d := want().with(fixedListen("board/web/http", 8080, "tcp", ""))
	d.Mappings = []Mapping{mapping("other/container.server", "127.0.0.1", 8000, 8080)}
	refuse(t, d, nil, History{}, diag.PortTaken, "other/container.server takes 127.0.0.1:8000-8080/tcp on board, where web/http takes 8080/tcp")
	d.Mappings = []Mapping{mapping("other/container.server", "127.0.0.1", 8000, 8079)}
	accept(t, d, nil, History{})
	// What an instance's listen declares, its container may map by hand.
	d.Mappings = []Mapping{mapping("web/container.server", "127.0.0.1", 8080, 0)}
	accept(t, d, nil, History{})
	d.Mappings = append(d.Mappings, mapping("web/container.other", "", 8080, 0))
	refuse(t, d, nil, History{}, diag.PortTaken, "web/container.server takes 127.0.0.1:8080/tcp on board, where web/container.other takes 8080/tcp")
	d.Mappings = []Mapping{mapping("other/container.server", "", 22, 0)}
	refuse(t, d, nil, History{}, diag.PortReserved, "other/container.server takes 22/tcp on board, where 22 is reserved: sshd")

	// It is never assigned to another.
	s, _ := accept(t, want("board/gitea/http"), nil, History{})
	n := s.Ports[listenOf("board/gitea/http")].From
	d = want("board/gitea/http")
	d.Mappings = []Mapping{mapping("web/container.server", "127.0.0.1", n, 0)}
	s, _ = accept(t, d, nil, History{})
	if s.Ports[listenOf("board/gitea/http")].From != n+1 {
		t.Errorf("got %v", ports(s))
	}
	d.Mappings[0].Address = "localhost"
	refuse(t, d, nil, History{}, diag.BindingWrong, `web/container.server on board binds "localhost"`)
}

// PRT-5: a fixed listen on a reserved port is refused with the reason; 22 is sshd's by default.
func TestReserved(t *testing.T) {
	d := want().with(fixedListen("board/store/main", 5432, "tcp", ""))
	accept(t, d, nil, History{})
	d.reserve(t, "board", "5000-6000/tcp", "the store that was here first")
	f := refuse(t, d, nil, History{}, diag.PortReserved, "store/main takes 5432/tcp on board, where 5000-6000/tcp is reserved: the store that was here first")
	if f.At != at(5432) || f.Also[0].At != at(50) || f.Help != "" {
		t.Errorf("got %+v", f)
	}
	d.Listens[0].Protocol = "udp"
	accept(t, d, nil, History{})

	// Whoever else takes it: the reason is what each is told.
	both := want().with(fixedListen("board/a/x", 5432, "tcp", "")).with(fixedListen("board/b/x", 5432, "tcp", ""))
	both.reserve(t, "board", "5432", "the store")
	_, _, faults := Settle(both, nil, History{})
	if len(faults) != 2 || faults[0].Code != diag.PortReserved || faults[1].Code != diag.PortReserved {
		t.Errorf("got %v", faults)
	}

	ssh := want().with(fixedListen("board/gitea/ssh", 22, "tcp", ""))
	f = refuse(t, ssh, nil, History{}, diag.PortReserved, "gitea/ssh takes 22/tcp on board, where 22 is reserved: sshd")
	if len(f.Also) > 0 {
		t.Errorf("a default stands nowhere: %+v", f)
	}
	ssh.reserve(t, "board", "2222", "sshd")
	s, _ := accept(t, ssh, nil, History{})
	if r := s.Reserved["board"]; len(r) != 1 || r[0].From != 2222 {
		t.Errorf("reserved %v", r)
	}
}

// O17: a wildcard meets the resolver that has 53 on one loopback address already; the help says how not to.
func TestWildcardAndSubstrate(t *testing.T) {
	d := want().with(fixedListen("board/dns/main", 53, "udp", "")).with(fixedListen("anchor/dns/main", 53, "udp", "10.0.0.2"))
	d.node(t, "board").Address = netip.MustParseAddr("10.86.0.7")
	d.reserve(t, "board", "127.0.0.53:53/udp", "the stub resolver")
	d.reserve(t, "anchor", "127.0.0.53:53/udp", "the stub resolver")
	f := refuse(t, d, nil, History{}, diag.PortReserved, "dns/main takes 53/udp on board, where 127.0.0.53:53/udp is reserved: the stub resolver")
	if f.Help != `listens: "main": address: in.node.address` {
		t.Errorf("help %q", f.Help)
	}
	// What the help says helps.
	d.Listens[0].Address = "10.86.0.7"
	accept(t, d, nil, History{})
	// It is not given where it would not.
	d.Listens[0].Address = ""
	d.reserve(t, "board", "53", "a name server")
	if _, _, faults := Settle(d, nil, History{}); len(faults) != 1 || faults[0].Help != "" {
		t.Errorf("got %v", faults)
	}
}

// PRT-3: what a listen binds is an address.
func TestBinding(t *testing.T) {
	for address, ok := range map[string]bool{
		"": true, "10.0.0.2": true, "fd00::1": true, "[fd00::1]": true, "fe80::1%eth0": true,
		"localhost": false, "eth0": false, "10.0.0": false, "10.0.0.2:53": false,
	} {
		d := want().with(fixedListen("board/dns/main", 53, "udp", address))
		if ok {
			accept(t, d, nil, History{})
			continue
		}
		refuse(t, d, nil, History{}, diag.BindingWrong, "dns/main on board binds", "no IPv4 or IPv6 address")
	}
}

// O18: a pool that reaches into the range for outgoing connections is a warning, for all nodes at once.
func TestPoolReachesOutgoing(t *testing.T) {
	d := want("anchor/a/b", "board/a/b", "cabin/a/b")
	d.Pool = Range{32000, 39999}
	d.node(t, "cabin").Outgoing = Range{40000, 50000}
	s, out, faults := Settle(d, nil, History{})
	if len(faults) != 1 || faults[0].Code != diag.PoolOutgoing || len(out.Ports) != 3 || len(s.Ports) != 3 {
		t.Fatalf("got %v", faults)
	}
	f := faults[0]
	if f.Message != "ports are assigned from 32000-39999, which reaches into 32768-60999, from which anchor, board take ports for outgoing connections" || f.At != at(1) {
		t.Errorf("got %+v", f)
	}
	if f.Help != "ports: {from: 32000, to: 32767}" {
		t.Errorf("help %q", f.Help)
	}
	d.Pool = Range{32000, 32767}
	accept(t, d, nil, History{})
	// A node whose range is all there is leaves nothing to offer.
	d.node(t, "cabin").Outgoing = Range{1024, 65000}
	if f := refuse(t, d, nil, History{}, diag.PoolOutgoing, "cabin takes ports"); f.Help != "" {
		t.Errorf("help %q", f.Help)
	}
}

// O18: a fixed claim inside the outgoing range is a warning.
func TestFixedInOutgoing(t *testing.T) {
	d := want().with(fixedListen("anchor/vpn/main", 51820, "udp", "")).with(fixedListen("board/vpn/main", 51820, "udp", ""))
	refuse(t, d, nil, History{}, diag.PortOutgoing, "vpn/main takes 51820/udp, which is in 32768-60999, from which anchor, board take ports for outgoing connections")
	// A module that keeps its port from outgoing connections itself has nothing to be warned of.
	d.Listens[0].Shielded, d.Listens[1].Shielded = true, true
	accept(t, d, nil, History{})
	d.Listens[0].Shielded, d.Listens[1].Shielded = false, false
	for i := range d.Nodes {
		d.Nodes[i].Outgoing = Range{60000, 60999}
	}
	accept(t, d, nil, History{})
	d.Listens[0].To = 60000
	refuse(t, d, nil, History{}, diag.PortOutgoing, "51820-60000/udp", "anchor takes")

	d = want("board/a/b")
	d.Mappings = []Mapping{{Node: "board", Resource: resourceOf("web/container.server"), Port: 40000, Protocol: "tcp", At: at(9)}}
	refuse(t, d, nil, History{}, diag.PortOutgoing, "web/container.server takes 40000/tcp")

	// What is left from when the pool reached there.
	refuse(t, want("board/a/b"), locked(map[string]int{"board/a/b": 40000}), History{}, diag.PortOutgoing, "a/b takes 40000/tcp")
}

// O19: a range of over a thousand ports that a container runtime maps one by one is a warning.
func TestWideRange(t *testing.T) {
	media := fixedListen("board/media/rtp", 10000, "udp", "")
	media.To, media.PerPort = 11000, true
	refuse(t, want().with(media), nil, History{}, diag.RangeWide, "the container of media/rtp has 1001 ports mapped one by one on board")
	media.To--
	accept(t, want().with(media), nil, History{})
	media.To, media.PerPort = 19999, false
	accept(t, want().with(media), nil, History{})
}

func TestParseReserved(t *testing.T) {
	for key, want := range map[string]string{
		"22": "22", "8000-8100": "8000-8100", "53/udp": "53/udp", "127.0.0.53:53/udp": "127.0.0.53:53/udp", "*:22": "22",
		"[::1]:631/tcp": "[::1]:631/tcp", "0.0.0.0:8000-8100": "0.0.0.0:8000-8100", "[FD00::1]:1": "[fd00::1]:1", "7-7": "7", "65535": "65535",
	} {
		r, err := ParseReserved(key, "because")
		if err != nil || reservedClaim(r).String() != want || r.Reason != "because" {
			t.Errorf("%q: %+v, %v", key, r, err)
		}
	}
	for key, says := range map[string]string{
		"": "no port", "0": "no port", "65536": "no port", "022": "no port", "ssh": "no port", "-5": "no port", "5-": "no port", " 22": "no port",
		"8100-8000": "ends before it begins", "53/sctp": "no protocol", "53/": "no protocol", "53/udp/tcp": "no protocol",
		"::1:53": "brackets", "eth0:53": "no address", "[eth0]:53": "no address", "[10.0.0.1]:53": "no address", ":53": "no address", "1.2.3.4:": "no port",
	} {
		if r, err := ParseReserved(key, "because"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %+v, %v", key, r, err)
		}
	}
	if _, err := ParseReserved("22", " "); err == nil {
		t.Error("reserved without a reason")
	}
}

// PRT-5: 22 is sshd's unless the node says otherwise.
func TestDefaults(t *testing.T) {
	for _, c := range []struct {
		key, reason string
		want        []string
	}{
		{"8080", "x", []string{"8080", "22"}},
		{"22", "our own ssh", []string{"22"}},
		{"20-30/tcp", "old things", []string{"20-30/tcp"}},
		{"2222", "sshd", []string{"2222"}},
	} {
		r := must(ParseReserved(c.key, c.reason))
		got := WithDefaults(WithDefaults(nil)[:0:0])
		if len(got) != 1 || got[0].Reason != "sshd" {
			t.Errorf("defaults %v", got)
		}
		var keys []string
		for _, p := range WithDefaults(WithDefaults([]plan.Reserved{r})) {
			keys = append(keys, reservedClaim(p).String())
		}
		if !slices.Equal(keys, c.want) {
			t.Errorf("%s: %v", c.key, keys)
		}
	}
}
