package diag

import "slices"

// Codes of writing values into files and containers into units.
const (
	FormatValue      Code = "E0551"
	ContainerValue   Code = "E0552"
	PublishedNowhere Code = "E0553"
)

var renderCodes = slices.Concat(computedCodes, []Info{
	{
		Code: FormatValue, Rule: "BLD-6", Title: "value that its format cannot carry",
		Explain: `A file with format and data is written so that the program reads each value as it was set, quoted where the format would
read it otherwise. What a format has no way to write, or what its readers do not agree on, is refused instead of being guessed: a list in INI
(some readers keep the last of repeated keys, some all), a line end in a systemd unit, a null inside a list, bytes in
text. Give the value in a form that the format has, or write the whole file as content.`,
		Wrong: `nodes: board: assign: app: {}
// modules/app/app.cue
resources: file: config: {path: "/etc/app.ini", format: "ini", data: server: hosts: ["a", "b"]}`,
		Right: `nodes: board: assign: app: {}
// modules/app/app.cue
resources: file: config: {path: "/etc/app.ini", format: "ini", data: server: hosts: "a,b"}`,
	},
	{
		Code: ContainerValue, Rule: "BLD-6", Title: "container that its runtime cannot be given",
		Explain: `A container becomes a Podman quadlet or a docker unit, and everything in it reaches the runtime as it is written, or is refused. Here
something is not what the runtime takes: a capability that Linux does not have, a volume whose source or target is no absolute
path, a volume option of the other runtime, a name for a variable with a space in it, a value with a zero byte.`,
		Wrong: `nodes: board: assign: app: {}
// modules/app/app.cue
resources: container: server: {image: "docker.io/library/app:1", volumes: ["data/:/data"]}`,
		Right: `nodes: board: assign: app: {}
// modules/app/app.cue
resources: container: server: {image: "docker.io/library/app:1", volumes: ["/var/lib/app:/data"]}`,
	},
	{
		Code: PublishedNowhere, Rule: "PRT-2", Title: "published from a network without mappings",
		Explain: `A port is published by mapping one of the machine into the container's own network. A container in the machine's network
("host") has no such mapping: its program listens on the machine's ports itself, so the number that the mesh assigned, which bindings and
firewall rules name, would lead nowhere. Take publishes away and let the program listen on in.ports, or leave network out.`,
		Wrong: `nodes: board: assign: app: {}
// modules/app/app.cue
listens: http: port: 3000
resources: container: server: {image: "docker.io/library/app:1", network: "host", publishes: ["http"]}`,
		Right: `nodes: board: assign: app: {}
// modules/app/app.cue
listens: http: port: 3000
resources: container: server: {image: "docker.io/library/app:1", network: "host", env: PORT: in.ports.http}`,
	},
})
