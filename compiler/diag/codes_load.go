package diag

// Codes of reading a mesh and its modules.
const (
	NoMesh           Code = "E0101"
	Unreadable       Code = "E0102"
	TooLarge         Code = "E0103"
	NotUTF8          Code = "E0104"
	Syntax           Code = "E0105"
	PackageNames     Code = "E0106"
	UnknownImport    Code = "E0107"
	UnknownReference Code = "E0108"
	NotAMesh         Code = "E0109"
	NoNodes          Code = "E0110"
	UnknownField     Code = "E0111"
	MissingField     Code = "E0112"
	BadName          Code = "E0113"
	WrongKind        Code = "E0114"
	NotAllowed       Code = "E0115"
	SetTwice         Code = "E0116"
	Cycle            Code = "E0117"
	CUEFault         Code = "E0118"
	OtherCompiler    Code = "E0119"
	BadAddress       Code = "E0120"
	ModuleName       Code = "E0121"
	InterfaceTooLate Code = "E0122"
	DefaultStruct    Code = "E0123"
	ReplacedModule   Code = "W0124"
	BadReserved      Code = "E0125"
	CUEFails         Code = "E0165"
	TooMuch          Code = "E0166"
	NoPackage        Code = "E0180"
	LeftOut          Code = "W0181"
	OtherSchema      Code = "W0182"
)

var loadCodes = []Info{
	{
		Code: NoMesh, Rule: "DIA-2", Title: "no mesh here",
		Explain: `A mesh is a folder with a file mesh.cue. Every command works on the mesh in the current folder, or in the one that -C
names.`,
		Wrong: `$ cd / && meshc check`,
		Right: `$ meshc init home && meshc -C home check`,
	},
	{
		Code: Unreadable, Rule: "DIA-5", Title: "file cannot be read",
		Explain: `A file of the mesh is there and cannot be read: its permissions, a symbolic link, or the disk. meshc reads every
CUE file of the folder, since any of them may belong to the mesh. It reads plain files of the repository only: what
it reads it may also print, so a link that leads out of the repository, into .git or to another kind of file is not
followed, and neither is a pipe or a device opened.`,
		Wrong: `$ ln -s /nowhere/nodes.cue nodes.cue && meshc check`,
		Right: `$ rm nodes.cue && meshc check`,
	},
	{
		Code: TooLarge, Rule: "DIA-5", Title: "too large to be a mesh",
		Explain: `A file or folder is larger than any mesh is. This is a bound against mistakes, such as a mesh made in a home folder
or a symbolic link that leads back to where it stands.`,
		Wrong: `$ ln -s .. loop && meshc check`,
		Right: `$ rm loop && meshc check`,
	},
	{
		Code: NotUTF8, Rule: "DIA-5", Title: "not UTF-8",
		Explain: `Files of a mesh are UTF-8 text. Bytes that a file on a machine needs are written as bytes in CUE, '\xff', or in base64.`,
		Wrong:   `$ printf 'name: "caf\xe9"\n' >> mesh.cue && meshc check`,
		Right:   `$ printf 'name: "café"\n' >> mesh.cue && meshc check`,
	},
	{
		Code: Syntax, Rule: "DIA-2", Title: "not CUE",
		Explain: `The file is not CUE here. What often trips people: a name that begins with a digit or holds a hyphen stands in quotes,
and so does a file's mode, since a number does not begin with 0. Only the first fault of a file is told; the others
are mostly its consequences.`,
		Wrong: `nodes: anchor: reserved: ports: 5432: "the store that was here first"`,
		Right: `nodes: anchor: reserved: ports: "5432": "the store that was here first"`,
	},
	{
		Code: PackageNames, Rule: "DIA-2", Title: "package name does not fit",
		Explain: `All files of a folder are one CUE package and say so in their first line with the same name: "package mesh" for the
mesh, the module's name for a module, with an underscore where that has a hyphen.`,
		Wrong: `nodes: anchor: {}
// nodes_cabin.cue
package cabin

nodes: board: {}`,
		Right: `nodes: anchor: {}
// nodes_cabin.cue
package mesh

nodes: board: {}`,
	},
	{
		Code: UnknownImport, Rule: "DIA-4", Title: "unknown import",
		Explain: `A mesh may import CUE's own packages, meshc.dev/schema, and packages of its own folder. meshc loads nothing from a network:
what a mesh means must not depend on what a server answers today.`,
		Wrong: `package mesh

import (
	"meshc.dev/schema"
	"example.com/defaults"
)

schema.#Mesh

name: "home"
nodes: anchor: facts: defaults`,
		Right: `package mesh

import "meshc.dev/schema"

schema.#Mesh

name: "home"
nodes: anchor: facts: ram: 32`,
	},
	{
		Code: UnknownReference, Rule: "DIA-4", Title: "unknown reference",
		Explain: `A name is used that nothing here has. A name in quotes is a text; without, it refers to a field, a definition or an import
of this file. What one file calls with "let" or "import" the others do not see.`,
		Wrong: `sites: house: {}
nodes: anchor: site: house`,
		Right: `sites: house: {}
nodes: anchor: site: "house"`,
	},
	{
		Code: NotAMesh, Rule: "DIA-2", Title: "package is not a mesh",
		Explain: `The package does not say what it is. A mesh embeds schema.#Mesh and a module schema.#Module at the top of one of its files;
that is what gives the fields their meaning.`,
		Wrong: `package mesh

name: "home"
nodes: anchor: {}`,
		Right: `package mesh

import "meshc.dev/schema"

schema.#Mesh

name: "home"
nodes: anchor: {}`,
	},
	{
		Code: NoNodes, Rule: "DIA-2", Title: "mesh without nodes",
		Explain: `A mesh without machines builds nothing, which is hardly ever what is meant. A file that should have been in the folder
may be missing, or belong to another package.`,
		Wrong: `domain: "home.mesh"`,
		Right: `domain: "home.mesh"
nodes: anchor: {}`,
	},
	{
		Code: UnknownField, Rule: "DIA-4", Title: "unknown field",
		Explain: `The language has no such field at this place. Plain "cue vet" misses some of these; meshc finds them all. Fields of a
person's own begin with an underscore or a #, or stand in facts, which is free-form.`,
		Wrong: `nodes: anchor: endpont: "203.0.113.7"`,
		Right: `nodes: anchor: endpoint: "203.0.113.7"`,
	},
	{
		Code: MissingField, Rule: "DIA-1", Title: "missing field",
		Explain: `Something that has no default was left out, or was given a type where a value is needed.`,
		Wrong: `licences: personal: serves: url: "https://models.example/v1"
nodes: anchor: {}`,
		Right: `licences: personal: {answers: "model-access", serves: url: "https://models.example/v1"}
nodes: anchor: {}`,
	},
	{
		Code: BadName, Rule: "BLD-7", Title: "not a name",
		Explain: `Nodes, sites, groups, instances, labels and listens are named as hosts are: lower-case letters, digits and inner hyphens,
at most 63 of them. Each can become part of a host name, a unit's name or a file's name, and not all of these carry more.`,
		Wrong: `nodes: Web_1: {}`,
		Right: `nodes: "web-1": {}`,
	},
	{
		Code: WrongKind, Rule: "DIA-4", Title: "wrong kind of value",
		Explain: `The value is of another kind than the field: a text where a list is asked for, a number where a text is. Nothing is
converted in silence.`,
		Wrong: `nodes: anchor: routes: "10.13.0.0/24"`,
		Right: `nodes: anchor: routes: ["10.13.0.0/24"]`,
	},
	{
		Code: NotAllowed, Rule: "DIA-4", Title: "value not allowed",
		Explain: `The value is of the right kind and outside what the field allows: not one of its words, out of its range, or not of its form.
The message says what would be allowed.`,
		Wrong: `nodes: anchor: runtime: "lxc"`,
		Right: `nodes: anchor: runtime: "docker"`,
	},
	{
		Code: SetTwice, Rule: "DIA-1", Title: "two different values",
		Explain: `Two places give one field two different values. CUE merges files and patterns, and has no order in which one would win;
for values that differ by place there are the layers of settings: mesh, group, site, node, instance.`,
		Wrong: `nodes: anchor: endpoint: "203.0.113.7"
nodes: anchor: endpoint: "203.0.113.8"`,
		Right: `nodes: anchor: endpoint: "203.0.113.8"`,
	},
	{
		Code: Cycle, Rule: "DIA-5", Title: "value depends on itself",
		Explain: `A value is computed from itself, so that there is no telling what it is.`,
		Wrong:   `nodes: anchor: facts: {ram: half * 2, half: ram / 2}`,
		Right:   `nodes: anchor: facts: {ram: 32, half: ram / 2}`,
	},
	{
		Code: CUEFault, Rule: "DIA-1", Title: "value cannot be computed",
		Explain: `CUE cannot compute the value, and the message says why: a division by zero, an index outside a list, a function that refuses what
it was given.`,
		Wrong: `nodes: anchor: facts: disk: ["/dev/sda"][1]`,
		Right: `nodes: anchor: facts: disk: ["/dev/sda"][0]`,
	},
	{
		Code: OtherCompiler, Rule: "DIA-2", Title: "another meshc is asked for",
		Explain: `The mesh says with "meshc:" which compilers it accepts, as a range of versions. Another version could read the same mesh
differently, or settle what this one does not know.`,
		Wrong: `meshc: "newer than 0.3"
nodes: anchor: {}`,
		Right: `meshc: ">=0.3"
nodes: anchor: {}`,
	},
	{
		Code: BadAddress, Rule: "PRT-7", Title: "not an address",
		Explain: `An address, network, endpoint or port has the right letters and is none: a number above 255, a prefix length above 32, bits set
behind the prefix, a port above 65535.`,
		Wrong: `network: cidr: "10.86.0.0/40"
nodes: anchor: {}`,
		Right: `network: cidr: "10.86.0.0/16"
nodes: anchor: {}`,
	},
	{
		Code: ModuleName, Rule: "DIA-2", Title: "module name does not fit",
		Explain: `A module is called as its folder is. Meshes assign it by that name, and a module of the mesh replaces the built-in one that
has the same; two names for one module would make both uncertain.`,
		Wrong: `nodes: anchor: assign: forge: {}
// modules/forge/forge.cue
name: "gitea"`,
		Right: `nodes: anchor: assign: forge: {}
// modules/forge/forge.cue
name: "forge"`,
	},
	{
		Code: InterfaceTooLate, Rule: "SEL-6", Title: "interface depends on what comes later",
		Explain: `What a module requires, provides, claims and listens on decides what runs where, and that is decided before ports are
assigned and requirements answered. So these may depend on settings, the mesh, the node and the instance's name, and
not on in.ports, in.bindings, in.secrets, in.needs or in.consumers.`,
		Wrong: `nodes: anchor: assign: forge: {}
// modules/forge/forge.cue
if in.ports.http > 20500 {
	claims: "high-port": {}
}
listens: http: port: 3000`,
		Right: `nodes: anchor: assign: forge: {}
// modules/forge/forge.cue
settings: exclusive: *false | bool
if settings.exclusive {
	claims: "the-forge": {}
}
listens: http: port: 3000`,
	},
	{
		Code: DefaultStruct, Rule: "SET-1", Title: "default on a whole struct",
		Explain: `A setting has a default on a whole struct. Setting one key of it would take the defaults of the others away, so that adding
a key changes what the rest is. Give each key a default of its own.`,
		Wrong: `nodes: anchor: assign: store: {}
// modules/store/store.cue
settings: limits: *{connections: 100, memory: 512} | {[string]: int}`,
		Right: `nodes: anchor: assign: store: {}
// modules/store/store.cue
settings: limits: {
	connections: *100 | int
	memory:      *512 | int
}`,
	},
	{
		Code: ReplacedModule, Rule: "DIA-2", Title: "built-in module replaced",
		Explain: `The mesh has a module with the name of a built-in one, which it replaces everywhere in this mesh. That is allowed, and said,
since a later meshc's changes to the built-in module will not arrive.`,
		Wrong: `nodes: anchor: assign: zsh: {}
// modules/zsh/zsh.cue
summary: "our own zsh"`,
		Right: `nodes: anchor: assign: "our-zsh": {}
// modules/our-zsh/our_zsh.cue
summary: "our own zsh"`,
	},
	{
		Code: BadReserved, Rule: "PRT-5", Title: "not a port to reserve",
		Explain: `A key of reserved.ports is a port, a range or either of them at an address, with a protocol where only one is meant: "22",
"8000-8100", "53/udp", "127.0.0.53:53/udp", "[::1]:53". The outgoing range is two ports with a hyphen.`,
		Wrong: `nodes: anchor: reserved: ports: "eth0:53": "the resolver"`,
		Right: `nodes: anchor: reserved: ports: "127.0.0.53:53/udp": "the resolver"`,
	},
	{
		Code: NoPackage, Rule: "DIA-2", Title: "file without a package line",
		Explain: `The files of a folder are one CUE package, and each says so in its first line: "package mesh" for the mesh, the module's
name for a module, with an underscore where that has a hyphen. CUE leaves out a file that does not, and with it every machine it declares, whose
bundle would be removed; so it is refused. A file with nothing but comments may lack the line.`,
		Wrong: `$ sed -i 1d nodes_cabin.cue && meshc check`,
		Right: `$ sed -i '1i package mesh' nodes_cabin.cue && meshc check`,
	},
	{
		Code: LeftOut, Rule: "DIA-2", Title: "not in the mesh",
		Explain: `CUE files lie in the mesh's folder of which nothing is in the mesh: CUE leaves out files whose names begin with _ or end
in _tool.cue or _test.cue, and a folder counts only where it is modules/NAME or where a file imports it. A file in cue.mod, in modules/NAME/cases, or in a
folder that begins with a dot or with _ is not spoken of, and neither is one that its own @if leaves out.`,
		Wrong: `$ mkdir cabin && mv nodes_cabin.cue cabin && meshc check`,
		Right: `$ mv cabin/nodes_cabin.cue . && meshc check`,
	},
	{
		Code: OtherSchema, Rule: "DIA-2", Title: "copy of the schema is another",
		Explain: `cue.mod/pkg/meshc.dev/schema is a copy for editors and CUE's own tools, which meshc writes and does not read. This one is of another
meshc, or somebody changed it, so that an editor takes what meshc refuses, or the other way round. "meshc init" brings it up to date and leaves
every file alone that is the mesh's own.`,
		Wrong: `$ echo >> cue.mod/pkg/meshc.dev/schema/mesh.cue && meshc check`,
		Right: `$ meshc init --ci none && meshc check`,
	},
	{
		Code: CUEFails, Rule: "DIA-5", Title: "CUE itself fails",
		Explain: `CUE has a fault of its own at what is computed here, which a reader of the mesh cannot see in it. meshc goes on with
everything else. What was added or changed last is computed in another way, such as with smaller numbers or without the
function in question; the same text given to "cue vet" fails there too, and that is worth a report to CUE's authors.`,
		Wrong: `$ cat modules/notes/notes.cue && meshc check`,
		Right: `$ $EDITOR modules/notes/notes.cue && meshc check`,
	},
	{
		Code: TooMuch, Rule: "DIA-5", Title: "too much to compute",
		Explain: `What a few lines of CUE ask for can be without bound: twenty choices of two that have to fit each other are a million, and
four comprehensions of a hundred inside each other a hundred million. meshc ends a run in which one module, or the mesh
itself, is computed for longer than --max-time, or more memory is in use than --max-memory; both allow much more than
large fleets need. Nothing was written by then.`,
		Wrong: `$ meshc check`,
		Right: `$ meshc check --max-time 10m --max-memory 8GB`,
	},
}
