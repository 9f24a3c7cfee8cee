package diag

// Codes of what consumers and providers tell each other, and of resources.
const (
	NotAccepted       Code = "E0401"
	SameDerived       Code = "E0402"
	UnknownEndpoint   Code = "E0403"
	BindingCircle     Code = "E0404"
	NotKnown          Code = "E0405"
	NoCredentialPlace Code = "E0406"
	BeyondReach       Code = "E0407"
	BadResource       Code = "E0420"
	SecretShows       Code = "E0421"
	SecretComputed    Code = "E0422"
	ResourceTwice     Code = "E0423"
	UnknownResource   Code = "E0424"
	UnknownListen     Code = "E0425"
	NotABundle        Code = "E0426"
	SecretNotSafe     Code = "E0427"
	UnitText          Code = "E0470"
	UnitName          Code = "E0471"
)

var exchangeCodes = []Info{
	{
		Code: NotAccepted, Rule: "CON-10", Title: "contribution not accepted",
		Explain: `What a consumer contributes is checked against the type that its provider accepts: a key that is not known there, a missing one, or a value of
another kind or form.`,
		Wrong: `nodes: anchor: assign: {shelf: {}, notes: {}}
// modules/shelf/shelf.cue
provides: storage: accepts: quota: int
// modules/notes/notes.cue
requires: storage: contributes: qouta: 10`,
		Right: `nodes: anchor: assign: {shelf: {}, notes: {}}
// modules/shelf/shelf.cue
provides: storage: accepts: quota: int
// modules/notes/notes.cue
requires: storage: contributes: quota: 10`,
	},
	{
		Code: SameDerived, Rule: "CON-4", Title: "one name for two consumers",
		Explain: `Two consumers would have one value of a name that the provider keeps unique, such as a database or a route's host: each would reach
what belongs to the other. Give one of them another name, in what it contributes.`,
		Wrong: `nodes: anchor: assign: {
	shelf: {}
	notes: {}
	diary: module: "notes"
}
// modules/shelf/shelf.cue
provides: storage: {
	accepts: folder: string
	consumer: _
	derives: path: "/srv/" + consumer.values.folder
	unique: ["path"]
}
// modules/notes/notes.cue
requires: storage: contributes: folder: "notes"`,
		Right: `nodes: anchor: assign: {
	shelf: {}
	notes: {}
	diary: module: "notes"
}
// modules/shelf/shelf.cue
provides: storage: {
	accepts: folder: string
	consumer: _
	derives: path: "/srv/" + consumer.values.folder
	unique: ["path"]
}
// modules/notes/notes.cue
requires: storage: contributes: folder: in.instance`,
	},
	{
		Code: UnknownEndpoint, Rule: "CON-6", Title: "endpoint is no listen",
		Explain: `A contribution names with "endpoint" one of the consumer's own listens, and it has none of that name. The provider is told the number that
is assigned to it.`,
		Wrong: `nodes: anchor: assign: {front: {}, notes: {}}
// modules/front/front.cue
provides: route: accepts: {endpoint: string, port: int}
// modules/notes/notes.cue
listens: http: port: 3000
requires: route: contributes: endpoint: "https"`,
		Right: `nodes: anchor: assign: {front: {}, notes: {}}
// modules/front/front.cue
provides: route: accepts: endpoint: string
// modules/notes/notes.cue
listens: http: port: 3000
requires: route: contributes: endpoint: "http"`,
	},
	{
		Code: BindingCircle, Rule: "CON-6", Title: "contributions in a circle",
		Explain: `What an instance contributes to one requirement may depend on how another of its requirements was answered, and here the two
need each other. One of them has to do without.`,
		Wrong: `nodes: anchor: assign: {shelf: {}, notes: {}}
// modules/shelf/shelf.cue
provides: {
	storage: {accepts: _, serves: path: "/srv"}
	index: {accepts: _, serves: path: "/idx"}
}
// modules/notes/notes.cue
requires: {
	storage: contributes: index: in.bindings.index.path
	index: contributes: store:   in.bindings.storage.path
}`,
		Right: `nodes: anchor: assign: {shelf: {}, notes: {}}
// modules/shelf/shelf.cue
provides: {
	storage: {accepts: _, serves: path: "/srv"}
	index: {accepts: _, serves: path: "/idx"}
}
// modules/notes/notes.cue
requires: {
	storage: {}
	index: contributes: store: in.bindings.storage.path
}`,
	},
	{
		Code: NotKnown, Rule: "CON-4", Title: "value cannot be known",
		Explain: `A value that one end is to be told cannot be computed when it is needed: a contribution reads what comes later than ports and
bindings, or "derives" reads what a consumer did not contribute. Where a consumer may leave something out, "derives" says what holds
instead.`,
		Wrong: `nodes: anchor: assign: {shelf: {}, notes: {}}
// modules/shelf/shelf.cue
provides: storage: {
	accepts: folder?: string
	consumer: _
	derives: path: "/srv/" + consumer.values.folder
}
// modules/notes/notes.cue
requires: storage: {}`,
		Right: `nodes: anchor: assign: {shelf: {}, notes: {}}
// modules/shelf/shelf.cue
provides: storage: {
	accepts: folder?: string
	consumer: _
	derives: path: *("/srv/" + consumer.values.folder) | "/srv"
}
// modules/notes/notes.cue
requires: storage: {}`,
	},
	{
		Code: NoCredentialPlace, Rule: "SEC-3", Title: "no place for a credential",
		Explain: `A provision gives every consumer a credential of its own, and the provider does not say in which directory it reads them. Its end
of each credential is a file there, named after the consumer.`,
		Wrong: `nodes: anchor: {
	assign: {vault: {}, notes: {}}
}
// modules/vault/vault.cue
provides: storage: credential: true
// modules/notes/notes.cue
requires: storage: secret: path: "/etc/notes/storage.password"`,
		Right: `nodes: anchor: {
	assign: {vault: {}, notes: {}}
}
// modules/vault/vault.cue
provides: storage: {
	credential: true
	secrets: path: "/etc/vault/consumers.d"
}
// modules/notes/notes.cue
requires: storage: secret: path: "/etc/notes/storage.password"`,
	},
	{
		Code: BeyondReach, Rule: "BLD-8", Title: "needed from farther than it may be reached",
		Explain: `A module says of a listen that it is reached from its own machine only, and an instance on another machine was told its number. Either
the module lets it be reached from the network, or the two belong on one machine.`,
		Wrong: `sites: house: assign: lan: {}
nodes: [_]: site: "house"
nodes: anchor: assign: shelf: {}
nodes: laptop: assign: notes: {}
// modules/shelf/shelf.cue
listens: http: {port: 3000, reach: "machine"}
provides: storage: {scope: "mesh", serves: port: in.ports.http}
// modules/notes/notes.cue
requires: storage: binds: path: "/etc/notes/storage.json"`,
		Right: `sites: house: assign: lan: {}
nodes: [_]: site: "house"
nodes: anchor: assign: shelf: {}
nodes: laptop: assign: notes: {}
// modules/shelf/shelf.cue
listens: http: {port: 3000, reach: "network"}
provides: storage: {scope: "mesh", serves: port: in.ports.http}
// modules/notes/notes.cue
requires: storage: binds: path: "/etc/notes/storage.json"`,
	},
	{
		Code: BadResource, Rule: "BLD-4", Title: "resource no machine could have",
		Explain: `A module asks for something that no machine could have: a path that is not absolute or leads out of its place, a mode that is none, a
name that the system does not take, a file below another file, a validate command that does not name the file ("%" stands for it). Paths under
/proc, /sys, /dev and the host's own state are not a module's.`,
		Wrong: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
resources: file: config: {path: "/etc/notes/../shadow", content: ""}`,
		Right: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
resources: file: config: {path: "/etc/notes/notes.conf", content: ""}`,
	},
	{
		Code: UnitText, Rule: "BLD-6", Title: "unit that would not be read as it is written",
		Explain: `systemd passes over a section or key that it does not know, and Podman's generator drops the whole file: a service with
"Usr" runs as root. So what a unit may have is a list here too, that of Debian 13; keys and sections that begin with X- are the module's own. A
value that is one of a few words has to be one of them, a program's path begins with / (or is a bare name), and what systemd refuses a unit
without has to be there: ExecStart in a service, a time in a timer, something to listen on in a socket.`,
		Wrong: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
resources: unit: notes: {name: "notes.service", content: Service: {Usr: "nobody", ExecStart: "/usr/bin/notes"}}`,
		Right: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
resources: unit: notes: {name: "notes.service", content: Service: {User: "nobody", ExecStart: "/usr/bin/notes"}}`,
	},
	{
		Code: UnitName, Rule: "CLM-3", Title: "unit's name is not for this",
		Explain: `A unit of one's own by the name of one that the machine runs with, such as dbus.service or ssh.service, takes its place. It is
refused unless the unit says replaces: true; the container of an instance is called as the instance is, which can have any other name. A template
(backup@.service) is a text from which units are made, and runs under no name: it is a file in /etc/systemd/system.`,
		Wrong: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
resources: unit: notes: {name: "ssh.service", content: Service: ExecStart: "/usr/bin/notes"}`,
		Right: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
resources: unit: notes: {name: "notes.service", content: Service: ExecStart: "/usr/bin/notes"}`,
	},
	{
		Code: SecretShows, Rule: "SEC-10", Title: "secret would show",
		Explain: `A secret is placed where others could see it: in an argument, an environment, a unit's text, a path, a contribution, or a file whose
mode lets others read it. A secret stands in a file, which the machine fills in and keeps to its owner.`,
		Wrong: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
needs: key: path: "/etc/notes/key"
resources: container: server: {
	image: "docker.io/library/notes:1"
	env: KEY: in.needs.key.value
}`,
		Right: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
needs: key: path: "/etc/notes/key"
resources: {
	file: env: {path: "/etc/notes/env", content: "KEY=\(in.needs.key.value)\n"}
	container: server: {
		image: "docker.io/library/notes:1"
		volumes: ["/etc/notes:/etc/notes:ro"]
	}
}`,
	},
	{
		Code: SecretComputed, Rule: "SEC-10", Title: "computed with a secret",
		Explain: `A module computes with a secret: its length, a piece of it, or an encoding made by a function. The compiler has only a placeholder,
which the machine fills in, so that the result would be wrong. A secret comes in five encodings: value, urlencoded, json, base64
and shell.`,
		Wrong: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
import "encoding/base64"

needs: key: path: "/etc/notes/key"
resources: file: header: {
	path:    "/etc/notes/header"
	content: "Basic " + base64.Encode(null, in.needs.key.value)
}`,
		Right: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
needs: key: path: "/etc/notes/key"
resources: file: header: {
	path:    "/etc/notes/header"
	content: "Basic " + in.needs.key.base64
}`,
	},
	{
		Code: ResourceTwice, Rule: "CLM-3", Title: "one thing of a machine claimed twice",
		Explain: `Two instances on one node claim one thing of the machine: a file, a unit, a container's name, a package in two states, a port. Two
instances of one module put what is their own under their instance's name.`,
		Wrong: `nodes: anchor: assign: {
	notes: {}
	diary: module: "notes"
}
// modules/notes/notes.cue
resources: file: config: {path: "/etc/notes.conf", content: ""}`,
		Right: `nodes: anchor: assign: {
	notes: {}
	diary: module: "notes"
}
// modules/notes/notes.cue
resources: file: config: {path: "/etc/\(in.instance).conf", content: ""}`,
	},
	{
		Code: UnknownResource, Rule: "SEL-7", Title: "unknown resource",
		Explain: `A unit or container restarts or reloads when a resource changes that is not there. Resources of the same module are written as
kind.name, others as instance/kind.name.`,
		Wrong: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
resources: {
	file: config: {path: "/etc/notes.conf", content: ""}
	unit: server: {name: "notes.service", restart_on: ["file.confg"]}
}`,
		Right: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
resources: {
	file: config: {path: "/etc/notes.conf", content: ""}
	unit: server: {name: "notes.service", restart_on: ["file.config"]}
}`,
	},
	{
		Code: NotABundle, Rule: "BLD-4", Title: "not a bundle",
		Explain: `What a node runs cannot be put into a bundle, which is as strict as the machine's program that reads it: a file has more than
16 MB. What is wrong with one resource is told of that resource (E0420).`,
		Wrong: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
import "strings"

_k: strings.Repeat("0", 1000000)
resources: file: config: {path: "/etc/notes.conf", content: strings.Join([for _ in strings.Split(strings.Repeat("x", 16), "") {_k}], "") + _k}`,
		Right: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
resources: file: config: {path: "/etc/notes.conf", content: ""}`,
	},
	{
		Code: SecretNotSafe, Rule: "SEC-10", Title: "secret in a place that cannot hold every value",
		Explain: `A secret that a person supplies may hold any character, and the file's format would read some of them as something else. Place it in an encoding that
the format carries whole, such as json in a JSON file, or in a file of its own.`,
		Wrong: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
needs: token: {path: "/etc/notes/token", supplied: true}
resources: file: config: {path: "/etc/notes.json", format: "json", data: token: in.needs.token.value}`,
		Right: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
needs: token: {path: "/etc/notes/token", supplied: true}
resources: file: config: {path: "/etc/notes.json", format: "json", data: token: in.needs.token.json}`,
	},
	{
		Code: UnknownListen, Rule: "PRT-2", Title: "unknown listen",
		Explain: `A container publishes, or a rule opens, a listen that the module does not have.`,
		Wrong: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
listens: http: port: 3000
resources: container: server: {image: "docker.io/library/notes:1", publishes: ["https"]}`,
		Right: `nodes: anchor: assign: notes: {}
// modules/notes/notes.cue
listens: http: port: 3000
resources: container: server: {image: "docker.io/library/notes:1", publishes: ["http"]}`,
	},
}
