package vault

import (
	"slices"
	"strings"
	"testing"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
	"meshc.dev/render/seal"
)

// accept does what `meshc accept` does.
func accept(h *home, n Name, value string) *Change {
	h.t.Helper()
	x := h.begin()
	defer x.Close()
	secret, err := seal.ForPerson([]byte(value))
	if err != nil {
		h.t.Fatal(err)
	}
	c, faults, err := Accept(h.demand(), readLock(h.t, x.Lock), h.head, n, secret)
	if err != nil || faults.HasErrors() {
		h.t.Fatal(err, faults)
	}
	if err := x.Commit(c); err != nil {
		h.t.Fatal(err)
	}
	return c
}

// LIC-2: a supplied secret is sealed to each holder, and one that came later has no copy
func TestAcceptLicence(t *testing.T) {
	h := newHome(t, "anchor", "board", "cabin")
	n := Licence("personal")
	h.want(held(n, "client@anchor", "gitea@board"), credential(gitea))

	_, _, faults := h.step(Mode{Step: Build})
	says(t, faults, diag.SecretNotSupplied, "client@anchor, gitea@board has no copy of the licence personal, which a person supplies", "meshc accept personal")
	// lock makes the rest, and says what is still to come.
	_, p, faults := h.step(Mode{Step: Relock})
	says(t, faults, diag.SecretAwaited, "personal", "meshc accept personal")
	if action(t, p, n) != Awaited || action(t, p, Credential(pair(gitea))) != Made {
		t.Errorf("%+v", p.Secrets)
	}

	accept(h, n, "hunter2\n")
	c, _ := h.must(Mode{Step: Locked})
	for _, who := range []string{"client@anchor", "gitea@board"} {
		if v := h.value(c, n, seal.Holder, who); v != "hunter2" {
			t.Errorf("%s has %q", who, v)
		}
	}

	before := h.files()
	h.unwant(n)
	h.want(held(n, "client@anchor", "gitea@board", "client@cabin"))
	for _, step := range []Step{Locked, Build} {
		_, _, faults = h.step(Mode{Step: step})
		says(t, faults, diag.SecretNotSupplied, "client@cabin has no copy", "meshc accept personal")
	}
	if d := changed(before, h.files()); len(d) > 0 {
		t.Errorf("a refused step changed %v", d)
	}
	accept(h, n, "hunter3")
	c, _ = h.must(Mode{Step: Locked})
	if h.value(c, n, seal.Holder, "client@cabin") != "hunter3" || h.value(c, n, seal.Holder, "gitea@board") != "hunter3" {
		t.Error("the holders have different values")
	}
	if s, _ := c.Find(n); s.Generation != 2 {
		t.Errorf("generation %d", s.Generation)
	}
	if got := len(h.files()); got != 1+2+3 {
		t.Errorf("%d files: %v", got, changed(nil, h.files()))
	}
}

// LIC-2: accept is told LICENCE or NODE/INSTANCE/NEED
func TestFindSupplied(t *testing.T) {
	h := newHome(t, "anchor", "board")
	token := Supplied(Need(instance("proxy@board"), "dns-token"))
	shared := Supplied(SharedNeed("consul", "licence-key", ""))
	h.want(held(Licence("personal"), "client@anchor"), held(token, "proxy@board"), held(shared, "consul@anchor", "consul@board"),
		held(Need(instance("gitea@board"), "secret-key"), "gitea@board"), credential(gitea))
	for arg, want := range map[string]Name{
		"personal":                  Licence("personal"),
		"board/proxy/dns-token":     token,
		"board/consul/licence-key":  shared,
		"anchor/consul/licence-key": shared,
	} {
		if n, faults := FindSupplied(h.demand(), arg); n != want || len(faults) > 0 {
			t.Errorf("%s: %v %v", arg, n, faults)
		}
	}
	_, faults := FindSupplied(h.demand(), "board/proxy/dns-tokn")
	says(t, faults, diag.SecretUnknown, "the nearest is board/proxy/dns-token", "")
	_, faults = FindSupplied(h.demand(), "board/gitea/secret-key")
	says(t, faults, diag.SecretNotPersons, "is made by meshc", "meshc rotate secret-key --consumer gitea@board")

	_, faults, err := Accept(h.demand(), nil, h.head, Credential(pair(gitea)), seal.NewSecret([]byte("x")))
	if err != nil {
		t.Fatal(err)
	}
	says(t, faults, diag.SecretNotPersons, "the credential for database", "meshc rotate database --consumer gitea@board")
	_, faults, err = Accept(h.demand(), nil, h.head, Licence("other"), seal.NewSecret([]byte("x")))
	if err != nil || len(faults) != 1 || faults[0].Code != diag.SecretUnknown {
		t.Errorf("%v %v", faults, err)
	}
}

// SEC-2: accept does not give the value to a key that nobody confirmed; once confirmed, it is asked for again
func TestAcceptAndChangedRecipient(t *testing.T) {
	h := newHome(t, "anchor", "board")
	n := Supplied(Need(instance("proxy@board"), "dns-token"))
	h.want(held(n, "proxy@board"))
	accept(h, n, "hunter2")
	h.newKey("board")

	secret := seal.NewSecret([]byte("hunter3"))
	_, faults, err := Accept(h.demand(), h.lock(), h.head, n, secret)
	if err != nil {
		t.Fatal(err)
	}
	says(t, faults, diag.RecipientChanged, "board", "meshc lock --new-recipient board")

	_, _, faults = h.step(Mode{Step: Relock, NewRecipients: []string{"board"}})
	says(t, faults, diag.SecretAwaited, "proxy@board (sealed to ", "meshc accept board/proxy/dns-token")
	_, _, faults = h.step(Mode{Step: Locked})
	says(t, faults, diag.SecretNotSupplied, "proxy@board has no copy", "meshc accept board/proxy/dns-token")
	if got := changed(nil, h.files()); !slices.Equal(got, []string{"mesh.lock.hcl"}) {
		t.Errorf("what the old key opens is left: %v", got)
	}
	accept(h, n, "hunter3")
	c, _ := h.must(Mode{Step: Locked})
	if h.value(c, n, seal.Holder, "proxy@board") != "hunter3" {
		t.Error("another value")
	}
	if s, _ := c.Find(n); s.Generation != 2 {
		t.Errorf("generation %d: a new value with an old number", s.Generation)
	}
}

// SEC-9: who holds a secret, its generation, and to which key
func TestHolders(t *testing.T) {
	h := newHome(t, "anchor", "board", "cabin")
	h.want(credential(gitea), credential("postgres@anchor database wiki@cabin"), credential("redis@anchor cache gitea@board"),
		held(Licence("personal"), "client@anchor"))
	accept(h, Licence("personal"), "x")
	h.must(Mode{Step: Build})
	got := Holders(h.lock(), "database")
	if len(got) != 2 || got[0].Name != Credential(pair(gitea)) || got[0].Generation != 1 || len(got[0].Ends) != 2 {
		t.Fatalf("%+v", got)
	}
	for _, e := range got[0].Ends {
		if e.To != h.keys[e.Node()].Recipient().Fingerprint() {
			t.Errorf("%+v", e)
		}
	}
	if got := Holders(h.lock(), "personal"); len(got) != 1 || got[0].Ends[0].Holder != "client@anchor" {
		t.Errorf("%+v", got)
	}
	if got := Holders(h.lock(), "nothing"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// SEC-6: rotate names all holders, changes both ends of every pair or nothing, and providers apply first
func TestRotate(t *testing.T) {
	h := newHome(t, "anchor", "board", "cabin")
	const wiki = "postgres@anchor database wiki@cabin"
	cache := Credential(pair("redis@board cache wiki@cabin"))
	h.want(credential(gitea), credential(wiki), credential("redis@board cache wiki@cabin"), held(Licence("personal"), "wiki@cabin"))
	accept(h, Licence("personal"), "x")
	c, _ := h.must(Mode{Step: Build})
	old := h.value(c, Credential(pair(gitea)), seal.Consumer, "gitea@board")

	all, faults := Select(h.demand(), "database", nil)
	if len(all) != 2 || len(faults) > 0 {
		t.Fatal(all, faults)
	}
	who := instance("wiki@cabin")
	one, faults := Select(h.demand(), "database", &who)
	if len(one) != 1 || one[0] != Credential(pair(wiki)) || len(faults) > 0 {
		t.Fatal(one, faults)
	}
	_, faults = Select(h.demand(), "databse", nil)
	says(t, faults, diag.SecretUnknown, "the nearest is database", "")
	other := instance("wiki@board")
	_, faults = Select(h.demand(), "database", &other)
	says(t, faults, diag.SecretUnknown, "wiki@board has no secret of database; there are those of gitea@board, wiki@cabin", "")

	c, p := h.must(Mode{Step: Relock, Rotate: all})
	rotated := p.Of(Remade)
	if len(rotated) != 2 || action(t, p, cache) != Kept || rotated[0].Because != "rotated" {
		t.Errorf("%+v", rotated)
	}
	for _, s := range rotated {
		if len(s.Ends) != 2 || s.Ends[0].Recipient == "" || s.Ends[1].Recipient == "" {
			t.Errorf("the holders of %s are not named: %+v", s.Name, s.Ends)
		}
	}
	if got := ApplyOrder(rotated); len(got) != 3 || got[0] != "anchor" {
		t.Errorf("order %v", got)
	}
	v := h.value(c, Credential(pair(gitea)), seal.Consumer, "gitea@board")
	if v == old || v != h.value(c, Credential(pair(gitea)), seal.Provider, "postgres@anchor") {
		t.Error("the ends do not share one new secret")
	}
	if s, _ := c.Find(Credential(pair(gitea))); s.Generation != 2 {
		t.Errorf("generation %d", s.Generation)
	}

	before := h.files()
	_, _, faults = h.step(Mode{Step: Relock, Rotate: []Name{Licence("personal"), cache}})
	says(t, faults, diag.RotateSupplied, "the licence personal", "meshc accept personal")
	h.newKey("cabin") // a holder whose key cannot be used stops everything
	_, _, faults = h.step(Mode{Step: Relock, Rotate: all})
	says(t, faults, diag.RecipientChanged, "cabin", "meshc lock --new-recipient cabin")
	if d := changed(before, h.files()); len(d) > 0 {
		t.Errorf("a refused rotation changed %v", d)
	}
}

// SEC-9: what a machine's keys could ever open is found by the lock and by every earlier one, and made anew for the others
func TestRetire(t *testing.T) {
	h := newHome(t, "anchor", "board", "laptop")
	const (
		mine     = "postgres@anchor database notes@laptop" // between the machine and another
		others   = "postgres@anchor database gitea@board"  // it never had to do with
		renewed  = "redis@anchor cache gitea@board"        // that it held, and that was made anew since
		provided = "files@laptop share gitea@board"        // that it provides
	)
	gossip, token, own := SharedNeed("consul", "gossip", ""), Licence("personal"), Supplied(Need(instance("notes@laptop"), "token"))
	h.want(credential(mine), credential(others), credential(provided),
		held(gossip, "consul@board", "consul@laptop"), held(token, "client@board", "client@laptop"), held(own, "notes@laptop"))
	accept(h, token, "x")
	accept(h, own, "x")
	first, _ := h.must(Mode{Step: Build})
	oldGossip := h.value(first, gossip, seal.Holder, "consul@board")
	history := []*lock.Lock{h.lock()}

	// An entry of history whose holder was the same machine by another name.
	older := h.lock()
	e := older.Secrets["credential "+mine]
	for i := range e.Ends {
		e.Ends[i].Holder = strings.Replace(e.Ends[i].Holder, "laptop", "thinkpad", 1)
		e.Ends[i].SHA256 = strings.Repeat("a", 63) + string("0123456789"[i])
	}
	older.Secrets["credential "+renewed] = e // sealed to the same key
	history = append(history, older)

	if _, faults := Retire(h.demand(), h.lock(), nil, "laptop"); len(faults) != 1 || faults[0].Code != diag.RetireStillThere {
		t.Errorf("a machine that still has its key is retired: %v", faults)
	}
	if _, faults := Retire(h.demand(), h.lock(), nil, "latop"); len(faults) != 1 || faults[0].Code != diag.RetireNothing {
		t.Errorf("a machine that never was is retired: %v", faults)
	}

	// The machine is gone from the mesh.
	fp := h.keys["laptop"].Recipient().Fingerprint()
	delete(h.keys, "laptop")
	h.wants = nil
	h.want(credential(others), credential(renewed), held(gossip, "consul@board"), held(token, "client@board"))
	h.must(Mode{Step: Build})
	r, faults := Retire(h.demand(), h.lock(), history, "laptop")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if !slices.Equal(r.Keys, []string{fp}) {
		t.Errorf("keys %v", r.Keys)
	}
	if !slices.Equal(r.Remake, []Name{gossip}) {
		t.Errorf("made anew: %v", r.Remake)
	}
	if !slices.Equal(r.Forget, []Name{Credential(pair(provided)), Credential(pair(mine)), own}) {
		t.Errorf("forgotten: %v", r.Forget)
	}
	if !slices.Equal(r.Issuer, []Issued{{token, 1, 1}, {own, 1, 1}}) {
		t.Errorf("for the issuer: %v", r.Issuer)
	}

	c, p := h.must(r.Mode())
	if h.value(c, gossip, seal.Holder, "consul@board") == oldGossip || len(p.Forgotten) != 3 {
		t.Error("what the machine knows is still in use")
	}
	for name := range h.files() {
		if strings.Contains(name, "laptop") {
			t.Errorf("%s is left", name)
		}
	}
	// Done once, nothing is left to do but what only the issuer can.
	r, faults = Retire(h.demand(), h.lock(), history, "laptop")
	if len(faults) > 0 || len(r.Remake)+len(r.Forget) > 0 || len(r.Issuer) != 2 {
		t.Errorf("%+v %v", r, faults)
	}
	// What it had does not come back with it.
	h.newKey("laptop")
	h.want(credential(mine))
	c, _ = h.must(Mode{Step: Build})
	if s, _ := c.Find(Credential(pair(mine))); s.Generation != 2 {
		t.Errorf("%+v", s)
	}
}
