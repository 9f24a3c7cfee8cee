// Package dist writes the bundles of a mesh into its output folder: one folder a
// node, or one tar, and a marker that says that the folder is ours.
//
// The output is replaced as a whole or not at all (BLD-2). What changed is written
// beside the folder, what did not is linked there from it, and then the two change
// places in one step of the kernel; where a single node changed, only its folder
// does. Killed before that step the old output is there, after it the new, and the
// next run clears the rest away.
//
// Provenance is no part of what a bundle is, and a commit changes it for every node.
// Where it is all that changes of a node, and is not signed, it is renamed into place
// after that step, one node after the other; linking every file of a thousand nodes
// once more would take ten seconds. A kill or an error in between leaves the
// provenance of some at the commit before. Each bundle is valid all the same, as its
// bundle.json is that of both commits, and the next run makes it one. A signature and
// what it is over are two files, so a signed node is replaced like any other.
//
// Nothing is forced to the disk: a build can be made again from its inputs, a machine
// verifies every byte of a bundle, and the next build notices a file of another size
// or content.
//
// What lies in the folder and was not written by meshc is carried over and
// reported, never deleted. Enter at Write.
package dist

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"meshc.dev/render/bundle"
)

// Node is one machine of the mesh and a way to its bundle, which Write asks for
// once, from several goroutines at a time.
type Node struct {
	Name   string
	Bundle func() (*bundle.Bundle, error)
}

// Options of a Write.
type Options struct {
	// Nodes restricts what is replaced to these; none for all. The output of others
	// stays as it is, also of those that the mesh no longer has (SEL-6).
	Nodes []string
	// Archive writes NODE.tar in place of a folder.
	Archive bool
	// Progress is told how many nodes of how many are done; it may be nil.
	Progress func(done, total int)
}

// Report is what a Write did, by name.
type Report struct {
	Changed   []string // nodes whose output is new or another
	Unchanged []string
	Removed   []string // names in the folder that went away
	// Foreign are files in the folder that meshc did not write and that were kept. A
	// node of which no more than provenance changes is not searched for them.
	Foreign []string
}

// Write makes the output folder hold the bundles of the nodes. On an error before the
// new output is in place the folder is as it was; on one after that, an older provenance
// can be left, or what was replaced, beside the folder, which the next run clears away.
func Write(dir, mesh string, nodes []Node, o Options) (Report, error) {
	w, err := begin(dir, mesh, o)
	if err != nil {
		return Report{}, err
	}
	defer w.end()
	if nodes, err = chosen(nodes, o.Nodes); err != nil {
		return Report{}, err
	}
	staged, err := w.stageAll(nodes)
	if err != nil {
		return Report{}, err
	}
	next := w.next(nodes, staged)
	if err := w.replace(next, staged); err != nil {
		return Report{}, err
	}
	return w.report(staged, next), nil
}

// Strangers are the files inside of bundles in the output folder that meshc did not write: a machine refuses
// a bundle with a file that its bundle.json does not list. Those of archives, and of nodes whose files nothing
// verifies, there are none; where the folder is not meshc's, Write says so.
func Strangers(dir string, nodes []Node) ([]string, error) {
	top, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, nil
	}
	m, err := readMarker(top)
	if err != nil {
		return nil, nil
	}
	found := make([][]string, len(nodes))
	err = parallel(len(nodes), func(i int) error {
		name := nodes[i].Name
		lists, ours := m.Wrote[name]
		if !ours || len(lists) > 0 {
			return nil
		}
		o := ownedIn(top, name, lists)
		if o.guessed {
			return nil
		}
		return fs.WalkDir(os.DirFS(filepath.Join(top, name)), ".", func(rel string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && !o.files[rel] {
				found[i] = append(found[i], filepath.Join(dir, name, filepath.FromSlash(rel)))
			}
			return nil // what cannot be read, Write meets
		})
	})
	return slices.Concat(found...), err
}

// chosen takes the nodes that are asked for, all where none is.
func chosen(nodes []Node, names []string) ([]Node, error) {
	if len(names) == 0 {
		return nodes, nil
	}
	var out []Node
	for _, name := range names {
		i := slices.IndexFunc(nodes, func(n Node) bool { return n.Name == name })
		if i < 0 {
			return nil, unknownNode(name)
		}
		if !slices.ContainsFunc(out, func(n Node) bool { return n.Name == name }) {
			out = append(out, nodes[i])
		}
	}
	return out, nil
}

// writer is one run: the folder as it was found, and the place beside it where the
// next one is made.
type writer struct {
	dir    string // the output folder, links resolved
	stage  string // where the next output is made
	mesh   string
	opts   Options
	found  marker // of the folder as it is
	locked *os.File
	// makeStage makes the stage when the first thing is put there: a build that
	// changes nothing leaves no trace, not even on the time of the folder above.
	makeStage func() error
}

// begin finds out what the output folder is, takes the lock on it and clears away
// what a run that was killed has left.
func begin(dir, mesh string, o Options) (*writer, error) {
	dir, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	w := &writer{dir: dir, stage: beside(dir, "new"), mesh: mesh, opts: o}
	if w.locked, err = lock(filepath.Dir(dir)); err != nil {
		return nil, err
	}
	if err := w.prepare(); err != nil {
		w.locked.Close()
		return nil, err
	}
	return w, nil
}

func (w *writer) prepare() error {
	err := w.recover()
	if err == nil {
		w.found, err = readMarker(w.dir)
	}
	if err == nil {
		err = w.checkPlain()
	}
	w.makeStage = sync.OnceValue(func() error {
		if err := os.Mkdir(w.stage, 0o755); err != nil {
			return notWritable(w.dir, err)
		}
		return nil
	})
	return err
}

// checkPlain refuses an output in which a node's folder is a link, as a repository can
// hold one: it would be taken for ours, with all that it leads to.
func (w *writer) checkPlain() error {
	for _, name := range slices.Sorted(maps.Keys(w.found.Wrote)) {
		full := filepath.Join(w.dir, name)
		info, err := os.Lstat(full)
		if err == nil && !info.IsDir() && !(filepath.Ext(name) == archiveSuffix && info.Mode().IsRegular()) {
			return inTheWay(full)
		}
	}
	return nil
}

// end leaves nothing of ours beside the folder. What cannot be removed now is
// removed by the next run.
func (w *writer) end() {
	_ = os.RemoveAll(w.stage)
	w.locked.Close()
}

// beside names a place next to the output folder, on its file system.
func beside(dir, what string) string {
	return filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+".meshc-"+what)
}

// resolve gives the folder that a name stands for: a link to one is followed, as
// whoever made it meant.
func resolve(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o755); err != nil {
		return "", notWritable(dir, err)
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", err
	}
	abs = filepath.Join(parent, filepath.Base(abs))
	info, err := os.Lstat(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return abs, nil
	}
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if abs, err = filepath.EvalSymlinks(abs); errors.Is(err, fs.ErrNotExist) {
			return "", danglingLink(dir)
		}
		if err == nil {
			info, err = os.Stat(abs)
		}
	}
	if err == nil && !info.IsDir() {
		return "", notFolder(dir)
	}
	return abs, err
}

// stageAll puts the nodes whose output changes into the stage, several at a time.
func (w *writer) stageAll(nodes []Node) ([]staged, error) {
	out := make([]staged, len(nodes))
	done := 0
	var progress sync.Mutex
	err := parallel(len(nodes), func(i int) error {
		b, err := nodes[i].Bundle()
		if err == nil {
			out[i], err = w.stageNode(nodes[i].Name, b)
		}
		if err == nil && w.opts.Progress != nil {
			progress.Lock()
			defer progress.Unlock()
			done++
			w.opts.Progress(done, len(nodes))
		}
		return err
	})
	return out, err
}

// next is the marker of the folder to be.
func (w *writer) next(nodes []Node, results []staged) marker {
	m := marker{Format: markerFormat, Mesh: w.mesh, Wrote: make(map[string][]string, len(nodes))}
	for _, s := range results {
		m.Wrote[s.name] = s.lists
	}
	if len(w.opts.Nodes) == 0 {
		return m
	}
	for name, lists := range w.found.Wrote {
		if !slices.ContainsFunc(nodes, func(n Node) bool { return name == n.Name || name == n.Name+archiveSuffix }) {
			m.Wrote[name] = lists
		}
	}
	return m
}

func (w *writer) report(results []staged, next marker) Report {
	var r Report
	for _, s := range results {
		if s.same && s.provenance == nil {
			r.Unchanged = append(r.Unchanged, s.name)
		} else {
			r.Changed = append(r.Changed, s.name)
		}
		r.Foreign = append(r.Foreign, s.foreign...)
	}
	r.Removed = w.removed(next)
	entries, _ := os.ReadDir(w.dir)
	for _, e := range entries {
		if _, ours := next.Wrote[e.Name()]; !ours && e.Name() != markerName && !slices.Contains(r.Removed, e.Name()) {
			r.Foreign = append(r.Foreign, e.Name())
		}
	}
	slices.Sort(r.Changed)
	slices.Sort(r.Unchanged)
	slices.Sort(r.Foreign)
	return r
}

// removed are the names that the folder has of ours and is not to have any more.
func (w *writer) removed(next marker) []string {
	var out []string
	for name := range w.found.Wrote {
		if _, ok := next.Wrote[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// parallel runs f for each number on as many goroutines as the file system has use
// for. It gives the error of the lowest number that failed.
func parallel(n int, f func(int) error) error {
	var next atomic.Int64
	var failed atomic.Bool
	errs := make([]error, n)
	var wg sync.WaitGroup
	for range min(n, 2*runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for !failed.Load() {
				i := int(next.Add(1) - 1)
				if i >= n {
					return
				}
				if errs[i] = f(i); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
