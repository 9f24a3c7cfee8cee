// Package bundle is what the compiler hands to a machine: a declaration of what
// the machine is to have, the files and sealed secrets this needs, and two small
// documents that say what belongs to it and where it comes from. Compiler and
// host share it, so it knows neither CUE nor the compiler, and holds no policy of
// either: it prints, packs, reads back and verifies.
//
// New makes a bundle, Contents gives its files, WriteTo a tar of them, and
// package dist writes the bundles of a mesh to disk. Open, Read and ReadTar take
// one in again; whatever they return was verified whole.
package bundle

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// Format is the greatest number of a form that is described here; a reader refuses any greater.
// A bundle has the least that says all it has to (Declaration.FormatNeeded), so that a machine's
// program is upgraded only for what is new in it: 2 is for units that are triggered or that replace another.
const Format = 2

// The files of a bundle that are not rendered ones. Rendered files lie under
// files/, sealed secrets under sealed/.
const (
	DeclarationName = "declaration.hcl"
	ManifestName    = "bundle.json"
	ProvenanceName  = "provenance.json"
	SignatureName   = "provenance.json.sig"
)

// Sum is a sha256.
type Sum [sha256.Size]byte

// SumOf gives the sha256 of data.
func SumOf(data []byte) Sum { return sha256.Sum256(data) }

func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText writes the sum as 64 hexadecimal digits.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes, and nothing else.
func (s *Sum) UnmarshalText(text []byte) error {
	var out Sum
	if len(text) != hex.EncodedLen(len(out)) {
		return fmt.Errorf("a sha256 is %d hexadecimal digits", hex.EncodedLen(len(out)))
	}
	if _, err := hex.Decode(out[:], text); err != nil || out.String() != string(text) {
		return fmt.Errorf("%q is not a sha256 in lower-case hexadecimal digits", text)
	}
	*s = out
	return nil
}

// Entry is one file of a bundle: its slash-separated name in it and its bytes.
type Entry struct {
	Name string
	Data []byte
	Sum  Sum
}

// NewEntry makes an entry and computes its sum, once for the declaration, the
// manifest and every comparison.
func NewEntry(name string, data []byte) Entry { return Entry{name, data, SumOf(data)} }

// Bundle is everything for one machine. It is not changed once made, except that
// a signature may be added.
type Bundle struct {
	Mesh, Node string
	// Declaration is nil for a machine that nothing is applied on: its bundle is
	// files for a person and no more.
	Declaration *Declaration
	// Entries are the rendered files and sealed secrets, by name.
	Entries []Entry
	// Manifest is bundle.json.
	Manifest Manifest
	// Provenance is provenance.json, Signature its SSH signature where there is one.
	Provenance Provenance
	Signature  []byte

	declaration, manifest, provenance Entry
}

// Origin is where a bundle comes from, and whom its secrets are sealed to.
type Origin struct {
	Recipient string // fingerprint of the key that the secrets are sealed to; empty for none
	Complete  bool   // every secret was made
	Commit    string // empty outside git and in a dirty tree
	Serial    int64  // the commit's time in seconds; 0 outside git and in a dirty tree
	Version   string // of meshc
}

// New makes the bundle of a machine from its declaration and the entries this
// names. What cannot be a bundle is an error: New holds the compiler to the same
// checks as a host applies on reading.
func New(d *Declaration, entries []Entry, o Origin) (*Bundle, error) {
	if err := d.Check(); err != nil {
		return nil, fmt.Errorf("declaration of %s: %w", d.Node, err)
	}
	b := &Bundle{Mesh: d.Mesh, Node: d.Node, Declaration: d, Entries: sortedEntries(entries)}
	b.declaration = NewEntry(DeclarationName, d.Append(nil))
	b.Manifest = Manifest{
		Format: d.Format, Mesh: d.Mesh, Node: d.Node, Recipient: o.Recipient, Complete: o.Complete,
		Files: make(map[string]Sum, len(entries)+1),
	}
	b.Manifest.Files[DeclarationName] = b.declaration.Sum
	for _, e := range b.Entries {
		b.Manifest.Files[e.Name] = e.Sum
	}
	if len(b.Manifest.Files) != len(entries)+1 {
		return nil, fmt.Errorf("bundle of %s: two entries have one name", d.Node)
	}
	if err := b.checkEntries(); err != nil {
		return nil, fmt.Errorf("bundle of %s: %w", d.Node, err)
	}
	b.manifest = NewEntry(ManifestName, b.Manifest.encode())
	b.Provenance = Provenance{Bundle: b.manifest.Sum, Commit: o.Commit, Serial: o.Serial, Version: o.Version}
	b.provenance = NewEntry(ProvenanceName, b.Provenance.encode())
	return b, nil
}

// NewUnmanaged makes the bundle of a machine that no declaration is applied on:
// rendered files that a person takes from it.
func NewUnmanaged(mesh, node string, entries []Entry) (*Bundle, error) {
	b := &Bundle{Mesh: mesh, Node: node, Entries: sortedEntries(entries)}
	for i, e := range b.Entries {
		if err := checkEntryName(e.Name); err != nil {
			return nil, fmt.Errorf("files of %s: %w", node, err)
		}
		if i > 0 && b.Entries[i-1].Name == e.Name {
			return nil, fmt.Errorf("files of %s: two entries are named %s", node, e.Name)
		}
	}
	if err := checkTree(b.Entries); err != nil {
		return nil, fmt.Errorf("files of %s: %w", node, err)
	}
	return b, nil
}

// ProvenanceBytes is what a signature is made over.
func (b *Bundle) ProvenanceBytes() []byte { return b.provenance.Data }

// Digest of the bundle: that of bundle.json, which holds every other. Two bundles
// with one digest ask for the same machine.
func (b *Bundle) Digest() Sum { return b.manifest.Sum }

// Contents are the files of the bundle, by name.
func (b *Bundle) Contents() []Entry {
	if b.Declaration == nil {
		return b.Entries
	}
	out := make([]Entry, 0, len(b.Entries)+4)
	out = append(out, b.Entries...)
	out = append(out, b.declaration, b.manifest, b.provenance)
	if len(b.Signature) > 0 {
		out = append(out, NewEntry(SignatureName, b.Signature))
	}
	return sortedEntries(out)
}

// Entry finds a rendered file or sealed secret by its name.
func (b *Bundle) Entry(name string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(b.Entries, name, func(e Entry, name string) int { return cmp.Compare(e.Name, name) })
	if !ok {
		return Entry{}, false
	}
	return b.Entries[i], true
}

// checkEntries holds entries and declaration to each other: what one names the
// other has, with the same bytes, and nothing lies there unnamed.
func (b *Bundle) checkEntries() error {
	named := make(map[string]Sum, len(b.Entries))
	for _, item := range b.Declaration.Items {
		name, sum := "", Sum{}
		switch item := item.(type) {
		case *File:
			name, sum = item.Source, item.SHA256
		case *Block:
			name, sum = item.Source, item.SHA256
		case *Secret:
			if item.Sealed == "" {
				if b.Manifest.Complete {
					return unsealedInCompleteBundle(item.ID)
				}
				continue
			}
			name = item.Sealed
			if e, ok := b.Entry(name); ok {
				sum = e.Sum
			}
		default:
			continue
		}
		e, ok := b.Entry(name)
		switch {
		case !ok:
			return missingEntry(item.Identity(), name)
		case e.Sum != sum:
			return wrongDeclaredSum(item.Identity(), name, sum, e.Sum)
		}
		if f, ok := item.(*File); ok && len(f.Fills) > 0 && f.Fills[len(f.Fills)-1].Offset > len(e.Data) {
			return fillBeyondEnd(f.ID, name)
		}
		if block, ok := item.(*Block); ok {
			if err := checkBlockContent(e.Data); err != nil {
				return &ItemError{block.ID, err}
			}
		}
		named[name] = sum
	}
	for _, e := range b.Entries {
		if err := checkEntryName(e.Name); err != nil {
			return err
		}
		if _, ok := named[e.Name]; !ok {
			return unnamedEntry(e.Name)
		}
	}
	return checkTree(b.Entries)
}

func sortedEntries(entries []Entry) []Entry {
	byName := func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) }
	if slices.IsSortedFunc(entries, byName) {
		return entries
	}
	out := slices.Clone(entries)
	slices.SortFunc(out, byName)
	return out
}
