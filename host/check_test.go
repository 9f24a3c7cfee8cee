package host

import (
	"slices"
	"testing"
)

// HST-11: a foreign chain that drops what the bundle opens is found; one that accepts
// it, or jumps elsewhere, is not.
func TestForeignChains(t *testing.T) {
	chains, err := parseRuleset([]byte(`{"nftables": [
		{"metainfo": {"version": "1.0.6"}},
		{"table": {"family": "inet", "name": "filter"}},
		{"chain": {"family": "inet", "table": "filter", "name": "input", "type": "filter", "hook": "input", "prio": 0, "policy": "drop"}},
		{"chain": {"family": "inet", "table": "filter", "name": "output", "type": "filter", "hook": "output", "prio": 0, "policy": "drop"}},
		{"chain": {"family": "ip", "table": "ufw", "name": "input", "type": "filter", "hook": "input", "prio": 0, "policy": "drop"}},
		{"rule": {"family": "inet", "table": "filter", "chain": "input", "expr": [
			{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": {"set": [22, {"range": [8000, 8010]}]}}}, {"accept": null}]}},
		{"rule": {"family": "inet", "table": "filter", "chain": "input", "expr": [
			{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": 9}}, {"drop": null}]}},
		{"rule": {"family": "ip", "table": "ufw", "chain": "input", "expr": [{"jump": {"target": "user"}}]}}
	]}`))
	if err != nil || len(chains) != 2 {
		t.Fatalf("got %+v, %v", chains, err)
	}
	filter, ufw := chains[0], chains[1]
	if filter.table() != "inet filter" || filter.all || !filter.accepts["22/tcp"] || !filter.accepts["8000-8010/tcp"] || filter.accepts["9/tcp"] {
		t.Errorf("got %+v", filter)
	}
	if !ufw.all {
		t.Errorf("got %+v", ufw)
	}
}

// HST-11: ports are read where they are published and where they are opened.
func TestPorts(t *testing.T) {
	text := "PublishPort=127.0.0.1:20311:3000\nPublishPort=[::1]:20312:22/tcp\nPublishPort=53:53/udp\nPublishPort=8000-8010:8000-8010\n"
	want := []port{{20311, 20311, "tcp"}, {20312, 20312, "tcp"}, {53, 53, "udp"}, {8000, 8010, "tcp"}}
	if got := published(text); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	text = "\t\ttcp dport 20311 accept comment \"x\"\n\t\tmeta l4proto { tcp, udp } th dport 53 accept\n\t\tudp dport 1-9 drop\n"
	want = []port{{20311, 20311, "tcp"}, {53, 53, "tcp"}, {53, 53, "udp"}}
	if got := openedIn(text); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

// HST-11: a listener is one that listens, with its program.
func TestListeners(t *testing.T) {
	line := "   0: 00000000:4F57 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1 0 100 0 0 10 0"
	got, ok := parseListener(line, "tcp", "0A", map[string]string{"4242": "nginx"})
	if !ok || got != (listener{"tcp", 20311, "nginx"}) {
		t.Errorf("got %+v, %v", got, ok)
	}
	for _, other := range []string{"", "  sl  local_address rem_address   st", "   0: 00000000:4F57 00000000:0000 01 0 0 0 0 0 4242"} {
		if _, ok := parseListener(other, "tcp", "0A", nil); ok {
			t.Errorf("%q listens", other)
		}
	}
}

// HST-11: the first line for a name wins, as it does for the resolver.
func TestHostNames(t *testing.T) {
	got := hostNames("10.0.0.1 Board board.home # note\n\n10.0.0.2 board\n#10.0.0.3 x\n")
	if len(got) != 2 || got["board"] != "10.0.0.1" || got["board.home"] != "10.0.0.1" {
		t.Errorf("got %v", got)
	}
}
