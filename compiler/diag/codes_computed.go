package diag

// Codes of what is computed from the whole mesh: tunnels, names, roots and firewalls.
const (
	NoWireGuardKey       Code = "E0501"
	NoTunnelAddress      Code = "E0502"
	SameTunnelAddress    Code = "E0503"
	TunnelTooNarrow      Code = "E0504"
	RoutesOverlap        Code = "E0505"
	RouteOverMesh        Code = "E0506"
	RouteHidden          Code = "W0507"
	BadEndpoint          Code = "E0508"
	EndpointInside       Code = "E0509"
	NoHub                Code = "E0510"
	HubElsewhere         Code = "E0511"
	HubBehindNAT         Code = "E0512"
	NobodyOutside        Code = "E0513"
	NoPathUnused         Code = "W0514"
	TunnelWithoutNetwork Code = "E0515"
	KeyPath              Code = "E0516"
	BadInterface         Code = "E0517"
	BadHostsLine         Code = "E0518"
	SameHostName         Code = "E0519"
	RootWithKey          Code = "E0520"
	NotARoot             Code = "E0521"
	NetworkRange         Code = "E0522"
	NetworkUnknown       Code = "W0523"
	WayInClosed          Code = "W0524"
)

var computedCodes = []Info{
	{
		Code: NoWireGuardKey, Rule: "CMP-1", Title: "no WireGuard key",
		Explain: `A node on a WireGuard network is known to the others by its public key. The private half is made on the machine and stays there:
mesh-host init prints the line with the public one for mesh.cue. For a machine that is not managed, "wg genkey | wg pubkey"
or its app makes the pair.`,
		Wrong: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: endpoint: "203.0.113.7"`,
		Right: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {endpoint: "203.0.113.7", wireguard: "anchor000000000000000000000000000000000000A="}`,
	},
	{
		Code: NoTunnelAddress, Rule: "CMP-1", Title: "no address on the tunnel",
		Explain: `A node on a WireGuard network needs an address there; its peers let nothing else through. Addresses come from the mesh's
network.cidr, and the module that provides the network serves them.`,
		Wrong: `nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", assign: tunnel: {}}
// modules/tunnel/tunnel.cue
provides: "private-network": serves: {network: "inner", name: "\(in.node.name).inner"}
resources: computed: peers: kind: "wireguard"`,
		Right: `nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", assign: tunnel: {}}
network: cidr: "10.86.0.0/16"
// modules/tunnel/tunnel.cue
provides: "private-network": serves: {network: "inner", name: "\(in.node.name).inner", address: in.node.address}
resources: computed: peers: kind: "wireguard"`,
	},
	{
		Code: SameTunnelAddress, Rule: "CMP-1", Title: "one address on a tunnel twice",
		Explain: `Two nodes of a WireGuard network have one address there. WireGuard sends what is for an address to one peer, the last that it
was told of, and the other stays connected and receives nothing.`,
		Wrong: `nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", assign: tunnel: {}}
nodes: board: {wireguard: "board0000000000000000000000000000000000000A=", endpoint: "203.0.113.8", assign: tunnel: {}}
// modules/tunnel/tunnel.cue
provides: "private-network": serves: {network: "inner", name: "\(in.node.name).inner", address: "10.9.0.1"}
resources: computed: peers: kind: "wireguard"`,
		Right: `network: cidr: "10.86.0.0/16"
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", assign: tunnel: {}}
nodes: board: {wireguard: "board0000000000000000000000000000000000000A=", endpoint: "203.0.113.8", assign: tunnel: {}}
// modules/tunnel/tunnel.cue
provides: "private-network": serves: {network: "inner", name: "\(in.node.name).inner", address: in.node.address}
resources: computed: peers: kind: "wireguard"`,
	},
	{
		Code: TunnelTooNarrow, Rule: "CMP-1", Title: "tunnel too narrow for IPv6",
		Explain: `WireGuard puts up to 80 bytes around every packet, so a tunnel's packets are that much smaller than those of the site's way
out. Linux carries no IPv6 on an interface with less than 1280 bytes, and the node would have no address.`,
		Wrong: `network: cidr: "fd86::/64"
assign: "mesh-wireguard": {}
nodes: anchor: {site: "house", wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7"}
sites: house: mtu: 1300`,
		Right: `network: cidr: "fd86::/64"
assign: "mesh-wireguard": {}
nodes: anchor: {site: "house", wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7"}
sites: house: mtu: 1400`,
	},
	{
		Code: RoutesOverlap, Rule: "CMP-1", Title: "routes of two nodes overlap",
		Explain: `Two nodes say that one network is behind them, or part of it. WireGuard keeps an address at one peer: of two equal routes the
kernel silently takes the last, and the first peer stays connected and is sent nothing.`,
		Wrong: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", routes: ["10.13.0.0/24"]}
nodes: board: {wireguard: "board0000000000000000000000000000000000000A=", endpoint: "203.0.113.8", routes: ["10.13.0.128/25"]}`,
		Right: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", routes: ["10.13.0.0/24"]}
nodes: board: {wireguard: "board0000000000000000000000000000000000000A=", endpoint: "203.0.113.8", routes: ["10.13.1.0/24"]}`,
	},
	{
		Code: RouteOverMesh, Rule: "CMP-1", Title: "route over the mesh's own addresses",
		Explain: `A route says what is behind one node. One that takes in the addresses of the network itself, or of one of its nodes, would send
there what is meant for the others; 0.0.0.0/0 is such a route too.`,
		Wrong: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", routes: ["10.0.0.0/8"]}
nodes: board: {wireguard: "board0000000000000000000000000000000000000A=", endpoint: "203.0.113.8", routes: ["172.20.1.0/24"]}`,
		Right: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", routes: ["10.13.0.0/24"]}
nodes: board: {wireguard: "board0000000000000000000000000000000000000A=", endpoint: "203.0.113.8", routes: ["172.20.1.0/24"]}`,
	},
	{
		Code: RouteHidden, Rule: "CMP-1", Title: "route hidden by a site's own network",
		Explain: `A node has a route to a network, and another site has a network of its own with the same addresses. Nodes there are on their own
and cannot mean the other, so the route is left out of their configuration.`,
		Wrong: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
sites: house: prefix: "192.168.1.0/24"
sites: cabin: prefix: "192.168.1.0/24"
nodes: anchor: {site: "house", wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", routes: ["192.168.1.0/24"]}
nodes: board: {site: "cabin", wireguard: "board0000000000000000000000000000000000000A="}`,
		Right: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
sites: house: prefix: "192.168.1.0/24"
sites: cabin: prefix: "192.168.2.0/24"
nodes: anchor: {site: "house", wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", routes: ["192.168.1.0/24"]}
nodes: board: {site: "cabin", wireguard: "board0000000000000000000000000000000000000A="}`,
	},
	{
		Code: BadEndpoint, Rule: "BLD-7", Title: "endpoint cannot be read",
		Explain: `An endpoint is how the outside reaches a node: a host name or an address, with a port behind it where that is not WireGuard's
51820. An IPv6 address with a port stands in brackets.`,
		Wrong: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "[2001:db8::7]:wireguard"}`,
		Right: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "[2001:db8::7]:51820"}`,
	},
	{
		Code: EndpointInside, Rule: "CMP-1", Title: "endpoint leads into the tunnel",
		Explain: `An endpoint carries the tunnel, so it has to be reachable without it. A name that the mesh itself gives to a tunnel address, an
address of the mesh's own network, or one in a network that is routed through the tunnel would send the tunnel into itself.`,
		Wrong: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "anchor.home.mesh"}`,
		Right: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "anchor.example.com"}`,
	},
	{
		Code: NoHub, Rule: "CMP-1", Title: "no hub between nodes behind NAT",
		Explain: `Two nodes behind NAT cannot call each other; what one takes from the other goes through the hub, a node that both can call and
that forwards. No node holds the claim the-hub; assign the module hub to one with an endpoint.`,
		Wrong: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7"}
nodes: board: {wireguard: "board0000000000000000000000000000000000000A=", assign: app: {}}
nodes: nas: {wireguard: "nas000000000000000000000000000000000000000A=", assign: store: {}}
// modules/store/store.cue
provides: database: scope: "mesh"
// modules/app/app.cue
requires: database: {}`,
		Right: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", assign: hub: {}}
nodes: board: {wireguard: "board0000000000000000000000000000000000000A=", assign: app: {}}
nodes: nas: {wireguard: "nas000000000000000000000000000000000000000A=", assign: store: {}}
// modules/store/store.cue
provides: database: scope: "mesh"
// modules/app/app.cue
requires: database: {}`,
	},
	{
		Code: HubElsewhere, Rule: "CMP-1", Title: "hub on another network",
		Explain: `Two nodes behind NAT cannot call each other; what one takes from the other goes through the hub, a node that both can call and
that forwards. The hub is not on the network that they share, so neither can call it there.`,
		Wrong: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", assign: hub: {}, omit: "mesh-wireguard": {}}
nodes: board: {wireguard: "board0000000000000000000000000000000000000A=", assign: app: {}}
nodes: nas: {wireguard: "nas000000000000000000000000000000000000000A=", assign: store: {}}
// modules/store/store.cue
provides: database: scope: "mesh"
// modules/app/app.cue
requires: database: {}`,
		Right: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", assign: hub: {}}
nodes: board: {wireguard: "board0000000000000000000000000000000000000A=", assign: app: {}}
nodes: nas: {wireguard: "nas000000000000000000000000000000000000000A=", assign: store: {}}
// modules/store/store.cue
provides: database: scope: "mesh"
// modules/app/app.cue
requires: database: {}`,
	},
	{
		Code: HubBehindNAT, Rule: "CMP-1", Title: "hub behind NAT",
		Explain: `Two nodes behind NAT cannot call each other; what one takes from the other goes through the hub, a node that both can call and
that forwards. The hub has no endpoint, so nobody can call it either.`,
		Wrong: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A="}
nodes: board: {wireguard: "board0000000000000000000000000000000000000A=", assign: app: {}}
nodes: nas: {wireguard: "nas000000000000000000000000000000000000000A=", assign: store: {}}
nodes: board: assign: hub: {}
// modules/store/store.cue
provides: database: scope: "mesh"
// modules/app/app.cue
requires: database: {}`,
		Right: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", assign: hub: {}}
nodes: board: {wireguard: "board0000000000000000000000000000000000000A=", assign: app: {}}
nodes: nas: {wireguard: "nas000000000000000000000000000000000000000A=", assign: store: {}}
// modules/store/store.cue
provides: database: scope: "mesh"
// modules/app/app.cue
requires: database: {}`,
	},
	{
		Code: NobodyOutside, Rule: "CMP-1", Title: "no node can be called",
		Explain: `Two nodes behind NAT cannot call each other; what one takes from the other goes through the hub, a node that both can call and
that forwards. No node of the network has an endpoint, so none could be the hub.`,
		Wrong: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A="}
nodes: board: {wireguard: "board0000000000000000000000000000000000000A=", assign: app: {}}
nodes: nas: {wireguard: "nas000000000000000000000000000000000000000A=", assign: store: {}}
// modules/store/store.cue
provides: database: scope: "mesh"
// modules/app/app.cue
requires: database: {}`,
		Right: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", assign: hub: {}}
nodes: board: {wireguard: "board0000000000000000000000000000000000000A=", assign: app: {}}
nodes: nas: {wireguard: "nas000000000000000000000000000000000000000A=", assign: store: {}}
// modules/store/store.cue
provides: database: scope: "mesh"
// modules/app/app.cue
requires: database: {}`,
	},
	{
		Code: NoPathUnused, Rule: "CMP-1", Title: "nodes behind NAT without each other",
		Explain: `Nodes behind NAT reach each other through the hub only, and there is none that they could use. None of them takes anything from
another, so nothing of the mesh is missing; a person who wants to log in from one to the other cannot.`,
		Wrong: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7"}
nodes: board: wireguard: "board0000000000000000000000000000000000000A="
nodes: nas: wireguard: "nas000000000000000000000000000000000000000A="`,
		Right: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", assign: hub: {}}
nodes: board: wireguard: "board0000000000000000000000000000000000000A="
nodes: nas: wireguard: "nas000000000000000000000000000000000000000A="`,
	},
	{
		Code: TunnelWithoutNetwork, Rule: "CMP-1", Title: "tunnel without a private network",
		Explain: `Who the peers are follows from the network that a module provides: nodes where private-network serves the same "network". A
module that computes a WireGuard configuration provides private-network itself.`,
		Wrong: `network: cidr: "10.86.0.0/16"
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", assign: tunnel: {}}
// modules/tunnel/tunnel.cue
resources: computed: peers: kind: "wireguard"`,
		Right: `network: cidr: "10.86.0.0/16"
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", assign: tunnel: {}}
// modules/tunnel/tunnel.cue
provides: "private-network": serves: {network: "inner", name: "\(in.node.name).inner", address: in.node.address}
resources: computed: peers: kind: "wireguard"`,
	},
	{
		Code: KeyPath, Rule: "CMP-1", Title: "path of a key cannot be written",
		Explain: `The configuration names the path of the machine's private key in a command that wg-quick gives to a shell. The path is absolute
and of letters, digits and /._+@- alone.`,
		Wrong: `network: cidr: "10.86.0.0/16"
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", assign: tunnel: {}}
// modules/tunnel/tunnel.cue
provides: "private-network": serves: {network: "inner", name: "\(in.node.name).inner", address: in.node.address}
resources: computed: peers: {kind: "wireguard", key: "/var/lib/my key"}`,
		Right: `network: cidr: "10.86.0.0/16"
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", assign: tunnel: {}}
// modules/tunnel/tunnel.cue
provides: "private-network": serves: {network: "inner", name: "\(in.node.name).inner", address: in.node.address}
resources: computed: peers: {kind: "wireguard", key: "/var/lib/my-key"}`,
	},
	{
		Code: BadInterface, Rule: "BLD-4", Title: "no name of an interface",
		Explain: `The name of a network interface becomes part of a file's name or a firewall rule. It has at most 15 letters, digits, dots, hyphens
and underscores, and is not "." or "..".`,
		Wrong: `network: cidr: "10.86.0.0/16"
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", assign: tunnel: {}}
// modules/tunnel/tunnel.cue
provides: "private-network": serves: {network: "inner", name: "\(in.node.name).inner", address: in.node.address}
resources: computed: peers: {kind: "wireguard", interface: ".."}`,
		Right: `network: cidr: "10.86.0.0/16"
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7", assign: tunnel: {}}
// modules/tunnel/tunnel.cue
provides: "private-network": serves: {network: "inner", name: "\(in.node.name).inner", address: in.node.address}
resources: computed: peers: {kind: "wireguard", interface: "wg0"}`,
	},
	{
		Code: BadHostsLine, Rule: "BLD-7", Title: "cannot stand in a hosts file",
		Explain: `A node's name and address on a private network, as the network's module serves them, are written into /etc/hosts everywhere. A name
is lower-case letters, digits and inner hyphens, with dots between; programs that read URLs refuse others, underscores too.`,
		Wrong: `nodes: anchor: assign: {lan: {}, "mesh-names": {}}
nodes: board: assign: {lan: {}, "mesh-names": {}}
network: cidr: "10.86.0.0/16"
// modules/lan/lan.cue
provides: "private-network": serves: {network: "house", name: "\(in.node.name)_house.home", address: in.node.address}`,
		Right: `nodes: anchor: assign: {lan: {}, "mesh-names": {}}
nodes: board: assign: {lan: {}, "mesh-names": {}}
network: cidr: "10.86.0.0/16"
// modules/lan/lan.cue
provides: "private-network": serves: {network: "house", name: "\(in.node.name)-house.home", address: in.node.address}`,
	},
	{
		Code: SameHostName, Rule: "BLD-7", Title: "two machines with one name",
		Explain: `One name would stand for two addresses in a hosts file. The module that provides the network makes names; they usually hold
the node's name.`,
		Wrong: `nodes: anchor: assign: {lan: {}, "mesh-names": {}}
nodes: board: assign: {lan: {}, "mesh-names": {}}
network: cidr: "10.86.0.0/16"
// modules/lan/lan.cue
provides: "private-network": serves: {network: "house", name: "machine.\(in.mesh.domain)", address: in.node.address}`,
		Right: `nodes: anchor: assign: {lan: {}, "mesh-names": {}}
nodes: board: assign: {lan: {}, "mesh-names": {}}
network: cidr: "10.86.0.0/16"
// modules/lan/lan.cue
provides: "private-network": serves: {network: "house", name: "\(in.node.name).\(in.mesh.domain)", address: in.node.address}`,
	},
	{
		Code: RootWithKey, Rule: "CMP-3", Title: "private key in a root",
		Explain: `The root of a certificate authority is given to every machine, and so is whatever stands beside it. An authority serves its
certificate alone; its key is a secret of the machine that it runs on.`,
		Wrong: `nodes: anchor: assign: {ca: {}, roots: {}}
// modules/ca/ca.cue
provides: "certificate-authority": {
	scope: "mesh"
	serves: root: """
		-----BEGIN PRIVATE KEY-----
		MC4CAQAwBQYDK2VwBCIEIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
		-----END PRIVATE KEY-----

		"""
}
// modules/roots/roots.cue
resources: computed: roots: {kind: "trust", path: "/etc/ssl/mesh.pem"}`,
		Right: `nodes: anchor: assign: {ca: {}, roots: {}}
// modules/ca/ca.cue
provides: "certificate-authority": {
	scope: "mesh"
	serves: root: """
		-----BEGIN CERTIFICATE-----
		MIIBTzCCAQGgAwIBAgIUYwCAdcELhoWuEjizR813EsU6qSkwBQYDK2VwMBQxEjAQ
		BgNVBAMMCWhvbWUgcm9vdDAgFw0yNjExMzAxMTQzMzRaGA8yMTI2MTEwNjExNDMz
		NFowFDESMBAGA1UEAwwJaG9tZSByb290MCowBQYDK2VwAyEAGl5BaI0EhduOh9Yl
		ZfgFC+KMcFPSjUEzV+Q5sMPygc6jYzBhMB0GA1UdDgQWBBRqnhLdvI89LjSbB4vD
		89cl9yIP3jAfBgNVHSMEGDAWgBRqnhLdvI89LjSbB4vD89cl9yIP3jAPBgNVHRMB
		Af8EBTADAQH/MA4GA1UdDwEB/wQEAwIBBjAFBgMrZXADQQDwf15PGwUAIdbV87hX
		uU6ir6HMYSAgrKeXcT/87n6RRT9qH+wyHnY3irRSmPO34RA+IuNEt0jymvo8yvKl
		IiYL
		-----END CERTIFICATE-----

		"""
}
// modules/roots/roots.cue
resources: computed: roots: {kind: "trust", path: "/etc/ssl/mesh.pem"}`,
	},
	{
		Code: NotARoot, Rule: "CMP-3", Title: "not the root of an authority",
		Explain: `What an authority serves as its root is one or more certificates in PEM that may sign others and that it has signed itself. A
server's own certificate, an intermediate one, or a damaged text would be trusted by nobody, or by half of the programs.`,
		Wrong: `nodes: anchor: assign: {ca: {}, roots: {}}
// modules/ca/ca.cue
provides: "certificate-authority": {
	scope: "mesh"
	serves: root: """
		-----BEGIN CERTIFICATE-----
		MIIBNTCB6KADAgECAhRjHMrT41/BBqE6aP3KgwGd+JEahTAFBgMrZXAwETEPMA0G
		A1UEAwwGYW5jaG9yMCAXDTI2MTEzMDExNDMzNVoYDzIxMjYxMTA2MTE0MzM1WjAR
		MQ8wDQYDVQQDDAZhbmNob3IwKjAFBgMrZXADIQAaXkFojQSF246H1iVl+AUL4oxw
		U9KNQTNX5Dmww/KBzqNQME4wHQYDVR0OBBYEFGqeEt28jz0uNJsHi8Pz1yX3Ig/e
		MB8GA1UdIwQYMBaAFGqeEt28jz0uNJsHi8Pz1yX3Ig/eMAwGA1UdEwEB/wQCMAAw
		BQYDK2VwA0EAmimCzNdpeF+tRsbGxJBFquFxqh29iyO1ksUGadJebbd632di+gjp
		18L8G2CcZtKtFrItI4CS82sF2RyJDJdTDg==
		-----END CERTIFICATE-----

		"""
}
// modules/roots/roots.cue
resources: computed: roots: {kind: "trust", path: "/etc/ssl/mesh.pem"}`,
		Right: `nodes: anchor: assign: {ca: {}, roots: {}}
// modules/ca/ca.cue
provides: "certificate-authority": {
	scope: "mesh"
	serves: root: """
		-----BEGIN CERTIFICATE-----
		MIIBTzCCAQGgAwIBAgIUYwCAdcELhoWuEjizR813EsU6qSkwBQYDK2VwMBQxEjAQ
		BgNVBAMMCWhvbWUgcm9vdDAgFw0yNjExMzAxMTQzMzRaGA8yMTI2MTEwNjExNDMz
		NFowFDESMBAGA1UEAwwJaG9tZSByb290MCowBQYDK2VwAyEAGl5BaI0EhduOh9Yl
		ZfgFC+KMcFPSjUEzV+Q5sMPygc6jYzBhMB0GA1UdDgQWBBRqnhLdvI89LjSbB4vD
		89cl9yIP3jAfBgNVHSMEGDAWgBRqnhLdvI89LjSbB4vD89cl9yIP3jAPBgNVHRMB
		Af8EBTADAQH/MA4GA1UdDwEB/wQEAwIBBjAFBgMrZXADQQDwf15PGwUAIdbV87hX
		uU6ir6HMYSAgrKeXcT/87n6RRT9qH+wyHnY3irRSmPO34RA+IuNEt0jymvo8yvKl
		IiYL
		-----END CERTIFICATE-----

		"""
}
// modules/roots/roots.cue
resources: computed: roots: {kind: "trust", path: "/etc/ssl/mesh.pem"}`,
	},
	{
		Code: NetworkRange, Rule: "CMP-5", Title: "range of a network cannot be read",
		Explain: `A module serves the range of its private network, from which a firewall knows who belongs to it. It is an address and a prefix
length, at most 32 for IPv4 and 128 for IPv6.`,
		Wrong: `nodes: anchor: assign: {firewall: {}, web: {}}
nodes: anchor: {site: "house", assign: wires: {}}
sites: house: {}
// modules/wires/wires.cue
provides: "private-network": serves: {network: "site:house", name: in.node.name, prefix: "192.168.1.0/42"}
// modules/web/web.cue
listens: http: {port: 80, fixed: true, reach: "network"}`,
		Right: `nodes: anchor: assign: {firewall: {}, web: {}}
nodes: anchor: {site: "house", assign: wires: {}}
sites: house: {}
// modules/wires/wires.cue
provides: "private-network": serves: {network: "site:house", name: in.node.name, prefix: "192.168.1.0/24"}
// modules/web/web.cue
listens: http: {port: 80, fixed: true, reach: "network"}`,
	},
	{
		Code: NetworkUnknown, Rule: "CMP-5", Title: "network without interface or range",
		Explain: `A firewall tells a private network from the rest of the world by the interface or by the addresses that packets come from. The
network's module serves neither, so ports that are open to the network stay closed.`,
		Wrong: `nodes: anchor: assign: {firewall: {}, web: {}}
nodes: anchor: {site: "house", assign: lan: {}}
sites: house: {}
// modules/web/web.cue
listens: http: {port: 80, fixed: true, reach: "network"}`,
		Right: `nodes: anchor: assign: {firewall: {}, web: {}}
nodes: anchor: {site: "house", assign: lan: {}, settings: lan: prefix: "192.168.1.0/24"}
sites: house: {}
// modules/web/web.cue
listens: http: {port: 80, fixed: true, reach: "network"}`,
	},
	{
		Code: WayInClosed, Rule: "CMP-5", Title: "way in is closed",
		Explain: `The firewall drops what nothing opens. 22/tcp is open to the world where nobody says anything of it; here an "open" closes it or opens it at
another address only, and no other open port says that it is for ssh, so nobody may be able to log in after the next apply.`,
		Wrong: `nodes: anchor: {assign: firewall: {}, open: "22/tcp": {for: "sshd", from: "machine"}}`,
		Right: `nodes: anchor: {assign: firewall: {}, open: {"22/tcp": {for: "sshd", from: "machine"}, "2222/tcp": {for: "sshd", from: "world"}}}`,
	},
}
