package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	mathrand "math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"meshc.dev/compiler/lock"
)

// losingDisk is a disk in memory that loses power: what was not synced may be
// there afterwards, or not, or in part, and each name in a folder by itself. At a
// chosen one of its writing calls it stops for good.
type losingDisk struct {
	now, durable map[string]*inode // by path; folders are inodes without content
	calls, stop  int               // stop at this call, counted from 1
	trace        []string
	mu           sync.Mutex // many blobs are written at once
}

type inode struct {
	dir          bool
	now, durable []byte
	synced       bool
}

var errStopped = errors.New("the disk has stopped")

func newLosingDisk() *losingDisk {
	return &losingDisk{now: map[string]*inode{"mesh": {dir: true}, "mesh/.meshc": {dir: true}}, durable: map[string]*inode{"mesh": {dir: true}, "mesh/.meshc": {dir: true}}}
}

// call counts a writing call; half of it is done where it is the one to stop at and half is true of it.
func (d *losingDisk) call(what, path string) error {
	d.calls++
	d.trace = append(d.trace, what+" "+path)
	if d.stop > 0 && d.calls >= d.stop {
		return errStopped
	}
	return nil
}

func (d *losingDisk) ReadFile(p string) ([]byte, error) {
	n, ok := d.now[p]
	if !ok || n.dir {
		return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	return slices.Clone(n.now), nil
}

func (d *losingDisk) List(p string) ([]string, error) {
	var out []string
	for name, n := range d.now {
		if path.Dir(name) == p && name != p {
			base := path.Base(name)
			if n.dir {
				base += "/"
			}
			out = append(out, base)
		}
	}
	slices.Sort(out)
	return out, nil
}

func (d *losingDisk) Mkdir(p string) error {
	if err := d.call("mkdir", p); err != nil {
		return err
	}
	for ; d.now[p] == nil; p = path.Dir(p) {
		d.now[p] = &inode{dir: true}
	}
	return nil
}

func (d *losingDisk) Create(p string) (file, error) { return d.open("create", p) }

func (d *losingDisk) Rewrite(p string) (file, error) { return d.open("rewrite", p) }

func (d *losingDisk) open(what, p string) (file, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.call(what, p); err != nil {
		return nil, err
	}
	if d.now[path.Dir(p)] == nil {
		return nil, fs.ErrNotExist
	}
	if d.now[p] != nil && what == "create" {
		return nil, fs.ErrExist
	}
	n := d.now[p]
	if n == nil {
		n = &inode{}
		d.now[p] = n
	}
	n.now, n.synced = nil, false
	return &losingFile{d, n, p}, nil
}

type losingFile struct {
	d *losingDisk
	n *inode
	p string
}

func (f *losingFile) Write(b []byte) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.d.call("write", f.p); err != nil {
		f.n.now = append(f.n.now, b[:len(b)/2]...)
		return len(b) / 2, err
	}
	f.n.now, f.n.synced = append(f.n.now, b...), false
	return len(b), nil
}

func (f *losingFile) Sync() error {
	if err := f.d.call("sync", f.p); err != nil {
		return err
	}
	f.n.durable, f.n.synced = slices.Clone(f.n.now), true
	return nil
}

func (f *losingFile) Close() error { return nil }

func (d *losingDisk) Rename(from, to string) error {
	if err := d.call("rename", to); err != nil {
		return err
	}
	d.now[to] = d.now[from]
	delete(d.now, from)
	return nil
}

func (d *losingDisk) Remove(p string) error {
	if err := d.call("remove", p); err != nil {
		return err
	}
	delete(d.now, p)
	return nil
}

func (d *losingDisk) SyncDir(p string) error {
	if err := d.call("syncdir", p); err != nil {
		return err
	}
	for name := range d.durable {
		if path.Dir(name) == p {
			delete(d.durable, name)
		}
	}
	for name, n := range d.now {
		if path.Dir(name) == p {
			d.durable[name] = n
		}
	}
	return nil
}

func (d *losingDisk) SyncAll(p string) error {
	if err := d.call("syncall", p); err != nil {
		return err
	}
	for _, n := range d.now {
		n.durable, n.synced = slices.Clone(n.now), true
	}
	d.durable = maps.Clone(d.now)
	return nil
}

// after is what is found when power is back. Where keep is true everything that
// was written is there, as after the end of a process.
func (d *losingDisk) after(keep bool, r *mathrand.Rand) *losingDisk {
	out := newLosingDisk()
	put := func(name string, n *inode) {
		c := &inode{dir: n.dir, now: n.now}
		if !keep && !n.synced && !n.dir {
			switch r.IntN(3) {
			case 0:
				c.now = n.durable
			case 1:
				c.now = n.now[:r.IntN(len(n.now)+1)]
			}
		}
		c.now, c.synced = slices.Clone(c.now), true
		c.durable = slices.Clone(c.now)
		out.now[name] = c
	}
	for name := range maps.Keys(merge(d.now, d.durable)) {
		n, was := d.now[name], d.durable[name]
		if !keep && n != was && r.IntN(2) == 0 {
			n = was
		}
		if n != nil {
			put(name, n)
		}
	}
	for name, n := range out.now { // what lies in a folder that was lost is lost
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if x := out.now[dir]; x == nil || !x.dir {
				delete(out.now, name)
				_ = n
			}
		}
	}
	out.durable = maps.Clone(out.now)
	return out
}

func merge(a, b map[string]*inode) map[string]*inode {
	out := maps.Clone(a)
	for k, v := range b {
		if out[k] == nil {
			out[k] = v
		}
	}
	return out
}

// state is what counts: the lock, and every blob that it names.
func state(t *testing.T, d *losingDisk) string {
	t.Helper()
	s := &Store{"mesh", d}
	v, err := s.Read()
	if err != nil {
		t.Fatal(err)
	}
	out := string(v.Lock)
	if v.Lock == nil {
		return "no lock"
	}
	for _, secret := range readLock(t, v.Lock).Secrets {
		for _, e := range secret.Ends {
			b, err := d.ReadFile("mesh/sealed/" + e.Blob)
			if err != nil || sha256Hex(b) != e.SHA256 {
				return fmt.Sprintf("the lock names %s, which holds %q (%v)", e.Blob, b, err)
			}
		}
	}
	return out
}

// crashCase is a change to write over what a disk has.
type crashCase struct {
	name   string
	disk   func() *losingDisk
	next   []byte
	add    []blob
	remove []string
}

func crashCases(t *testing.T) []crashCase {
	blobOf := func(n, generation int) (blob, lock.End) {
		content := fmt.Appendf(nil, "blob %d of generation %d", n, generation)
		holder := fmt.Sprintf("app@node%d", n%3)
		e := lock.End{Role: "holder", Holder: holder, To: "SHA256:x", SHA256: sha256Hex(content)}
		e.Blob = blobName(fmt.Sprintf("need %s key%d", holder, n), e, content)
		return blob{e.Blob, content}, e
	}
	lockOf := func(generation map[int]int) ([]byte, []blob) {
		lk := lock.New()
		var blobs []blob
		for n, g := range generation {
			b, e := blobOf(n, g)
			lk.Secrets[fmt.Sprintf("need %s key%d", e.Holder, n)] = lock.Secret{Generation: g, Ends: []lock.End{e}}
			blobs = append(blobs, b)
		}
		return lk.Bytes(), blobs
	}
	filled := func(generation map[int]int) func() *losingDisk {
		return func() *losingDisk {
			d := newLosingDisk()
			next, blobs := lockOf(generation)
			if err := (&Store{"mesh", d}).commit(next, blobs, nil); err != nil {
				t.Fatal(err)
			}
			return d.after(true, nil)
		}
	}
	one := func(n, g int) blob { b, _ := blobOf(n, g); return b }

	first, firstBlobs := lockOf(map[int]int{1: 1, 2: 1})
	rotated, _ := lockOf(map[int]int{1: 2, 2: 1, 3: 1, 4: 1})
	gone, _ := lockOf(map[int]int{2: 1})
	everything := map[int]int{}
	var all []blob
	for n := range manyBlobs + 3 {
		everything[n] = 2
		all = append(all, one(n, 2))
	}
	many, _ := lockOf(everything)
	return []crashCase{
		{"the first", newLosingDisk, first, firstBlobs, nil},
		{"one changed, two added", filled(map[int]int{1: 1, 2: 1, 3: 1}), rotated, []blob{one(1, 2), one(4, 1)}, []string{one(1, 1).name}},
		{"one removed", filled(map[int]int{1: 1, 2: 1}), gone, nil, []string{one(1, 1).name}},
		{"many", filled(map[int]int{1: 1, 2: 1}), many, all, []string{one(1, 1).name, one(2, 1).name}},
	}
}

// SEC-7: stopped at any write, with or without what was not synced, the next run finds the old state or the new and nothing else
func TestCrashAtEveryWrite(t *testing.T) {
	for _, c := range crashCases(t) {
		t.Run(c.name, func(t *testing.T) {
			old := state(t, c.disk())
			whole := c.disk()
			if err := (&Store{"mesh", whole}).commit(c.next, c.add, c.remove); err != nil {
				t.Fatal(err)
			}
			calls := whole.calls
			renewed := state(t, whole)
			if renewed != string(c.next) {
				t.Fatalf("committed, and there is %s", renewed)
			}
			wasOld, wasNew := false, false
			for stop := 1; stop <= calls+1; stop++ {
				for try := range 12 {
					r := mathrand.New(mathrand.NewPCG(uint64(stop), uint64(try)))
					d := c.disk()
					d.stop = stop
					err := (&Store{"mesh", d}).commit(c.next, c.add, c.remove)
					if (err == nil) != (stop > calls) {
						t.Fatalf("stopped at %s: %v", d.trace[len(d.trace)-1], err)
					}
					d = d.after(try == 0, r)
					got := state(t, d)
					if got != old && got != renewed {
						t.Fatalf("stopped at call %d: neither old nor new: %s", stop, got)
					}
					wasOld, wasNew = wasOld || got == old, wasNew || got == renewed
					if err == nil && got != renewed {
						t.Fatalf("committed and lost: %s", got)
					}

					// The next run may be stopped as well, and the one after it clears up.
					d.stop = d.calls + 1 + r.IntN(8)
					_ = (&Store{"mesh", d}).recover()
					d = d.after(try%2 == 0, r)
					if again := state(t, d); again != got {
						t.Fatalf("clearing up changed the state to %s", again)
					}
					if err := (&Store{"mesh", d}).recover(); err != nil {
						t.Fatal(err)
					}
					if again := state(t, d); again != got {
						t.Fatalf("clearing up changed the state to %s", again)
					}
					noLeftovers(t, d)
				}
			}
			if !wasOld || !wasNew {
				t.Errorf("old was found: %v, new was found: %v", wasOld, wasNew)
			}
		})
	}
}

// noLeftovers says that every blob is named, and that no journal is left.
func noLeftovers(t *testing.T, d *losingDisk) {
	t.Helper()
	v, err := (&Store{"mesh", d}).look()
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	if v.Lock != nil {
		for _, s := range readLock(t, v.Lock).Secrets {
			for _, e := range s.Ends {
				named[e.Blob] = true
			}
		}
	}
	for b := range v.blobs {
		if !named[b] {
			t.Fatalf("%s is left over", b)
		}
	}
	if _, err := d.ReadFile("mesh/" + journalFile); err == nil {
		t.Fatal("the journal is left over")
	}
}

// SEC-7: a write that fails while the process lives on is taken back at once
func TestFailedCommitIsTakenBack(t *testing.T) {
	h, _, _ := twoPairs(t)
	before := h.files()
	h.want(held(Need(instance("gitea@board"), "key"), "gitea@board"))
	for _, at := range []string{"rename", "write", "create"} {
		x := h.begin()
		x.store.disk = failingDisk{osDisk{}, at}
		p, _, err := Review(h.demand(), readLock(t, x.Lock), x.View, Mode{Step: Build})
		if err != nil {
			t.Fatal(err)
		}
		c, err := p.Make(t.Context(), random)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Commit(c); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s fails: %v", at, err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		if d := changed(before, h.files()); len(d) > 0 {
			t.Errorf("%s failed, and changed %v", at, d)
		}
	}
	h.must(Mode{Step: Build})
}

// failingDisk has no space for the lock, or for blobs.
type failingDisk struct {
	osDisk
	at string
}

var errNoSpace = errors.New("no space left on device")

func (d failingDisk) Rename(from, to string) error {
	if d.at == "rename" && path.Base(to) == lock.File {
		return errNoSpace
	}
	return d.osDisk.Rename(from, to)
}

func (d failingDisk) Create(p string) (file, error) {
	if d.at == "create" {
		return nil, errNoSpace
	}
	f, err := d.osDisk.Create(p)
	if d.at == "write" {
		return fullFile{f}, err
	}
	return f, err
}

type fullFile struct{ file }

func (f fullFile) Write(b []byte) (int, error) {
	_, _ = f.file.Write(b[:len(b)/2])
	return len(b) / 2, errNoSpace
}

// SEC-7: in the middle of a merge, what an interrupted run left is not touched
func TestRecoverWaitsForAReadableLock(t *testing.T) {
	h, first, _ := twoPairs(t)
	s := Open(h.dir)
	if err := s.writeJournal([]blob{{name: first.Blob}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path(lock.File), []byte("format = 1\n<<<<<<< HEAD\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := h.begin().Close(); err != nil {
		t.Fatal(err)
	}
	h.read(first.Blob)
	if _, err := os.Stat(s.path(journalFile)); err != nil {
		t.Error("the journal is gone")
	}
}

// A journal is ours or nobody's: it never leads to a file outside of sealed.
func TestForeignJournal(t *testing.T) {
	for _, journal := range []string{"x\n", journalHead + "../mesh.cue\n", journalHead + "/etc/passwd.age\n", journalHead + "../../x.age\n", journalHead + "a/../../x.age\n"} {
		h, _, _ := twoPairs(t)
		s := Open(h.dir)
		if err := os.WriteFile(s.path(journalFile), []byte(journal), 0o644); err != nil {
			t.Fatal(err)
		}
		before := h.files()
		if x, err := s.Begin(t.Context(), Owner{PID: 1}); err == nil {
			_ = x.Close()
			t.Errorf("%q is taken for a journal", journal)
		}
		if d := changed(before, h.files()); len(d) > 0 {
			t.Errorf("%q: changed %v", journal, d)
		}
	}
}
