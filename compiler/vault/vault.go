// Package vault keeps the mesh's secrets: which there are to be, who holds each,
// and in which sealed blob. A secret is made once, sealed to the key of each of
// its holders, and its plaintext is dropped; from then on nobody but the holders
// can open it, the compiler included. So an unchanged secret is carried over as
// the bytes that it is, and one that has to reach another key is made anew for all
// its holders at once.
//
// Review decides, for every secret that is wanted, what is to happen to it, and
// refuses what must not happen in silence. Plan.Make does it and gives a Change.
// The store writes a change: the lock and the blobs together, or neither (SEC-7).
//
//	session, err := vault.Open(dir).Begin(ctx, owner)
//	plan, faults, err := vault.Review(demand, lock, session.View, mode)
//	change, err := plan.Make(ctx, random)
//	err = session.Commit(change)
//
// A step that makes nothing needs no session: Store.Read gives the view. Which
// secrets are wanted is the resolver's to say; where they land on a machine, the
// exchange's; sealing itself is render/seal.
package vault

import (
	"cmp"
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
	"meshc.dev/render/seal"
)

// Demand is everything that a mesh wants kept secret, in any order.
type Demand struct {
	Mesh string
	// MeshAt is where the mesh's name is said.
	MeshAt diag.Pos
	Nodes  []Node
	// Recovery are offline keys to which every secret is sealed besides.
	Recovery []Key
	Wants    []Want
}

// Node is a machine and the key that its secrets are sealed to, empty where it has none.
type Node struct {
	Name      addr.Node
	Recipient string
	At        diag.Pos // of the recipient, or of the node where it has none
}

// Key is a recovery key.
type Key struct {
	Recipient string
	At        diag.Pos
}

// Want is one secret.
type Want struct {
	Name Name
	// Ends are those who hold it: every holder of a need or a licence. A credential is
	// held by its consumer and its provider, whether they are named here or not. An end
	// that is named twice is one.
	Ends []End
	// Format and Length of a secret that is made; zero for a password of 32 characters.
	Format seal.Format
	Length int
	At     diag.Pos
}

// End is one who is to hold a secret.
type End struct {
	Holder addr.Instance
	Role   seal.Role
	At     diag.Pos
}

// Step is the command that reviews.
type Step int

const (
	// Look makes nothing, and finds no fault with what is only not made yet: `check`, `plan`.
	Look Step = iota
	// Locked makes nothing, and refuses what is missing: `build --locked`.
	Locked
	// Build makes what is missing, and refuses what only a person can supply.
	Build
	// Relock makes what is missing, and leaves what only a person can supply for later: `meshc lock`.
	Relock
)

// makes says whether anything may be made.
func (s Step) makes() bool { return s >= Build }

// Mode says what may happen.
type Mode struct {
	Step Step
	// NewRecipients are the nodes whose changed keys a person confirmed, and
	// RecoveryName where that is true of the recovery keys (SEC-2).
	NewRecipients []string
	// Rotate are secrets to make anew for all their holders, and Forget those that
	// nobody wants now and that must not come back as they were.
	Rotate, Forget []Name
	// Drop are fingerprints of keys for which no copy is kept that nobody wants now.
	Drop []string
	// Remake allows making anew what went missing: entries that the last commit's lock
	// has and this one lost (PRT-9), and blobs that cannot be brought back.
	Remake bool
	// Prune forgets every secret that nobody wants.
	Prune bool
	// EarlierSecrets allows generations that are lower than the last commit's.
	EarlierSecrets bool
	// Head is the lock of the last commit, or of the last that had one; nil where git knows none.
	Head *lock.Lock
	// Restore gives the command that brings a file of the folder back from git with this
	// sha256, in hex; empty where no commit has it. It is nil where there is no git.
	Restore func(name, sum string) string
	// EntryIn is the commit that had a secret which no later lock has; nil where there is no git.
	EntryIn func(name string) string
}

// RecoveryName is what `lock --new-recipient` is told for the recovery keys.
const RecoveryName = "recovery"

// Action is what happens to a secret.
type Action int

const (
	// Kept secrets are carried over byte for byte.
	Kept Action = iota
	// Made secrets did not exist before.
	Made
	// Remade secrets get a new value, for all their holders.
	Remade
	// Awaited secrets are a person's to supply, for some holder at least.
	Awaited
	// Missing secrets would be made, if this step made any.
	Missing
	// Refused secrets are what some diagnostic is about.
	Refused
)

var actionNames = [...]string{"kept", "made", "made anew", "awaited", "missing", "refused"}

func (a Action) String() string { return actionNames[a] }

// Plan is what Review decided.
type Plan struct {
	// Secrets are those wanted, by name.
	Secrets []Secret
	// NewRecipients are the keys that changed since something was sealed to the old one.
	NewRecipients []NewRecipient
	// Forgotten are the secrets that are given up: nobody wants them.
	Forgotten []string
	// Removed are blobs that the lock does not name.
	Removed []string

	mesh    string
	lock    *lock.Lock // as it was given; never changed
	wants   map[string]Want
	keys    keys
	prune   bool
	refused bool
	data    map[string][]byte // of the blobs that are kept, by name
}

// Secret is a wanted secret and what happens to it.
type Secret struct {
	Name Name
	// Generation it has afterwards; 0 where it was never made.
	Generation int
	Action     Action
	// Because says why it is made anew, for people; empty otherwise.
	Because string
	// Ends are all who hold it afterwards, recovery keys too, as the lock orders them.
	Ends []Copy

	kept []lock.End // ends that nobody wants now, and that stay with a kept secret
}

// Copy is one end's copy of a secret.
type Copy struct {
	// Holder is an instance, or a recovery key's fingerprint; Node is empty for that.
	Holder string
	Node   addr.Node
	Role   seal.Role
	// Recipient is the fingerprint of the key that it is sealed to.
	Recipient string
	// Before is the fingerprint that it was sealed to until now, where that is another.
	Before string
	// Purpose is what the blob says it is for. Blob is its name below sealed/, and
	// SHA256 its digest in hex: all three are empty while there is none.
	Purpose seal.Purpose
	Blob    string
	SHA256  string
}

// NewRecipient is a key that is not the one that secrets were sealed to.
type NewRecipient struct {
	Node addr.Node // empty for a recovery key
	Old  []string  // fingerprints; none for a recovery key that is new
	New  string
	At   diag.Pos
	// Confirmed says whether the step was told of it.
	Confirmed bool
	// Secrets are the names of all that is sealed to an old key, wanted or not.
	Secrets []string
}

// Of gives the secrets to which something happens.
func (p *Plan) Of(actions ...Action) []Secret {
	return slices.DeleteFunc(slices.Clone(p.Secrets), func(s Secret) bool { return !slices.Contains(actions, s.Action) })
}

// ApplyOrder are the machines that hold any of the secrets, in the order in which
// they should apply: providers first, since they let in whoever comes with the new
// value. Until a consumer has applied too it comes with the old one.
func ApplyOrder(secrets []Secret) []addr.Node {
	rank := map[addr.Node]int{}
	for _, s := range secrets {
		for _, c := range s.Ends {
			if c.Node == "" {
				continue
			}
			r := 1
			if c.Role == seal.Provider {
				r = 0
			}
			if old, ok := rank[c.Node]; !ok || r < old {
				rank[c.Node] = r
			}
		}
	}
	nodes := make([]addr.Node, 0, len(rank))
	for n := range rank {
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b addr.Node) int { return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(a, b)) })
	return nodes
}
