package dist

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"

	"meshc.dev/render/bundle"
)

// replace puts the staged output in the place of the old one, in one step: a single
// node's where nothing else changes, the whole folder otherwise. Provenance alone
// is replaced file by file, after that.
func (w *writer) replace(next marker, results []staged) error {
	var changed []string
	var provenance []staged
	for _, s := range results {
		switch {
		case !s.same:
			changed = append(changed, s.name)
		case s.provenance != nil:
			provenance = append(provenance, s)
		}
	}
	markerSame := w.found.Wrote != nil && string(next.encode()) == string(w.found.encode())
	if !markerSame || len(changed) > 1 {
		if err := w.complete(next, changed, provenance); err != nil {
			return err
		}
		return w.swap(w.stage, w.dir)
	}
	if err := w.stageProvenance(provenance); err != nil {
		return err
	}
	for _, name := range changed { // one, or none
		if err := w.swap(filepath.Join(w.stage, name), filepath.Join(w.dir, name)); err != nil {
			return err
		}
	}
	return w.renameProvenance(provenance)
}

// complete links everything into the stage that does not change: unchanged nodes,
// and whatever others put there.
func (w *writer) complete(next marker, changed []string, provenance []staged) error {
	if err := w.makeStage(); err != nil {
		return err
	}
	entries, err := os.ReadDir(w.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = parallel(len(entries), func(i int) error {
		name := entries[i].Name()
		lists, ours := w.found.Wrote[name]
		_, stays := next.Wrote[name]
		switch {
		case name == markerName, slices.Contains(changed, name):
			return nil
		case ours && !stays:
			_, err := keepForeign(filepath.Join(w.dir, name), filepath.Join(w.stage, name), name, ownedIn(w.dir, name, lists))
			return err
		}
		return linkTree(filepath.Join(w.dir, name), filepath.Join(w.stage, name))
	})
	if err != nil {
		return err
	}
	for _, s := range provenance {
		name := filepath.Join(w.stage, s.name, bundle.ProvenanceName)
		if err := errors.Join(os.Remove(name), writeFile(name, s.provenance)); err != nil {
			return notWritable(w.dir, err)
		}
	}
	if info, err := os.Stat(w.dir); err == nil {
		if err := os.Chmod(w.stage, info.Mode().Perm()); err != nil {
			return err
		}
	}
	step("marker")
	if err := writeFile(filepath.Join(w.stage, markerName), next.encode()); err != nil {
		return notWritable(w.dir, err)
	}
	return nil
}

// stageProvenance writes what renameProvenance is to put in place, so that a disk
// which is full shows before anything changes.
func (w *writer) stageProvenance(nodes []staged) error {
	return parallel(len(nodes), func(i int) error {
		if err := w.makeStage(); err != nil {
			return err
		}
		step("write provenance")
		if err := writeFile(w.stagedProvenance(nodes[i]), nodes[i].provenance); err != nil {
			return notWritable(w.dir, err)
		}
		return nil
	})
}

func (w *writer) renameProvenance(nodes []staged) error {
	return parallel(len(nodes), func(i int) error {
		step("provenance " + nodes[i].name)
		if err := os.Rename(w.stagedProvenance(nodes[i]), filepath.Join(w.dir, nodes[i].name, bundle.ProvenanceName)); err != nil {
			return notReplaceable(w.dir, err)
		}
		return nil
	})
}

// stagedProvenance lies beside the nodes in the stage; no node is named so.
func (w *writer) stagedProvenance(s staged) string {
	return filepath.Join(w.stage, s.name+"."+bundle.ProvenanceName)
}

// swap is the step that makes the new output the output.
func (w *writer) swap(from, to string) error {
	step("swap")
	if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
		if err := os.Rename(from, to); err != nil {
			return notReplaceable(w.dir, err)
		}
		return nil
	}
	if err := exchange(from, to); err != nil {
		return notReplaceable(w.dir, err)
	}
	step("swapped")
	old := beside(w.dir, "old")
	if to != w.dir {
		if err := os.Mkdir(old, 0o755); err != nil {
			return err
		}
		old = filepath.Join(old, filepath.Base(to))
	}
	if err := os.Rename(from, old); err != nil {
		return err
	}
	step("old")
	return w.purge(beside(w.dir, "old"))
}

// recover clears away what a run that was killed has left beside the folder.
func (w *writer) recover() error {
	if err := restore(w.dir); err != nil {
		return err
	}
	if err := w.clearStage(); err != nil {
		return notWritable(w.dir, err)
	}
	for _, left := range []string{w.stage, beside(w.dir, "old")} {
		if _, err := os.Lstat(left); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := w.purge(left); err != nil {
			return err
		}
	}
	return nil
}

// clearStage removes what was staged and never became an output: in a stage without
// a marker, whatever has no whole bundle.json yet.
func (w *writer) clearStage() error {
	if _, err := os.Lstat(filepath.Join(w.stage, markerName)); err == nil {
		return nil
	}
	entries, err := os.ReadDir(w.stage)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		name := filepath.Join(w.stage, e.Name())
		if _, raw, _ := manifestOf(name); raw == nil {
			err = errors.Join(err, os.RemoveAll(name))
		}
	}
	return err
}

// purge removes an output that was replaced, file by file: those that are ours, and
// those that the new output has too. Anything else came in after we looked; it moves
// on to the new output.
func (w *writer) purge(old string) error {
	whole, _ := readMarker(old)
	part, _ := readMarker(w.dir)
	entries, err := os.ReadDir(old)
	if err != nil {
		return err
	}
	kept := make([][]string, len(entries))
	err = parallel(len(entries), func(i int) error {
		name := entries[i].Name()
		var o owned
		if lists, ours := whole.Wrote[name]; ours {
			o = ownedIn(old, name, lists)
		} else if whole.Wrote == nil { // nodes that were replaced, or staged, one by one
			o = ownedIn(old, name, part.Wrote[name])
		}
		if name == markerName {
			return nil // tells what the others are, so it goes last
		}
		p := purger{old: old, now: w.dir, name: name, owned: o}
		p.remove(".", entries[i])
		kept[i] = p.kept
		return p.err
	})
	if err != nil {
		return err
	}
	if all := slices.Concat(kept...); len(all) > 0 {
		return leftBehind(old, all)
	}
	if err := os.Remove(filepath.Join(old, markerName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Remove(old)
}

type purger struct {
	old, now, name string
	owned          owned
	kept           []string
	err            error
}

// remove takes away what lies at rel below the name; what tells which files are
// ours comes last, so that a purge that is cut short can be taken up again.
func (p *purger) remove(rel string, e fs.DirEntry) {
	full := filepath.Join(p.old, p.name, rel)
	if !e.IsDir() {
		p.unlink(rel, full)
		return
	}
	entries, err := os.ReadDir(full)
	if err != nil && p.err == nil {
		p.err = err
	}
	last := -1
	for i, e := range entries {
		if rel == "." && e.Name() == bundle.ManifestName {
			last = i
			continue
		}
		p.remove(path.Join(rel, e.Name()), e)
	}
	if len(p.kept) > 0 || p.err != nil {
		return
	}
	if last >= 0 {
		p.remove(bundle.ManifestName, entries[last])
	}
	if err := syscall.Rmdir(full); err != nil && p.err == nil {
		p.err = &fs.PathError{Op: "remove", Path: full, Err: err}
	}
}

func (p *purger) unlink(rel, full string) {
	step("remove")
	now := filepath.Join(p.now, p.name, rel)
	if !p.owned.files[rel] && !sameFile(full, now) && !(p.owned.guessed && exists(now)) && linkNew(full, now) != nil {
		p.kept = append(p.kept, full)
		return
	}
	if err := syscall.Unlink(full); err != nil && p.err == nil {
		p.err = &fs.PathError{Op: "remove", Path: full, Err: err}
	}
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

func sameFile(a, b string) bool {
	x, err := os.Lstat(a)
	if err != nil {
		return false
	}
	y, err := os.Lstat(b)
	return err == nil && os.SameFile(x, y)
}

// linkNew links a file to a place whose folder may not be there.
func linkNew(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.Link(from, to)
}

// linkTree makes a folder with the same files. They are linked, whatever they are:
// a link to a link is that link.
func linkTree(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		if err := os.Link(from, to); err != nil {
			return notReplaceable(from, err)
		}
		return nil
	}
	if err := os.Mkdir(to, info.Mode().Perm()|0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		a, b := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		if !e.Type().IsDir() {
			step("link")
			if err := os.Link(a, b); err != nil {
				return notReplaceable(a, err)
			}
			continue
		}
		if err := linkTree(a, b); err != nil {
			return err
		}
	}
	return os.Chmod(to, info.Mode().Perm())
}

// keepForeign links what is not ours from a node's folder to the next one, and gives
// its names as seen from the output folder. Folders that only ever held files of
// ours are not kept.
func keepForeign(from, to, name string, o owned) (kept []string, err error) {
	if o.files["."] || !exists(from) {
		return nil, nil
	}
	dirs := map[string]bool{".": true}
	for f := range o.files {
		for d := path.Dir(f); d != "."; d = path.Dir(d) {
			dirs[d] = true
		}
	}
	err = fs.WalkDir(os.DirFS(from), ".", func(rel string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && dirs[rel], !e.IsDir() && o.files[rel]:
			return nil
		}
		kept = append(kept, path.Join(name, rel))
		target := filepath.Join(to, filepath.FromSlash(rel))
		if exists(target) {
			return inTheWay(filepath.Join(from, rel))
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return inTheWay(filepath.Join(from, rel))
		}
		if err := linkTree(filepath.Join(from, rel), target); err != nil {
			return err
		}
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return kept, err
}
