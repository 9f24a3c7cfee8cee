package dist

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"meshc.dev/render/bundle"
)

const killEnv = "DIST_TEST_KILL_AT"

// TestMain is also the process that the kill test ends: it writes an output, and
// gets SIGKILL at the step whose number it is given.
func TestMain(m *testing.M) {
	at, err := strconv.Atoi(os.Getenv(killEnv))
	if err != nil {
		os.Exit(m.Run())
	}
	var mu sync.Mutex
	n := 0
	step = func(string) {
		mu.Lock() // and never unlock at the end: nothing goes on beside
		if n == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		n++
		mu.Unlock()
	}
	if _, err := Write(os.Args[1], "home", after(os.Args[2]), Options{}); err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

func after(what string) []Node {
	switch what {
	case "one":
		return home.with("anchor", "/etc/a/two", "II").nodes()
	case "all":
		return home.with("anchor", "/etc/a/two", "II").with("board", "/etc/b", "bb").with("cabin", "/etc/c", "c").without("phone").nodes()
	case "commit":
		return home.at(1)
	case "commit of one":
		return home.with("anchor", "/etc/a/two", "II").at(1)
	case "commit without phone":
		return home.without("phone").at(1)
	}
	return home.nodes()
}

// settled gives a tree in which provenance that is as before counts as the next one's,
// where this is replaced file by file.
func settled(what string, got, before, next map[string]string) map[string]string {
	out := maps.Clone(got)
	for name := range got {
		alone := what == "commit" || what == "commit of one"
		if alone && filepath.Base(name) == bundle.ProvenanceName && got[name] == before[name] {
			out[name] = next[name]
		}
	}
	return out
}

// BLD-2: killed at any point, the old output or the new one is there, whole, and each
// bundle in it is valid; the next run makes the new one and clears the rest away. Only
// the provenance of bundles that do not change can still be the old beside the new.
func TestKilledAnywhere(t *testing.T) {
	for _, what := range []string{"first", "one", "all", "commit", "commit of one", "commit without phone"} {
		t.Run(what, func(t *testing.T) {
			next := freshNodes(t, after(what), Options{})
			before := map[string]string{}
			if what != "first" {
				before = fresh(t, home, Options{})
				next["NOTES.txt"], before["NOTES.txt"] = "mine", "mine"
			}
			kills := 0
			for ; ; kills++ {
				dir := filepath.Join(t.TempDir(), "dist")
				if what != "first" {
					write(t, dir, home, Options{})
					if err := os.WriteFile(filepath.Join(dir, "NOTES.txt"), []byte("mine"), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				cmd := exec.Command(os.Args[0], dir, what)
				cmd.Env = append(os.Environ(), killEnv+"="+strconv.Itoa(kills))
				out, err := cmd.CombinedOutput()
				exit := (*exec.ExitError)(nil)
				if err == nil {
					break
				}
				if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
					t.Fatalf("%v: %s", err, out)
				}
				got := map[string]string{}
				if _, err := os.Stat(dir); err == nil {
					got = tree(t, dir)
				}
				if !maps.Equal(got, before) && !maps.Equal(settled(what, got, before, next), next) {
					t.Errorf("killed at step %d, neither the old output nor the new one is there", kills)
				}
				for name := range got {
					if filepath.Base(name) == bundle.ManifestName {
						if _, err := bundle.Open(filepath.Join(dir, filepath.Dir(name))); err != nil {
							t.Errorf("killed at step %d: %v", kills, err)
						}
					}
				}
				writeNodes(t, dir, after(what), Options{})
				sameTree(t, "run again", tree(t, dir), next)
				nothingBeside(t, dir)
			}
			if kills < 4 {
				t.Errorf("only %d steps were tried", kills)
			}
		})
	}
}

// Where two names cannot change places at once, an exchange that was cut short is
// finished by the next run.
func TestRestore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	write(t, dir, home, Options{})
	want := tree(t, dir)
	if err := os.Rename(dir, asideName(dir)); err != nil {
		t.Fatal(err)
	}
	write(t, dir, home, Options{})
	sameTree(t, "the whole", tree(t, dir), want)

	node := filepath.Join(dir, "anchor")
	if err := os.Rename(node, asideName(node)); err != nil {
		t.Fatal(err)
	}
	write(t, dir, home, Options{})
	sameTree(t, "a node", tree(t, dir), want)

	staged := filepath.Join(filepath.Dir(dir), "x")
	write(t, staged, home.without("board"), Options{})
	if err := exchangeInTwo(staged, dir); err != nil {
		t.Fatal(err)
	}
	sameTree(t, "exchanged", tree(t, staged), want)
}
