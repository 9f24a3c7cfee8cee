package bundle

import (
	"fmt"
	"strings"
)

// Declaration is what a machine is to have, in the order in which it is applied.
type Declaration struct {
	Format     int
	Mesh, Node string
	Items      []Item
}

// ID is a resource's identity on its machine, "gitea/file.config" (SEL-7).
type ID string

// Item is one thing on a machine: *Package, *User, *Directory, *File, *Block,
// *Secret or *Unit.
type Item interface {
	Identity() ID
	// Kind is the block's name in the declaration.
	Kind() string
}

// Package is a system package.
type Package struct {
	ID    ID
	Name  string
	State PackageState
}

// PackageState is what a package is to be.
type PackageState string

// The states of a package.
const (
	Present PackageState = "present"
	Absent  PackageState = "absent"
)

// User is a system user.
type User struct {
	ID     ID
	Name   string
	UID    int      // 0 where any will do
	Group  string   // the user's own; one of the same name where empty
	Groups []string // it is in besides
	System bool
	Home   string
	Shell  string
}

// Directory is a directory with owner and mode.
type Directory struct {
	ID           ID
	Path         string
	Owner, Group string // root, and the owner's group, where empty
	Mode         Mode
}

// File is a whole file, whose bytes are the entry Source with the secrets of Fills
// put in.
type File struct {
	ID           ID
	Path         string
	Source       string // FileSource(Path)
	SHA256       Sum    // of the source
	Owner, Group string
	Mode         Mode
	// Validate is a command that must accept the new content; "%" in an argument
	// stands for its path.
	Validate []string
	// Fills by offset.
	Fills []Fill
}

// Fill is a place in a file where the machine puts a secret in. The source has
// nothing in that place: what is put in stands between the bytes before Offset and
// those from it on.
type Fill struct {
	Offset     int
	Secret     ID
	Generation int
	Encoding   Encoding
}

// Block is a marked block inside somebody else's file.
type Block struct {
	ID     ID
	Path   string
	Marker string
	Source string // BlockSource(Path, Marker)
	SHA256 Sum
}

// Secret is a file that holds one secret, its exact bytes.
type Secret struct {
	ID           ID
	Path         string // empty where the secret is only put into files
	Sealed       string // entry with the blob; empty where the secret was not made yet
	Generation   int
	Key          string // what it is in the lock: "credential postgres@anchor database gitea@board"
	Role         string // consumer, provider or holder
	Owner, Group string
	Mode         Mode
}

// DefaultSecretMode is left out of the declaration's text.
const DefaultSecretMode Mode = 0o600

// Unit is the state of a systemd unit. A unit's text, where it is ours, is a File
// of its own, which RestartOn names.
type Unit struct {
	ID        ID
	Name      string
	Enabled   bool
	State     UnitState
	Replaces  bool // a unit of that name that the machine has from elsewhere
	RestartOn []ID
	ReloadOn  []ID
}

// UnitState is what a unit is to do.
type UnitState string

// The states of a unit.
const (
	Running UnitState = "running"
	Stopped UnitState = "stopped"
	// Triggered units are started by something else: never started by a run, and never killed.
	Triggered UnitState = "triggered"
)

func (i *Package) Identity() ID   { return i.ID }
func (i *User) Identity() ID      { return i.ID }
func (i *Directory) Identity() ID { return i.ID }
func (i *File) Identity() ID      { return i.ID }
func (i *Block) Identity() ID     { return i.ID }
func (i *Secret) Identity() ID    { return i.ID }
func (i *Unit) Identity() ID      { return i.ID }

func (*Package) Kind() string   { return "package" }
func (*User) Kind() string      { return "user" }
func (*Directory) Kind() string { return "directory" }
func (*File) Kind() string      { return "file" }
func (*Block) Kind() string     { return "block" }
func (*Secret) Kind() string    { return "secret" }
func (*Unit) Kind() string      { return "unit" }

// Mode is a file's permission bits with setuid, setgid and sticky, as chmod counts them.
type Mode uint16

func (m Mode) String() string { return fmt.Sprintf("%04o", uint16(m)) }

// FormatNeeded is the least format that knows everything the declaration has.
func (d *Declaration) FormatNeeded() int {
	for _, item := range d.Items {
		if u, ok := item.(*Unit); ok && (u.State == Triggered || u.Replaces) {
			return 2
		}
	}
	return 1
}

// ParseMode reads three or four octal digits.
func ParseMode(s string) (Mode, error) {
	if len(s) != 3 && len(s) != 4 || strings.Trim(s, "01234567") != "" {
		return 0, fmt.Errorf("%q is not a mode of three or four octal digits", s)
	}
	var m Mode
	for _, c := range s {
		m = m<<3 | Mode(c-'0')
	}
	return m, nil
}

// Item finds an item by its identity, or gives nil.
func (d *Declaration) Item(id ID) Item {
	for _, item := range d.Items {
		if item.Identity() == id {
			return item
		}
	}
	return nil
}
