package vault

import (
	"errors"
	"fmt"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
	"meshc.dev/render/seal"
)

// Every wording about secrets stands here. Names, fingerprints and file names are
// all that a message ever holds.

func recipientInvalid(who string, at diag.Pos, err error) diag.Diagnostic {
	reason := "it cannot be read"
	if e := (*seal.RecipientError)(nil); errors.As(err, &e) {
		reason = e.Reason
	}
	return diag.Diagnostic{Code: diag.RecipientInvalid, At: at, Message: fmt.Sprintf("nothing can be sealed to %s: %s", who, reason)}
}

func recipientSample(who, node string, at diag.Pos) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: diag.RecipientSample, At: at,
		Message: "the recipient of " + who + " is the sample that meshc init wrote into every mesh, and no machine has its key",
	}
	if node != "" {
		d.Help = "mesh-host init " + node + " # on that machine; it prints the line for mesh.cue"
	}
	return d
}

func recipientTwice(who string, at diag.Pos, other string, otherAt diag.Pos, r seal.Recipient) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.RecipientTwice, At: at,
		Message: fmt.Sprintf("%s has the same key as %s, %s: each could open what is the other's", who, other, r.Fingerprint()),
		Also:    []diag.Note{{At: otherAt, Text: other + " has it"}},
	}
}

func recipientMissing(w Want, e End, n Node) diag.Diagnostic {
	at := n.At
	if !at.IsValid() {
		at = e.At
	}
	d := diag.Diagnostic{
		Code: diag.RecipientMissing, At: at,
		Message: fmt.Sprintf("%s has no recipient, and %s is to hold %s", e.Holder.Node, e.Holder, describe(w.Name)),
		Help:    "mesh-host init " + string(e.Holder.Node) + " # on that machine; it prints the line for mesh.cue",
	}
	if e.At.IsValid() && e.At != at {
		d.Also = []diag.Note{{At: e.At, Text: "asked for here"}}
	}
	return d
}

func recipientChanged(c NewRecipient) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.RecipientChanged, At: c.At,
		Message: fmt.Sprintf("%s has the key %s, and %s sealed to %s", c.Node, c.New, count(len(c.Secrets), "secret is", "secrets are"), strings.Join(c.Old, " and ")),
		Help:    "meshc lock --new-recipient " + string(c.Node),
	}
}

func recoveryNew(c NewRecipient) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.RecoveryNew, At: c.At,
		Message: fmt.Sprintf("the recovery key %s has no copy of %s made without it", c.New, count(len(c.Secrets), "secret that was", "secrets that were")),
		Help:    "meshc lock --new-recipient " + RecoveryName,
	}
}

func recoveryGone(fingerprint string, n int) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.RecoveryGone, At: diag.Pos{File: lock.File},
		Message: fmt.Sprintf("%s, which is no recovery key any more, can still open %s from git", fingerprint, count(n, "secret", "secrets")),
	}
}

func secretLost(w Want, inHead bool, left []string, before string) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.SecretLost, At: w.At}
	if inHead {
		d.Message = fmt.Sprintf("the last commit's lock has %s, and this one does not", describe(w.Name))
		d.Help = "git restore " + lock.File
		return d
	}
	d.Message = fmt.Sprintf("the lock has no entry for %s, of which %s is still there", describe(w.Name), sealedDir+"/"+left[0])
	if before != "" {
		d.Message += "; the lock of commit " + before + " has it"
		return d // --remake would lose what can be had
	}
	d.Help = "meshc lock --remake # makes it anew for all who use it"
	return d
}

func notMade(w Want) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.SecretNotMade, At: w.At, Help: "meshc lock",
		Message: describe(w.Name) + " was not made yet, and a locked build makes nothing",
	}
}

func noCopy(w Want, lacking []Copy) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.SecretNotMade, At: w.At, Help: "meshc lock",
		Message: fmt.Sprintf("%s has no copy of %s, and a locked build makes nothing", holdersOf(lacking), describe(w.Name)),
	}
}

// notSupplied refuses under one code and warns under another.
func notSupplied(code diag.Code, w Want, lacking []Copy) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: code, At: w.At,
		Message: fmt.Sprintf("%s has no copy of %s, which a person supplies", holdersOf(lacking), describe(w.Name)),
	}
	if a := acceptArguments(w); len(a) > 0 {
		d.Help = "meshc accept " + a[0]
	}
	return d
}

func notAPersons(w Want) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.SecretNotPersons, At: w.At, Help: rotateCommand(w.Name),
		Message: describe(w.Name) + " is made by meshc and never accepted; a new value comes by rotating it",
	}
}

func rotateSupplied(w Want) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: diag.RotateSupplied, At: w.At,
		Message: fmt.Sprintf("%s comes from who issued it, and only there it changes", describe(w.Name)),
	}
	if a := acceptArguments(w); len(a) > 0 {
		d.Help = "meshc accept " + a[0]
	}
	return d
}

func notWanted(what string, known []string) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.SecretUnknown, Message: fmt.Sprintf("nothing in this mesh has a secret %q", what)}
	if near := diag.Nearest(what, known); len(near) > 0 {
		d.Message += "; the nearest is " + near[0]
	} else if len(known) > 0 && len(known) <= 12 {
		d.Message += "; there are " + strings.Join(known, ", ")
	}
	return d
}

func notTaken(label string, who addr.Instance, takers []string) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.SecretUnknown, Message: fmt.Sprintf("%s has no secret of %s", who, label)}
	if len(takers) <= 12 {
		d.Message += "; there are those of " + strings.Join(takers, ", ")
	}
	return d
}

func secretReplaced(name string, s lock.Secret, at diag.Pos, e Earlier) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.SecretReplaced, At: at, Help: bringBack(e),
		Message: fmt.Sprintf("%s has other blobs here than in %s lock, and generation %d in both: meshc never seals another value under one generation", describeEntry(name), e.Whose, s.Generation),
	}
}

func secretsEarlier(lower []lowered, now *lock.Lock, e Earlier) diag.Diagnostic {
	first := lower[0]
	d := diag.Diagnostic{
		Code: diag.SecretEarlier, At: now.SecretAt(first.name), Help: bringBack(e),
		Message: fmt.Sprintf("%s has generation %d here and %d in %s lock: its earlier value would be in use again",
			describeEntry(first.name), first.now, first.was, e.Whose),
	}
	if len(lower) > 1 {
		d.Message = fmt.Sprintf("%d secrets have a lower generation here than in %s lock: their earlier values would be in use again", len(lower), e.Whose)
	}
	if d.Help != "" {
		d.Help += " # if the earlier values are meant: --earlier-secrets"
	}
	for _, l := range lower[1:] {
		d.Also = append(d.Also, diag.Note{At: now.SecretAt(l.name), Text: "this one too"})
	}
	return d
}

// bringBack is the command that brings an earlier lock back with its blobs.
func bringBack(e Earlier) string {
	if e.Rev == "" {
		return ""
	}
	return "git checkout " + e.Rev + " -- " + lock.File + " " + sealedDir
}

func keyEdited(name string, e lock.End, at diag.Pos, was string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BlobForKey, At: at, Help: "git checkout HEAD -- " + lock.File,
		Message: fmt.Sprintf("%s, which holds %s, was sealed to %s, and the lock says that it is sealed to %s, the key that %s has now", sealedDir+"/"+e.Blob, describeEntry(name), was, e.To, e.Holder),
	}
}

func meshRenamed(d Demand, was string, made int, supplied []string) diag.Diagnostic {
	out := diag.Diagnostic{
		Code: diag.LockOfOtherMesh, At: d.MeshAt, Help: "meshc lock --remake # makes them anew",
		Message: fmt.Sprintf("%s sealed for the mesh %s, and machines of %s take nothing that was", count(made+len(supplied), "secret is", "secrets are"), was, d.Mesh),
	}
	if len(supplied) > 0 {
		out.Message += "; to be accepted again after that: " + strings.Join(supplied, ", ")
	}
	return out
}

// describeEntry is describe for an entry of the lock.
func describeEntry(name string) string {
	n, err := ParseName(name)
	if err != nil {
		return name
	}
	return describe(n)
}

func endsWrong(w Want, at diag.Pos, s lock.Secret) diag.Diagnostic {
	var ends []string
	for _, e := range s.Ends {
		ends = append(ends, e.Role+" "+e.Holder)
	}
	return diag.Diagnostic{
		Code: diag.SecretEndsWrong, At: at, Help: "git restore " + lock.File,
		Message: fmt.Sprintf("the lock's entry for %s has the ends %s", describe(w.Name), strings.Join(ends, ", ")),
		Also:    []diag.Note{{At: w.At, Text: "wanted here"}},
	}
}

func blobMissing(n Name, e lock.End, at diag.Pos, restore string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BlobMissing, At: at, Help: restoreBlob(n, e, restore),
		Message: fmt.Sprintf("%s is missing, which holds %s for its %s %s", sealedDir+"/"+e.Blob, describe(n), e.Role, e.Holder),
	}
}

// storeMissing is about all blobs that the lock names, which are gone together.
func storeMissing(n int, help string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BlobMissing, At: diag.Pos{File: lock.File}, Help: help,
		Message: fmt.Sprintf("nothing is left in %s/, and the lock has %d sealed files there", sealedDir, n),
	}
}

func blobMissingUnwanted(n Name, e lock.End, at diag.Pos, restore string) diag.Diagnostic {
	d := blobMissing(n, e, at, restore)
	d.Message += "; nobody wants it now"
	if restore == "" {
		d.Help = "meshc lock --prune # forgets every secret that nobody wants"
	}
	return d
}

func blobDamaged(n Name, e lock.End, at diag.Pos, damage, restore string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BlobDamaged, At: at, Help: restoreBlob(n, e, restore),
		Message: fmt.Sprintf("%s is not the blob of %s for its %s %s: %s", sealedDir+"/"+e.Blob, describe(n), e.Role, e.Holder, damage),
	}
}

func blobForKey(n Name, e lock.End, at diag.Pos, err error) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BlobForKey, At: at, Help: "git restore " + lock.File,
		Message: fmt.Sprintf("%s, which holds %s, is not sealed to %s, the key of its %s %s: %v", sealedDir+"/"+e.Blob, describe(n), e.To, e.Role, e.Holder, err),
	}
}

func blobUnknown(name string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BlobUnknown, At: diag.Pos{File: sealedDir + "/" + name}, Help: "meshc lock",
		Message: "the lock does not name " + sealedDir + "/" + name,
	}
}

func blobForeign(name string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BlobForeign, At: diag.Pos{File: sealedDir + "/" + name}, Help: "mv " + sealedDir + "/" + name + " .",
		Message: sealedDir + "/" + name + " has no name that meshc gives",
	}
}

func blobShared(name string, at diag.Pos, secret, end string, otherAt diag.Pos, other, otherEnd string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BlobShared, At: at, Help: "git restore " + lock.File,
		Message: fmt.Sprintf("%s is both the blob of %s for its %s and that of %s for its %s", sealedDir+"/"+name, other, otherEnd, secret, end),
		Also:    []diag.Note{{At: otherAt, Text: "named here too"}},
	}
}

func holderJoined(w Want, c Copy) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.HolderJoined, At: w.At,
		Message: fmt.Sprintf("%s has no copy of %s, so it is made anew for all %d holders", c.Holder, describe(w.Name), len(w.Ends)),
	}
}

func retireStillThere(node addr.Node, n Node, fingerprint string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.RetireStillThere, At: n.At,
		Message: stillThere(node, n, fingerprint),
	}
}

func stillThere(node addr.Node, n Node, fingerprint string) string {
	if n.Name != node {
		return fmt.Sprintf("%s has the key %s, which was that of %s; what is made anew would be sealed to it", n.Name, fingerprint, node)
	}
	return fmt.Sprintf("%s still has the key %s, and what is made anew would be sealed to it: take %s out of the mesh, or give it the new key that it has since, and then retire it", node, fingerprint, node)
}

func retireNothing(node addr.Node) diag.Diagnostic {
	return diag.Diagnostic{
		Code:    diag.RetireNothing,
		Message: fmt.Sprintf("nothing was ever sealed to a machine %q, by this lock and all those before it", node),
	}
}

// describe names a secret in a sentence.
func describe(n Name) string {
	switch {
	case n.Licence != "":
		return "the licence " + n.Licence
	case n.IsCredential():
		s := "the credential for " + n.Pair.Provision + " of " + n.Pair.Consumer.Instance.String() + " at " + n.Pair.Provider.String()
		if n.Pair.Consumer.Label != n.Pair.Provision {
			s += " (" + n.Pair.Consumer.Label + ")"
		}
		return s
	case n.Module == "":
		return "the secret " + n.Need + " of " + n.Instance.String()
	case n.Site == "":
		return "the secret " + n.Need + " that all " + n.Module + " share"
	}
	return "the secret " + n.Need + " that all " + n.Module + " at " + n.Site + " share"
}

// holdersOf names those who have no copy; recovery keys by their fingerprint.
func holdersOf(copies []Copy) string {
	var out []string
	for _, c := range copies {
		who := c.Holder
		if c.Role == seal.Recovery {
			who = "the recovery key " + c.Holder
		}
		if c.Before != "" {
			who += " (sealed to " + c.Before + ", the key is " + c.Recipient + " now)"
		}
		out = append(out, who)
	}
	if len(out) > 5 {
		out = append(out[:4], count(len(out)-4, "other", "others"))
	}
	return strings.Join(out, ", ")
}

// restoreBlob is how a blob comes back: from git where git has it, else as a new value.
func restoreBlob(n Name, e lock.End, restore string) string {
	if restore != "" {
		return restore
	}
	if n.IsSupplied() {
		node, instance := string(e.Node()), strings.Split(e.Holder, "@")[0]
		if n.Licence != "" {
			return "meshc accept " + n.Licence
		}
		return "meshc accept " + node + "/" + instance + "/" + n.Need
	}
	return "meshc lock --remake # makes it anew for all who use it"
}

func rotateCommand(n Name) string {
	c := "meshc rotate " + n.label()
	switch {
	case n.IsCredential():
		c += " --consumer " + n.Pair.Consumer.Instance.String()
	case n.Need != "" && n.Module == "":
		c += " --consumer " + n.Instance.String()
	}
	return c
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return itoa(n) + " " + many
}
