package diag

// Codes of what a person opens in the firewall.
const (
	BadOpen         Code = "E0190"
	OpensOverlap    Code = "E0390"
	SSHNotOpen      Code = "E0590"
	OpenFromNowhere Code = "E0591"
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
}
