package diff

import (
	"net/netip"
	"strings"
	"testing"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/bundle"
)

// reached is a node whose listen is reached from somewhere.
func reached(from ...string) *plan.Node {
	n := &plan.Node{Name: "n", Managed: true}
	for _, f := range from {
		n.Opens = append(n.Opens, plan.Open{Instance: "gitea", Name: "ssh", Port: 2222, To: 2222, Protocol: "tcp", From: f, Address: "0.0.0.0"})
	}
	return n
}

func stateOf(nodes ...*plan.Node) Side {
	s := oneOf(nil, nil)
	s.Plan, s.Bundles = &plan.Plan{Mesh: "m", Nodes: nodes}, nil
	for _, n := range nodes {
		s.Bundles = append(s.Bundles, &bundle.Bundle{Declaration: &bundle.Declaration{Format: 1, Mesh: "m", Node: string(n.Name)}})
	}
	return s
}

// REV-5, T22: a changed reach is one line, from what to what, and what the world reaches is a class of its own.
func TestReach(t *testing.T) {
	for name, c := range map[string]struct {
		from, to []string
		impact   Impact
		want     string
	}{
		"wider":         {[]string{"network"}, []string{"world"}, Exposed, "gitea/ssh is reachable from world instead of network, at tcp 2222"},
		"narrower":      {[]string{"world"}, []string{"network"}, Nothing, "gitea/ssh is reachable from network instead of world, at tcp 2222"},
		"opened":        {nil, []string{"network"}, Nothing, "gitea/ssh becomes reachable from network at tcp 2222"},
		"exposed":       {nil, []string{"world"}, Exposed, "gitea/ssh becomes reachable from world at tcp 2222"},
		"closed":        {[]string{"world"}, nil, Nothing, "gitea/ssh is no longer reachable (from world, at tcp 2222)"},
		"all of it":     {[]string{"network"}, []string{"0.0.0.0/0"}, Exposed, "from 0.0.0.0/0 instead of network"},
		"half of it":    {[]string{"network"}, []string{"0.0.0.0/1", "128.0.0.0/1"}, Exposed, "from 0.0.0.0/1, 128.0.0.0/1 instead of network"},
		"one owner":     {[]string{"network"}, []string{"192.168.0.0/16"}, Nothing, "from 192.168.0.0/16 instead of network"},
		"one more such": {[]string{"192.0.2.0/24"}, []string{"192.0.2.0/24", "198.51.100.0/24"}, Nothing, "from 192.0.2.0/24, 198.51.100.0/24 instead of 192.0.2.0/24"},
	} {
		t.Run(name, func(t *testing.T) {
			d := Compare(stateOf(reached(c.from...)), stateOf(reached(c.to...)))
			if len(d.Changes) != 1 || d.Impact != c.impact || !strings.Contains(d.Changes[0].What, c.want) {
				t.Errorf("%s: %+v", d.Impact, d.Changes)
			}
		})
	}
}

// T22: two ports that are called the same and change places are no silence.
func TestReachOfEachPort(t *testing.T) {
	state := func(a, b string) Side {
		n := reached(a, b)
		n.Opens[1].Port, n.Opens[1].To = 2223, 2223
		return stateOf(n)
	}
	d := Compare(state("network", "world"), state("world", "network"))
	if len(d.Changes) != 1 || d.Impact != Exposed || !strings.Contains(d.Changes[0].What, "tcp 2222 from world, tcp 2223 from network instead of tcp 2222 from network, tcp 2223 from world") {
		t.Errorf("%+v", d.Changes)
	}
}

// REV-5, T50: a new node shows what becomes reachable; one that goes, what data it has.
func TestNodeComesAndGoes(t *testing.T) {
	other := &plan.Node{Name: "a"}
	d := Compare(stateOf(other), stateOf(other, reached("world")))
	if d.Impact != Exposed || len(d.Changes) != 2 {
		t.Errorf("a new node: %+v", d.Changes)
	}
	n := reached()
	n.Instances = []*plan.Instance{{Name: "attic", Module: "attic", Data: []plan.Data{{Label: "x", Paths: []string{"/srv/x"}}}}}
	d = Compare(stateOf(other, n), stateOf(other))
	if d.Impact != Unreachable || len(d.Changes) != 2 || d.Changes[1].Impact != Moves || d.Changes[1].Because[0] != "its data stays in /srv/x" {
		t.Errorf("a node that goes: %+v", d.Changes)
	}
}

// T50: the files of a node that no bundle is applied to are compared.
func TestUnmanagedFiles(t *testing.T) {
	state := func(text string) Side {
		s := stateOf(&plan.Node{Name: "phone"})
		s.Bundles = []*bundle.Bundle{{Entries: []bundle.Entry{bundle.NewEntry("files/wg0.conf", []byte(text))}}}
		return s
	}
	if d := Compare(state("a\n"), state("b\n")); len(d.Changes) != 1 || !strings.Contains(d.Changes[0].Detail, "+b") {
		t.Errorf("%+v", d.Changes)
	}
	if d := Compare(state("a\n"), state("a\n")); !d.IsEmpty() {
		t.Errorf("%+v", d.Changes)
	}
}

// T23, T25: a node that has another name is one line where mesh.cue says so, and a proposal of that line
// where it does not and the key is the same.
func TestRenamedNode(t *testing.T) {
	named := func(name addr.Node) *plan.Node {
		n := reached("network")
		n.Name, n.Recipient, n.WireGuard, n.Address = name, "age1x", "wg", netip.MustParseAddr("10.0.0.1")
		n.Instances = []*plan.Instance{{Name: "gitea", Module: "gitea"}}
		return n
	}
	from, to := stateOf(named("board")), stateOf(named("office"))
	from.Plan.Nodes[0].Instances[0].Data = []plan.Data{{Label: "x", Paths: []string{"/srv/x"}}}
	to.Plan.Nodes[0].Instances[0].Data = from.Plan.Nodes[0].Instances[0].Data
	for _, s := range []Side{from, to} {
		s.Bundles[0].Declaration.Node = "x"
	}
	d := Compare(from, to)
	if !strings.Contains(strings.Join(d.Changes[0].Because, "\n"), `moved: nodes: "board": "office"`) {
		t.Errorf("no proposal: %+v", d.Changes)
	}
	if ds := LeftBehind(from, to); len(ds) != 1 || ds[0].Code != diag.RenamedUnsaid || ds[0].Help != `moved: nodes: "board": "office"` {
		t.Errorf("no warning: %v", ds)
	}
	to.Moved.Nodes = map[addr.Node]addr.Node{"board": "office"}
	if d = Compare(from, to); len(d.Changes) != 1 || d.Changes[0].What != "node board is called office" {
		t.Errorf("more than the name: %+v", d.Changes)
	}
}

// REV-3, T23: what the compiler computes for each of many nodes is shown once, whoever is left out of each.
func TestFolded(t *testing.T) {
	var cs []Change
	for _, n := range []string{"a", "b", "c", "d"} {
		cs = append(cs, Change{Kind: OfFile, Computed: true, Nodes: []string{n}, What: "/etc/wireguard/wg0.conf", Detail: "+" + n + "\n"})
	}
	if out := folded(cs); len(out) != 1 || len(out[0].Nodes) != 4 || out[0].Detail != "+a\n" {
		t.Errorf("%+v", out)
	}
	cs[3].Impact = Access
	if out := folded(cs); len(out) != 4 {
		t.Errorf("one that gives access, or three, is folded: %+v", out)
	}
}
