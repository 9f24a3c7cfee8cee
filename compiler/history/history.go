// Package history asks git what it knows of a mesh's folder: the lock as it was
// committed, where a build comes from, the folder as it was at a revision. It runs git
// itself, reads objects only, and never touches the work tree. A folder without .git, in
// it or above, has no history; where there is one and git does not answer, that is an
// error, since what was settled and made before would be made anew.
package history

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"meshc.dev/compiler/folder"
	"meshc.dev/compiler/lock"
)

// Repository is the repository that a folder lies in.
type Repository struct {
	dir    string // the mesh's folder
	prefix string // of that folder within the repository, "" or "meshes/home/"
	head   string // the commit that HEAD is; empty before the first
}

// Open finds the repository of a folder; nil where it lies in none.
func Open(dir string) (*Repository, error) {
	real, err := filepath.Abs(dir)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return nil, err
	}
	top := folder.Top(real)
	if top == "" && os.Getenv("GIT_DIR") == "" {
		return nil, nil
	}
	r := &Repository{dir: dir}
	if err := r.open(top); err != nil {
		return nil, unanswered{top, err}
	}
	return r, nil
}

func (r *Repository) open(top string) error {
	if _, err := exec.LookPath("git"); err != nil {
		return errors.New("git is not installed, or not on PATH")
	}
	out, err := r.git("rev-parse", "--show-prefix")
	if err != nil {
		return err
	}
	r.prefix = strings.TrimSuffix(string(out), "\n")
	if out, err = r.git("rev-parse", "--show-toplevel"); err != nil {
		return err
	}
	if found := strings.TrimSuffix(string(out), "\n"); top != "" && os.Getenv("GIT_DIR") == "" && !sameFolder(found, top) {
		return fmt.Errorf("git finds no repository there, and takes %s for it", found)
	}
	return r.findHead()
}

// findHead tells a repository before its first commit from one that lost its HEAD.
func (r *Repository) findHead() error {
	if out, err := r.git("rev-parse", "--verify", "--quiet", "HEAD"); err == nil {
		r.head = strings.TrimSpace(string(out))
		_, err = r.git("cat-file", "-e", r.head+"^{tree}")
		return err
	}
	if _, err := r.git("symbolic-ref", "HEAD"); err != nil {
		return err
	}
	refs, err := r.git("for-each-ref", "--count=1")
	if err != nil {
		return err
	}
	// What a HEAD pointed to before is left in its log, which a new repository has none of.
	logs, err := r.git("rev-parse", "--git-path", "logs/HEAD")
	if err != nil {
		return err
	}
	path := strings.TrimSpace(string(logs))
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.dir, path)
	}
	if info, err := os.Stat(path); len(refs) > 0 || err == nil && info.Size() > 0 {
		_, err := r.git("rev-parse", "HEAD")
		return err
	}
	return nil
}

func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// unanswered is a git that fails where there is a repository.
type unanswered struct {
	top   string // with the .git; empty where GIT_DIR names it
	cause error
}

func (u unanswered) Unwrap() error { return u.cause }

func (u unanswered) Error() string {
	where := filepath.Join(u.top, ".git")
	if os.Getenv("GIT_DIR") != "" {
		where = "GIT_DIR=" + os.Getenv("GIT_DIR")
	}
	mend := "mend the repository (git fsck says what is damaged) or take a new clone of it"
	switch words := u.cause.Error(); {
	case strings.Contains(words, "PATH"):
		mend = "install git"
	case strings.Contains(words, "safe.directory"):
		mend = "do what git says above, for a repository that you trust"
	case os.Getenv("GIT_DIR") != "":
		mend = "GIT_DIR is set in the environment; where nothing needs it: unset GIT_DIR"
	}
	return fmt.Sprintf("git does not answer for %s:\n%s\n\nwithout the history, what was settled and sealed before would be made anew, so nothing is done; %s", where, u.cause, mend)
}

// Prefix is the folder's place within the repository, empty or with a slash at its end.
func (r *Repository) Prefix() string { return r.prefix }

// Revisions are the names that a person gives commits: HEAD, branches and tags.
func (r *Repository) Revisions() []string {
	if r.head == "" {
		return nil
	}
	out, err := r.git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes")
	if err != nil {
		return nil
	}
	return append([]string{"HEAD", "HEAD~1"}, strings.Fields(string(out))...)
}

// command is a git that reads objects as they are, and runs nothing that the repository's settings name.
func (r *Repository) command(args ...string) *exec.Cmd {
	cmd := exec.Command("git", append([]string{"-C", r.dir, "--no-optional-locks", "--no-replace-objects", "-c", "core.quotepath=off", "-c", "core.fsmonitor=false"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_NO_REPLACE_OBJECTS=1")
	return cmd
}

func (r *Repository) git(args ...string) ([]byte, error) {
	cmd := r.command(args...)
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

// Locks are the lock as git has it; nil where it has none.
type Locks struct {
	// Head is that of the last commit, or of the last one that had any.
	Head []byte
	// FirstParent is that of the first parent of the merge that is under way or was made last.
	FirstParent []byte
	// Restore is the command that brings the lock and the sealed store back as they are in Head.
	Restore string
}

// Locks asks for the lock.
func (r *Repository) Locks() (Locks, error) {
	l, err := r.locks()
	if err != nil {
		return Locks{}, unanswered{folder.Top(absolute(r.dir)), err}
	}
	return l, nil
}

func (r *Repository) locks() (l Locks, err error) {
	if r.head == "" {
		return l, nil
	}
	if l.Head, err = r.file("HEAD", lock.File); err != nil {
		return l, err
	}
	l.Restore = "git restore " + lock.File
	if l.Head == nil {
		return r.lastLock()
	}
	if staged, err := r.git("ls-files", "--", lock.File); err != nil || len(staged) == 0 {
		l.Restore = "git checkout HEAD -- " + lock.File
	}
	if _, err := r.git("rev-parse", "-q", "--verify", "MERGE_HEAD"); err == nil {
		l.FirstParent = l.Head
		return l, nil
	}
	merge, err := r.git("rev-list", "--merges", "--max-count=1", "HEAD")
	if id := strings.TrimSpace(string(merge)); err == nil && id != "" && r.has(id+"^1") {
		l.FirstParent, err = r.file(id+"^1", lock.File)
	}
	return l, err
}

// lastLock is the lock of the last commit that had one, where the lock's removal was committed too.
func (r *Repository) lastLock() (l Locks, err error) {
	out, err := r.git("log", "-1", "--format=%H", "--diff-filter=D", "--", lock.File)
	id := strings.TrimSpace(string(out))
	if err != nil || id == "" || !r.has(id+"^1") {
		return l, err
	}
	before, err := r.git("rev-parse", "--short", id+"^1")
	if err != nil {
		return l, err
	}
	rev := strings.TrimSpace(string(before))
	l.Head, err = r.file(rev, lock.File)
	l.Restore = "git checkout " + rev + " -- " + lock.File
	if sealed, err := r.git("ls-tree", "--name-only", rev, "--", "./sealed"); err == nil && len(sealed) > 0 {
		l.Restore += " sealed"
	}
	return l, err
}

// has says whether the clone has a commit, which a shallow one may lack.
func (r *Repository) has(rev string) bool {
	_, err := r.git("cat-file", "-e", rev+"^{commit}")
	return err == nil
}

// file is a plain file of the folder as a commit has it; nil where it has none.
func (r *Repository) file(rev, name string) ([]byte, error) {
	out, err := r.git("ls-tree", "-z", rev, "--", "./"+name)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	fields := strings.Fields(string(out))
	if len(fields) < 3 || fields[1] != "blob" || fields[0] == "120000" {
		return nil, fmt.Errorf("%s of %s is no plain file", name, rev)
	}
	return r.git("cat-file", "blob", fields[2])
}

func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			return real
		}
	}
	return dir
}

// IsTracked says whether git has a file or folder, in the index.
func (r *Repository) IsTracked(name string) (bool, error) {
	out, err := r.git("ls-files", "-z", "--", name)
	return len(out) > 0, err
}

// IsShallow says whether the clone lacks part of its history.
func (r *Repository) IsShallow() (bool, error) {
	out, err := r.git("rev-parse", "--is-shallow-repository")
	return strings.TrimSpace(string(out)) == "true", err
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
		b, err := r.file(commit, lock.File)
		if err != nil {
			return nil, err
		}
		if b != nil && !seen[string(b)] { // nil: removed in this commit
			seen[string(b)] = true
			locks = append(locks, b)
		}
	}
	return locks, nil
}
