package plan

import (
	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
)

// Resource is one thing an instance puts on its machine. Exactly one of the
// pointers is set, the one its kind names.
type Resource struct {
	ID addr.Resource
	At diag.Pos // in the module
	// Named tells where restart_on, reload_on and publishes name something, by what is written there.
	Named map[string]diag.Pos

	File      *File
	Directory *Directory
	Block     *Block
	Package   *Package
	User      *User
	Unit      *Unit
	Container *Container
	Secret    *Secret
	Computed  *Computed
}

// File is a whole file: either Content, or Data written in Format.
type File struct {
	Path         string
	Content      []byte
	Format       string // empty for Content
	Data         data.Value
	Owner, Group string // root where empty
	Mode         string // four digits
	Validate     []string
	// Fills are the placeholders that the content, or the strings of the data, hold.
	Fills []Placeholder
}

// Directory is a directory with owner and mode.
type Directory struct {
	Path, Owner, Group, Mode string
}

// Block is a marked block inside somebody else's file.
type Block struct {
	Path, Marker string
	Content      []byte
}

// Package is a system package.
type Package struct {
	Name   string
	Absent bool
}

// User is a system user.
type User struct {
	Name        string
	UID         int // 0 where any will do
	Group       string
	Groups      []string
	Home, Shell string
	System      bool
}

// Unit is a systemd unit; Content is absent where the unit is one that exists.
type Unit struct {
	Name      string
	Content   data.Value // sections of keys
	Enabled   bool
	State     string // running, stopped or triggered
	Replaces  bool   // a unit of that name that the machine has from elsewhere
	RestartOn []addr.Resource
	ReloadOn  []addr.Resource
}

// Container is a container before it is lowered to the runtime's unit.
type Container struct {
	Unit         string // gitea or gitea-worker: the unit's name without .service
	Image        string
	Command      []string
	Publishes    []Publish
	Volumes      []string
	Env          []EnvVar // by name
	User         string
	Network      string // empty for the runtime's own, or "host"
	Capabilities []string
	ReadOnly     bool
	Health       []string
	RestartOn    []addr.Resource
	ReloadOn     []addr.Resource
}

// EnvVar is one variable of a container's environment.
type EnvVar struct{ Name, Value string }

// Publish maps a port of the machine into a container; Whole is a mapping that
// an author wrote himself, which is left as it is (PRT-4).
type Publish struct {
	Whole        string
	Address      string // empty for every address
	Port, To     int
	Inside, InTo int
	Protocol     string
}

// Secret is a file that holds one secret, or the place for it. It is sealed to the node.
type Secret struct {
	Path         string
	Owner, Group string
	Mode         string
	// Key names the secret in the lock: "credential PAIR" or "need …".
	Key        string
	Role       string // consumer, provider or holder
	Sealed     string // the blob's name under sealed/, empty where it was not made
	SealedAs   string // the name that the blob says, where it is not Key: what it was made for, before a move
	Generation int
	Blob       []byte
	Recipient  string // fingerprint of the key that it is sealed to
	Supplied   bool   // by a person, so of any bytes
}

// Computed is worked out by render from the whole plan.
type Computed struct {
	Kind      string // wireguard, hosts, trust or firewall
	Interface string
	Port      int
	Key       string
	Path      string
	Keepalive int // in seconds on the side behind NAT; 25 where it is 0, never where it is NoKeepalive

	// What follows is for the firewall.

	// Bridges are the interfaces that containers are behind, with "*" at the end for
	// all that begin so; those of the node's runtime where there are none.
	Bridges []string
	// Trusted are interfaces from which everything is let in, written like Bridges.
	Trusted []string
	// Forward is what happens to forwarded traffic that is neither the mesh's nor
	// into containers: accept, which leaves it to others and is the default, or drop.
	Forward string
	// Ping is how many echo requests a second are answered; 50 where it is 0.
	Ping int
	// Log says whether what is refused is logged, a few lines a minute.
	Log bool
}

// NoKeepalive is the keepalive of a module that says 0.
const NoKeepalive = -1
