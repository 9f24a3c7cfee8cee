package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BLD-1 BLD-3: the bundles of meshes/home are those that were reviewed, byte for byte;
// UPDATE=1 rewrites them. The mesh is built locked, so its lock and sealed store are complete.
func TestGoldenHome(t *testing.T) {
	dir := copyMesh(t, "home")
	out := filepath.Join(t.TempDir(), "dist")
	if _, stderr, code := inProcess(t, "", "build", "-C", dir, "--locked", "-o", out); code != exitDone {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	want := filepath.Join("..", "..", "testdata", "golden", "home")
	if os.Getenv("UPDATE") != "" {
		if err := os.RemoveAll(want); err != nil {
			t.Fatal(err)
		}
		for name, b := range files(t, out) {
			write(t, want, name, string(b))
		}
	}
	a, b := files(t, want), files(t, out)
	for name := range a {
		if _, ok := b[name]; !ok {
			t.Errorf("%s is no longer built", name)
		}
	}
	for name := range b {
		switch w, ok := a[name]; {
		case !ok:
			t.Errorf("%s is new", name)
		case !bytes.Equal(w, b[name]):
			t.Errorf("%s differs from the golden one; UPDATE=1 rewrites it", name)
		}
	}
}

// files are those of a folder of bundles, by name, without where they come from.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "provenance.json" || d.Name() == ".meshc" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		out[name] = b
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// BLD-1: the same bytes with any number of processors, from any folder.
func TestSameBytes(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mesh, err := filepath.Abs(copyMesh(t, "home"))
	if err != nil {
		t.Fatal(err)
	}
	var first map[string][]byte
	for k, procs := range []int{1, 2, 7} {
		out := filepath.Join(t.TempDir(), "dist")
		where, arg := filepath.Dir(mesh), "home"
		if k == 1 {
			where, arg = t.TempDir(), mesh
		}
		// The test binary is meshc itself when it is told so.
		cmd := exec.Command(self, "build", "-C", arg, "--locked", "-o", out)
		cmd.Args[0] = "meshc"
		cmd.Dir = where
		cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", procs), "MESHC_TEST_MAIN=1")
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("GOMAXPROCS=%d: %v\n%s", procs, err, b)
		}
		got := files(t, out)
		if first == nil {
			first = got
			continue
		}
		if len(got) != len(first) {
			t.Errorf("GOMAXPROCS=%d: %d files instead of %d", procs, len(got), len(first))
		}
		for name := range first {
			if !bytes.Equal(first[name], got[name]) {
				t.Errorf("GOMAXPROCS=%d: %s differs", procs, name)
			}
		}
	}
}
