package firewall

import (
	"cmp"
	"strconv"
)

// forward judges what is forwarded into containers and through the tunnels, and
// nothing else.
//
// A published port has been redirected before this chain sees it, so its rules ask
// for the original port. Connections that our containers' ports did not admit are
// dropped by number, whatever network a container is on; and what goes to the runtime's
// own bridges without having been admitted (a container started by hand, or somebody on
// the same wire who set a route to a container's address) is dropped by interface.
func (t *table) forward() {
	t.text(`	chain forward {
		type filter hook forward priority filter; policy ` + cmp.Or(t.computed.Forward, "accept") + `;

		ct state vmap { established : accept, related : accept }
`)
	for _, i := range t.computed.Trusted {
		t.text("\t\tiifname " + quoted(i) + " accept" + comment("trusted") + "\n")
	}
	for _, i := range t.bridges {
		t.text("\t\tiifname " + quoted(i) + " accept" + comment("what containers send") + "\n")
	}
	t.text("\t\tct status dnat jump published\n")
	for _, tun := range t.tunnels {
		t.fromTunnel(tun.Interface)
	}
	for _, i := range t.bridges {
		t.drop("oifname "+quoted(i), "containers: only what is open")
	}
	for _, tun := range t.tunnels {
		t.drop("iifname "+quoted(tun.Interface), "the mesh: only containers, the hub's and routes")
	}
	t.published()
}

// published judges what was redirected by the port that was asked for. All that is
// open is open here too: a rule may name a port that a hand-written mapping publishes.
func (t *table) published() {
	t.text("\t}\n\n\t# what the container runtime has redirected, by the port that was asked for\n\tchain published {\n")
	for _, w := range t.where(Way.fromAnywhere) {
		t.text("\t\t" + w.redirected("accept") + "\n")
	}
	network := t.where(func(w Way) bool { return w.From == "network" })
	if len(t.sources) > 0 && len(network) > 0 {
		t.jump("published_network", "ct original ")
	}
	dropped := map[string]bool{}
	for _, w := range t.where(func(w Way) bool { return (w.Container || w.Open) && w.From != "world" }) {
		if rule := w.redirected("counter drop"); !dropped[rule] {
			dropped[rule] = true
			t.text("\t\t" + rule + "\n")
		}
	}
	t.text("\t}\n")
	if len(t.sources) > 0 && len(network) > 0 {
		t.chain("published_network", network, func(w Way) string { return w.redirected("accept") })
	}
}

// fromTunnel lets through what this node forwards for others: everything between
// machines where it is the hub, and what goes to the networks behind it.
func (t *table) fromTunnel(name string) {
	in := "\t\tiifname " + quoted(name)
	if t.hub {
		t.text(in + " oifname " + quoted(name) + " accept" + comment("the hub: between machines of the mesh") + "\n")
	}
	for _, r := range t.node.Routes {
		if r.IsValid() {
			t.text(in + " " + family(r.Addr()) + " daddr " + r.Masked().String() + " accept" + comment("a network behind this machine") + "\n")
		}
	}
}

func (t *table) drop(match, why string) {
	if t.computed.Log {
		t.text("\t\t" + match + " limit rate " + dropped + ` log prefix "meshc forward: "` + "\n")
	}
	t.text("\t\t" + match + " counter drop" + comment(why) + "\n")
}

// clamp makes TCP through a tunnel agree on segments that fit into it. Containers'
// bridges have the MTU of Ethernet, so without it connections come up and then hang
// on the first full packet. The kernel lowers the option and never raises it.
func (t *table) clamp() {
	t.text("\tchain mss {\n\t\ttype filter hook forward priority mangle; policy accept;\n\n")
	for _, tun := range t.tunnels {
		for _, dir := range []string{"iifname ", "oifname "} {
			for _, f := range []struct {
				name    string
				headers int // of IP and TCP
			}{{"ipv4", 40}, {"ipv6", 60}} {
				t.text("\t\t" + dir + quoted(tun.Interface) + " meta nfproto " + f.name +
					" tcp flags & (syn | rst) == syn tcp option maxseg size set " + strconv.Itoa(tun.MTU-f.headers) + "\n")
			}
		}
	}
	t.text("\t}\n")
}
