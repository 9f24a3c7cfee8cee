//go:build linux

package wireguard_test

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/netaddr"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/firewall"
	"meshc.dev/render/wireguard"
	"meshc.dev/render/wireguard/netns"
)

// CMP-1: wg-quick reads every file, and leaves to wg what is wg's.
func TestStrip(t *testing.T) {
	if !netns.Possible(t, "wg-quick") {
		return
	}
	files, err := filepath.Glob("testdata/*.conf")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	n := netns.New(t)
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		own := []string{"Address", "MTU", "PostUp", "PostDown"} // wg-quick's, of the whole
		want := slices.DeleteFunc(strings.SplitAfter(string(b), "\n"), func(line string) bool {
			key, _, _ := strings.Cut(line, " = ")
			return slices.Contains(own, key)
		})
		got := n.Run("sh", "-c", `wg-quick strip "$1" 2>/dev/null`, "sh", "./"+f)
		if strings.TrimSpace(got) != strings.TrimSpace(strings.Join(want, "")) {
			t.Errorf("%s is read as\n%s", f, got)
		}
	}
}

// machine is a node of the lab: its plan, and the namespace that is its network.
type machine struct {
	*netns.Namespace
	node *plan.Node
	file string
}

// newMachine makes a node with a real key. The interfaces have names of their own,
// since those of programs that stand in for the kernel share a folder of sockets.
func newMachine(t *testing.T, name, iface, tunnel, key string) machine {
	t.Helper()
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(key, []byte(base64.StdEncoding.EncodeToString(private.Bytes())+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	id := addr.Resource{Instance: "tunnel", Kind: "computed", Name: "peers"}
	return machine{netns.New(t), &plan.Node{
		Name: addr.Node(name), Managed: true, Runtime: "podman", MTU: 1500,
		WireGuard: base64.StdEncoding.EncodeToString(private.PublicKey().Bytes()), Address: netip.MustParseAddr(tunnel),
		Networks: []plan.Network{{Instance: "tunnel", Network: "tunnels", Name: name + ".mesh", Address: tunnel}},
		Admits:   []plan.Admit{{Port: 22, To: 22, Protocol: "tcp", For: "sshd", From: []string{"world"}}},
		Instances: []*plan.Instance{{Name: "tunnel", Resources: []plan.Resource{
			{ID: id, Computed: &plan.Computed{Kind: "wireguard", Interface: iface, Key: key}},
		}}},
	}, ""}
}

// up writes what is computed for a machine and loads it, as apply does.
func (m machine) up(t *testing.T, p *plan.Plan) {
	t.Helper()
	r := m.node.Instances[0].Resources[0]
	b, l := wireguard.New(p).Config(m.node, r.ID, *r.Computed)
	if len(l) > 0 {
		t.Fatal(l)
	}
	rules, l := firewall.Table(p, m.node, plan.Computed{Kind: "firewall"})
	if len(l) > 0 {
		t.Fatal(l)
	}
	dir := t.TempDir()
	conf, table := filepath.Join(dir, r.Computed.Interface+".conf"), filepath.Join(dir, "meshc.nft")
	for file, b := range map[string][]byte{conf: b, table: rules} {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m.Run("nft", "-f", table)
	t.Cleanup(func() { m.Run("wg-quick", "down", conf) })
	m.Run("wg-quick", "up", conf)
}

// CMP-1, O23, O24: with real tunnels and real firewalls, two nodes behind two NATs reach each
// other and a network behind one of them through the hub, which can also call them before
// they have said anything; the hub forwards between tunnels and becomes no router otherwise;
// and it does so where Docker drops what is forwarded.
func TestTunnels(t *testing.T) {
	if !netns.Possible(t, "wg-quick", "wg", "wireguard-go", "nft", "iptables", "sysctl") {
		return
	}
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		t.Skipf("no tunnels can be made here: %v", err)
	}
	for _, f := range []struct {
		name                     string
		network, hub, a, b       string // of the mesh
		route, behind, behindsIn string // of a network behind b
	}{
		{"ipv4", "10.86.0.0/16", "10.86.0.1", "10.86.0.2", "10.86.0.3", "10.13.0.0/24", "10.13.0.5", "10.13.0.1"},
		{"ipv6", "fd86::/64", "fd86::1", "fd86::2", "fd86::3", "fd13::/64", "fd13::5", "fd13::1"},
	} {
		t.Run(f.name, func(t *testing.T) {
			keys := t.TempDir()
			hub := newMachine(t, "hub", "wgh"+f.name[3:], f.hub, filepath.Join(keys, "hub"))
			a := newMachine(t, "a", "wga"+f.name[3:], f.a, filepath.Join(keys, "a"))
			b := newMachine(t, "b", "wgb"+f.name[3:], f.b, filepath.Join(keys, "b"))
			hub.node.Endpoint = "203.0.113.7"
			hub.node.Runtime = "docker"
			b.node.Routes = []netip.Prefix{netip.MustParsePrefix(f.route)}
			p := &plan.Plan{Mesh: "home", Hub: "hub", Network: netip.MustParsePrefix(f.network), Nodes: []*plan.Node{a.node, b.node, hub.node}}
			if l := wireguard.New(p).Check(); len(l) > 0 {
				t.Fatal(l)
			}

			internet := netns.New(t)
			netns.Wire(internet, "hub", []string{"203.0.113.1/24"}, hub.Namespace, "uplink", []string{"203.0.113.7/24"})
			hub.Run("ip", "route", "add", "default", "via", "203.0.113.1")
			internet.Set("net/ipv4/ip_forward", "1")
			for i, leaf := range []machine{a, b} {
				router := netns.New(t)
				outer := []string{"198.51.100.", "192.0.2."}[i]
				netns.Wire(internet, string(leaf.node.Name), []string{outer + "1/24"}, router, "uplink", []string{outer + "2/24"})
				netns.Wire(router, "house", []string{"192.168.1.1/24"}, leaf.Namespace, "uplink", []string{"192.168.1.2/24"})
				router.Run("ip", "route", "add", "default", "via", outer+"1")
				leaf.Run("ip", "route", "add", "default", "via", "192.168.1.1")
				router.Set("net/ipv4/ip_forward", "1")
				router.Run("nft", `table ip nat {
					chain post { type nat hook postrouting priority srcnat; oifname "uplink" masquerade; }
				}`)
			}
			behind := netns.New(t)
			bits := "/" + strings.SplitN(f.route, "/", 2)[1]
			netns.Wire(b.Namespace, "behind", []string{f.behindsIn + bits}, behind, "uplink", []string{f.behind + bits})
			behind.Run("ip", "route", "add", "default", "via", f.behindsIn)

			// What a machine is like where Docker was started before.
			hub.Run("iptables", "-P", "FORWARD", "DROP")
			hub.Run("ip6tables", "-P", "FORWARD", "DROP")
			for _, program := range []string{"iptables", "ip6tables"} {
				hub.Run(program, "-N", "DOCKER-USER")
				hub.Run(program, "-A", "FORWARD", "-j", "DOCKER-USER")
			}
			hub.Set("net/ipv6/conf/uplink/accept_ra", "1")

			for _, m := range []machine{hub, a, b} {
				m.node.Opens = []plan.Open{{Instance: "web", Name: "http", Port: 80, To: 80, Protocol: "tcp", From: "network"}}
				m.Answer("tcp", ":80", string(m.node.Name))
				m.up(t, p)
			}
			behind.Answer("tcp", ":80", "behind")

			ask := func(from machine, address, want string) {
				t.Helper()
				wait := 8 * time.Second
				if from.node == hub.node {
					wait = 2500 * time.Millisecond // half of what it takes where a has to try again
				}
				if got := from.Ask("tcp", netaddr.Join(address, 80), wait); got != want {
					t.Errorf("%s asks %s: got %q, want %q", from.node.Name, address, got, want)
				}
			}
			ask(hub, f.a, "a") // first, while a has sent nothing through the tunnel
			ask(a, f.hub, "hub")
			ask(a, f.b, "b")
			ask(b, f.a, "a")
			ask(a, f.behind, "behind")
			ask(hub, f.behind, "behind")

			if f.name == "ipv4" {
				for setting, want := range map[string]string{
					"net/ipv4/ip_forward": "0", "net/ipv4/conf/uplink/forwarding": "0", "net/ipv4/conf/wgh4/forwarding": "1", "net/ipv6/conf/all/forwarding": "0",
				} {
					if got := hub.Get(setting); got != want {
						t.Errorf("%s is %s at the hub", setting, got)
					}
				}
			} else if got := hub.Get("net/ipv6/conf/uplink/accept_ra"); got != "2" {
				t.Errorf("the hub takes its own address from nobody any more: accept_ra is %s", got)
			}
			if got := a.Run("ip", "link", "show", "dev", "wga"+f.name[3:]); !strings.Contains(got, "mtu 1420") {
				t.Errorf("the tunnel is as wide as %s", got)
			}
		})
	}
}
