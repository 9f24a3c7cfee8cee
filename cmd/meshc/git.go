package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/renameio/v2"

	"meshc.dev/compiler/lock"
)

// git runs git in a folder; outside a repository, or without git, it gives nothing.
func git(dir string, args ...string) ([]byte, bool) {
	cmd := exec.Command("git", append([]string{"-C", dir, "--no-optional-locks"}, args...)...)
	out, err := cmd.Output()
	return out, err == nil
}

// lockHistory is the lock of the last commit, and that of the first parent of the
// merge that is under way or was made last.
func lockHistory(dir string) (head, parent []byte) {
	head, ok := git(dir, "show", "HEAD:./"+lock.File)
	if !ok {
		return nil, nil
	}
	if _, merging := git(dir, "rev-parse", "-q", "--verify", "MERGE_HEAD"); merging {
		return head, head
	}
	merge, ok := git(dir, "rev-list", "--merges", "--max-count=1", "HEAD")
	if ok && len(bytes.TrimSpace(merge)) > 0 {
		parent, _ = git(dir, "show", strings.TrimSpace(string(merge))+"^1:./"+lock.File)
	}
	return head, parent
}

// provenance is the commit of a clean work tree and its serial: the time of the newest commit along
// first parents, which merging an older branch does not turn back.
func provenance(dir string) (commit string, serial int64) {
	out, ok := git(dir, "rev-parse", "HEAD")
	if !ok {
		return "", 0
	}
	if dirty, ok := git(dir, "status", "--porcelain", "--", "."); !ok || len(dirty) > 0 {
		return "", 0
	}
	times, ok := git(dir, "log", "--first-parent", "--format=%ct")
	if !ok {
		return "", 0
	}
	for t := range strings.FieldsSeq(string(times)) {
		if n, err := strconv.ParseInt(t, 10, 64); err == nil {
			serial = max(serial, n)
		}
	}
	return strings.TrimSpace(string(out)), serial
}

// repositoryPrefix is the mesh's folder within its repository.
func repositoryPrefix(dir string) string {
	out, ok := git(dir, "rev-parse", "--show-prefix")
	if !ok {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// writeFile replaces a file as a whole.
func writeFile(path string, b []byte) error {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return renameio.WriteFile(path, b, mode, renameio.WithTempDir(filepath.Dir(path)))
}
