package diag

// Codes of settings and of working out what every node runs.
const (
	GroupsDisagree   Code = "E0201"
	UnknownSetting   Code = "E0202"
	MissingSetting   Code = "E0203"
	ClaimHeldTwice   Code = "E0204"
	UnknownModule    Code = "E0205"
	UnknownSite      Code = "E0206"
	UnknownGroup     Code = "E0207"
	SeveralModules   Code = "E0208"
	NothingAnswers   Code = "E0209"
	SeveralAnswers   Code = "E0210"
	PinElsewhere     Code = "E0211"
	PinUnknown       Code = "E0212"
	NoSharedNetwork  Code = "E0213"
	WhereTooLate     Code = "E0214"
	LicenceNotChosen Code = "E0215"
	OmittedButNeeded Code = "E0216"
	SameIdentity     Code = "E0217"
	NoMatch          Code = "E0218"
	ReservedName     Code = "E0219"
	TwoModules       Code = "E0220"
	SettingsNowhere  Code = "W0221"
	OmitNothing      Code = "W0222"
	PinUnused        Code = "W0223"
	SettingKept      Code = "E0224"
	LeftOutOptional  Code = "W0225"
	NetworkServes    Code = "E0226"
	SpeltPlaceholder Code = "E0227"
)

var resolveCodes = []Info{
	{
		Code: GroupsDisagree, Rule: "SET-4", Title: "groups disagree",
		Explain: `Two groups of one node say different things about one key, or pin one requirement to different answers. Groups are of equal rank, and
among equals nobody wins in silence: a stronger layer, the site, the node or the instance, decides.`,
		Wrong: `groups: big: settings: postgres: conf: max_connections: 300
groups: old: settings: postgres: conf: max_connections: 50
nodes: anchor: {
	groups: {big: {}, old: {}}
	assign: postgres: {}
}`,
		Right: `groups: big: settings: postgres: conf: max_connections: 300
groups: old: settings: postgres: conf: max_connections: 50
nodes: anchor: {
	groups: {big: {}, old: {}}
	assign: postgres: {}
	settings: postgres: conf: max_connections: 300
}`,
	},
	{
		Code: UnknownSetting, Rule: "SET-3", Title: "unknown setting",
		Explain: `The module has no such setting, at any depth, wherever it does not say with "..." that it takes more than it names.
"meshc catalog NAME" lists a module's settings with their types and defaults.`,
		Wrong: `nodes: laptop: {
	assign: zsh: {}
	settings: zsh: histroy: size: 5000
}`,
		Right: `nodes: laptop: {
	assign: zsh: {}
	settings: zsh: history: size: 5000
}`,
	},
	{
		Code: MissingSetting, Rule: "SET-2", Title: "setting missing",
		Explain: `The module declares a setting without a default, and no layer sets it.`,
		Wrong: `nodes: anchor: assign: greeter: {}
// modules/greeter/greeter.cue
settings: greeting: string`,
		Right: `nodes: anchor: {
	assign: greeter: {}
	settings: greeter: greeting: "hello"
}
// modules/greeter/greeter.cue
settings: greeting: string`,
	},
	{
		Code: ClaimHeldTwice, Rule: "CLM-1", Title: "claim held twice",
		Explain: `A claim is a name that one instance may hold within a scope: a node, a site or the mesh. Modules that cannot stand beside each
other claim the same name, without naming each other. The second holder is refused; one of the two has to go, or to move
out of the scope.`,
		Wrong: `nodes: laptop: {
	assign: i3: {}
	assign: sway: {}
}`,
		Right: `nodes: laptop: assign: sway: {}`,
	},
	{
		Code: UnknownModule, Rule: "DIA-4", Title: "unknown module",
		Explain: `No module has this name: none is built in, and the mesh has none in modules/. The module is the instance's name where "module:" does
not say otherwise.`,
		Wrong: `nodes: anchor: assign: postgress: {}`,
		Right: `nodes: anchor: assign: postgres: {}`,
	},
	{
		Code: UnknownSite, Rule: "DIA-4", Title: "unknown site",
		Explain: `A node names a site that the mesh does not have.`,
		Wrong: `sites: house: {}
nodes: anchor: site: "hause"`,
		Right: `sites: house: {}
nodes: anchor: site: "house"`,
	},
	{
		Code: UnknownGroup, Rule: "DIA-4", Title: "unknown group",
		Explain: `A node is in a group that the mesh does not have.`,
		Wrong: `groups: server: {}
nodes: anchor: groups: sever: {}`,
		Right: `groups: server: {}
nodes: anchor: groups: server: {}`,
	},
	{
		Code: SeveralModules, Rule: "SEL-2", Title: "several modules could answer",
		Explain: `An instance requires something of its own machine, nothing there provides it, and several modules could. Which one is a matter of
taste that meshc does not have: assign the one that is wanted, at the node, or at a site, a group or the mesh for all.`,
		Wrong: `nodes: laptop: assign: editor: {}`,
		Right: `nodes: laptop: assign: {
	editor: {}
	zsh: {}
}`,
	},
	{
		Code: NothingAnswers, Rule: "SEL-5", Title: "nothing answers a requirement",
		Explain: `A requirement has no answer. What is node-scoped a module has to provide; what is site- or mesh-scoped an assigned
instance within that scope, since meshc never puts a program on a machine only because another one asks.`,
		Wrong: `nodes: laptop: assign: notes: {}
// modules/notes/notes.cue
requires: shel: {}`,
		Right: `nodes: laptop: assign: {
	notes: {}
	zsh: {}
}
// modules/notes/notes.cue
requires: shell: {}`,
	},
	{
		Code: SeveralAnswers, Rule: "SCP-2", Title: "several could answer",
		Explain: `Several instances of the mesh could answer a requirement. A pin says which: a node, instance@node where a node has two,
at the node, the instance, or for all of a site, group or mesh. What is answered on the machine itself is pinned by the instance's name alone
(pins: shell: "zsh"), so that one line holds for many machines. A requirement that reads nothing of its answer takes any number of them.`,
		Wrong: `sites: house: assign: lan: {}
nodes: [_]: site: "house"

nodes: anchor: assign: postgres: {}
nodes: board: assign: postgres: {}
nodes: laptop: assign: notes: {}
// modules/notes/notes.cue
requires: database: {
	binds: path:  "/etc/notes/database.json"
	secret: path: "/etc/notes/database.password"
}`,
		Right: `sites: house: assign: lan: {}
nodes: [_]: site: "house"

nodes: anchor: assign: postgres: {}
nodes: board: assign: postgres: {}
nodes: laptop: {
	assign: notes: {}
	pins: database: "anchor"
}
// modules/notes/notes.cue
requires: database: {
	binds: path:  "/etc/notes/database.json"
	secret: path: "/etc/notes/database.password"
}`,
	},
	{
		Code: PinElsewhere, Rule: "SCP-3", Title: "pin at one that does not provide it",
		Explain: `A pin decides, and it names somebody who does not provide what is pinned. It never falls back to another provider, not even to the
only one there is: whoever wrote the pin meant something by it. For what is answered on the machine itself, a pin names an instance there, or
a module of the catalogue that is brought.`,
		Wrong: `sites: house: assign: lan: {}
nodes: [_]: site: "house"

nodes: anchor: assign: postgres: {}
nodes: board: {}
nodes: laptop: {
	assign: notes: {}
	pins: database: "board"
}
// modules/notes/notes.cue
requires: database: {
	binds: path:  "/etc/notes/database.json"
	secret: path: "/etc/notes/database.password"
}`,
		Right: `sites: house: assign: lan: {}
nodes: [_]: site: "house"

nodes: anchor: assign: postgres: {}
nodes: board: {}
nodes: laptop: {
	assign: notes: {}
	pins: database: "anchor"
}
// modules/notes/notes.cue
requires: database: {
	binds: path:  "/etc/notes/database.json"
	secret: path: "/etc/notes/database.password"
}`,
	},
	{
		Code: PinUnknown, Rule: "SCP-3", Title: "pin at something unknown",
		Explain: `A pin names neither a node, nor an instance of one, nor a licence.`,
		Wrong: `sites: house: assign: lan: {}
nodes: [_]: site: "house"

nodes: anchor: assign: postgres: {}
nodes: laptop: {
	assign: notes: {}
	pins: database: "ancor"
}
// modules/notes/notes.cue
requires: database: {
	binds: path:  "/etc/notes/database.json"
	secret: path: "/etc/notes/database.password"
}`,
		Right: `sites: house: assign: lan: {}
nodes: [_]: site: "house"

nodes: anchor: assign: postgres: {}
nodes: laptop: {
	assign: notes: {}
	pins: database: "anchor"
}
// modules/notes/notes.cue
requires: database: {
	binds: path:  "/etc/notes/database.json"
	secret: path: "/etc/notes/database.password"
}`,
	},
	{
		Code: NoSharedNetwork, Rule: "SCP-5", Title: "no private network in common",
		Explain: `Somebody provides what is required, and the two machines have no private network in common: what provides private-network on
the one serves another network than on the other, or one has none. Give both the same network module, or take
another provider.`,
		Wrong: `sites: house: {}
sites: cabin: {}
assign: lan: {}
nodes: anchor: {site: "house", assign: postgres: {}}
nodes: laptop: {site: "cabin", assign: notes: {}}
// modules/notes/notes.cue
requires: database: {
	binds: path:  "/etc/notes/database.json"
	secret: path: "/etc/notes/database.password"
}`,
		Right: `sites: house: {}
assign: lan: {}
nodes: anchor: {site: "house", assign: postgres: {}}
nodes: laptop: {site: "house", assign: notes: {}}
// modules/notes/notes.cue
requires: database: {
	binds: path:  "/etc/notes/database.json"
	secret: path: "/etc/notes/database.password"
}`,
	},
	{
		Code: WhereTooLate, Rule: "SCP-8", Title: "condition on what is not known yet",
		Explain: `A requirement asks with "where" for something that is known only once ports are assigned. Who answers is decided before that, so that
a moved port never changes it; "where" may name what is served without in.ports.`,
		Wrong: `nodes: anchor: assign: {
	postgres: {}
	notes: {}
}
// modules/notes/notes.cue
requires: database: {
	where: port: >1024
	binds: path:  "/etc/notes/database.json"
	secret: path: "/etc/notes/database.password"
}`,
		Right: `nodes: anchor: assign: {
	postgres: {}
	notes: {}
}
// modules/notes/notes.cue
requires: database: {
	where: driver: "postgres"
	binds: path:  "/etc/notes/database.json"
	secret: path: "/etc/notes/database.password"
}`,
	},
	{
		Code: LicenceNotChosen, Rule: "LIC-1", Title: "licence not chosen",
		Explain: `A licence is an answer from outside the mesh: an account, a subscription. It is paid for or tied to a person, so it is never chosen
for anybody; whoever uses it is pinned to it.`,
		Wrong: `licences: personal: {answers: "model-access", serves: url: "https://models.example/v1"}
nodes: laptop: assign: "model-client": {}`,
		Right: `licences: personal: {answers: "model-access", serves: url: "https://models.example/v1"}
nodes: laptop: {
	assign: "model-client": {}
	pins: "model-access": "personal"
}`,
	},
	{
		Code: OmittedButNeeded, Rule: "SEL-1", Title: "omitted, but something requires it",
		Explain: `A node omits a module that something else on it requires. Take away what requires it too, or let it run.`,
		Wrong: `assign: xorg: {}
nodes: laptop: {
	assign: i3: {}
	omit: xorg: {}
}`,
		Right: `assign: xorg: {}
nodes: laptop: assign: i3: {}
nodes: anchor: omit: xorg: {}`,
	},
	{
		Code: SameIdentity, Rule: "SEL-11", Title: "two with one identity",
		Explain: `Two machines share what only one can have: a recipient, a WireGuard key, an address; or a node and a licence share a name. Cloned
disks are the usual cause of equal keys: "mesh-host init NODE" makes new ones.`,
		Wrong: `network: cidr: "10.86.0.0/16"
nodes: anchor: address: "10.86.0.1"
nodes: board: address:  "10.86.0.1"`,
		Right: `network: cidr: "10.86.0.0/16"
nodes: anchor: address: "10.86.0.1"
nodes: board: address:  "10.86.0.2"`,
	},
	{
		Code: NoMatch, Rule: "SCP-8", Title: "no answer serves what is asked for",
		Explain: `Somebody provides what is required, and nobody serves what "where" asks for. The message says of each why it does not match.`,
		Wrong: `nodes: anchor: assign: {
	postgres: {}
	notes: {}
}
// modules/notes/notes.cue
requires: database: {
	where: driver: "mysql"
	binds: path:  "/etc/notes/database.json"
	secret: path: "/etc/notes/database.password"
}`,
		Right: `nodes: anchor: assign: {
	postgres: {}
	notes: {}
}
// modules/notes/notes.cue
requires: database: {
	where: driver: "postgres"
	binds: path:  "/etc/notes/database.json"
	secret: path: "/etc/notes/database.password"
}`,
	},
	{
		Code: ReservedName, Rule: "CON-5", Title: "reserved name",
		Explain: `A module serves or derives something under a name that every binding has of its own, such as node or at, so that a consumer
could not tell the two apart.`,
		Wrong: `nodes: anchor: assign: store: {}
// modules/store/store.cue
provides: storage: serves: at: "/srv"`,
		Right: `nodes: anchor: assign: store: {}
// modules/store/store.cue
provides: storage: serves: path: "/srv"`,
	},
	{
		Code: TwoModules, Rule: "SEL-3", Title: "one instance of two modules",
		Explain: `Two layers assign one instance with different modules. An instance is one running of one module; give one of them another name.`,
		Wrong: `assign: cache: module: "redis"
nodes: anchor: assign: cache: module: "postgres"`,
		Right: `assign: cache: module: "redis"
nodes: anchor: assign: store: module: "postgres"`,
	},
	{
		Code: SettingsNowhere, Rule: "SET-3", Title: "settings for a module that runs nowhere here",
		Explain: `A layer has settings for a module that runs on none of its nodes, so that they do nothing. They may be left over, or meant for
another layer.`,
		Wrong: `nodes: anchor: settings: postgres: conf: max_connections: 300`,
		Right: `nodes: anchor: {
	assign: postgres: {}
	settings: postgres: conf: max_connections: 300
}`,
	},
	{
		Code: OmitNothing, Rule: "SEL-1", Title: "omits what is not assigned",
		Explain: `A node omits an instance that no weaker layer assigns to it, so that there is nothing to take back.`,
		Wrong:   `nodes: anchor: omit: zsh: {}`,
		Right: `assign: zsh: {}
nodes: anchor: omit: zsh: {}`,
	},
	{
		Code: PinUnused, Rule: "SCP-3", Title: "pin for what nobody asks for",
		Explain: `A pin names a provision that nothing in its layer requires, so that it decides nothing.`,
		Wrong: `nodes: anchor: {
	assign: postgres: {}
	pins: databse: "anchor"
}`,
		Right: `nodes: anchor: assign: {
	postgres: {}
	notes: pins: database: "anchor"
}
// modules/notes/notes.cue
requires: database: {
	binds: path:  "/etc/notes/database.json"
	secret: path: "/etc/notes/database.password"
}`,
	},
	{
		Code: SettingKept, Rule: "SET-2", Title: "setting does not fit",
		Explain: `A setting has a value that the module's type does not admit, or that the module keeps for itself: what a module writes as a
concrete value is not for a mesh to change, since the module relies on it elsewhere.`,
		Wrong: `nodes: anchor: {
	assign: greeter: {}
	settings: greeter: port: 80
}
// modules/greeter/greeter.cue
settings: port: 3000`,
		Right: `nodes: anchor: {
	assign: greeter: {}
	settings: greeter: greeting: "hello"
}
// modules/greeter/greeter.cue
settings: {
	port:     3000
	greeting: *"good day" | string
}`,
	},
	{
		Code: LeftOutOptional, Rule: "SEL-10", Title: "optional requirement left out",
		Explain: `An optional requirement could be answered by several, and nothing says by which. It is left out, which may not be what is wanted.`,
		Wrong: `nodes: laptop: assign: {
	bash: {}
	zsh: settings: default: false
	notes: {}
}
// modules/notes/notes.cue
requires: shell: {optional: true, binds: path: "/etc/notes/shell.json"}`,
		Right: `nodes: laptop: assign: {
	zsh: {}
	notes: {}
}
// modules/notes/notes.cue
requires: shell: {optional: true, binds: path: "/etc/notes/shell.json"}`,
	},
	{
		Code: NetworkServes, Rule: "SCP-5", Title: "network without a name",
		Explain: `A module that provides private-network serves "network", which network it is, and "name", how this node is called on it, both
without reading ports: whether two nodes share a network is decided before anything else between them.`,
		Wrong: `nodes: anchor: assign: overlay: {}
// modules/overlay/overlay.cue
provides: "private-network": serves: network: "overlay"`,
		Right: `nodes: anchor: assign: overlay: {}
// modules/overlay/overlay.cue
provides: "private-network": serves: {
	network: "overlay"
	name:    "\(in.node.name).overlay"
}`,
	},
	{
		Code: SpeltPlaceholder, Rule: "SEC-10", Title: "text looks like a placeholder",
		Explain: `A secret is written into a file by the machine itself, where a module placed it; until then a placeholder stands there. A setting or contribution
that spells one could take another's place, so it is refused whatever it was meant to be.`,
		Wrong: `nodes: anchor: assign: greeter: settings: greeting: "Mshc0"
// modules/greeter/greeter.cue
settings: greeting: string`,
		Right: `nodes: anchor: assign: greeter: settings: greeting: "hello"
// modules/greeter/greeter.cue
settings: greeting: string`,
	},
}
