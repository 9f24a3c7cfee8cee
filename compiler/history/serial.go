package history

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Commit is what the folder's last commit gives a build.
type Commit struct {
	ID string // empty before the first commit
	// Serial grows along first parents: the greater of the commit's time and the parent's
	// serial + 1. So two commits of one second differ, and merging an older branch, or a
	// clock that is set back, does not turn it back.
	Serial int64
	// Dirty says whether the work tree has changes, of which the commit knows nothing.
	Dirty bool
}

// ahead is how far a commit's time may be before ours.
const ahead = 24 * time.Hour

// Commit asks for the last commit. A clone that lacks part of its history cannot tell the
// serial, and one commit with a time far ahead would be newer than all that are made until then.
func (r *Repository) Commit(now time.Time) (Commit, error) {
	if r.head == "" {
		return Commit{}, nil
	}
	shallow, err := r.IsShallow()
	if err != nil {
		return Commit{}, err
	}
	if shallow {
		return Commit{}, fmt.Errorf("this clone lacks part of its history, from which a bundle's serial comes; fetch all of it first: git fetch --unshallow")
	}
	out, err := r.git("log", "--first-parent", "--reverse", "--format=%ct %h", r.head)
	if err != nil {
		return Commit{}, err
	}
	c := Commit{ID: r.head}
	for line := range strings.Lines(string(out)) {
		at, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		t, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return Commit{}, fmt.Errorf("git log: cannot understand %q", line)
		}
		if t > now.Add(ahead).Unix() {
			return Commit{}, r.fromTheFuture(id, t, now)
		}
		c.Serial = max(t, c.Serial+1)
	}
	clean, err := r.IsClean()
	c.Dirty = !clean
	return c, err
}

// IsClean says whether there is a commit and git sees no change of the folder since.
func (r *Repository) IsClean() (bool, error) {
	changes, err := r.git("status", "--porcelain", "--", ".")
	return err == nil && len(changes) == 0 && r.head != "", err
}

func (r *Repository) fromTheFuture(id string, t int64, now time.Time) error {
	mend := "git rebase --rebase-merges --force-rebase " + id + "^    # makes it and all after it anew, with the time of now"
	if out, err := r.git("rev-parse", "--short", "HEAD"); err == nil && strings.TrimSpace(string(out)) == id {
		mend = "git commit --amend --no-edit    # gives it the time of now"
	} else if !r.has(id + "^1") {
		mend = "git rebase --rebase-merges --force-rebase --root    # makes all commits anew, with the time of now"
	}
	return fmt.Errorf("commit %s is dated %s, and now is %s: machines would take no bundle of an earlier time after its own; where the clock of this machine is right:\n  %s",
		id, time.Unix(t, 0).UTC().Format("2006-01-02 15:04 MST"), now.UTC().Format("2006-01-02 15:04 MST"), mend)
}
