package wireguard

import (
	"bytes"
	"cmp"
	"net/netip"
	"slices"
	"strconv"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/netaddr"
	"meshc.dev/compiler/plan"
)

// Config writes a node's configuration as wg-quick reads it, without the private
// key: a managed node takes that from its own file when the interface comes up, and
// in the file of an unmanaged one it is left for a person to fill in. What Check
// refuses is left out.
func (m *Mesh) Config(n *plan.Node, id addr.Resource, c plan.Computed) ([]byte, diag.List) {
	t := tunnel(n, id.Instance, c)
	i := slices.IndexFunc(m.networks, func(w *network) bool { return w.name == t.Network.Network })
	if t.Network.Network == "" || i < 0 {
		return nil, diag.List{noNetwork(n, id)}
	}
	w := m.networks[i]
	self := w.byName[n.Name]
	key := cmp.Or(c.Key, defaultKey)
	var l diag.List
	if !isPlainPath(key) {
		l = append(l, keyPath(n, id, key))
	}
	if !netaddr.IsInterface(t.Interface) {
		l = append(l, badInterface(n, id, t.Interface))
	}
	if len(l) > 0 {
		return nil, l
	}
	var b bytes.Buffer
	b.Grow(1024 + w.sizeFor(self))
	keepalive := cmp.Or(c.Keepalive, defaultKeepalive)
	w.writeInterface(&b, self, t, key, keepalive)
	w.writePeers(&b, self, keepalive)
	return b.Bytes(), nil
}

// dial switches keepalive off and on again. wg-quick brings the interface up before
// PostUp gives it a key; the keepalive that would dial then finds none and is not tried
// again, so that a node behind NAT could be reached only once it had sent something.
const dial = `PostUp = wg show %i persistent-keepalive | while read -r peer every; do ` +
	`[ "$every" = off ] || { wg set %i peer "$peer" persistent-keepalive 0; wg set %i peer "$peer" persistent-keepalive "$every"; }; done`

func (w *network) writeInterface(b *bytes.Buffer, self *member, t Tunnel, key string, keepalive int) {
	n := self.node
	if n.Managed {
		b.WriteString("# Written by meshc for " + string(n.Name) + " of mesh " + w.plan.Mesh + "; what is changed here is lost.\n")
	} else {
		b.WriteString("# " + string(n.Name) + " of mesh " + w.plan.Mesh + ", for a WireGuard app; meshc does not manage this machine.\n")
		b.WriteString("# Fill in the private key that belongs to " + n.WireGuard + ":\n")
	}
	b.WriteString("[Interface]\n")
	if !n.Managed {
		b.WriteString("# PrivateKey =\n")
	}
	if self.addr.IsValid() {
		b.WriteString("Address = " + w.ownPrefix(self) + "\n")
	}
	if n.Managed || self.outside || self.local {
		b.WriteString("ListenPort = " + strconv.Itoa(t.Port) + "\n")
	}
	b.WriteString("MTU = " + strconv.Itoa(t.MTU) + "\n")
	if !n.Managed {
		return
	}
	b.WriteString("PostUp = wg set %i private-key " + key + "\n")
	if !self.outside && keepalive > 0 {
		b.WriteString(dial + "\n")
	}
	for _, line := range w.forwarding(self) {
		b.WriteString(line + "\n")
	}
}

// ownPrefix is the node's address with the length of the network's range, so that
// what is sent to an address that no node has goes nowhere and not out of the house.
// Apps want a single address.
func (w *network) ownPrefix(self *member) string {
	if self.node.Managed && w.prefix.IsValid() && w.prefix.Contains(self.addr) {
		return netip.PrefixFrom(self.addr, w.prefix.Bits()).String()
	}
	return single(self.addr)
}

func (w *network) sizeFor(self *member) int {
	if self.outside {
		return w.size
	}
	return w.sizeBehind
}

// writePeers writes whom a node has a tunnel to: those that it can call, and those that can
// call it. It keeps the way to those open that cannot call back. All others are behind the hub.
func (w *network) writePeers(b *bytes.Buffer, self *member, keepalive int) {
	keep := ""
	if !self.outside && keepalive > 0 {
		keep = "PersistentKeepalive = " + strconv.Itoa(keepalive) + "\n"
	}
	for _, m := range w.members {
		if m == self || !m.usable() || !direct(self, m) {
			continue
		}
		calls := reaches(self, m)
		if calls {
			b.WriteString(m.called)
		} else {
			b.WriteString(m.block)
		}
		w.writeAllowed(b, self, m)
		if m == w.hub {
			for _, far := range w.members {
				if far != self && far.usable() && !direct(self, far) && w.path(self, far) {
					b.WriteString(", ")
					w.writeAllowed(b, self, far)
				}
			}
		}
		b.WriteByte('\n')
		if calls && !reaches(m, self) {
			b.WriteString(keep)
		}
	}
}

func (w *network) writeAllowed(b *bytes.Buffer, self, m *member) {
	if len(m.routes) > 0 && (self.node.Site != "" || self.node.SitePrefix.IsValid()) {
		b.WriteString(m.allowedFor(self.node))
		return
	}
	b.WriteString(m.allowed)
}

// isPlainPath says whether a path can stand in a command that wg-quick gives to a
// shell after cutting it at the first "#".
func isPlainPath(p string) bool {
	if len(p) < 2 || p[0] != '/' {
		return false
	}
	for i := range len(p) {
		c := p[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '/', c == '.', c == '-', c == '_', c == '+', c == '@':
		default:
			return false
		}
	}
	return true
}
