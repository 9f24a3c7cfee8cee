package bundle

import (
	"errors"
	"fmt"
	"strings"
)

// What is wrong with a bundle, each said in one place. A bundle is made by a
// program, so none of this is about what a person wrote.

func unknownFormat(n int) error {
	return fmt.Errorf("format %d is not known here, which knows 1 to %d", n, Format)
}

func laterFormat(n int, meshc string) error {
	return fmt.Errorf("%w: the bundle needs the mesh-host of meshc %s or newer", unknownFormat(n), meshc)
}

func olderFormat(n, needed int) error {
	return fmt.Errorf("format %d does not know everything that is declared, which format %d does", n, needed)
}

func notLabel(what, s string) error {
	return fmt.Errorf("%s %q is not a name of lower-case letters, digits and inner hyphens", what, s)
}

// ItemError is what is wrong with one item of a declaration.
type ItemError struct {
	ID  ID
	Err error
}

func (e *ItemError) Error() string { return fmt.Sprintf("%s: %v", e.ID, e.Err) }

func (e *ItemError) Unwrap() error { return e.Err }

// ItemErrors takes apart what Check found: what is wrong with items, and the rest, or nothing.
func ItemErrors(err error) (items []*ItemError, rest error) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		var others []error
		for _, e := range all.Unwrap() {
			of, other := ItemErrors(e)
			items, others = append(items, of...), append(others, other)
		}
		return items, errors.Join(others...)
	}
	var e *ItemError
	if errors.As(err, &e) {
		return []*ItemError{e}, nil
	}
	return nil, err
}

func badIdentity(id ID) error {
	return fmt.Errorf("%q is not an identity of the form instance/kind.name", string(id))
}

func identityTwice(id ID) error { return fmt.Errorf("%s is declared twice", id) }

func pathTwice(p string, other ID) error {
	return fmt.Errorf("path %q is held by %s already", p, other)
}

func nameTwice(name string, other ID) error {
	return fmt.Errorf("%s is held by %s already", name, other)
}

func unknownReference(id ID) error {
	return fmt.Errorf("names %s, which the declaration does not have", id)
}

func unknownWord(what, got string, words ...string) error {
	return fmt.Errorf("%s %q is not one of %s", what, got, strings.Join(words, ", "))
}

func wrongSource(got, want string) error {
	return fmt.Errorf("source %q is not %q, where its content belongs", got, want)
}

func secretReadableByOthers(m Mode) error {
	return fmt.Errorf("mode %s lets others read a secret", m)
}

func validateWithoutPath() error {
	return fmt.Errorf(`validate has no "%%" for the path of the new content, so it would ask about the old one`)
}

func notAccount(what, s string) error {
	return fmt.Errorf("%s %q is no account's name, which begins with a letter or _ and is no number", what, s)
}

func markerInside(line string) error {
	return fmt.Errorf("its content has the line %q, which is how a marked block begins or ends; write that line otherwise", line)
}

func unsealedInCompleteBundle(id ID) error {
	return fmt.Errorf("%s has no sealed secret, though the bundle says that it is complete", id)
}

func missingEntry(id ID, name string) error {
	return fmt.Errorf("%s needs %q, which is missing", id, name)
}

func unnamedEntry(name string) error {
	return fmt.Errorf("%q belongs to nothing in the declaration", name)
}

func wrongDeclaredSum(id ID, name string, want, got Sum) error {
	return fmt.Errorf("%s: %q has sha256 %s, not %s as declared", id, name, got, want)
}

func fillBeyondEnd(id ID, name string) error {
	return fmt.Errorf("%s has a place for a secret beyond the end of %q", id, name)
}

func missingFile(name string) error { return fmt.Errorf("%s is missing", name) }

func unlistedFile(name string) error {
	return fmt.Errorf("%q is not listed in %s", name, ManifestName)
}

func wrongSum(name string, want, got Sum) error {
	return fmt.Errorf("%q has sha256 %s, and %s says %s", name, got, ManifestName, want)
}

func wrongBundleSum(want, got Sum) error {
	return fmt.Errorf("%s has sha256 %s, and %s says %s", ManifestName, got, ProvenanceName, want)
}

func notRegular(name, what string) error {
	return fmt.Errorf("%q is %s, and a bundle has only plain files", name, what)
}

func tooLarge(name string, size, limit int64) error {
	return fmt.Errorf("%q says that it has %d bytes; the limit is %d", name, size, limit)
}

func tooManyMarks() error {
	return fmt.Errorf("%s has more than %d words and signs", DeclarationName, maxMarks)
}

func tooMuch() error {
	return fmt.Errorf("has more than %d files or %d bytes in all", MaxEntries, MaxTotal)
}

func differentMachine(file, mesh, node string, m Manifest) error {
	return fmt.Errorf("%s is for node %q of mesh %q, and %s for node %q of mesh %q", file, node, mesh, ManifestName, m.Node, m.Mesh)
}
