package host

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

// What a machine can say about a bundle or itself, each in one place.

// because begins the reason of what was skipped.
const because = "because "

func notInitialized() error {
	return fmt.Errorf("this machine does not know which node it is; run `mesh-host init NODE`")
}

func otherNode(bundle, machine string) error {
	return fmt.Errorf("the bundle is for node %q, and this machine is %q", bundle, machine)
}

func alreadyInitialized(is, want string) error {
	return fmt.Errorf("this machine is node %q already, not %q; if it is to be another, remove %s first", is, want, nodeFile)
}

var errNoIdentity = fmt.Errorf("this machine has no key to open its secrets with, neither %s nor %s; if there was one, put it back from a backup: `mesh-host init NODE` makes another, and what was sealed to the old one is then made anew for all who share it", identityFile, sshHostKey)

// chosenKeyFails says why the SSH host key cannot be used, where it was chosen before.
func chosenKeyFails(err error) error {
	if errors.Is(err, errNoIdentity) {
		err = errors.New("it is not there")
	}
	return fmt.Errorf("%s was chosen as this machine's key (%s says so), and cannot be used: %w; put it back; for a key of its own instead, to which everything has to be sealed anew, move %s away", sshHostKey, chosenFile, err, chosenFile)
}

func openKey(p string, mode uint32) error {
	return fmt.Errorf("%s has mode %04o, so others can read this machine's key; run `chmod 600 %s`, and make a new key if somebody may have read it", p, mode, p)
}

func foreignKey(p string, uid int) error {
	return fmt.Errorf("%s belongs to user %d, who can read this machine's key; run `chown root %s`, and make a new key unless that user may know this one", p, uid, p)
}

func alreadyRunning() error { return fmt.Errorf("another mesh-host is at work on this machine") }

func onePlace(a, b *wish) error {
	name := func(w *wish) string {
		if w.item == nil { // a directory that something lies in
			return w.key.String()
		}
		return fmt.Sprintf("%s (%s)", w.key, w.id())
	}
	return fmt.Errorf("%s and %s are one place on this machine, because a link leads from one path to the other; leave one of them out, or give it another path", name(a), name(b))
}

func unsigned() error {
	return fmt.Errorf("the bundle is not signed, and this machine takes only signed ones (%s)", signersFile)
}

func badSignature(err error) error {
	return fmt.Errorf("the bundle's signature is not accepted: %w", err)
}

func badSigners(err error) error { return fmt.Errorf("%s: %w", signersFile, err) }

// incomplete names this machine's secrets that are missing; there may be none, as it is the mesh that is not complete.
func incomplete(ids []string) error {
	if len(ids) == 0 {
		return errors.New("the bundle is not complete: none of this machine's secrets is missing, but others of its mesh were not made yet; run `meshc lock` and build again")
	}
	return fmt.Errorf("the bundle is not complete: these secrets were not made yet: %s; run `meshc lock` and build again", strings.Join(ids, ", "))
}

// otherKey follows the secrets that are sealed to another key than this machine's.
func otherKey(node string) error {
	return fmt.Errorf("if this machine's key is new, put what `mesh-host init %[1]s` prints into mesh.cue, run `meshc lock --new-recipient %[1]s`, and build again; if it was replaced by mistake, put %[2]s back", node, identityFile)
}

func otherMesh(is, was string) error {
	return fmt.Errorf("the bundle is of mesh %q, and this machine was applied one of mesh %q, all of which would be taken away; --other-mesh takes it all the same", is, was)
}

func ofCommit(commit string) string {
	if commit == "" {
		return ""
	}
	return fmt.Sprintf(" (commit %s)", commit)
}

func olderSerial(is, last int64, commit string) error {
	return fmt.Errorf("the bundle's serial %d is older than %d, which was applied last%s; --allow-older takes it all the same", is, last, ofCommit(commit))
}

func unitFromElsewhere(name, at string) error {
	return fmt.Errorf("the machine has a unit %s of its own, by %s; give this one another name, or say replaces: true of the unit, if it is to take its place", name, at)
}

func noSerial(last int64, commit string) error {
	return fmt.Errorf("the bundle has no serial, as one of a tree with changes that were not committed, and may be older than serial %d%s, which was applied last; commit and build again, or take it all the same with --allow-older", last, ofCommit(commit))
}

func sameSerial(serial int64, commit, last string) error {
	return fmt.Errorf("the bundle's serial %d%s is that of the one applied last%s, and its content is another: one of them is not what was built first; --allow-older takes it all the same", serial, ofCommit(commit), ofCommit(last))
}

func serialAhead(serial int64, now time.Time) error {
	return fmt.Errorf("the bundle's serial %d is a time more than a day ahead of this machine's clock, which says %s: set the clock, or see who dated the commit; --allow-older takes it all the same", serial, now.UTC().Format(time.DateTime))
}

func olderSecret(id bundle.ID, is, last int) error {
	return fmt.Errorf("%s is of generation %d, and generation %d of it was applied before", id, is, last)
}

func otherSecret(id bundle.ID, generation int) error {
	return fmt.Errorf("%s is another secret than the one that was applied before under the same generation, %d", id, generation)
}

var errSecretsChanged = errors.New("whoever can write to the mesh can seal a value of his own: see in its history who changed these; --allow-older takes them, as it has to after `meshc lock --remake`")

func withoutKey(id bundle.ID) error {
	return fmt.Errorf("%s does not say which secret it is, so its blob cannot be told from another's", id)
}

// Interrupted is what has ended a run that was told to stop. What it was at is as a
// kill would have left it, or done.
const Interrupted = "interrupted"

var errInterrupted = errors.New(Interrupted)

func endedAgain(unit string) string {
	return fmt.Sprintf("it was started, and does not run any more; `journalctl -u %s -n 20` says why", unit)
}

func damagedState(err error) error {
	return fmt.Errorf("%s is damaged (%w); it says how things were found, so put it back from a backup, or remove it and what it stands for by hand", stateFile, err)
}

func otherStateFormat(is int) error {
	if is < 1 {
		return damagedState(fmt.Errorf("it has no format"))
	}
	return fmt.Errorf("%s was written by a later mesh-host (format %d, this one knows %d)", stateFile, is, stateFormat)
}

func unknownSecret(name string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("no secret %q was applied on this machine, nor any other", name)
	}
	return fmt.Errorf("no secret %q was applied on this machine; there are %s", name, strings.Join(known, ", "))
}

func filledSecret(name string, files []string) error {
	return fmt.Errorf("%s has no file of its own on this machine: it stands in %s", name, strings.Join(files, " and "))
}

func driftedSecret(key machine.Key) error {
	return fmt.Errorf("%s is not what was applied; run `mesh-host apply BUNDLE`", key)
}
