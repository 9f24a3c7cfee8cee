package diag

// Codes of what a machine would make of a resource that can be declared.
const (
	BadImage         Code = "E0472"
	Unpublished      Code = "E0473"
	ImageMoves       Code = "W0470"
	GoneAfterBoot    Code = "W0471"
	RuleOpensNo      Code = "W0472"
	SecretUnnoticed  Code = "W0473"
	SecretUnreadable Code = "W0474"
	TimerStarts      Code = "W0570"
)

var machineCodes = []Info{
	{
		Code: BadImage, Rule: "BLD-6", Title: "no reference to an image",
		Explain: `An image is [host[:port]/]path[:tag][@digest], as docker.io/library/nginx:1.27: the path in lower case, no https:// before it, a
digest of sha256: and 64 hexadecimal digits. A runtime takes nothing else, and would say so only on the machine, at each start.`,
		Wrong: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
resources: container: server: image: "https://docker.io/library/notes:1"`,
		Right: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
resources: container: server: image: "docker.io/library/notes:1"`,
	},
	{
		Code: Unpublished, Rule: "PRT-2", Title: "port that no container publishes",
		Explain: `Somebody reaches a listen, or a rule opens it, and all that the module runs is in containers, none of which publishes it: nothing
would answer at its port of the machine. A container in the network "host" listens there itself, at in.ports; a unit beside the container may too.`,
		Wrong: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
listens: {http: {port: 3000, reach: "world"}, admin: port: 3001}
resources: container: server: {image: "docker.io/library/notes:1", publishes: ["admin"]}`,
		Right: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
listens: {http: {port: 3000, reach: "world"}, admin: port: 3001}
resources: container: server: {image: "docker.io/library/notes:1", publishes: ["http", "admin"]}`,
	},
	{
		Code: ImageMoves, Rule: "BLD-6", Title: "image without tag or digest",
		Explain: `Without a tag or digest an image is whatever the registry calls latest when a machine first fetches it. Two machines run
different versions, and a machine that is set up anew another one than before, while nothing in the mesh has changed.`,
		Wrong: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
resources: container: server: image: "docker.io/library/notes"`,
		Right: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
resources: container: server: image: "docker.io/library/notes:1"`,
	},
	{
		Code: GoneAfterBoot, Rule: "BLD-4", Title: "gone after a boot",
		Explain: `/run is in memory and /tmp is cleared at each boot, so what a module puts there is missing until mesh-host applies the bundle
again, and what starts with the machine finds nothing. Settings belong into /etc, data into /var/lib; for a directory below /run a unit has
RuntimeDirectory, and others a file in /etc/tmpfiles.d.`,
		Wrong: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
resources: file: config: {path: "/run/notes/notes.conf", content: ""}`,
		Right: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
resources: file: config: {path: "/etc/notes/notes.conf", content: ""}`,
	},
	{
		Code: RuleOpensNo, Rule: "BLD-8", Title: "rule opens nothing",
		Explain: `A listen that nobody elsewhere needs is bound to the machine alone, and one that others reach over one network to the address there.
A rule opens the firewall, it does not bind: from where the rule says, nothing is reached. What the listen is bound to follows from its reach.`,
		Wrong: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
listens: http: port: 3000
resources: rule: http: {listen: "http", from: "world"}`,
		Right: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
listens: http: {port: 3000, reach: "world"}
resources: rule: http: {listen: "http", from: "192.0.2.0/24"}`,
	},
	{
		Code: SecretUnnoticed, Rule: "SEC-6", Title: "secret that nobody restarts on",
		Explain: `A container or unit of the module reads a file that holds a secret, and nothing starts it again when the file changes: after
"meshc rotate" it goes on with the old one, which its provider no longer takes. restart_on or reload_on name the secret, or the file that it stands in.
What a timer or a socket starts, and what runs through once, reads the file anew by itself.`,
		Wrong: `nodes: anchor: {recipient: "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p", assign: notes: {}}
// modules/notes/notes.cue
needs: key: path: "/etc/notes/key"
resources: unit: notes: {name: "notes.service", content: Service: ExecStart: "/usr/bin/notes --key /etc/notes/key"}`,
		Right: `nodes: anchor: {recipient: "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p", assign: notes: {}}
// modules/notes/notes.cue
needs: key: path: "/etc/notes/key"
resources: unit: notes: {name: "notes.service", restart_on: ["secret.needs.key"], content: Service: ExecStart: "/usr/bin/notes --key /etc/notes/key"}`,
	},
	{
		Code: SecretUnreadable, Rule: "SEC-10", Title: "secret that its reader cannot read",
		Explain: `A unit runs as a user, and the file that it is given belongs to another and is closed to it. A secret is root's with mode 0600
unless it says an owner. EnvironmentFile and LoadCredential are read by systemd, which may read everything.`,
		Wrong: `nodes: anchor: {recipient: "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p", assign: notes: {}}
// modules/notes/notes.cue
needs: key: path: "/etc/notes/key"
resources: unit: notes: {name: "notes.service", restart_on: ["secret.needs.key"], content: Service: {User: "notes", ExecStart: "/usr/bin/notes --key /etc/notes/key"}}`,
		Right: `nodes: anchor: {recipient: "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p", assign: notes: {}}
// modules/notes/notes.cue
needs: key: {path: "/etc/notes/key", owner: "notes"}
resources: unit: notes: {name: "notes.service", restart_on: ["secret.needs.key"], content: Service: {User: "notes", ExecStart: "/usr/bin/notes --key /etc/notes/key"}}`,
	},
	{
		Code: TimerStarts, Rule: "BLD-6", Title: "timer and machine start one unit",
		Explain: `A unit that a timer starts is in a state that nobody can say beforehand. Declared running, the machine starts it at each apply;
declared stopped, it is killed in the middle of its work. state: "triggered" leaves it to the timer.`,
		Wrong: `nodes: anchor: assign: backup: {}
// modules/backup/backup.cue
resources: unit: run: {name: "backup.service", content: Service: {Type: "oneshot", ExecStart: "/usr/bin/backup"}}
resources: unit: daily: {name: "backup.timer", content: Timer: OnCalendar: "daily"}`,
		Right: `nodes: anchor: assign: backup: {}
// modules/backup/backup.cue
resources: unit: run: {name: "backup.service", state: "triggered", content: Service: {Type: "oneshot", ExecStart: "/usr/bin/backup"}}
resources: unit: daily: {name: "backup.timer", content: Timer: OnCalendar: "daily"}`,
	},
}
