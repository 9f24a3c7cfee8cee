// Package lock is the file mesh.lock.hcl: what was settled once and is kept, in
// the mesh's git: the port of each listen, the address of each node, the login of
// each consumer, of each secret who holds it in which blob, never the secret
// itself, and where data is.
//
// One entry is one line, and the lines are sorted, so that git merges what two
// branches settled. Read takes any HCL that says the same; the form that Bytes
// prints is read by a reader of our own, some thirty times faster than HCL's (see
// document.go). What an entry means, and whether two entries can both be true, is
// the work of compiler/settle; writing the file is the caller's, and has to be
// atomic (SEC-7).
package lock

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
)

// File is the lock's name in the mesh's folder.
const File = "mesh.lock.hcl"

// Format is the form of the file that this compiler writes.
const Format = 2

// Lock is what was settled.
type Lock struct {
	// Format that the file had when it was read; Bytes always writes the newest.
	Format int
	// Mesh is the name of the mesh whose blobs these are: they say so themselves, and its
	// machines take no others. Empty where a format 1, which did not know it, was read,
	// and where nothing is settled yet.
	Mesh string
	// Ports are the first port of each listen to which the mesh gave one.
	Ports     map[addr.Listen]int
	Addresses map[addr.Node]netip.Addr
	Logins    map[addr.Pair]string
	// Secrets by name: "credential postgres@anchor database gitea@board" or "need …".
	Secrets map[string]Secret
	// Moved are the moves of mesh.cue whose old name is in use again, as by two that
	// swapped names: that they were carried out cannot be seen from the other entries.
	// From "node anchor" or "instance gitea@board" to the new name.
	Moved map[string]string
	// Data is where everything is that has to survive, as plan.Kept lists it and Recorded
	// writes it; nil where a lock was written before that was recorded. It decides nothing: with it
	// can be seen that a change moves no data, without compiling what there was.
	Data map[string][]string

	file   string
	places map[place]int // index of the entry in spans
	spans  []span
}

// Secret is what is known of a secret: never what it is.
type Secret struct {
	Generation int // counted from 1
	// Sealed is the name under which the secret was sealed, which its blobs hold and a
	// move cannot change. Read always fills it in; empty stands for the secret's own.
	Sealed string
	Ends   []End
}

// End is one who holds a secret, and the blob in which it is sealed to him.
type End struct {
	Role   string // consumer, provider, holder or recovery
	Holder string // an instance, gitea@board; the fingerprint of a recovery key
	To     string // fingerprint of the recipient: SHA256:…
	Blob   string // path below sealed/
	SHA256 string // of the blob, in hex
}

// Compare orders ends by holder, then role.
func (e End) Compare(o End) int {
	if c := strings.Compare(e.Holder, o.Holder); c != 0 {
		return c
	}
	return strings.Compare(e.Role, o.Role)
}

// Node is the machine that holds this end; empty for a recovery key.
func (e End) Node() addr.Node {
	_, node, _ := strings.Cut(e.Holder, "@")
	return addr.Node(node)
}

// New is a lock in which nothing is settled.
func New() *Lock {
	return &Lock{
		Format:    Format,
		Ports:     map[addr.Listen]int{},
		Addresses: map[addr.Node]netip.Addr{},
		Logins:    map[addr.Pair]string{},
		Secrets:   map[string]Secret{},
		Moved:     map[string]string{},
		file:      File,
	}
}

// Clone is a copy that can be changed without changing l.
func (l *Lock) Clone() *Lock {
	c := *l
	c.Ports = cloneOrNew(l.Ports)
	c.Addresses = cloneOrNew(l.Addresses)
	c.Logins = cloneOrNew(l.Logins)
	c.Moved = cloneOrNew(l.Moved)
	c.Data = maps.Clone(l.Data)
	c.Secrets = make(map[string]Secret, len(l.Secrets))
	for name, s := range l.Secrets {
		s.Ends = slices.Clone(s.Ends)
		c.Secrets[name] = s
	}
	return &c
}

func cloneOrNew[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return maps.Clone(m)
}

// Nodes are all that anything was settled for.
func (l *Lock) Nodes() map[addr.Node]bool {
	out := map[addr.Node]bool{}
	for k := range l.Addresses {
		out[k] = true
	}
	for k := range l.Ports {
		out[k.Instance.Node] = true
	}
	for k := range l.Logins {
		out[k.Provider.Node], out[k.Consumer.Instance.Node] = true, true
	}
	for _, s := range l.Secrets {
		for _, e := range s.Ends {
			out[e.Node()] = true
		}
	}
	for k := range l.Data {
		name, _, _ := strings.Cut(k, " ")
		if i, err := addr.ParseInstance(name); err == nil {
			out[i.Node] = true
		}
	}
	delete(out, "") // of a recovery key
	return out
}

// IsEmpty says whether nothing is settled.
func (l *Lock) IsEmpty() bool {
	return len(l.Ports)+len(l.Addresses)+len(l.Logins)+len(l.Secrets)+len(l.Moved)+len(l.Data) == 0
}

// Recorded is what can stand in a lock of where data is: what is no plain text, or long, by its digest.
func Recorded(kept map[string][]string) map[string][]string {
	plain := func(s string) string {
		if isPlain(s) && len(s) <= maxRecorded {
			return s
		}
		sum := sha256.Sum256([]byte(s))
		return "sha256 " + hex.EncodeToString(sum[:])
	}
	out := make(map[string][]string, len(kept))
	for k, list := range kept {
		values := make([]string, len(list))
		for i, v := range list {
			values[i] = plain(v)
		}
		out[plain(k)] = values
	}
	return out
}

// maxRecorded keeps a line of the lock one that a person can read.
const maxRecorded = 200

// place is an entry of the file.
type place struct{ section, key string }

// PortAt is where an entry stands in the file that was read. An entry that stands
// nowhere yet is said to be in the file.
func (l *Lock) PortAt(k addr.Listen) diag.Pos { return l.at(ports, k.String()) }

// AddressAt is PortAt for the address of a node.
func (l *Lock) AddressAt(k addr.Node) diag.Pos { return l.at(addresses, string(k)) }

// LoginAt is PortAt for the login of a consumer.
func (l *Lock) LoginAt(k addr.Pair) diag.Pos { return l.at(logins, k.String()) }

// SecretAt is PortAt for a secret.
func (l *Lock) SecretAt(name string) diag.Pos { return l.at(secrets, name) }

func (l *Lock) at(section, key string) diag.Pos {
	file := l.file
	if file == "" {
		file = File
	}
	i, ok := l.places[place{section, key}]
	if !ok {
		return diag.Pos{File: file}
	}
	return l.spans[i].pos(file)
}
