package diag

// Codes of what a person opens in the firewall, and of the ranges and endpoints of a network.
const (
	BadOpen         Code = "E0190"
	OpensOverlap    Code = "E0390"
	SSHNotOpen      Code = "E0590"
	OpenFromNowhere Code = "E0591"
	NetworkNotOurs  Code = "E0391"
	EndpointTwice   Code = "E0592"
)

var openCodes = []Info{
	{
		Code: BadOpen, Rule: "CMP-5", Title: "not a port to open",
		Explain: `A key of open is a port or a range, for one protocol where only one is meant, at one address where not all are: "22/tcp",
"8000-8100/tcp", "192.168.1.2:53/udp". Its value says for whom, and from where: "machine", "site", "network", "world", a prefix or a list of prefixes.`,
		Wrong: `nodes: anchor: open: "ssh/tcp": {for: "sshd", from: "network"}`,
		Right: `nodes: anchor: open: "22/tcp": {for: "sshd", from: "network"}`,
	},
	{
		Code: OpensOverlap, Rule: "CMP-5", Title: "one port opened under two keys",
		Explain: `What a stronger layer opens replaces a key of a weaker one whole, and for that it has to be the same key. Two keys that have a port in
common, such as "22/tcp" and "20-30/tcp", or "22" (both protocols) and "22/tcp", would leave open which of them holds. Write the key that the other layer wrote, or ranges that do not meet.`,
		Wrong: `open: "22/tcp": {for: "sshd", from: "network"}
nodes: anchor: open: "22": {for: "sshd", from: "world"}`,
		Right: `open: "22/tcp": {for: "sshd", from: "network"}
nodes: anchor: open: "22/tcp": {for: "sshd", from: "world"}`,
	},
	{
		Code: NetworkNotOurs, Rule: "PRT-7", Title: "not a range for the mesh's network",
		Explain: `network.cidr is the mesh's alone on every machine: what is sent there goes into the tunnel. So it is of the ranges that nobody has
on the internet (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10, fc00::/7), is neither loopback nor multicast, and has no address in common with a site's prefix, whose
machines would lose their gateway.`,
		Wrong: `network: cidr: "192.168.1.0/24"
sites: house: prefix: "192.168.1.0/24"
nodes: anchor: site: "house"`,
		Right: `network: cidr: "10.86.0.0/16"
sites: house: prefix: "192.168.1.0/24"
nodes: anchor: site: "house"`,
	},
	{
		Code: SSHNotOpen, Rule: "PRT-5", Title: "reserved for ssh, and closed",
		Explain: `Reserving a port keeps meshc from assigning it and opens nothing. A reserved port whose reason names ssh is how somebody comes in
to this machine, and its firewall would close it. Say from where it is open; from "machine" is allowed where closing it is meant.`,
		Wrong: `nodes: anchor: {assign: firewall: {}, reserved: ports: "2222": "sshd"}`,
		Right: `nodes: anchor: {assign: firewall: {}, reserved: ports: "2222": "sshd", open: "2222/tcp": {for: "sshd", from: "world"}}`,
	},
	{
		Code: OpenFromNowhere, Rule: "CMP-5", Title: "open to nobody",
		Explain: `A port is open to the node's site, of which no prefix is known, or to the private network, and the node is on none. The firewall
can tell nobody who comes from there, so the port would be closed. Give the site a prefix, the node a network, or write the prefixes that are meant.`,
		Wrong: `sites: house: {}
nodes: anchor: {site: "house", assign: firewall: {}, open: "445/tcp": {for: "samba", from: "site"}}`,
		Right: `sites: house: prefix: "192.168.1.0/24"
nodes: anchor: {site: "house", assign: firewall: {}, open: "445/tcp": {for: "samba", from: "site"}}`,
	},
	{
		Code: EndpointTwice, Rule: "CMP-1", Title: "one endpoint for two nodes",
		Explain: `Two nodes say that the outside reaches them at one address and port. A packet that arrives there is given to one machine, so the
other is never reached. Behind one router each needs a port of its own, which the router forwards.`,
		Wrong: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7"}
nodes: board: {wireguard: "board0000000000000000000000000000000000000A=", endpoint: "203.0.113.7:51820"}`,
		Right: `network: cidr: "10.86.0.0/16"
assign: "mesh-wireguard": {}
nodes: anchor: {wireguard: "anchor000000000000000000000000000000000000A=", endpoint: "203.0.113.7"}
nodes: board: {wireguard: "board0000000000000000000000000000000000000A=", endpoint: "203.0.113.7:51821"}`,
	},
}
