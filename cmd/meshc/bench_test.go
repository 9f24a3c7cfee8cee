package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// whole runs meshc as a process of its own and reports what that took: CPU and wall
// seconds, the most memory, and the cost of an instance.
func whole(b *testing.B, instances int, args ...string) {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	var cpu, wall time.Duration
	var most int64
	for range b.N {
		cmd := exec.Command(self, args...)
		cmd.Args[0] = "meshc"
		cmd.Env = append(os.Environ(), "MESHC_TEST_MAIN=1", "CI=")
		begun := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("meshc %v: %v\n%s", args, err, out)
		}
		wall += time.Since(begun)
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			most = max(most, u.Maxrss)
		}
	}
	n := float64(b.N)
	b.ReportMetric(0, "ns/op") // the figures below say it better
	b.ReportMetric(cpu.Seconds()/n, "cpu-s")
	b.ReportMetric(wall.Seconds()/n, "wall-s")
	b.ReportMetric(float64(most)/1024, "MB")
	b.ReportMetric(float64(cpu.Microseconds())/n/float64(instances), "cpu-µs/instance")
}

// BenchmarkFleet is whole runs over meshes/fleet at three sizes, from nothing: check, build,
// a build with nothing to change, and a diff of one setting. Each size has 20 instances a node.
func BenchmarkFleet(b *testing.B) {
	for _, nodes := range []int{10, 100, 1000} {
		tag := fmt.Sprintf("nodes=%d", nodes)
		mesh := benchMesh(b)
		b.Run(fmt.Sprintf("check/%d", nodes), func(b *testing.B) { whole(b, nodes*20, "check", "-C", mesh, "-t", tag) })
		b.Run(fmt.Sprintf("build/%d", nodes), func(b *testing.B) {
			for _, made := range []string{"dist", "mesh.lock.hcl", "sealed"} {
				if err := os.RemoveAll(filepath.Join(mesh, made)); err != nil {
					b.Fatal(err)
				}
			}
			whole(b, nodes*20, "build", "-C", mesh, "-t", tag)
		})
		b.Run(fmt.Sprintf("again/%d", nodes), func(b *testing.B) { whole(b, nodes*20, "build", "-C", mesh, "-t", tag) })
		b.Run(fmt.Sprintf("floor/%d", nodes), func(b *testing.B) { floor(b, filepath.Join(mesh, "dist")) })
		b.Run(fmt.Sprintf("diff/%d", nodes), func(b *testing.B) {
			commitAll(b, mesh)
			replace(b, filepath.Join(mesh, "mesh.cue"), "workers: 1 + mod(i, 4)", "workers: 2 + mod(i, 4)")
			whole(b, nodes*20, "diff", "-C", mesh, "-t", tag)
			replace(b, filepath.Join(mesh, "mesh.cue"), "workers: 2 + mod(i, 4)", "workers: 1 + mod(i, 4)")
		})
	}
}

// BenchmarkSmall is a whole check of three nodes: what a person waits for at every save.
func BenchmarkSmall(b *testing.B) {
	whole(b, 17, "check", "-C", filepath.Join("..", "..", "meshes", "small"))
}

func benchMesh(b *testing.B) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "fleet")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "meshes", "fleet"))); err != nil {
		b.Fatal(err)
	}
	return dir
}

// floor writes the same files once more and does nothing else: what no build can be faster than.
func floor(b *testing.B, dist string) {
	contents := map[string][]byte{}
	err := filepath.WalkDir(dist, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		contents[strings.TrimPrefix(path, dist)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	var wall time.Duration
	for range b.N {
		to := b.TempDir()
		begun := time.Now()
		for name, c := range contents {
			path := filepath.Join(to, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(path, c, 0o644); err != nil {
				b.Fatal(err)
			}
		}
		wall += time.Since(begun)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(wall.Seconds()/float64(b.N), "wall-s")
	b.ReportMetric(float64(len(contents)), "files")
}

func commitAll(b *testing.B, dir string) {
	b.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A", "*.cue", "modules", "mesh.lock.hcl"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", "--allow-empty"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			b.Fatalf("git %v: %s", args, out)
		}
	}
}

func replace(b *testing.B, path, from, to string) {
	b.Helper()
	s, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	if strings.Count(string(s), from) != 1 {
		b.Fatalf("%s does not have %q once", path, from)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(s), from, to, 1)), 0o644); err != nil {
		b.Fatal(err)
	}
}
