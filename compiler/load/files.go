package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"meshc.dev/compiler/diag"
)

// Sizes beyond which a folder is no mesh that a person wrote. The largest real
// ones seen are 1.3 MB in one file; CUE takes some hundred times a file's size in memory.
const (
	maxFile    = 8 << 20
	maxTotal   = 64 << 20
	maxDepth   = 8
	maxEntries = 200_000
)

// tree is the CUE files of a mesh's folder, by path relative to it.
type tree map[string][]byte

// skipDir names folders that hold no source: what meshc wrote, and what other tools keep.
func skipDir(p string) bool {
	base := path.Base(p)
	return base != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) ||
		p == "dist" || p == "sealed" || base == "node_modules" || p == "cue.mod/pkg/meshc.dev" || base == "testdata"
}

// readTree reads every CUE file that can take part in a mesh: those of the
// folder itself, of its modules, and of packages that they import.
func readTree(fsys fs.FS) (tree, diag.List) {
	t := tree{}
	var ds diag.List
	total, seen, tooDeep := 0, 0, false
	var above []fs.FileInfo // the folders that the walk is in
	var walk func(dir string, depth int)
	walk = func(dir string, depth int) {
		if depth > maxDepth {
			if !tooDeep { // what else is as deep is no other fault
				ds = append(ds, foldersTooDeep(dir))
			}
			tooDeep = true
			return
		}
		if info, err := fs.Stat(fsys, dir); err == nil {
			if slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, info) }) {
				ds = append(ds, leadsBack(dir))
				return
			}
			above = append(above, info)
			defer func() { above = above[:len(above)-1] }()
		}
		entries, err := fs.ReadDir(fsys, dir)
		if err != nil {
			ds = append(ds, unreadable(dir, err))
			return
		}
		// A clone that lies in the mesh's folder is a repository of its own, of which git keeps nothing in this one.
		if dir != "." && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".git" && e.IsDir() }) {
			return
		}
		for _, e := range entries {
			if seen++; seen > maxEntries {
				if seen == maxEntries+1 { // once, and the walk ends
					ds = append(ds, tooManyFiles(path.Join(dir, e.Name())))
				}
				return
			}
			p := path.Join(dir, e.Name())
			why := ignoredName(e.Name())
			isCUE := strings.HasSuffix(p, ".cue") && !strings.HasPrefix(e.Name(), ".") && why == ""
			if e.IsDir() {
				if !skipDir(p) {
					walk(p, depth+1)
				}
				continue
			}
			if e.Type()&fs.ModeSymlink != 0 {
				info, err := fs.Stat(fsys, p)
				switch {
				case err != nil && (isCUE || dir == "modules" || p == "modules" || p == "cue.mod"):
					ds = append(ds, unreadable(p, err))
					continue
				case err != nil:
					continue
				case info.IsDir() && !skipDir(p):
					walk(p, depth+1)
					continue
				}
			}
			if !isCUE {
				if why != "" && !strings.HasPrefix(p, "cue.mod/") && !isCase(dir) {
					ds = append(ds, fileLeftOut(p, why))
				}
				continue
			}
			b, d := readFile(fsys, p)
			if d != nil {
				ds = append(ds, *d)
				continue
			}
			if total += len(b); total > maxTotal {
				ds = append(ds, folderTooLarge(p))
				return
			}
			t[p] = b
		}
	}
	walk(".", 0)
	return t, ds
}

func readFile(fsys fs.FS, p string) ([]byte, *diag.Diagnostic) {
	if info, err := fs.Stat(fsys, p); err == nil && info.Size() > maxFile {
		d := fileTooLarge(p, info.Size())
		return nil, &d
	}
	b, err := fs.ReadFile(fsys, p)
	if err != nil {
		d := unreadable(p, err)
		return nil, &d
	}
	if len(b) > maxFile { // a file system need not know it before
		d := fileTooLarge(p, int64(len(b)))
		return nil, &d
	}
	if !utf8.Valid(b) {
		d := notUTF8(p, b)
		return nil, &d
	}
	return b, nil
}

// paths of the tree below a folder, sorted.
func (t tree) under(dir string) []string {
	var out []string
	for p := range t {
		if path.Dir(p) == dir {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// moduleDirs are the folders modules/NAME that hold CUE files, by name.
func (t tree) moduleDirs() []string {
	var out []string
	for p := range t {
		d := path.Dir(p)
		if path.Dir(d) == "modules" {
			out = append(out, path.Base(d))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// plainError is what the world says of a file, without the path, which the diagnostic names itself.
func plainError(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return fmt.Sprint(err)
}
