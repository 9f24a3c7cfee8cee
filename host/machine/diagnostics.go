package machine

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// What can be wrong with a machine, each said in one place.

func inTheWay(key Key, mode uint32) error {
	what := "something else"
	switch mode & unix.S_IFMT {
	case unix.S_IFDIR:
		what = "a directory"
	case unix.S_IFREG:
		what = "a file"
	case unix.S_IFLNK:
		what = "a link"
	case unix.S_IFCHR, unix.S_IFBLK:
		what = "a device"
	case unix.S_IFIFO:
		what = "a named pipe"
	case unix.S_IFSOCK:
		what = "a socket"
	}
	return fmt.Errorf("%s is in the way at %s", what, key.Name)
}

func tooLong(limit int) error {
	return fmt.Errorf("it has more than %d bytes", limit)
}

func validatorMissing(name string) error {
	return fmt.Errorf("the command that has to accept the new content, %s, is not there", name)
}

func noAnswer(name string) error {
	return fmt.Errorf("%s, which has to accept the new content, has not ended in %v and was stopped; the old content stays", name, validateTime)
}

func notAccepted(ctx context.Context, name, output string, err error) error {
	return fmt.Errorf("%s does not accept the new content, and the old one stays (%w): %s", name, err, shorten(ctx, output))
}

func damagedBlock(p, marker, why string) error {
	return fmt.Errorf("the block %q in %s is damaged: %s; mend its markers by hand", marker, p, why)
}

func noAccount(what, name string) error {
	return fmt.Errorf("there is no %s %s on this machine", what, name)
}

func otherUID(name string, is, want int) error {
	return fmt.Errorf("user %s has number %d here, not %d; files belong to that number, so it is not changed", name, is, want)
}

func takenUID(name string, uid int, who string) error {
	return fmt.Errorf("user %s cannot have the number %d, which is %s's on this machine; declare another uid, or none", name, uid, who)
}

func failed(ctx context.Context, command, output string, err error) error {
	return fmt.Errorf("%s: %w: %s", command, err, shorten(ctx, output))
}

// shorten keeps the end of a program's output, where the reason usually stands. Secrets
// are taken out first: half of one is as bad.
func shorten(ctx context.Context, s string) string {
	lines := strings.FieldsFunc(hidden(ctx, s), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) > 5 {
		lines = lines[len(lines)-5:]
	}
	out := strings.Join(lines, "; ")
	if len(out) > 500 {
		out = "…" + strings.ToValidUTF8(out[len(out)-500:], "")
	}
	return out
}

// heldError is a lock on packages that did not come free.
type heldError struct {
	lock string
	pid  int
}

func (e *heldError) Error() string {
	return fmt.Sprintf("process %d holds %s, and has for %v: another package manager is at work; apply again when it is done", e.pid, e.lock, lockTime)
}

func unknownPackage(name string) error {
	return fmt.Errorf("there is no package called %s in the lists of this machine; `apt-cache policy %s` says what it knows", name, name)
}

func twoPolicies() error {
	return fmt.Errorf("%s was made while %s, which was there before, was kept to be given back; remove the one that is not to be", policyFile, policyFound)
}

func isTemplate(name string) error {
	return fmt.Errorf("%s is a template, which neither runs nor can be asked about: its instances are units", name)
}

func notMade(name string, absent bool) error {
	if absent {
		return fmt.Errorf("apt-get has done its work, and package %s is still there; see what `apt-get remove %s` says", name, name)
	}
	return fmt.Errorf("apt-get has done its work, and there is still no package %s: other packages stand for that name; declare the one that is meant", name)
}
