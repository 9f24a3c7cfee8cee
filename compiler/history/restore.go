package history

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"meshc.dev/compiler/folder"
)

// Restorer finds commands that bring files of the folder back as they were.
type Restorer struct {
	repo  *Repository
	index map[string]bool // what git restore can bring back
	trees []revision      // that were looked at, HEAD first
	asked int
}

type revision struct {
	name string
	tree *folder.FS
}

// Restorer gives one; it asks git nothing yet.
func (r *Repository) Restorer() *Restorer { return &Restorer{repo: r} }

// maxAsked bounds for how many files the whole history is searched.
const maxAsked = 20

// Command is the one that brings back a file with this sha256, in hex; empty where no commit has it.
func (s *Restorer) Command(name, sum string) string {
	if s.repo.head == "" {
		return ""
	}
	if s.trees == nil {
		s.look("HEAD")
		s.index = map[string]bool{}
		out, err := s.repo.git("ls-files", "-z")
		for n := range strings.SplitSeq(string(out), "\x00") {
			s.index[n] = err == nil
		}
	}
	for _, t := range s.trees {
		if t.has(name, sum) {
			return s.command(t.name, name)
		}
	}
	if s.asked++; s.asked > maxAsked {
		return ""
	}
	// A commit that changed the file, and the one before it, are all that can have it otherwise.
	out, err := s.repo.git("log", "--max-count=20", "--format=%h %p", "--", name)
	if err != nil {
		return ""
	}
	for rev := range strings.FieldsSeq(string(out)) {
		if t, ok := s.look(rev); ok && t.has(name, sum) {
			return s.command(rev, name)
		}
	}
	return ""
}

func (s *Restorer) look(rev string) (revision, bool) {
	tree, err := s.repo.Tree(rev)
	t := revision{rev, tree}
	if err == nil {
		s.trees = append(s.trees, t)
	}
	return t, err == nil
}

func (t revision) has(name, sum string) bool {
	b, err := t.tree.ReadPlain(name)
	if err != nil {
		return false
	}
	is := sha256.Sum256(b)
	return hex.EncodeToString(is[:]) == sum
}

func (s *Restorer) command(rev, name string) string {
	if rev == "HEAD" && s.index[name] {
		return "git restore " + name
	}
	return "git checkout " + rev + " -- " + name
}

// EntryIn is the commit before the one that took an entry out of the lock, in short; empty
// where none did.
func (r *Repository) EntryIn(name, file string) string {
	if r.head == "" {
		return ""
	}
	out, err := r.git("log", "-1", "--format=%p", "-S", `"`+name+`" =`, "--", file)
	if parents := strings.Fields(string(out)); err == nil && len(parents) > 0 && r.has(parents[0]) {
		return parents[0]
	}
	return ""
}
