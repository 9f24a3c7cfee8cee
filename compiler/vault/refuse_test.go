package vault

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
	"meshc.dev/render/seal"
)

// twoPairs is a mesh with two credentials made, of which the first consumer's blob is given.
func twoPairs(t *testing.T) (h *home, first, second lock.End) {
	h = newHome(t, "anchor", "board")
	h.want(credential(gitea), credential("redis@anchor cache gitea@board"))
	h.must(Mode{Step: Build})
	lk := h.lock()
	for _, e := range lk.Secrets["credential "+gitea].Ends {
		if e.Role == string(seal.Consumer) {
			first = e
		}
	}
	for _, e := range lk.Secrets["credential redis@anchor cache gitea@board"].Ends {
		if e.Role == string(seal.Consumer) {
			second = e
		}
	}
	return h, first, second
}

func (h *home) path(blob string) string { return filepath.Join(h.dir, sealedDir, blob) }

func (h *home) read(blob string) []byte {
	h.t.Helper()
	b, err := os.ReadFile(h.path(blob))
	if err != nil {
		h.t.Fatal(err)
	}
	return b
}

func (h *home) write(blob string, b []byte) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(h.path(blob)), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(h.path(blob), b, 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) writeLock(lk *lock.Lock) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, lock.File), lk.Bytes(), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

// SEC-5: a blob with other bytes than were made is refused in every step, each kind by name, and nothing changes
func TestDamagedBlobs(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(h *home, first, second lock.End)
		code   diag.Code
		says   string
	}{
		"missing":   {func(h *home, a, _ lock.End) { _ = os.Remove(h.path(a.Blob)) }, diag.BlobMissing, "is missing, which holds the credential for database of gitea@board at postgres@anchor for its consumer gitea@board"},
		"empty":     {func(h *home, a, _ lock.End) { h.write(a.Blob, nil) }, diag.BlobDamaged, "cut short"},
		"cut short": {func(h *home, a, _ lock.End) { h.write(a.Blob, h.read(a.Blob)[:60]) }, diag.BlobDamaged, "it is cut short"},
		"cut late":  {func(h *home, a, _ lock.End) { b := h.read(a.Blob); h.write(a.Blob, b[:len(b)-3]) }, diag.BlobDamaged, "it was altered or cut short"},
		"swapped":   {func(h *home, a, b lock.End) { h.write(a.Blob, h.read(b.Blob)) }, diag.BlobDamaged, "it is the blob of credential redis@anchor cache gitea@board for its consumer gitea@board, generation 1"},
		"foreign":   {func(h *home, a, _ lock.End) { h.write(a.Blob, []byte("hello\n")) }, diag.BlobDamaged, "it is not an age file"},
		"for another kind of key": {func(h *home, a, _ lock.End) {
			id, _, err := seal.GenerateIdentity(seal.Hybrid)
			if err != nil {
				h.t.Fatal(err)
			}
			blob, err := seal.Seal(seal.Purpose{Mesh: "home", Name: "credential " + gitea, Role: seal.Consumer, Generation: 1}, seal.NewSecret([]byte("x")), id.Recipient())
			if err != nil {
				h.t.Fatal(err)
			}
			h.write(a.Blob, blob)
		}, diag.BlobDamaged, "it is sealed to another key"},
	} {
		t.Run(name, func(t *testing.T) {
			h, first, second := twoPairs(t)
			c.damage(h, first, second)
			before := h.files()
			for _, step := range []Step{Look, Locked, Build, Relock} {
				_, p, faults := h.step(Mode{Step: step})
				says(t, faults, c.code, c.says, "meshc lock --remake # makes it anew for all who use it")
				if faults[0].At.File != lock.File || faults[0].At.Line == 0 || !strings.Contains(faults[0].Message, first.Blob) {
					t.Errorf("place %v, message %q", faults[0].At, faults[0].Message)
				}
				if action(t, p, Credential(pair(gitea))) != Refused {
					t.Error("it is not called refused")
				}
			}
			if d := changed(before, h.files()); len(d) > 0 {
				t.Errorf("a refused step changed %v", d)
			}
			// Once the last commit has the blob, git brings it back.
			h.commit()
			_, _, faults := h.step(Mode{Step: Build, Restore: func(name, _ string) string { return "git restore " + name }})
			says(t, faults, c.code, "", "git restore sealed/"+first.Blob)
			// And the help that is given otherwise mends it.
			_, p := h.must(Mode{Step: Relock, Remake: true})
			if action(t, p, Credential(pair(gitea))) != Remade || !strings.Contains(p.Secrets[0].Because, "missing or damaged") {
				t.Errorf("%+v", p.Secrets)
			}
			h.head = nil
			h.must(Mode{Step: Locked})
		})
	}
}

// SEC-5: a lock whose line was edited to match another blob is noticed where the blob shows its key
func TestBlobForAnotherKey(t *testing.T) {
	h, first, _ := twoPairs(t)
	id, _, err := seal.GenerateIdentity(seal.Hybrid)
	if err != nil {
		t.Fatal(err)
	}
	blob, err := seal.Seal(seal.Purpose{Mesh: "home", Name: "credential " + gitea, Role: seal.Consumer, Generation: 1}, seal.NewSecret([]byte("x")), id.Recipient())
	if err != nil {
		t.Fatal(err)
	}
	lk := h.lock()
	s := lk.Secrets["credential "+gitea]
	for i := range s.Ends {
		if s.Ends[i].Blob == first.Blob {
			s.Ends[i].Blob = blobName("credential "+gitea, first, blob)
			s.Ends[i].SHA256 = sha256Hex(blob)
			h.write(s.Ends[i].Blob, blob)
		}
	}
	_ = os.Remove(h.path(first.Blob))
	h.writeLock(lk)
	_, _, faults := h.step(Mode{Step: Build})
	says(t, faults, diag.BlobForKey, "is not sealed to "+first.To+", the key of its consumer gitea@board", "git restore mesh.lock.hcl")
}

// SEC-7: a blob that the lock does not name is refused in a locked build, taken away by the next other one, and left alone where it is not ours
func TestUnknownBlobs(t *testing.T) {
	h, first, _ := twoPairs(t)
	stray := blobName("need gitea@board old", lock.End{Role: "holder", Holder: "gitea@board"}, []byte("x"))
	h.write(stray, h.read(first.Blob))
	_, _, faults := h.step(Mode{Step: Locked})
	says(t, faults, diag.BlobUnknown, "the lock does not name sealed/"+stray, "meshc lock")
	_, p := h.must(Mode{Step: Relock})
	if !slices.Equal(p.Removed, []string{stray}) {
		t.Errorf("removed %v", p.Removed)
	}
	h.must(Mode{Step: Locked})

	for _, name := range []string{"notes.age", "board/notes.age", "board/deeper/credential.x.0123456789ab.age", "credential.x.0123456789ab.age"} {
		h.write(name, []byte("x"))
		for _, step := range []Step{Look, Locked, Build, Relock} {
			_, _, faults := h.step(Mode{Step: step, Prune: step == Relock})
			says(t, faults, diag.BlobForeign, "sealed/"+name+" has no name that meshc gives", "mv sealed/"+name+" .")
		}
		if err := os.Remove(h.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	h.write("README.md", []byte("of no concern"))
	h.must(Mode{Step: Locked})
}

// PRT-9: a secret that the last commit has and the lock lost is not made anew in silence
func TestLostEntry(t *testing.T) {
	h, _, _ := twoPairs(t)
	h.commit()
	committed := h.lock()
	lk := h.lock()
	delete(lk.Secrets, "credential "+gitea)
	h.writeLock(lk)
	for _, step := range []Step{Locked, Build, Relock} {
		_, _, faults := h.step(Mode{Step: step})
		says(t, faults, diag.SecretLost, "the last commit's lock has the credential for database", "git restore mesh.lock.hcl")
	}
	// The help mends it, either way.
	h.writeLock(committed)
	h.must(Mode{Step: Locked})
	h.writeLock(lk)
	_, p := h.must(Mode{Step: Relock, Remake: true})
	if action(t, p, Credential(pair(gitea))) != Made || len(p.Removed) != 2 {
		t.Errorf("%+v, removed %v", p.Secrets, p.Removed)
	}
	h.must(Mode{Step: Locked})

	// Where no commit has it, the blobs alone tell.
	h.head = nil
	lk = h.lock()
	delete(lk.Secrets, "credential "+gitea)
	h.writeLock(lk)
	_, _, faults := h.step(Mode{Step: Build})
	says(t, faults, diag.SecretLost, "the lock has no entry for the credential for database of gitea@board at postgres@anchor, of which sealed/board/credential.postgres@anchor.database.gitea@board.consumer.", "meshc lock --remake # makes it anew for all who use it")
}

// PRT-9: what was moved to another name is not lost, also where something new has the old name
func TestMovedIsNotLost(t *testing.T) {
	h, _, _ := twoPairs(t)
	h.commit()
	lk := h.lock()
	s := lk.Secrets["credential "+gitea]
	delete(lk.Secrets, "credential "+gitea)
	const renamed = "postgres@anchor database forge@board"
	for i := range s.Ends {
		s.Ends[i].Holder = strings.Replace(s.Ends[i].Holder, "gitea@", "forge@", 1)
	}
	lk.Secrets["credential "+renamed] = s
	h.writeLock(lk)
	h.want(credential(renamed))
	_, p := h.must(Mode{Step: Build})
	if action(t, p, Credential(pair(renamed))) != Kept || action(t, p, Credential(pair(gitea))) != Made {
		t.Errorf("%+v", p.Secrets)
	}
}

// O37: a lock that is gone while its blobs are there is never taken for a new mesh
func TestLockGone(t *testing.T) {
	h, _, _ := twoPairs(t)
	if err := os.Remove(filepath.Join(h.dir, lock.File)); err != nil {
		t.Fatal(err)
	}
	before := h.files()
	_, _, faults := h.step(Mode{Step: Build})
	if len(faults) != 2 || faults[0].Code != diag.SecretLost || faults[1].Code != diag.SecretLost {
		t.Errorf("%v", faults)
	}
	if d := changed(before, h.files()); len(d) > 0 {
		t.Errorf("a refused step changed %v", d)
	}
}

// SEC-1: no two entries of the lock share a blob, whoever wrote them
func TestSharedBlob(t *testing.T) {
	h, first, second := twoPairs(t)
	lk := h.lock()
	s := lk.Secrets["credential redis@anchor cache gitea@board"]
	for i := range s.Ends {
		if s.Ends[i].Blob == second.Blob {
			s.Ends[i].Blob, s.Ends[i].SHA256 = first.Blob, first.SHA256
		}
	}
	_ = os.Remove(h.path(second.Blob))
	h.writeLock(lk)
	_, _, faults := h.step(Mode{Step: Build})
	says(t, faults, diag.BlobShared, first.Blob+" is both the blob of credential "+gitea, "git restore mesh.lock.hcl")
}

// SEC-5: an entry whose ends are not those that its name says is refused, not made anew
func TestEndsOfAnother(t *testing.T) {
	h, _, _ := twoPairs(t)
	lk := h.lock()
	s := lk.Secrets["credential "+gitea]
	s.Ends[0].Holder = strings.Replace(s.Ends[0].Holder, "@", "x@", 1)
	h.writeLock(lk)
	for _, m := range []Mode{{Step: Build}, {Step: Relock, Remake: true}, {Step: Relock, Rotate: []Name{Credential(pair(gitea))}}} {
		_, _, faults := h.step(m)
		says(t, faults, diag.SecretEndsWrong, "has the ends ", "git restore mesh.lock.hcl")
	}
}

// CON-8: what nobody wants is kept until it is pruned
func TestUnwantedIsKept(t *testing.T) {
	h, _, _ := twoPairs(t)
	before := h.files()
	h.unwant(Credential(pair(gitea)))
	h.must(Mode{Step: Locked})
	_, p := h.must(Mode{Step: Relock})
	if d := changed(before, h.files()); len(d) > 0 || len(p.Forgotten) > 0 {
		t.Errorf("changed: %v", d)
	}
	// A blob of it that went missing is said, though nobody opens it now.
	blob := Holders(h.lock(), "database")[0].Ends[0].Blob
	b := h.read(blob)
	_ = os.Remove(h.path(blob))
	_, _, faults := h.step(Mode{Step: Build})
	says(t, faults, diag.BlobMissing, "nobody wants it now", "meshc lock --prune # forgets every secret that nobody wants")
	h.write(blob, b)

	_, p = h.must(Mode{Step: Relock, Prune: true})
	if !slices.Equal(p.Forgotten, []string{"credential " + gitea}) || len(h.files()) != 3 {
		t.Errorf("forgotten %v, left %v", p.Forgotten, changed(nil, h.files()))
	}
}

// SEC-7: the lock of two branches that each made secrets, merged line by line, works; one that git left a choice in works with either side
func TestMerge(t *testing.T) {
	h := newHome(t, "anchor", "board", "cabin")
	h.want(credential(gitea))
	h.must(Mode{Step: Build})
	base := h.files()
	branch := func(w ...Want) map[string]string {
		other := newHome(t)
		other.keys = h.keys
		for name, content := range base {
			path := filepath.Join(other.dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		other.want(credential(gitea))
		other.want(w...)
		other.must(Mode{Step: Build})
		return other.files()
	}
	wiki, cache := credential("postgres@anchor database wiki@cabin"), credential("redis@anchor cache gitea@board")
	ours, theirs := branch(wiki, cache), branch(cache) // both made the cache's
	merged := newHome(t)
	merged.keys = h.keys
	merged.want(credential(gitea), wiki, cache)
	for _, side := range []map[string]string{ours, theirs} {
		for name, content := range side {
			if old, ok := ours[name]; ok && old != content && name != lock.File {
				t.Errorf("both branches wrote %s", name)
			}
			if name != lock.File {
				merged.write(strings.TrimPrefix(name, "sealed/"), []byte(content))
			}
		}
	}
	for _, choose := range []map[string]string{ours, theirs} {
		lk := readLock(t, []byte(ours[lock.File]))
		lk.Secrets[cache.Name.String()] = readLock(t, []byte(choose[lock.File])).Secrets[cache.Name.String()]
		merged.writeLock(lk)
		if _, p, faults := merged.step(Mode{Step: Look}); len(faults) > 0 || len(p.Of(Kept)) != 3 {
			t.Errorf("%v %+v", faults, p.Secrets)
		}
	}
	c, p := merged.must(Mode{Step: Relock})
	if len(p.Removed) != 2 || merged.value(c, cache.Name, seal.Consumer, "gitea@board") != merged.value(c, cache.Name, seal.Provider, "redis@anchor") {
		t.Errorf("removed %v", p.Removed)
	}
	merged.must(Mode{Step: Locked})
}

// SEC-7: a plan made from randomness that fails leaves everything as it was
func TestNoRandomness(t *testing.T) {
	h, _, _ := twoPairs(t)
	h.want(held(Need(instance("gitea@board"), "key"), "gitea@board"))
	before := h.files()
	x := h.begin()
	defer x.Close()
	p, faults, err := Review(h.demand(), readLock(t, x.Lock), x.View, Mode{Step: Build})
	if err != nil || faults.HasErrors() {
		t.Fatal(faults, err)
	}
	if c, err := p.Make(context.Background(), noRandom); err == nil || c != nil {
		t.Error("secrets are made of nothing")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Make(ctx, random); err == nil {
		t.Error("a cancelled step goes on")
	}
	if d := changed(before, h.files()); len(d) > 0 {
		t.Errorf("changed: %v", d)
	}
}
