// Package history asks git what it knows of a mesh's folder: the lock as it was
// committed, where a build comes from, the folder as it was at a revision. It runs git
// itself, reads objects only, and never touches the work tree. Outside a repository, or
// where there is no git, there is no history, which is no error.
package history

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"meshc.dev/compiler/lock"
)

// Repository is the repository that a folder lies in.
type Repository struct {
	dir    string // the mesh's folder
	prefix string // of that folder within the repository, "" or "meshes/home/"
}

// Open finds the repository of a folder; false where it lies in none.
func Open(dir string) (*Repository, bool) {
	r := &Repository{dir: dir}
	out, err := r.git("rev-parse", "--show-prefix")
	if err != nil {
		return nil, false
	}
	r.prefix = strings.TrimSpace(string(out))
	return r, true
}

// Prefix is the folder's place within the repository, empty or with a slash at its end.
func (r *Repository) Prefix() string { return r.prefix }

func (r *Repository) git(args ...string) ([]byte, error) {
	cmd := exec.Command("git", append([]string{"-C", r.dir, "--no-optional-locks", "-c", "core.quotepath=off"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if msg := strings.TrimSpace(stderr.String()); msg != "" {
			return nil, fmt.Errorf("git %s: %s", args[0], strings.TrimPrefix(msg, "fatal: "))
		}
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out, nil
}

// Locks are the lock of the last commit and of the first parent of the merge that
// is under way or was made last; nil where there is none.
func (r *Repository) Locks() (head, firstParent []byte) {
	head, err := r.git("show", "HEAD:./"+lock.File)
	if err != nil {
		return nil, nil
	}
	if _, err := r.git("rev-parse", "-q", "--verify", "MERGE_HEAD"); err == nil {
		return head, head
	}
	merge, err := r.git("rev-list", "--merges", "--max-count=1", "HEAD")
	if err == nil && len(bytes.TrimSpace(merge)) > 0 {
		firstParent, _ = r.git("show", strings.TrimSpace(string(merge))+"^1:./"+lock.File)
	}
	return head, firstParent
}

// Provenance is the commit of a clean work tree and its serial: the newest time of
// any commit along first parents, which merging an older branch does not turn back.
// Both are empty in a dirty tree, whose build nobody could repeat.
func (r *Repository) Provenance() (commit string, serial int64) {
	out, err := r.git("rev-parse", "HEAD")
	if err != nil {
		return "", 0
	}
	if dirty, err := r.git("status", "--porcelain", "--", "."); err != nil || len(dirty) > 0 {
		return "", 0
	}
	times, err := r.git("log", "--first-parent", "--format=%ct")
	if err != nil {
		return "", 0
	}
	for t := range strings.FieldsSeq(string(times)) {
		if n, err := strconv.ParseInt(t, 10, 64); err == nil {
			serial = max(serial, n)
		}
	}
	return strings.TrimSpace(string(out)), serial
}

// IsShallow says whether the clone lacks part of its history.
func (r *Repository) IsShallow() bool {
	out, err := r.git("rev-parse", "--is-shallow-repository")
	return err == nil && strings.TrimSpace(string(out)) == "true"
}

// AllLocks are the locks of every commit that any branch or tag leads to, oldest
// first, each content once.
func (r *Repository) AllLocks() ([][]byte, error) {
	out, err := r.git("log", "--all", "--reverse", "--full-history", "--format=%H", "--", lock.File)
	if err != nil {
		return nil, err
	}
	var locks [][]byte
	seen := map[string]bool{}
	for commit := range strings.FieldsSeq(string(out)) {
		b, err := r.git("show", commit+":./"+lock.File)
		if err != nil {
			continue // removed in this commit
		}
		if !seen[string(b)] {
			seen[string(b)] = true
			locks = append(locks, b)
		}
	}
	return locks, nil
}

// Path is where a file of the folder stands on disk.
func (r *Repository) Path(name string) string { return filepath.Join(r.dir, name) }
