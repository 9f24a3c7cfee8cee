// Package machine is what mesh-host does to a machine, kind of thing by kind of
// thing: whole files, directories, marked blocks, users, packages and systemd's
// units. Each kind is a Backend of two methods, Look and Make; what to make, in
// which order, and what was there before, is decided by package host.
//
// Live works on the machine it runs on, through systemctl, apt-get and useradd.
// Tree works on a folder that holds a machine's file system, as whoever builds an
// image has it: users are written to its etc/passwd, units are enabled by links,
// and what only a running machine can do (start a unit, install a package) is
// recorded in the tree. Both reach files through a Root, which is never led out of
// place by a link that somebody planted.
package machine

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// Kind is a kind of thing on a machine.
type Kind string

// The kinds.
const (
	File      Kind = "file" // a secret is one too
	Directory Kind = "directory"
	Block     Kind = "block"
	User      Kind = "user"
	Package   Kind = "package"
	Unit      Kind = "unit"
)

// Known says whether there is such a kind.
func (k Kind) Known() bool {
	switch k {
	case File, Directory, Block, User, Package, Unit:
		return true
	}
	return false
}

// Key tells things of a machine apart. Two declarations that call a thing by
// different identities mean the same one if the key is the same.
type Key struct {
	Kind   Kind   `json:"kind"`
	Name   string `json:"name"`             // a path, or a user's, package's or unit's name
	Marker string `json:"marker,omitempty"` // of a block in the file called Name
}

func (k Key) String() string {
	if k.Kind == Block {
		return fmt.Sprintf("block %q in %s", k.Marker, k.Name)
	}
	return string(k.Kind) + " " + k.Name
}

// Condition is how a thing is, or is to be. Conditions are equal if the things are.
type Condition struct {
	Absent bool `json:"absent,omitempty"`

	// Of files, links and directories. Sum is the sha256 of the content of a file
	// or block, Target is where a link leads.
	Mode   uint32 `json:"mode,omitempty"`
	UID    int    `json:"uid,omitempty"`
	GID    int    `json:"gid,omitempty"`
	Sum    string `json:"sum,omitempty"`
	Target string `json:"target,omitempty"`

	// Of a block that was not there: that its file was not either, or did not end
	// in a line end, so that taking the block out gives back what was found.
	NoFile    bool `json:"no_file,omitempty"`
	NoNewline bool `json:"no_newline,omitempty"`

	// Of a package that is not there: that its configuration files are, which dpkg
	// keeps until the package is purged.
	Remains bool `json:"remains,omitempty"`

	// Of users: group of its own, others as a sorted list with commas. A wish that
	// is empty is met by anything, and so is a UID of 0.
	Group  string `json:"group,omitempty"`
	Groups string `json:"groups,omitempty"`
	Home   string `json:"home,omitempty"`
	Shell  string `json:"shell,omitempty"`
	System bool   `json:"system,omitempty"`
	// OwnGroup is, of a user that is not there, the number of a group of its name that
	// is: it was not made with the user, and stays when the user goes. Who else is in
	// it is for others to say, and not noted.
	OwnGroup string `json:"own_group,omitempty"`

	// Of units. One that a generator makes is enabled by its text, not by us. Stale is
	// one that is enabled by other links than its text asks for; in a tree, Links are
	// those that enable it.
	Enabled   bool `json:"enabled,omitempty"`
	Running   bool `json:"running,omitempty"`
	Generated bool `json:"generated,omitempty"`
	// Broken is a unit that failed, which systemd remembers.
	Broken bool   `json:"broken,omitempty"`
	Links  string `json:"links,omitempty"`
	// Either is, of a unit that others start, that it may run or not.
	Either bool `json:"either,omitempty"`
	Stale  bool `json:"stale,omitempty"`
}

// Meets says whether a thing that is so needs nothing done to be as wanted.
func (is Condition) Meets(kind Kind, want Condition) bool {
	if kind == Unit { // one that does not exist is one that neither runs nor is enabled
		switch {
		case !want.Either && (is.Running != want.Running || is.Broken && !want.Broken):
			return false
		case want.Links != "":
			return is.Links == want.Links
		}
		return is.Generated || is.Enabled == want.Enabled && !is.Stale
	}
	if is.Absent || want.Absent {
		return is.Absent == want.Absent && (want.OwnGroup == "" || is.OwnGroup != "")
	}
	switch kind {
	case User:
		return (want.UID == 0 || is.UID == want.UID) && (want.Group == "" || is.Group == want.Group) &&
			(want.Home == "" || is.Home == want.Home) && (want.Shell == "" || is.Shell == want.Shell) && is.Groups == want.Groups
	case Package:
		return true
	case Block:
		return is.Sum == want.Sum
	}
	return is == want
}

// Want is a condition with what is needed to bring it about.
type Want struct {
	Condition
	// Content of a file or block.
	Content []byte
	// Validate has to accept a file's new content before it is swapped in; "%" in
	// an argument stands for its path.
	Validate []string
	// Quiet is set where a validator's output may hold a secret, and is not shown.
	Quiet bool
}

// Backend makes things of one kind so.
type Backend interface {
	// Look says how the thing is now, and changes nothing.
	Look(ctx context.Context, key Key) (Condition, error)
	// Make brings it into a condition, from whatever it was in. Making it twice
	// changes nothing the second time; cut short, it is finished by making it again.
	Make(ctx context.Context, key Key, want Want) error
}

// Units is the backend of units, which can do more.
type Units interface {
	Backend
	// LookAll looks at several at once. What is Unknowable of some is known of the others.
	LookAll(ctx context.Context, names []string) (map[string]Condition, error)
	// Enable says whether a unit starts with the machine, ahead of Make, so that the
	// manager has to read its files only once for this and for their texts.
	Enable(ctx context.Context, name string, on bool) error
	// Reread makes the manager read its files again.
	Reread(ctx context.Context) error
	// Restart and Reload act on a unit that runs.
	Restart(ctx context.Context, name string) error
	Reload(ctx context.Context, name string) error
	// Ahead is how a unit that is so will be enabled, once files have the content given,
	// by path; nil stands for one that is gone.
	Ahead(ctx context.Context, name string, is Condition, files map[string][]byte) (Condition, error)
	// Try generates units from Quadlet files, given by path, without installing
	// anything, and says which of the files are not accepted, and why.
	Try(ctx context.Context, files map[string][]byte) (map[string]error, error)
	// Verify is Try of texts that are units' own, or add to one.
	Verify(ctx context.Context, files map[string][]byte) (map[string]error, error)
}

// Unknowable are units that cannot be looked at, such as a template, each with the reason.
type Unknowable map[string]error

func (u Unknowable) Error() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(u)) {
		all = append(all, u[name].Error())
	}
	return strings.Join(all, "\n")
}

func (u Unknowable) orNil() error {
	if len(u) == 0 {
		return nil
	}
	return u
}

// Machine is one machine's backends.
type Machine struct {
	Root     *Root
	IsLive   bool
	Accounts *Accounts
	Files    *Files
	Blocks   *Blocks
	Packages Packages
	Units    Units
	// Kernel is nil in a tree, which has none.
	Kernel *Kernel

	users Backend
}

// Packages is the backend of packages, which can take several at once.
type Packages interface {
	Backend
	// MakeAll is Make of several packages in one transaction; progress is told what
	// is going on, line by line.
	MakeAll(ctx context.Context, install, remove []string, progress func(string)) error
	// Clear takes away what a run that was killed has left.
	Clear(ctx context.Context) error
}

// Live is the machine that this runs on.
func Live() (*Machine, error) {
	root, err := OpenRoot("/")
	if err != nil {
		return nil, err
	}
	m := common(root)
	m.IsLive = true
	m.Kernel = &Kernel{"/proc/sys", "/usr/lib/systemd/systemd-sysctl"}
	m.users = &liveUsers{m.Accounts}
	m.Packages = &apt{dpkg: &dpkg{root: root}}
	m.Units = systemd{root}
	return m, nil
}

// Tree is the machine whose files lie in a folder.
func Tree(dir string) (*Machine, error) {
	root, err := OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	m := common(root)
	m.Files.isTree = true
	record := &record{root}
	m.users = &treeUsers{m.Accounts}
	m.Packages = &treePackages{&dpkg{root: root}, record}
	m.Units = &treeUnits{root, record}
	return m, nil
}

func common(root *Root) *Machine {
	return &Machine{Root: root, Accounts: &Accounts{root: root}, Files: &Files{root: root}, Blocks: &Blocks{root}}
}

// Backend of a kind.
func (m *Machine) Backend(k Kind) Backend {
	switch k {
	case File:
		return m.Files
	case Directory:
		return directories{m.Root}
	case Block:
		return m.Blocks
	case User:
		return m.users
	case Package:
		return m.Packages
	case Unit:
		return m.Units
	}
	panic("machine: no backend for " + string(k))
}

// Place tells the place of a file, directory or block's file from others: two paths that
// a link makes one have the same. What is not there yet has its place all the same.
func (m *Machine) Place(k Key) (string, error) {
	return m.Root.placeName(k.Name, k.Kind != File) // a link in a file's own place is replaced
}

// Close lets the machine's folder go.
func (m *Machine) Close() error { return m.Root.Close() }

// CanChown says whether files can be given to others; without that right a tree's
// files belong to whoever made them.
func CanChown() bool { return os.Geteuid() == 0 }

// step is where a test ends the process.
var step = func(string) {}

// OnStep is for tests, which end the process at a step of their choice. The function
// must be set before a machine is used.
func OnStep(f func(string)) { step = f }
