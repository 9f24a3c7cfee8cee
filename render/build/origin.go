package build

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"meshc.dev/compiler/folder"
	"meshc.dev/compiler/history"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/lock"
	"meshc.dev/render"
)

// Origin is where a build comes from: the commit and its serial, if and only if that commit
// alone makes the same bundles. Where it does not, why says so.
func (o *Outcome) Origin(dir, version string, now time.Time) (from render.Origin, why string, err error) {
	from = render.Origin{Version: version}
	repo, err := history.Open(dir)
	if err != nil {
		return from, "", err
	}
	if repo == nil {
		return from, "this folder is in no git repository", nil
	}
	commit, err := repo.Commit(now)
	switch {
	case err != nil:
		return from, "", err
	case commit.ID == "":
		return from, "nothing is committed yet", nil
	case commit.Dirty:
		return from, "the work tree has changes that are not committed", nil
	}
	tree, err := repo.Tree(commit.ID)
	if err != nil {
		return from, "", err
	}
	if why, err := o.differs(tree); why != "" || err != nil {
		return from, why, err
	}
	from.Commit, from.Serial = commit.ID, commit.Serial
	return from, "", nil
}

// differs holds all that was read against a commit's tree: git's word that nothing changed
// leaves out what it was told to ignore.
func (o *Outcome) differs(commit *folder.FS) (string, error) {
	has := load.Files(commit)
	for _, p := range slices.Sorted(maps.Keys(o.Source.Tree)) {
		if b, ok := has[p]; !ok {
			return fmt.Sprintf("%s takes part, and the commit does not have it", p), nil
		} else if !bytes.Equal(b, o.Source.Tree[p]) {
			return fmt.Sprintf("%s is not as the commit has it, whatever git status says", p), nil
		}
	}
	for _, p := range slices.Sorted(maps.Keys(has)) {
		if _, ok := o.Source.Tree[p]; !ok {
			return fmt.Sprintf("the commit has %s, which is not here, whatever git status says", p), nil
		}
	}
	if b, err := commit.ReadPlain(lock.File); !o.Lock.IsEmpty() && (err != nil || !bytes.Equal(b, o.lockFile)) {
		return lock.File + " is not as the commit has it", nil
	}
	for _, name := range slices.Sorted(maps.Keys(o.Change.Lock.Secrets)) {
		for _, e := range o.Change.Lock.Secrets[name].Ends {
			if e.Blob == "" {
				continue
			}
			if _, err := commit.Stat("sealed/" + e.Blob); err != nil {
				return fmt.Sprintf("the commit does not have sealed/%s", e.Blob), nil
			}
		}
	}
	return "", nil
}
