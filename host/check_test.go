package host

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
	"meshc.dev/render/wireguard/netns"
)

// contradict says what would contradict a bundle on a machine with such surroundings.
func contradict(t *testing.T, items []bundle.Item, content map[bundle.ID]string, around surroundings) []string {
	t.Helper()
	h := onTree(t, newTree(t))
	o, err := h.Open(write(t, items, content), Policy{})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	r, err := h.newRun(o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if around.names == nil {
		around.names = r.ownUnits()
	}
	out, err := r.contradictions(context.Background(), around)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// opens is a bundle whose packet filter holds these rules.
func opens(rules string) ([]bundle.Item, map[bundle.ID]string) {
	text := "table inet mesh\ndelete table inet mesh\ntable inet mesh {\n\tchain input {\n\t\ttype filter hook input priority filter; policy drop;\n" + rules + "\n\t}\n}\n"
	return []bundle.Item{&bundle.File{ID: "a/file.n", Path: "/etc/nftables.d/mesh.nft", Mode: 0o644}}, map[bundle.ID]string{"a/file.n": text}
}

// HST-11: a foreign chain that drops what the bundle opens is found, however that is
// written, and one that does not, or of which it cannot be told, is not. The rules are
// loaded and listed by nft itself.
func TestForeignChains(t *testing.T) {
	if !netns.Possible(t, "nft") {
		return
	}
	const (
		input   = "type filter hook input priority 10; policy drop;"
		accepts = "type filter hook input priority 10; policy accept;"
		not     = "chain inet old input drops what it does not accept, and does not accept %s, which the bundle opens"
		drops   = "chain inet old input drops %s, which the bundle opens"
	)
	n := netns.New(t)
	for name, c := range map[string]struct {
		ours, chain string
		rest        string // of the table
		format      string
		ports       string
	}{
		"nothing is accepted":            {"tcp dport 8080 accept", input, "", not, "8080/tcp"},
		"all ports in one line":          {"tcp dport 8080 accept\nmeta l4proto { tcp, udp } th dport 53 accept\ntcp dport 8081 accept", input + "tcp dport 22 accept", "", not, "53/tcp, 8080-8081/tcp, 53/udp"},
		"the port is accepted":           {"tcp dport 8080 accept", input + "tcp dport 8080 accept", "", "", ""},
		"with others":                    {"tcp dport 8080 accept", input + "tcp dport { 22, 8080 } counter accept", "", "", ""},
		"in a range":                     {"tcp dport 8080 accept", input + "tcp dport 8000-9000 accept", "", "", ""},
		"in a named set":                 {"tcp dport 8080 accept", input + "tcp dport @p accept", "set p { type inet_service; flags interval; elements = { 22, 8000-9000 }; }", "", ""},
		"beside a named set":             {"tcp dport 8080 accept", input + "tcp dport @p accept", "set p { type inet_service; elements = { 22 }; }", not, "8080/tcp"},
		"in a verdict map":               {"tcp dport 8080 accept", input + "tcp dport vmap { 22 : drop, 8080 : accept }", "", "", ""},
		"beside a verdict map":           {"tcp dport 8080 accept", input + "tcp dport vmap { 22 : accept, 8080 : drop }", "", not, "8080/tcp"},
		"another protocol":               {"tcp dport 8080 accept", input + "udp dport 8080 accept; icmp type echo-request accept; ip protocol icmp accept", "", not, "8080/tcp"},
		"both protocols":                 {"tcp dport 8080 accept", input + "meta l4proto { tcp, udp } th dport 8080 accept", "", "", ""},
		"all but the port":               {"tcp dport 8080 accept", input + "tcp dport != 8080 accept", "", not, "8080/tcp"},
		"all but a set with it":          {"tcp dport 8080 accept", input + "tcp dport != { 8080, 9090 } accept", "", not, "8080/tcp"},
		"all but another":                {"tcp dport 8080 accept", input + "tcp dport != 22 accept", "", "", ""},
		"all above":                      {"tcp dport 8080 accept", input + "tcp dport >= 1024 accept", "", "", ""},
		"all below":                      {"tcp dport 8080 accept", input + "tcp dport < 1024 accept", "", not, "8080/tcp"},
		"what is established":            {"tcp dport 8080 accept", input + "ct state established,related accept; ct state vmap { established : accept, related : accept }; iif lo accept; iifname lo accept", "", not, "8080/tcp"},
		"what is new":                    {"tcp dport 8080 accept", input + "ct state new tcp dport 8080 accept", "", "", ""},
		"everything":                     {"tcp dport 8080 accept", input + "accept", "", "", ""},
		"from an interface":              {"tcp dport 8080 accept", input + `iifname "eth0" accept`, "", "", ""},
		"from some, and it is for all":   {"tcp dport 8080 accept", input + "ip saddr 10.0.0.0/8 accept", "", not, "8080/tcp"},
		"from some, and it is for some":  {"ip saddr 10.1.0.0/16 tcp dport 8080 accept", input + "ip saddr 10.0.0.0/8 accept", "", "", ""},
		"a chain that accepts":           {"tcp dport 8080 accept", input + "jump more", "chain more { tcp dport 8080 accept; }", "", ""},
		"a chain that does not":          {"tcp dport 8080 accept", input + "jump more", "chain more { tcp dport 22 accept; return; accept; }", not, "8080/tcp"},
		"a chain that is gone to":        {"tcp dport 8080 accept", input + "goto more; accept", "chain more { tcp dport 22 accept; }", not, "8080/tcp"},
		"part of a range":                {"tcp dport 8000-8010 accept", input + "tcp dport 8003-8005 accept", "", not, "8000-8002/tcp, 8006-8010/tcp"},
		"nothing drops":                  {"tcp dport 8080 accept", accepts + "tcp dport 22 accept", "", "", ""},
		"a last rule that drops":         {"tcp dport 8080 accept", accepts + "tcp dport 22 accept; drop", "", drops, "8080/tcp"},
		"a last rule that rejects":       {"tcp dport 8080 accept", accepts + "ct state established accept; counter reject with icmpx type admin-prohibited", "", drops, "8080/tcp"},
		"just the port is dropped":       {"tcp dport { 8080, 9090 } accept", accepts + "tcp dport 8080 drop", "", drops, "8080/tcp"},
		"just the port is rejected":      {"tcp dport 8080 accept", accepts + "iifname != lo tcp dport 8080 reject", "", drops, "8080/tcp"},
		"accepted before it is dropped":  {"tcp dport 8080 accept", accepts + "tcp dport 8080 accept; tcp dport 8080 drop", "", "", ""},
		"dropped for some":               {"tcp dport 8080 accept", accepts + "ip saddr 10.9.9.9 drop; tcp dport 8080 limit rate over 3/second drop; ct state invalid drop", "", "", ""},
		"a set of ours":                  {"tcp dport { 8080, 9090 } accept", input, "", not, "8080/tcp, 9090/tcp"},
		"a range of ours":                {"tcp dport 8000-8010 accept\nudp dport { 1-3, 53 } accept", input, "", not, "8000-8010/tcp, 1-3/udp, 53/udp"},
		"a name of ours":                 {"tcp dport { ssh, https } accept", input, "", not, "22/tcp, 443/tcp"},
		"ours answers":                   {"udp sport 67 udp dport 68 accept", input, "", "", ""},
		"what is forwarded is no matter": {"tcp dport 8080 accept", "type filter hook forward priority 10; policy drop;", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			listed := listRuleset(t, n, fmt.Sprintf("table inet old {\n%s\nchain input {\n%s\n}\n}\n", c.rest, strings.ReplaceAll(c.chain, ";", "\n")))
			items, content := opens(c.ours)
			var want []string
			if c.format != "" {
				want = []string{fmt.Sprintf(c.format, c.ports)}
			}
			if got := contradict(t, items, content, surroundings{chains: listed}); !slices.Equal(got, want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// listRuleset loads a text into a machine's filter, and reads what that is then.
func listRuleset(t *testing.T, n *netns.Namespace, text string) []baseChain {
	t.Helper()
	if out, err := n.Try("sh", "-c", "nft flush ruleset && printf '%s' \"$0\" | nft -f -", text); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, text)
	}
	out, err := n.Try("nft", "-j", "list", "ruleset")
	if err != nil {
		t.Fatal(err, out)
	}
	chains, err := parseRuleset([]byte(out))
	if err != nil {
		t.Fatal(err)
	}
	return chains
}

// HST-11: a chain that accepts all that is open contradicts nothing: what meshc itself
// writes, under another name.
func TestForeignChainsLikeOurs(t *testing.T) {
	if !netns.Possible(t, "nft") {
		return
	}
	n := netns.New(t)
	for _, name := range []string{"anchor", "docker-strict", "bare"} {
		text, err := os.ReadFile("../render/firewall/testdata/" + name + ".nft")
		if err != nil {
			t.Fatal(err)
		}
		if len(openedIn(string(text))) < 2 {
			t.Errorf("%s opens %v", name, openedIn(string(text)))
		}
		chains := listRuleset(t, n, strings.ReplaceAll(string(text), "inet meshc", "inet other"))
		items := []bundle.Item{&bundle.File{ID: "a/file.n", Path: "/etc/nftables.d/meshc.nft", Mode: 0o644}}
		if got := contradict(t, items, map[bundle.ID]string{"a/file.n": string(text)}, surroundings{chains: chains}); len(got) > 0 {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// HST-11: what a container publishes is forwarded to it, so a foreign chain that drops
// what is forwarded contradicts it, and one that judges the machine's own does not.
func TestForeignForward(t *testing.T) {
	if !netns.Possible(t, "nft") {
		return
	}
	items, content := opens("tcp dport 20311 accept")
	items = append(items, &bundle.File{ID: "a/file.c", Path: "/etc/containers/systemd/gitea.container", Mode: 0o644})
	content["a/file.c"] = "[Container]\nPublishPort=20311:3000\n"
	n := netns.New(t)
	for name, c := range map[string]struct{ chain, want string }{
		"drops":             {"forward { type filter hook forward priority 10; policy drop; tcp flags syn counter\n }", "chain inet old forward drops what it does not accept, and does not accept 20311/tcp, which the bundle opens"},
		"the port inside":   {"forward { type filter hook forward priority 10; policy drop; tcp dport 3000 accept\n }", ""},
		"the port asked":    {"forward { type filter hook forward priority 10; policy drop; meta l4proto tcp ct original proto-dst 20311 accept\n }", ""},
		"another asked":     {"forward { type filter hook forward priority 10; policy drop; meta l4proto tcp ct original proto-dst 22 accept\n }", "chain inet old forward drops what it does not accept, and does not accept 20311/tcp, which the bundle opens"},
		"to its bridge":     {"forward { type filter hook forward priority 10; policy drop; oifname \"podman*\" accept\n }", ""},
		"the machine's own": {"input { type filter hook input priority 10; policy drop; \n }", ""},
	} {
		got := contradict(t, items, content, surroundings{chains: listRuleset(t, n, "table inet old {\nchain "+c.chain+"\n}\n")})
		if strings.Join(got, "") != c.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// HST-11: what iptables wrote and nft has no words for is given the benefit of the doubt.
func TestIptablesRules(t *testing.T) {
	items, content := opens("tcp dport 8080 accept\ntcp dport 22 accept")
	const table = `{"nftables": [
		{"metainfo": {"version": "1.0.6"}},
		{"chain": {"family": "ip", "table": "filter", "name": "INPUT", "type": "filter", "hook": "input", "prio": 0, "policy": "%s"}},
		{"rule": {"family": "ip", "table": "filter", "chain": "INPUT", "expr": [{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": 22}}, {"counter": {"packets": 0, "bytes": 0}}, {"accept": null}]}},
		{"rule": {"family": "ip", "table": "filter", "chain": "INPUT", "expr": [%s]}}
	]}`
	for name, c := range map[string]struct{ policy, rule, want string }{
		"a match that is not known": {"drop", `{"match": {"op": "==", "left": {"meta": {"key": "l4proto"}}, "right": "tcp"}}, {"xt": {"type": "match", "name": "multiport"}}, {"accept": null}`, ""},
		"a target that rejects":     {"accept", `{"counter": {"packets": 0, "bytes": 0}}, {"xt": {"type": "target", "name": "REJECT"}}`, "chain ip filter INPUT drops 8080/tcp, which the bundle opens"},
		"a target that logs":        {"accept", `{"xt": {"type": "target", "name": "LOG"}}`, ""},
	} {
		chains, err := parseRuleset(fmt.Appendf(nil, table, c.policy, c.rule))
		if err != nil {
			t.Fatal(err)
		}
		if got := contradict(t, items, content, surroundings{chains: chains}); strings.Join(got, "") != c.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// HST-11: the bundle's own tables, as they were loaded before, contradict nothing.
func TestOwnTables(t *testing.T) {
	items, content := opens("tcp dport 8080 accept")
	chains := []baseChain{{family: "inet", table: "mesh", name: "input", hook: "input", drops: true, in: &tableChains{}}}
	if got := contradict(t, items, content, surroundings{chains: chains}); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}

// HST-11: ports are read where they are published and where they are opened.
func TestPorts(t *testing.T) {
	text := "PublishPort=127.0.0.1:20311:3000\nPublishPort=[::1]:20312:22/tcp\nPublishPort=53:53/udp\nPublishPort=0.0.0.0:8000-8010:8000-8010\n"
	none := netip.Addr{}
	want := []port{
		{20311, 20311, "tcp", netip.MustParseAddr("127.0.0.1")}, {20312, 20312, "tcp", netip.MustParseAddr("::1")}, {53, 53, "udp", none}, {8000, 8010, "tcp", none},
	}
	if got := published(text); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	text = "table inet meshc {\n\tchain input {\n\t\ttype filter hook input priority filter; policy drop;\n\t\ttcp dport 20311 accept comment \"gitea/http\"\n" +
		"\t\tmeta l4proto { tcp, udp } th dport 53 accept\n\t\tudp dport 1-9 drop\n# tcp dport 7 accept\n\t\ttcp dport != 8 accept\n" +
		"\t\tip saddr 10.0.0.0/8 ip daddr 10.86.0.1 tcp dport { 80, 90-99 } accept\n\t}\n" +
		"\tchain network { udp dport 5 accept; }\n\tchain output { type filter hook output priority filter; tcp dport 443 accept; }\n}\ntable other {\n}\n"
	opened := []opening{
		{port{20311, 20311, "tcp", none}, true, "", "gitea/http"},
		{port{53, 53, "tcp", none}, true, "", ""},
		{port{53, 53, "udp", none}, true, "", ""},
		{port{80, 80, "tcp", netip.MustParseAddr("10.86.0.1")}, false, "ip", ""},
		{port{90, 99, "tcp", netip.MustParseAddr("10.86.0.1")}, false, "ip", ""},
		{port{5, 5, "udp", none}, false, "", ""},
	}
	if got := openedIn(text); !slices.Equal(got, opened) {
		t.Errorf("got %v", got)
	}
	if got := tablesIn(text); !slices.Equal(got, []string{"inet meshc", "ip other"}) {
		t.Errorf("got %q", got)
	}
}

// HST-11: a listener is one that listens, at its address.
func TestListeners(t *testing.T) {
	const rest = " 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1 0 100 0 0 10 0"
	for address, want := range map[string]string{
		"00000000": "", "3500007F": "127.0.0.53", "0100560A": "10.86.0.1",
		"00000000000000000000000000000000": "", "00000000000000000000000001000000": "::1", "0000000000000000FFFF00000100007F": "127.0.0.1",
	} {
		got, inode, ok := parseListener("   0: "+address+":4F57"+rest, "tcp", "0A")
		if !ok || inode != "4242" || got.protocol != "tcp" || got.port != 20311 || want == "" && got.address.IsValid() || want != "" && got.address.String() != want {
			t.Errorf("%s: got %+v, %s, %v", address, got, inode, ok)
		}
	}
	for _, other := range []string{"", "  sl  local_address rem_address   st", "   0: 00000000:4F57 00000000:0000 01 0 0 0 0 0 4242"} {
		if _, _, ok := parseListener(other, "tcp", "0A"); ok {
			t.Errorf("%q listens", other)
		}
	}
	if got := cgroupOf("9:name=systemd:/system.slice/a.service\n4:memory:/x\n0::/\n"); got != "/system.slice/a.service" {
		t.Errorf("got %q", got)
	}
	if got := cgroupOf("0::/system.slice/b.service\n"); got != "/system.slice/b.service" {
		t.Errorf("got %q", got)
	}
}

// HST-11: whoever else listens on a port that is assigned to one of the bundle's programs
// or containers is said; the programs themselves are not, nor what the machine has a port
// for, nor anybody where all that is to run does.
func TestTaken(t *testing.T) {
	items, content := opens(`tcp dport 22 accept comment "reserved: sshd"
tcp dport 9100 accept comment "exporter/http"
ip daddr 10.86.0.1 udp dport 53 accept comment "dns/dns"
udp dport 51820 accept comment "tunnel/wireguard"
udp dport 40000-49999 accept comment "turn/media"
tcp dport 80 accept comment "nobody/http"`)
	service := func(id bundle.ID, name string) bundle.Item {
		return &bundle.Unit{ID: id, Name: name, State: bundle.Running}
	}
	items = append(items, service("exporter/unit.x", "prometheus-exporter.service"), service("dns/unit.x", "dns@main.service"), service("tunnel/unit.x", "wg-quick@wg0.service"), service("turn/unit.x", "turn.service"),
		&bundle.Unit{ID: "exporter/unit.t", Name: "exporter.timer", State: bundle.Running},
		&bundle.File{ID: "gitea/file.c", Path: "/etc/containers/systemd/gitea.container", Mode: 0o644})
	content["gitea/file.c"] = "[Container]\nPublishPort=10.86.0.1:20311:3000\n"
	squatter := holder{"busybox", "/system.slice/squatter.service"}
	at := func(protocol string, port int, address string, holders ...holder) listener {
		return listener{protocol, port, bindAddress(address), holders}
	}
	const onExporter = "busybox of squatter.service listens on 9100/tcp, which is assigned to exporter/http"
	for name, c := range map[string]struct {
		l    listener
		want string
	}{
		"a squatter":                     {at("tcp", 9100, "0.0.0.0", squatter), onExporter},
		"one in a session":               {at("tcp", 9100, "10.0.0.9", holder{"nc", "/user.slice/user-0.slice/session-3.scope"}), "nc of session-3.scope listens on 9100/tcp, which is assigned to exporter/http"},
		"another protocol":               {at("udp", 9100, "0.0.0.0", squatter), ""},
		"its own unit":                   {at("tcp", 9100, "0.0.0.0", holder{"exporter", "/system.slice/prometheus-exporter.service"}), ""},
		"it and who started it":          {at("tcp", 9100, "0.0.0.0", squatter, holder{"exporter", "/system.slice/prometheus-exporter.service/payload"}), ""},
		"its unit by another name":       {at("tcp", 9100, "0.0.0.0", holder{"exporter", "/system.slice/alias.service"}), ""},
		"systemd, for a unit":            {at("tcp", 9100, "0.0.0.0", holder{"systemd", "/init.scope"}), ""},
		"on loopback":                    {at("tcp", 9100, "127.0.0.1", squatter), ""},
		"ssh":                            {at("tcp", 22, "0.0.0.0", holder{"sshd", "/system.slice/ssh.service"}), ""},
		"of an instance without units":   {at("tcp", 80, "0.0.0.0", squatter), ""},
		"the kernel, for a tunnel":       {at("udp", 51820, "0.0.0.0"), ""},
		"a stub of the resolver":         {at("udp", 53, "127.0.0.53", holder{"systemd-resolve", "/system.slice/systemd-resolved.service"}), ""},
		"at another address":             {at("udp", 53, "192.168.1.2", squatter), ""},
		"at the same address":            {at("udp", 53, "10.86.0.1", squatter), "busybox of squatter.service listens on 53/udp, which is assigned to dns/dns"},
		"another instance of a template": {at("udp", 53, "0.0.0.0", holder{"dns", "/system.slice/system-dns.slice/dns@other.service"}), ""},
		"a client for a moment":          {at("udp", 41234, "0.0.0.0", squatter), ""},
		"a published port":               {at("tcp", 20311, "0.0.0.0", squatter), "busybox of squatter.service listens on 20311/tcp, which is assigned to gitea.service (gitea/file.c)"},
		"a published port, nobody known": {at("tcp", 20311, "0.0.0.0"), "something listens on 20311/tcp, which is assigned to gitea.service (gitea/file.c)"},
		"beside where it is published":   {at("tcp", 20311, "127.0.0.1", squatter), ""},
		"the container's own":            {at("tcp", 20311, "10.86.0.1", holder{"conmon", "/system.slice/gitea.service/libpod"}), ""},
	} {
		names := []string{"prometheus-exporter.service", "alias.service", "dns@main.service", "wg-quick@wg0.service", "gitea.service"}
		if got := contradict(t, items, content, surroundings{listeners: []listener{c.l}, names: names}); strings.Join(got, "\n") != c.want {
			t.Errorf("%s: got %q", name, got)
		}
	}

	dir := newTree(t)
	apply(t, onTree(t, dir), write(t, items, content)) // in a tree, units run then
	h := onTree(t, dir)
	if is, err := h.Machine.Units.Look(context.Background(), machine.Key{Kind: machine.Unit, Name: "prometheus-exporter.service"}); err != nil || !is.Running {
		t.Fatalf("got %+v, %v", is, err)
	}
	o, err := h.Open(write(t, items, content), Policy{})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	r, err := h.newRun(o, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.contradictions(context.Background(), surroundings{listeners: []listener{at("tcp", 9100, "0.0.0.0", squatter)}})
	if err != nil || len(got) > 0 {
		t.Errorf("where the unit runs: got %q, %v", got, err)
	}
}

// HST-11: the units of the bundle that is applied are ours until they are withdrawn.
func TestOwnUnits(t *testing.T) {
	dir := newTree(t)
	apply(t, onTree(t, dir), write(t, []bundle.Item{
		&bundle.Unit{ID: "a/unit.r", Name: "r.service", State: bundle.Running},
		&bundle.File{ID: "a/file.t", Path: "/etc/systemd/system/t@.service", Mode: 0o644}, &bundle.File{ID: "a/file.d", Path: "/etc/systemd/system/x.service.d/a.conf", Mode: 0o644},
	}, nil))
	h := onTree(t, dir)
	o, err := h.Open(write(t, []bundle.Item{&bundle.File{ID: "b/file.q", Path: "/etc/containers/systemd/q.pod", Mode: 0o644}}, nil), Policy{})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	r, err := h.newRun(o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.ownUnits(); !slices.Equal(got, []string{"q-pod.service", "r.service", "t@.service"}) {
		t.Errorf("got %q", got)
	}
}

// HST-11: the first line for a name wins, as it does for the resolver.
func TestHostNames(t *testing.T) {
	got := hostNames("10.0.0.1 Board board.home # note\n\n10.0.0.2 board\n#10.0.0.3 x\n")
	if len(got) != 2 || got["board"] != "10.0.0.1" || got["board.home"] != "10.0.0.1" {
		t.Errorf("got %v", got)
	}
}

// DIA-5: no packet filter's rules, however they jump, make check hang or panic.
func FuzzRuleset(f *testing.F) {
	rule := func(chain, expr string) string {
		return `{"rule":{"family":"inet","table":"t","chain":"` + chain + `","expr":[` + expr + `]}}`
	}
	chain := `{"chain":{"family":"inet","table":"t","name":"c","hook":"input","policy":"drop"}}`
	jump := `{"jump":{"target":"c"}}`
	for _, rules := range []string{
		rule("c", jump) + "," + rule("c", jump) + "," + rule("c", jump) + "," + rule("c", jump),
		rule("c", `{"vmap":{"key":{"payload":{"protocol":"tcp","field":"dport"}},"data":{"set":[[22,{"accept":null}],[{"range":[1,9]},`+jump+`]]}}}`),
		rule("c", `{"match":{"op":"==","left":{"payload":{"protocol":"tcp","field":"dport"}},"right":"@s"}},{"accept":null}`),
		`{"set":{"family":"inet","table":"t","name":"s","elem":[{"elem":{"val":{"elem":{"val":1}}}}]}}`,
	} {
		f.Add([]byte(`{"nftables":[` + chain + "," + rules + `]}`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		chains, err := parseRuleset(data)
		if err != nil {
			return
		}
		for _, c := range chains {
			for _, p := range c.pieces(port{from: 1, to: 30, protocol: "tcp"}) {
				c.lets(packet{protocol: p.protocol, port: p.from})
			}
		}
	})
}
