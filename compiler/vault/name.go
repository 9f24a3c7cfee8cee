package vault

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/lock"
	"meshc.dev/render/seal"
)

// Name is the name of a secret, as the lock has it. Exactly one of the kinds is
// set: a credential has a Pair, the need of one instance an Instance, a need that
// all instances of a module share in a site or the mesh a Module, a licence a Licence.
type Name struct {
	Pair     addr.Pair
	Instance addr.Instance
	Module   string
	Site     string // where a shared need is one per site; empty where it is one in the mesh
	Need     string // the need's own name, for both kinds of need
	// Supplied needs come from a person and are never made, as licences always do. It
	// is part of the name: a token that somebody issued is another thing than a secret
	// that was made in its place, and the lock has to know which it was.
	Supplied bool
	Licence  string
}

// Credential names the credential of a pair.
func Credential(p addr.Pair) Name { return Name{Pair: p} }

// Need names a secret of one instance.
func Need(i addr.Instance, need string) Name { return Name{Instance: i, Need: need} }

// SharedNeed names a secret that all instances of a module have in common, in a
// site, or in the mesh where the site is empty.
func SharedNeed(module, need, site string) Name { return Name{Module: module, Need: need, Site: site} }

// Supplied is the need that a person supplies.
func Supplied(need Name) Name {
	need.Supplied = true
	return need
}

// Licence names the secret of a licence.
func Licence(name string) Name { return Name{Licence: name} }

// String is one of
//
//	credential postgres@anchor database gitea@board
//	need gitea@board secret-key
//	need mesh consul gossip
//	need site house consul gossip
//	licence personal
//
// with "supplied" in place of "need" where a person supplies it.
func (n Name) String() string {
	kind := "need "
	if n.Supplied {
		kind = "supplied "
	}
	switch {
	case n.Licence != "":
		return "licence " + n.Licence
	case n.Need == "":
		return "credential " + n.Pair.String()
	case n.Module == "":
		return kind + n.Instance.String() + " " + n.Need
	case n.Site == "":
		return kind + "mesh " + n.Module + " " + n.Need
	}
	return kind + "site " + n.Site + " " + n.Module + " " + n.Need
}

// ParseName reads what String prints.
func ParseName(s string) (Name, error) {
	f := strings.Split(s, " ")
	kind, rest := f[0], f[1:]
	var n Name
	var err error
	if kind == "supplied" {
		kind, n.Supplied = "need", true
	}
	switch {
	case kind == "credential":
		n.Pair, err = addr.ParsePair(strings.Join(rest, " "))
	case kind == "licence" && len(rest) == 1:
		n.Licence = rest[0]
	case kind == "need" && len(rest) == 2:
		n.Need = rest[1]
		n.Instance, err = addr.ParseInstance(rest[0])
	case kind == "need" && len(rest) == 3 && rest[0] == "mesh":
		n.Module, n.Need = rest[1], rest[2]
	case kind == "need" && len(rest) == 4 && rest[0] == "site":
		n.Site, n.Module, n.Need = rest[1], rest[2], rest[3]
		if !addr.IsName(n.Site) {
			err = fmt.Errorf("%q is no site", n.Site)
		}
	default:
		err = fmt.Errorf("%q is not of the form credential …, need …, supplied … or licence …", s)
	}
	for _, part := range []string{n.Licence, n.Module, n.Need} {
		if err == nil && part != "" && !addr.IsName(part) {
			err = fmt.Errorf("%q in %q is no name", part, s)
		}
	}
	if err == nil && n.String() != s {
		err = fmt.Errorf("%q names no secret", s)
	}
	if err != nil {
		return Name{}, err
	}
	return n, nil
}

// IsSupplied says whether the secret comes from a person.
func (n Name) IsSupplied() bool { return n.Supplied || n.Licence != "" }

// IsCredential says whether it belongs to a pair.
func (n Name) IsCredential() bool { return n.Need == "" && n.Licence == "" }

// Compare orders names as the lock does.
func (n Name) Compare(o Name) int { return strings.Compare(n.String(), o.String()) }

// label is what people call the secret: its provision, need or licence.
func (n Name) label() string {
	switch {
	case n.Licence != "":
		return n.Licence
	case n.Need != "":
		return n.Need
	}
	return n.Pair.Provision
}

// ConsumerFile is the name of a consumer's credential file in its provider's
// directory (SEC-3): the whole consumer, so that no two ever share one.
func ConsumerFile(c addr.Consumer) string { return c.Instance.String() + "." + c.Label }

// BundleName is the name of a secret's blob in its machine's bundle, without
// "sealed/" and ".age". A resource's name is unique on its machine, so this is too:
// gitea.database for what gitea requires, gitea.needs.secret-key,
// postgres.provides.database.LOGIN.
func BundleName(r addr.Resource) string {
	return r.Instance + "." + strings.TrimPrefix(r.Name, "requires.")
}

const (
	blobEnd = ".age"
	// tagLen is how many hex digits of its SHA-256 a blob's name ends in, so that
	// other content has another name, also on two branches that both made it.
	tagLen = 12
	// maxStem leaves a file's name within the 255 bytes that file systems allow.
	maxStem = 255 - len(".") - tagLen - len(blobEnd)
	// recoveryDir holds the blobs of recovery keys; no node can have this name.
	recoveryDir = "_recovery"
)

// blobName is where a blob lies below sealed/: in the folder of the machine that
// can open it, under the words of its purpose.
//
//	board/credential.postgres@anchor.database.gitea@board.consumer.3f2a91bc04d1.age
func blobName(secret string, e lock.End, data []byte) string {
	sum := sha256.Sum256(data)
	return blobPrefix(secret, e) + hex.EncodeToString(sum[:])[:tagLen] + blobEnd
}

// blobPrefix is a blob's name up to its tag. Different copies of different secrets
// have different ones, since names hold neither dots nor tildes; what would be too
// long ends in a digest of the whole instead.
func blobPrefix(secret string, e lock.End) string {
	dir := recoveryDir
	stem := strings.ReplaceAll(secret, " ", ".") + "." + e.Role
	if e.Role != string(seal.Recovery) {
		dir = string(e.Node())
	}
	if e.Role == string(seal.Holder) {
		instance, _, _ := strings.Cut(e.Holder, "@")
		stem += "." + instance // a shared secret may have several holders on a machine
	}
	if len(stem) > maxStem {
		sum := sha256.Sum256([]byte(stem))
		digest := "~" + hex.EncodeToString(sum[:16])
		stem = stem[:maxStem-len(digest)] + digest
	}
	return path.Join(dir, stem) + "."
}

// isOurs says whether a file below sealed/ has a name that blobName could have given it.
func isOurs(name string) bool {
	dir, file := path.Split(name)
	stem, ok := strings.CutSuffix(file, blobEnd)
	dot := len(stem) - tagLen - 1
	if !ok || dot < 1 || stem[dot] != '.' || strings.Trim(stem[dot+1:], "0123456789abcdef") != "" {
		return false
	}
	dir = strings.TrimSuffix(dir, "/")
	kind, _, _ := strings.Cut(stem, ".")
	return (dir == recoveryDir || addr.IsName(dir)) && slices.Contains([]string{"credential", "need", "supplied", "licence"}, kind)
}
