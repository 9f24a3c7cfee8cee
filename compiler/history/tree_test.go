package history

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// repo makes a repository with a mesh in a folder of it.
func repo(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	mesh := filepath.Join(dir, "infra", "home")
	for path, content := range map[string]string{
		"infra/home/mesh.cue": "package mesh\n", "infra/home/modules/x/x.cue": "package x\n", "infra/home/notes.txt": "no\n", "shared/lib.cue": "package lib\n",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"lib.cue": "../../shared/lib.cue", "loop": "loop", "out": "/etc", "modules/y": "x"} {
		if err := os.Symlink(to, filepath.Join(mesh, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
	return mesh
}

// REV-1: a revision is read from git's objects, links within the repository followed, the work tree untouched.
func TestTree(t *testing.T) {
	mesh := repo(t)
	if err := os.WriteFile(filepath.Join(mesh, "mesh.cue"), []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Open(mesh)
	if err != nil || r.Prefix() != "infra/home/" {
		t.Fatalf("Open = %v, prefix %q", err, r.Prefix())
	}
	tree, err := r.Tree("HEAD")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"mesh.cue": "package mesh\n", "lib.cue": "package lib\n", "modules/y/x.cue": "package x\n"} {
		if b, err := fs.ReadFile(tree, path); err != nil || string(b) != want {
			t.Errorf("%s = %q, %v", path, b, err)
		}
	}
	for _, path := range []string{"loop", "out/passwd"} {
		if _, err := fs.ReadFile(tree, path); err == nil {
			t.Errorf("%s can be read", path)
		}
	}
	if _, err := r.Tree("nosuch"); err == nil || err.Error() != "git knows no revision nosuch" {
		t.Errorf("Tree(nosuch): %v", err)
	}
	if _, err := r.Tree("--output=/tmp/x"); err == nil {
		t.Error("an option was taken for a revision")
	}
}
