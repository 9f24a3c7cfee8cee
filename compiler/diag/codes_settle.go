package diag

// Codes of the lock and of settling what is assigned once.
const (
	LockSyntax   Code = "E0301"
	LockUnmerged Code = "E0302"
	LockFormat   Code = "E0303"
	LockTwice    Code = "E0304"
	LockEntry    Code = "E0305"

	PoolWrong    Code = "E0311"
	PoolFull     Code = "E0312"
	RangeWrong   Code = "E0313"
	BindingWrong Code = "E0314"
	PortTaken    Code = "E0315"
	PortReserved Code = "E0316"
	PortShared   Code = "E0317"
	PortMoves    Code = "E0318"

	NetworkWrong    Code = "E0321"
	AddressUnusable Code = "E0322"
	AddressTwice    Code = "E0323"
	NetworkFull     Code = "E0324"
	AddressShared   Code = "E0325"
	AddressMoves    Code = "E0326"

	MovedStillThere Code = "E0331"
	MovedToNobody   Code = "E0332"
	MovedTangled    Code = "E0333"
	MoveMalformed   Code = "E0334"
	MovePending     Code = "E0335"

	LoginReserved Code = "E0341"
	LoginShared   Code = "E0342"

	NotSettled Code = "E0351"
	EntryLost  Code = "E0352"

	PoolOutgoing Code = "W0361"
	PortOutgoing Code = "W0362"
	RangeWide    Code = "W0363"
	RoomLater    Code = "W0364"

	DataLeft       Code = "W0375"
	RenamedUnsaid  Code = "W0376"
	NoEarlier      Code = "W0377"
	DataUnrecorded Code = "W0378"
	MovedData      Code = "E0379"
	PathNotASCII   Code = "W0381"
)

var settleCodes = []Info{
	{
		Code: LockSyntax, Rule: "DIA-5", Title: "the lock cannot be read",
		Explain: `mesh.lock.hcl is written by meshc and holds nothing but names, numbers, strings and lists. Here it holds
something else: a hand or another program changed it. Bring it back from git, and let meshc lock make what
is missing then.`,
		Wrong: `nodes: board: {}
// mesh.lock.hcl
format = 1
ports = {
  "board/web/http" = 20000 + 311
}`,
		Right: `nodes: board: {}
// mesh.lock.hcl
format = 1
ports = {
  "board/web/http" = 20311
}`,
	},
	{
		Code: LockUnmerged, Rule: "PRT-6", Title: "the lock has an unfinished merge",
		Explain: `Two branches settled something at the same place of mesh.lock.hcl, and git left both with markers around them.
Every line of the lock is an entry of its own, so both sides are right: delete the marker lines and keep the
others. Where both gave one number to two, meshc lock moves one of them.`,
		Wrong: `nodes: board: {}
// mesh.lock.hcl
format = 1
ports = {
<<<<<<< HEAD
  "board/web/http" = 20311
=======
  "board/forge/http" = 20412
>>>>>>> forge
}`,
		Right: `nodes: board: {}
// mesh.lock.hcl
format = 1
ports = {
  "board/forge/http" = 20412
  "board/web/http" = 20311
}`,
	},
	{
		Code: LockFormat, Rule: "PRT-1", Title: "the lock has another format",
		Explain: `The first line of mesh.lock.hcl says which format it has. Older formats are upgraded when the lock is read;
a newer one was written by a newer meshc, and to guess at it could give away a port or a login twice. Use
the meshc that the others use; "meshc:" in mesh.cue says which one a mesh accepts.`,
		Wrong: `nodes: board: {}
// mesh.lock.hcl
format = 99`,
		Right: `nodes: board: {}
// mesh.lock.hcl
format = 1`,
	},
	{
		Code: LockTwice, Rule: "PRT-6", Title: "an entry stands in the lock twice",
		Explain: `One name has two values, which is what a merge leaves when both branches settled it. Nobody but you can know
which is in use: look at git log -p mesh.lock.hcl, keep the line that was applied to machines, and delete
the other. (The same line twice is no fault.)`,
		Wrong: `nodes: board: {}
// mesh.lock.hcl
format = 1
ports = {
  "board/web/http" = 20311
  "board/web/http" = 20312
}`,
		Right: `nodes: board: {}
// mesh.lock.hcl
format = 1
ports = {
  "board/web/http" = 20311
}`,
	},
	{
		Code: LockEntry, Rule: "PRT-1", Title: "an entry of the lock is malformed",
		Explain: `An entry is not of the form that its section has: a port is a number from 1 to 65535, an address an address,
a login at most 63 of a-z, 0-9 and _. The lock is written by meshc; bring it back from git.`,
		Wrong: `nodes: board: {}
// mesh.lock.hcl
format = 1
ports = {
  "board/web/http" = 203110
}`,
		Right: `nodes: board: {}
// mesh.lock.hcl
format = 1
ports = {
  "board/web/http" = 20311
}`,
	},
	{
		Code: PoolWrong, Rule: "PRT-1", Title: "the pool of ports is no range",
		Explain: `ports says from and to where port numbers are assigned, both ends included.`,
		Wrong: `ports: {from: 29999, to: 20000}
nodes: board: {}`,
		Right: `ports: {from: 20000, to: 29999}
nodes: board: {}`,
	},
	{
		Code: PoolFull, Rule: "PRT-1", Title: "no port is left",
		Explain: `Every number of the pool is held on this machine: by what listens there, by fixed and reserved ports, and by
entries of the lock that nobody owns any more, which keep their number in case they come back. Make the pool
larger, or remove the entries that nobody owns with meshc lock --prune; what they had is free after the next
commit, since a number is never handed over in one step.`,
		Wrong: `ports: {from: 20000, to: 20001}
nodes: board: assign: web: {}
// modules/web/web.cue
listens: {http: port: 3000, admin: port: 3001, metrics: port: 3002}`,
		Right: `ports: {from: 20000, to: 29999}
nodes: board: assign: web: {}
// modules/web/web.cue
listens: {http: port: 3000, admin: port: 3001, metrics: port: 3002}`,
	},
	{
		Code: RangeWrong, Rule: "PRT-1", Title: "a range of ports that cannot be",
		Explain: `A listen with to is a range from port to to. It has to fit into the pool as a whole, since its numbers follow each other.`,
		Wrong: `nodes: board: assign: talk: {}
// modules/talk/talk.cue
listens: media: {port: 40100, to: 40000, protocol: "udp"}`,
		Right: `nodes: board: assign: talk: {}
// modules/talk/talk.cue
listens: media: {port: 40000, to: 40100, protocol: "udp"}`,
	},
	{
		Code: BindingWrong, Rule: "PRT-3", Title: "not an address to bind",
		Explain: `address at a listen or in a mapping is the one address that the program binds, in figures: names and
interfaces are not known before the machine runs. Leave it out to bind all.`,
		Wrong: `nodes: board: assign: names: {}
// modules/names/names.cue
listens: dns: {port: 53, fixed: true, address: "eth0"}`,
		Right: `nodes: board: assign: names: {}
// modules/names/names.cue
listens: dns: {port: 53, fixed: true, address: "10.0.0.2"}`,
	},
	{
		Code: PortTaken, Rule: "CLM-3", Title: "a port is taken twice",
		Explain: `Two things on one machine want the same port, and neither can have another: fixed: true says that the protocol
fixes the number, and a mapping written by hand is left as it is. tcp and udp are two. A program that binds
every address meets whoever binds one of them; two different addresses do not meet. Run them on two machines,
or take fixed away where the protocol does not need it.`,
		Wrong: `nodes: board: assign: {
	web: {}
	other: module: "web"
}
// modules/web/web.cue
listens: http: {port: 8080, fixed: true}`,
		Right: `nodes: board: assign: {
	web: {}
	other: module: "web"
}
// modules/web/web.cue
listens: http: port: 8080`,
	},
	{
		Code: PortReserved, Rule: "PRT-5", Title: "a port is reserved",
		Explain: `The node says that something else on the machine uses this port, and why; 22 is taken for sshd unless the node
says otherwise. Where the listener may bind one address and the reservation is for another, say which. Where
sshd listens elsewhere, say so at the node, and mind the way in: reserving opens nothing, "open" does.`,
		Wrong: `nodes: board: assign: git: {}
// modules/git/git.cue
listens: ssh: {port: 22, fixed: true}`,
		Right: `nodes: board: {
	assign: git: {}
	reserved: ports: "2222": "sshd"
}
// modules/git/git.cue
listens: ssh: {port: 22, fixed: true}`,
	},
	{
		Code: PortShared, Rule: "PRT-6", Title: "two hold one port in the lock",
		Explain: `The lock gives one number to two listens of one machine: two branches chose it and were merged. meshc lock lets
the one keep it which the first parent of the merge had, and gives the other a new one.`,
		Wrong: `nodes: board: assign: {
	web: {}
	other: module: "web"
}
// modules/web/web.cue
listens: http: port: 3000
// mesh.lock.hcl
format = 1
ports = {
  "board/other/http" = 20311
  "board/web/http" = 20311
}`,
		Right: `nodes: board: assign: {
	web: {}
	other: module: "web"
}
// modules/web/web.cue
listens: http: port: 3000
// mesh.lock.hcl
format = 1
ports = {
  "board/other/http" = 20312
  "board/web/http" = 20311
}`,
	},
	{
		Code: PortMoves, Rule: "PRT-5", Title: "an assigned port has to move",
		Explain: `The lock gave a listen a number that something else needs now: it was reserved, or another listen or mapping
fixes it. A number that is in use does not change on the side of a build: meshc lock moves it, and shows what
moved. Everything that names the port follows in the same build.`,
		Wrong: `nodes: board: {
	assign: web: {}
	reserved: ports: "20311": "the scanner"
}
// modules/web/web.cue
listens: http: port: 3000
// mesh.lock.hcl
format = 1
ports = {
  "board/web/http" = 20311
}`,
		Right: `nodes: board: {
	assign: web: {}
	reserved: ports: "20311": "the scanner"
}
// modules/web/web.cue
listens: http: port: 3000
// mesh.lock.hcl
format = 1
ports = {
  "board/web/http" = 20312
}`,
	},
	{
		Code: NetworkWrong, Rule: "PRT-7", Title: "not a network",
		Explain: `network.cidr is the address of the network and the length of its prefix; the bits behind the prefix are zero.`,
		Wrong: `network: cidr: "10.86.0.1/16"
nodes: anchor: {}`,
		Right: `network: cidr: "10.86.0.0/16"
nodes: anchor: {}`,
	},
	{
		Code: AddressUnusable, Rule: "PRT-7", Title: "an address that a node cannot have",
		Explain: `An address given by hand has to be in the mesh's network, and neither the network's own address nor its
broadcast address.`,
		Wrong: "network: cidr: \"10.86.0.0/16\"\nnodes: anchor: address: \"10.87.0.1\"",
		Right: "network: cidr: \"10.86.0.0/16\"\nnodes: anchor: address: \"10.86.0.1\"",
	},
	{
		Code: AddressTwice, Rule: "SEL-11", Title: "two nodes have one address",
		Explain: `Two machines with one address take each other's traffic, also where it is written in two ways. Give one of them another, or none,
so that the mesh assigns it.`,
		Wrong: `network: cidr: "fd86::/64"
nodes: anchor: address: "fd86::1"
nodes: board: address:  "fd86:0:0::1"`,
		Right: `network: cidr: "fd86::/64"
nodes: anchor: address: "fd86::1"
nodes: board: {}`,
	},
	{
		Code: NetworkFull, Rule: "PRT-7", Title: "no address is left",
		Explain: `Every address of the network is given to a node, or kept in the lock for one that is gone and may come back.
Remove what nobody owns with meshc lock --prune; it is free after the next commit. Or take a larger network,
which moves every node that the new one does not contain.`,
		Wrong: `network: cidr: "10.86.0.0/30"
nodes: {anchor: {}, board: {}, cabin: {}}`,
		Right: `network: cidr: "10.86.0.0/16"
nodes: {anchor: {}, board: {}, cabin: {}}`,
	},
	{
		Code: AddressShared, Rule: "PRT-7", Title: "two nodes hold one address in the lock",
		Explain: `The lock gives one address to two nodes: two branches chose it and were merged. meshc lock lets the one keep it
which the first parent of the merge had, and gives the other a new one.`,
		Wrong: `network: cidr: "10.86.0.0/16"
nodes: {anchor: {}, board: {}}
// mesh.lock.hcl
format = 1
addresses = {
  "anchor" = "10.86.0.7"
  "board" = "10.86.0.7"
}`,
		Right: `network: cidr: "10.86.0.0/16"
nodes: {anchor: {}, board: {}}
// mesh.lock.hcl
format = 1
addresses = {
  "anchor" = "10.86.0.7"
  "board" = "10.86.0.8"
}`,
	},
	{
		Code: AddressMoves, Rule: "PRT-7", Title: "an assigned address has to move",
		Explain: `The lock gave a node an address that it cannot keep: the network is another one, or the address was given to
another node by hand. meshc lock moves it, and shows what moved. The nodes have to be built and applied
together, since their tunnels name each other's addresses.`,
		Wrong: `network: cidr: "10.87.0.0/16"
nodes: anchor: {}
// mesh.lock.hcl
format = 1
addresses = {
  "anchor" = "10.86.0.7"
}`,
		Right: `network: cidr: "10.87.0.0/16"
nodes: anchor: {}
// mesh.lock.hcl
format = 1
addresses = {
  "anchor" = "10.87.0.7"
}`,
	},
	{
		Code: MovedStillThere, Rule: "PRT-8", Title: "what was moved is still there",
		Explain: `moved says that something has a new name, and the mesh still has something by the old one. If both are meant
to be there, nothing was moved: remove the line. If the old name was taken over by another that was
moved too, say that as well.`,
		Wrong: "moved: nodes: board: \"office\"\nnodes: board: {}\nnodes: office: {}",
		Right: "moved: nodes: board: \"office\"\nnodes: office: {}",
	},
	{
		Code: MovedToNobody, Rule: "PRT-8", Title: "what was moved is nowhere",
		Explain: `moved says that something has a new name, and the mesh has nothing by that name. Instances are named
instance@node, as they are called once nodes have moved. Once everybody has the new name, the line can go.`,
		Wrong: "moved: nodes: board: \"ofice\"\nnodes: office: {}",
		Right: "moved: nodes: board: \"office\"\nnodes: office: {}",
	},
	{
		Code: MovedTangled, Rule: "PRT-8", Title: "moves contradict each other",
		Explain: `One thing has one new name, and one new name belongs to one thing. Two may swap names.`,
		Wrong: `moved: nodes: {board: "office", desk: "office"}
nodes: office: {}`,
		Right: `moved: nodes: board: "office"
nodes: office: {}`,
	},
	{
		Code: MoveMalformed, Rule: "PRT-8", Title: "not an instance",
		Explain: `An instance is named with its node, instance@node, in moved as everywhere.`,
		Wrong: `moved: instances: web: "site"
nodes: board: assign: site: module: "web"
// modules/web/web.cue
listens: http: port: 3000`,
		Right: `moved: instances: "web@board": "site@board"
nodes: board: assign: site: module: "web"
// modules/web/web.cue
listens: http: port: 3000`,
	},
	{
		Code: MovePending, Rule: "PRT-8", Title: "a move is not in the lock yet",
		Explain: `A locked build makes nothing and changes no lock; what has a new name still stands in it by the old one. Run
meshc lock on your machine and commit the lock.`,
		Wrong: `$ meshc build --locked`,
		Right: `$ meshc lock && git commit -m "board is office now" mesh.lock.hcl && meshc build --locked`,
	},
	{
		Code: LoginReserved, Rule: "CON-7", Title: "a login that servers keep for themselves",
		Explain: `The lock was changed by hand: meshc never makes such a login. A consumer by the name of an administrator would
be one, or would not be let in at all. meshc lock gives it another.`,
		Wrong: `nodes: anchor: assign: {
	postgres: {}
	notes: {}
}
// modules/notes/notes.cue
requires: database: {
	binds: path:  "/etc/notes/database.json"
	secret: path: "/etc/notes/database.password"
}
// mesh.lock.hcl
format = 1
logins = {
  "postgres@anchor database notes@anchor" = "postgres"
}`,
		Right: `nodes: anchor: assign: {
	postgres: {}
	notes: {}
}
// modules/notes/notes.cue
requires: database: {
	binds: path:  "/etc/notes/database.json"
	secret: path: "/etc/notes/database.password"
}
// mesh.lock.hcl
format = 1
logins = {
  "postgres@anchor database notes@anchor" = "notes_anchor"
}`,
	},
	{
		Code: LoginShared, Rule: "CON-7", Title: "two consumers hold one login in the lock",
		Explain: `Two consumers with one login would open each other's data. Two branches chose it and were merged; meshc lock lets
the one keep it which the first parent of the merge had, and gives the other a new one.`,
		Wrong: `nodes: anchor: assign: {
	postgres: {}
	notes: {}
	diary: module: "notes"
}
// modules/notes/notes.cue
requires: database: {
	binds: path:  "/etc/\(in.instance)/database.json"
	secret: path: "/etc/\(in.instance)/database.password"
}
// mesh.lock.hcl
format = 1
logins = {
  "postgres@anchor database diary@anchor" = "notes_anchor"
  "postgres@anchor database notes@anchor" = "notes_anchor"
}`,
		Right: `nodes: anchor: assign: {
	postgres: {}
	notes: {}
	diary: module: "notes"
}
// modules/notes/notes.cue
requires: database: {
	binds: path:  "/etc/\(in.instance)/database.json"
	secret: path: "/etc/\(in.instance)/database.password"
}
// mesh.lock.hcl
format = 1
logins = {
  "postgres@anchor database diary@anchor" = "diary_anchor"
  "postgres@anchor database notes@anchor" = "notes_anchor"
}`,
	},
	{
		Code: NotSettled, Rule: "SEC-8", Title: "missing from the lock",
		Explain: `A locked build, as in CI, makes nothing: what it made would be in no commit, and the next build would make
something else. Run meshc lock on your machine and commit the lock.`,
		Wrong: `$ meshc build --locked`,
		Right: `$ meshc lock && git commit -m "settle" mesh.lock.hcl && meshc build --locked`,
	},
	{
		Code: EntryLost, Rule: "PRT-9", Title: "the lock lost entries",
		Explain: `The lock of the last commit has entries that the one in the work tree has not, and the mesh needs them. Made
anew they could have other values: ports would move, and logins would no longer own their data. Bring the lock
back from git; or say with meshc lock --remake that new values are meant.`,
		Wrong: `$ rm mesh.lock.hcl && meshc build`,
		Right: `$ git restore mesh.lock.hcl && meshc build`,
	},
	{
		Code: DataLeft, Rule: "DAT-1", Title: "data stays behind",
		Explain: `Against the last commit (in a clean work tree, against the one before) a program keeps its data elsewhere, runs on
another machine, has another database, or is of another major version, which reads the same data otherwise. meshc never
copies or removes data: what there was stays where it is, and the program begins anew. Copy it by hand, or set what decides
the place (a path, a name, a pin) to what it was. Take the warning as a list of what to do; the next commit has none.`,
		Wrong: `$ sed -i 's/version: "17"/version: "18"/' mesh.cue && meshc check`,
		Right: `$ git restore mesh.cue && meshc check`,
	},
	{
		Code: RenamedUnsaid, Rule: "PRT-8", Title: "a machine has another name",
		Explain: `Against the last commit a node is gone and another has its key, which is one machine's. Without a word the new name
is a new machine: it gets another address and other ports, logins and credentials, and what was the old one's is nobody's.
moved: nodes: says that it is the same.`,
		Wrong: `$ sed -i 's/nodes: board:/nodes: office:/' mesh.cue && meshc check`,
		Right: `$ sed -i 's/nodes: board:/moved: nodes: board: "office"\nnodes: office:/' mesh.cue && meshc check`,
	},
	{
		Code: MovedData, Rule: "DAT-1", Title: "moved, and its data is not",
		Explain: `moved: says that an instance is what it was, by another name. But a setting of it, which nobody set, follows the name, and
with it the place of its data: it would begin anew, and what it had would stay where it was. Set it to the old place; or, where
the data was brought to the new one by hand, to the new one.`,
		Wrong: `$ sed -i 's/gitea: {}/shed: module: "gitea"/' mesh.cue && echo 'moved: instances: "gitea@board": "shed@board"' >> mesh.cue && meshc check`,
		Right: `$ echo 'nodes: board: assign: shed: settings: data: "/var/lib/gitea"' >> mesh.cue && meshc check`,
	},
	{
		Code: NoEarlier, Rule: "DAT-1", Title: "the commit before is not here",
		Explain: `This clone has the last commit alone, as CI makes it where nobody says otherwise, so that nothing can be said of
what the commit does to data: whether a program keeps it elsewhere, runs on another machine, or has another database.
A clone of two commits is enough.`,
		Wrong: `$ git clone --depth 1 file://$PWD /tmp/clone && meshc check -C /tmp/clone`,
		Right: `$ git clone --depth 2 file://$PWD /tmp/clone && meshc check -C /tmp/clone`,
	},
	{
		Code: DataUnrecorded, Rule: "DAT-1", Title: "the lock has data elsewhere",
		Explain: `The lock says where data is, so that a change that moves none is known without a look at all that there was. Here the mesh was
committed without the lock that belongs to it: a later change that leads back to what the lock says would pass for none.
meshc lock writes it.`,
		Wrong: `$ sed -i 's/version: "17"/version: "18"/' mesh.cue && git commit -qm "18" mesh.cue && meshc check`,
		Right: `$ meshc lock && git commit -qm "18" mesh.lock.hcl && meshc check`,
	},
	{
		Code: PoolOutgoing, Rule: "PRT-1", Title: "the pool reaches into the outgoing ports",
		Explain: `The kernel takes ports for outgoing connections from this range (net.ipv4.ip_local_port_range). A program that is
to listen on one of them does not start when a connection has it just then: rarely, and never twice the same.
reserved.outgoing at a node says which range it uses, where that is another.`,
		Wrong: `ports: {from: 30000, to: 39999}
nodes: board: {}`,
		Right: `ports: {from: 20000, to: 29999}
nodes: board: {}`,
	},
	{
		Code: PortOutgoing, Rule: "PRT-3", Title: "a port among the outgoing ones",
		Explain: `The kernel takes ports for outgoing connections from this range (net.ipv4.ip_local_port_range). The program that
is to listen here does not start when a connection has its port just then. Where the protocol does not fix the
number, take fixed away; otherwise keep the port out of that range (net.ipv4.ip_local_reserved_ports).`,
		Wrong: `nodes: board: assign: web: {}
// modules/web/web.cue
listens: http: {port: 40000, fixed: true}`,
		Right: `nodes: board: assign: web: {}
// modules/web/web.cue
listens: http: port: 40000`,
	},
	{
		Code: PathNotASCII, Rule: "BLD-4", Title: "path that is not plain ASCII",
		Explain: `A path on a machine has a character that a reader may take for another one or not see at all: a Cyrillic а in "/etc/pаsswd",
a space of no width. Two spellings of one letter are two files, too. It is built as it stands; in the message such characters stand by their numbers.`,
		Wrong: `nodes: board: assign: notes: {}
// modules/notes/notes.cue
resources: file: one: {path: "/etc/naïve.conf", content: "x"}`,
		Right: `nodes: board: assign: notes: {}
// modules/notes/notes.cue
resources: file: one: {path: "/etc/naive.conf", content: "x"}`,
	},
	{
		Code: RangeWide, Rule: "PRT-3", Title: "many ports mapped one by one",
		Explain: `A container runtime maps each port of a range by itself, with a rule or a process each; with thousands of them a machine takes
minutes to start the container, or stops. Make the range as small as the program can live with.`,
		Wrong: `nodes: board: assign: talk: {}
// modules/talk/talk.cue
listens: media: {port: 40000, to: 42999, protocol: "udp"}
resources: container: server: {image: "docker.io/library/talk:1", publishes: ["media"]}`,
		Right: `nodes: board: assign: talk: {}
// modules/talk/talk.cue
listens: media: {port: 40000, to: 40099, protocol: "udp"}
resources: container: server: {image: "docker.io/library/talk:1", publishes: ["media"]}`,
	},
	{
		Code: RoomLater, Rule: "PRT-1", Title: "room after the next commit",
		Explain: `What was pruned is not handed to another in the same step: a machine could be asked to start the new owner of a
port before the old one stopped. Commit the lock, then run meshc lock again.`,
		Wrong: `$ meshc lock --prune`,
		Right: `$ git commit -m "prune the lock" mesh.lock.hcl && meshc lock`,
	},
}
