package vault

import (
	"context"
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
	"meshc.dev/render/seal"
)

// home is a mesh in a folder, with the private keys of its machines, which only a
// test ever has together.
type home struct {
	t        testing.TB
	dir      string
	keys     map[addr.Node]seal.Identity
	recovery []seal.Identity
	wants    []Want
	head     *lock.Lock
}

func newHome(t testing.TB, nodes ...addr.Node) *home {
	h := &home{t: t, dir: t.TempDir(), keys: map[addr.Node]seal.Identity{}}
	for _, n := range nodes {
		h.newKey(n)
	}
	return h
}

func newIdentity(t testing.TB) seal.Identity {
	t.Helper()
	id, _, err := seal.GenerateIdentity(seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (h *home) newKey(n addr.Node) { h.keys[n] = newIdentity(h.t) }

// line is a place in mesh.cue, a different one for each thing.
func line(n int) diag.Pos { return diag.Pos{File: "mesh.cue", Line: n, Column: 1} }

func (h *home) demand() Demand {
	d := Demand{Mesh: "home", Wants: slices.Clone(h.wants)}
	for i, n := range slices.Sorted(func(yield func(addr.Node) bool) {
		for n := range h.keys {
			if !yield(n) {
				return
			}
		}
	}) {
		d.Nodes = append(d.Nodes, Node{n, h.keys[n].Recipient().String(), line(10 + i)})
	}
	for _, id := range h.recovery {
		d.Recovery = append(d.Recovery, Key{id.Recipient().String(), line(5)})
	}
	return d
}

func instance(s string) addr.Instance {
	i, err := addr.ParseInstance(s)
	if err != nil {
		panic(err)
	}
	return i
}

func pair(s string) addr.Pair {
	p, err := addr.ParsePair(s)
	if err != nil {
		panic(err)
	}
	return p
}

// credential wants the credential of a pair: "postgres@anchor database gitea@board".
func credential(s string) Want {
	p := pair(s)
	return Want{Name: Credential(p), At: line(100), Ends: []End{
		{Holder: p.Consumer.Instance, Role: seal.Consumer, At: line(101)},
		{Holder: p.Provider, Role: seal.Provider, At: line(102)},
	}}
}

// held wants a need or licence that these instances hold.
func held(n Name, holders ...string) Want {
	w := Want{Name: n, At: line(200)}
	for _, s := range holders {
		w.Ends = append(w.Ends, End{Holder: instance(s), Role: seal.Holder, At: line(201)})
	}
	return w
}

func (h *home) want(w ...Want) { h.wants = append(h.wants, w...) }

func (h *home) unwant(n Name) {
	h.wants = slices.DeleteFunc(h.wants, func(w Want) bool { return w.Name == n })
}

func (h *home) begin() *Session {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	x, err := Open(h.dir).Begin(ctx, Owner{PID: os.Getpid(), Command: "test"})
	if err != nil {
		h.t.Fatal(err)
	}
	return x
}

func readLock(t testing.TB, source []byte) *lock.Lock {
	t.Helper()
	if source == nil {
		return lock.New()
	}
	lk, faults := lock.Read(lock.File, source)
	if faults.HasErrors() {
		t.Fatal(faults)
	}
	return lk
}

func random() io.Reader { return rand.Reader }

// step does what a command does: reviews, makes and commits, unless it is refused.
func (h *home) step(m Mode) (*Change, *Plan, diag.List) {
	h.t.Helper()
	x := h.begin()
	defer x.Close()
	m.Head = h.head
	p, faults, err := Review(h.demand(), readLock(h.t, x.Lock), x.View, m)
	if err != nil {
		h.t.Fatal(err)
	}
	if faults.HasErrors() {
		if _, err := p.Make(context.Background(), random); err == nil {
			h.t.Error("a refused plan is carried out")
		}
		return nil, p, faults
	}
	c, err := p.Make(context.Background(), random)
	if err != nil {
		h.t.Fatal(err)
	}
	if m.Step >= Build {
		if err := x.Commit(c); err != nil {
			h.t.Fatal(err)
		}
	}
	return c, p, faults
}

// must is step where nothing may be refused.
func (h *home) must(m Mode) (*Change, *Plan) {
	h.t.Helper()
	c, p, faults := h.step(m)
	if faults.HasErrors() {
		h.t.Fatalf("refused: %v", faults)
	}
	return c, p
}

// commit is what git commit does, as far as the vault sees it.
func (h *home) commit() { h.head = h.lock() }

func (h *home) lock() *lock.Lock {
	h.t.Helper()
	v, err := Open(h.dir).Read()
	if err != nil {
		h.t.Fatal(err)
	}
	return readLock(h.t, v.Lock)
}

// files are the lock and all that is sealed.
func (h *home) files() map[string]string {
	h.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(h.dir, func(path string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(h.dir, path)
		if err != nil || rel == StateDir {
			return filepath.SkipDir
		}
		if !d.IsDir() {
			b, err := os.ReadFile(path)
			out[filepath.ToSlash(rel)] = string(b)
			return err
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

// changed are the files that differ between two states.
func changed(before, after map[string]string) []string {
	var out []string
	for name, b := range before {
		if a, ok := after[name]; !ok || a != b {
			out = append(out, name)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// value opens a copy with the key of its machine.
func (h *home) value(c *Change, n Name, role seal.Role, holder string) string {
	h.t.Helper()
	s, ok := c.Find(n)
	if !ok {
		h.t.Fatalf("%s is not there", n)
	}
	x, ok := s.Copy(role, holder)
	if !ok {
		h.t.Fatalf("%s has no copy for its %s %s", n, role, holder)
	}
	id := h.keys[x.Node]
	for _, r := range h.recovery {
		if role == seal.Recovery && r.Recipient().Fingerprint() == holder {
			id = r
		}
	}
	secret, err := seal.Open(id, c.Blob(x.Blob), x.Purpose, x.Recipient)
	if err != nil {
		h.t.Fatal(err)
	}
	var out string
	secret.Use(func(b []byte) { out = string(b) })
	return out
}

func action(t testing.TB, p *Plan, n Name) Action {
	t.Helper()
	for _, s := range p.Secrets {
		if s.Name == n {
			return s.Action
		}
	}
	t.Fatalf("%s is not in the plan", n)
	return 0
}

// says fails unless there is exactly one diagnostic, of this code, with these words and this help.
func says(t testing.TB, faults diag.List, code diag.Code, words, help string) {
	t.Helper()
	if len(faults) != 1 {
		t.Fatalf("%d diagnostics, want one of %s: %v", len(faults), code, faults)
	}
	d := faults[0]
	if d.Code != code || !strings.Contains(d.Message, words) || d.Help != help {
		t.Errorf("got %s %q, help %q; want %s with %q, help %q", d.Code, d.Message, d.Help, code, words, help)
	}
	if _, ok := diag.Lookup(d.Code); !ok {
		t.Errorf("%s is not declared", d.Code)
	}
}

const gitea = "postgres@anchor database gitea@board"

// SEC-1: a credential is made once, and both its ends open it and nobody else does
func TestCredentialIsSharedByItsTwoEnds(t *testing.T) {
	h := newHome(t, "anchor", "board", "cabin")
	n := Credential(pair(gitea))
	h.want(credential(gitea))
	c, p := h.must(Mode{Step: Build})
	if action(t, p, n) != Made || !c.IsComplete() {
		t.Errorf("%v, complete %v", p.Secrets, c.IsComplete())
	}
	value := h.value(c, n, seal.Consumer, "gitea@board")
	if value != h.value(c, n, seal.Provider, "postgres@anchor") || len(value) != seal.DefaultLength {
		t.Error("the two ends have different secrets")
	}
	for name, content := range h.files() {
		if strings.Contains(content, value) {
			t.Errorf("%s shows the secret", name)
		}
	}
	s, _ := c.Find(n)
	for _, end := range s.Ends {
		for node, id := range h.keys {
			if _, err := seal.Open(id, c.Blob(end.Blob), end.Purpose, ""); (err == nil) != (node == end.Node) {
				t.Errorf("%s opens the blob of %s: %v", node, end.Node, err)
			}
		}
	}
}

// SEC-1: both ends of a pair hold the credential from the first, whichever of them places it on its machine
func TestBothEndsHoldWhetherNamedOrNot(t *testing.T) {
	h := newHome(t, "anchor", "board")
	w := credential(gitea)
	both := w.Ends
	for _, ends := range [][]End{both[:1], both[1:], nil, both} {
		w.Ends = ends
		h.wants = []Want{w}
		c, _ := h.must(Mode{Step: Build})
		if h.value(c, w.Name, seal.Consumer, "gitea@board") != h.value(c, w.Name, seal.Provider, "postgres@anchor") {
			t.Error("the two ends have different secrets")
		}
		if s, _ := c.Find(w.Name); s.Generation != 1 {
			t.Errorf("generation %d", s.Generation)
		}
	}
}

// SEC-2: an unchanged secret is carried over byte for byte, and nothing is written
func TestKeptByteForByte(t *testing.T) {
	h := newHome(t, "anchor", "board")
	h.want(credential(gitea), held(Need(instance("gitea@board"), "secret-key"), "gitea@board"))
	first, _ := h.must(Mode{Step: Build})
	before := h.files()
	for _, step := range []Step{Look, Locked, Build, Relock} {
		again, p := h.must(Mode{Step: step})
		if len(p.Of(Kept)) != 2 || !again.IsComplete() {
			t.Errorf("step %d: %v", step, p.Secrets)
		}
		for _, s := range again.Secrets {
			for _, e := range s.Ends {
				if string(again.Blob(e.Blob)) != string(first.Blob(e.Blob)) || e.Blob == "" {
					t.Errorf("step %d: the blob of %s changed", step, e.Holder)
				}
			}
		}
	}
	if d := changed(before, h.files()); len(d) > 0 {
		t.Errorf("changed: %v", d)
	}
}

// SEC-4: a need is one secret for its instance, or one for all that share it, in the format asked for
func TestNeeds(t *testing.T) {
	h := newHome(t, "anchor", "board")
	own := held(Need(instance("gitea@board"), "secret-key"), "gitea@board")
	own.Format, own.Length = seal.Hex, 16
	shared := held(SharedNeed("consul", "gossip", ""), "consul@anchor", "consul@board", "other@board")
	h.want(own, shared)
	c, _ := h.must(Mode{Step: Build})
	if v := h.value(c, own.Name, seal.Holder, "gitea@board"); len(v) != 32 || strings.Trim(v, "0123456789abcdef") != "" {
		t.Errorf("hex of 16 bytes: %q", v)
	}
	v := h.value(c, shared.Name, seal.Holder, "consul@anchor")
	if v != h.value(c, shared.Name, seal.Holder, "consul@board") || v != h.value(c, shared.Name, seal.Holder, "other@board") {
		t.Error("those that share a secret have different ones")
	}
}

// SEC-4: nobody can make a copy for one that came later: the shared secret is made anew for all, and that is said
func TestNewHolderOfSharedSecret(t *testing.T) {
	h := newHome(t, "anchor", "board", "cabin")
	n := SharedNeed("consul", "gossip", "")
	h.want(held(n, "consul@anchor", "consul@board"))
	c, _ := h.must(Mode{Step: Build})
	old := h.value(c, n, seal.Holder, "consul@anchor")
	h.unwant(n)
	h.want(held(n, "consul@anchor", "consul@board", "consul@cabin"))

	_, _, faults := h.step(Mode{Step: Locked})
	says(t, faults, diag.SecretNotMade, "consul@cabin has no copy of the secret gossip that all consul share", "meshc lock")
	c, p, faults := h.step(Mode{Step: Build})
	says(t, faults, diag.HolderJoined, "consul@cabin", "")
	if action(t, p, n) != Remade || p.Secrets[0].Generation != 2 || p.Secrets[0].Because != "consul@cabin is a new holder" {
		t.Errorf("%+v", p.Secrets[0])
	}
	v := h.value(c, n, seal.Holder, "consul@cabin")
	if v == old || v != h.value(c, n, seal.Holder, "consul@anchor") || v != h.value(c, n, seal.Holder, "consul@board") {
		t.Error("the three do not share one new secret")
	}
	// One that leaves changes nothing for the others, and finds its copy when it returns.
	before := h.files()
	h.unwant(n)
	h.want(held(n, "consul@anchor", "consul@board"))
	if _, p := h.must(Mode{Step: Build}); action(t, p, n) != Kept {
		t.Error("a holder that left makes the secret anew")
	}
	h.unwant(n)
	h.want(held(n, "consul@anchor", "consul@board", "consul@cabin"))
	if _, p := h.must(Mode{Step: Locked}); action(t, p, n) != Kept {
		t.Error("a holder that returned has no copy")
	}
	if d := changed(before, h.files()); len(d) > 0 {
		t.Errorf("changed: %v", d)
	}
}

// SEC-8: a locked build makes nothing, and refuses each missing secret by name
func TestLockedMakesNothing(t *testing.T) {
	h := newHome(t, "anchor", "board")
	h.want(credential(gitea))
	_, p, faults := h.step(Mode{Step: Locked})
	says(t, faults, diag.SecretNotMade, "the credential for database of gitea@board at postgres@anchor was not made yet", "meshc lock")
	if action(t, p, Credential(pair(gitea))) != Missing {
		t.Error("it is not called missing")
	}
	if c, _ := h.must(Mode{Step: Look}); c.IsComplete() {
		t.Error("a look calls it complete")
	}
	if len(h.files()) > 0 {
		t.Errorf("files: %v", h.files())
	}
}

// SEC-5: the blob says what it is for, by the name under which it was sealed, also after a move
func TestMovedSecretIsCarriedOver(t *testing.T) {
	h := newHome(t, "anchor", "board")
	h.want(credential(gitea))
	c, _ := h.must(Mode{Step: Build})
	value := h.value(c, Credential(pair(gitea)), seal.Consumer, "gitea@board")

	// What settle does for `moved: nodes: board: "office"`.
	lk := h.lock()
	s := lk.Secrets["credential "+gitea]
	delete(lk.Secrets, "credential "+gitea)
	for i := range s.Ends {
		s.Ends[i].Holder = strings.Replace(s.Ends[i].Holder, "@board", "@office", 1)
	}
	const renamed = "postgres@anchor database gitea@office"
	lk.Secrets["credential "+renamed] = s
	if err := os.WriteFile(filepath.Join(h.dir, lock.File), lk.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	h.keys["office"] = h.keys["board"]
	delete(h.keys, "board")
	h.wants = []Want{credential(renamed)}

	c, p := h.must(Mode{Step: Locked})
	n := Credential(pair(renamed))
	if action(t, p, n) != Kept || h.value(c, n, seal.Consumer, "gitea@office") != value {
		t.Error("the moved secret is another one")
	}
	if e, _ := c.Find(n); e.Ends[0].Purpose.Name != "credential "+gitea {
		t.Errorf("the machine is told to expect %s", e.Ends[0].Purpose)
	}
	c, _ = h.must(Mode{Step: Build, Rotate: []Name{n}})
	if e, _ := c.Find(n); e.Ends[0].Purpose.Name != "credential "+renamed || e.Ends[0].Purpose.Generation != 2 {
		t.Errorf("made anew it is still for %s", e.Ends[0].Purpose)
	}
	h.value(c, n, seal.Consumer, "gitea@office") // opens for the purpose that it says
	c, _ = h.must(Mode{Step: Locked})
	h.value(c, n, seal.Consumer, "gitea@office") // and for the one that the lock remembers
	if files := h.files(); len(files) != 3 {
		t.Errorf("old blobs are left: %v", files)
	}
}

// SEC-1: keys of all kinds live in one mesh, each end sealed to its own
func TestKindsOfKeys(t *testing.T) {
	h := newHome(t, "anchor")
	for node, file := range map[addr.Node]string{"board": "hybrid_key", "cabin": "ssh_key"} {
		b, err := os.ReadFile(filepath.Join("../../render/seal/testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		if h.keys[node], err = seal.ParseIdentity(b); err != nil {
			t.Fatal(err)
		}
	}
	n := SharedNeed("consul", "gossip", "")
	h.want(credential("postgres@cabin database gitea@board"), held(n, "consul@anchor", "consul@board", "consul@cabin"))
	h.must(Mode{Step: Build})
	c, p := h.must(Mode{Step: Locked})
	if len(p.Of(Kept)) != 2 {
		t.Errorf("%+v", p.Secrets)
	}
	v := h.value(c, n, seal.Holder, "consul@anchor")
	for _, who := range []string{"consul@board", "consul@cabin"} {
		if h.value(c, n, seal.Holder, who) != v {
			t.Errorf("%s has another secret", who)
		}
	}
	if cred := Credential(pair("postgres@cabin database gitea@board")); h.value(c, cred, seal.Consumer, "gitea@board") != h.value(c, cred, seal.Provider, "postgres@cabin") {
		t.Error("the two ends have different secrets")
	}
}
