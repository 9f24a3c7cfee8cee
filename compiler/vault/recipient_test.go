package vault

import (
	"slices"
	"strings"
	"testing"

	"meshc.dev/compiler/diag"
	"meshc.dev/render/seal"
)

// SEC-2: a changed recipient is refused until it is confirmed, and then the pair is made anew at both ends in one step
func TestChangedRecipient(t *testing.T) {
	h := newHome(t, "anchor", "board", "cabin")
	const cabin = "postgres@anchor database wiki@cabin"
	n, untouched := Credential(pair(gitea)), Credential(pair(cabin))
	h.want(credential(gitea), credential(cabin), held(Need(instance("gitea@board"), "secret-key"), "gitea@board"))
	c, _ := h.must(Mode{Step: Build})
	before, old := h.files(), h.value(c, n, seal.Provider, "postgres@anchor")
	oldKey := h.keys["board"].Recipient().Fingerprint()
	h.newKey("board")
	newKey := h.keys["board"].Recipient().Fingerprint()

	for _, step := range []Step{Look, Locked, Build, Relock} {
		_, p, faults := h.step(Mode{Step: step, NewRecipients: []string{"anchor"}, Remake: true})
		says(t, faults, diag.RecipientChanged, "board has the key "+newKey+", and 2 secrets are sealed to "+oldKey, "meshc lock --new-recipient board")
		if len(p.NewRecipients) != 1 || p.NewRecipients[0].Confirmed || !slices.Equal(p.NewRecipients[0].Old, []string{oldKey}) || p.NewRecipients[0].New != newKey {
			t.Errorf("%+v", p.NewRecipients)
		}
	}
	if d := changed(before, h.files()); len(d) > 0 {
		t.Errorf("a refused step changed %v", d)
	}

	c, p := h.must(Mode{Step: Relock, NewRecipients: []string{"board"}})
	if got := p.NewRecipients[0]; !got.Confirmed || !slices.Equal(got.Secrets, []string{"credential " + gitea, "need gitea@board secret-key"}) {
		t.Errorf("what will be made anew: %+v", got)
	}
	if action(t, p, n) != Remade || action(t, p, untouched) != Kept {
		t.Errorf("%+v", p.Secrets)
	}
	v := h.value(c, n, seal.Consumer, "gitea@board")
	if v == old || v != h.value(c, n, seal.Provider, "postgres@anchor") {
		t.Error("the ends do not share one new secret")
	}
	h.must(Mode{Step: Locked})
	if len(h.files()) != 6 {
		t.Errorf("old blobs are left: %v", changed(nil, h.files()))
	}
}

// SEC-2: a changed key is not taken for new secrets either, nor for those that nobody wants just now
func TestChangedRecipientIsNotTakenForNewSecrets(t *testing.T) {
	h := newHome(t, "anchor", "board")
	h.want(credential(gitea))
	h.must(Mode{Step: Build})
	n := Credential(pair(gitea))
	h.unwant(n)
	h.newKey("board")
	h.want(held(Need(instance("wiki@board"), "key"), "wiki@board"))
	_, _, faults := h.step(Mode{Step: Build})
	says(t, faults, diag.RecipientChanged, "1 secret is sealed to", "meshc lock --new-recipient board")

	_, p := h.must(Mode{Step: Relock, NewRecipients: []string{"board"}})
	if !slices.Equal(p.Forgotten, []string{"credential " + gitea}) {
		t.Errorf("what only the old key opens stays: %v", p.Forgotten)
	}
	// When it returns it is another secret, and its generation says so.
	h.want(credential(gitea))
	c, p := h.must(Mode{Step: Build})
	if s, _ := c.Find(n); action(t, p, n) != Made || s.Generation != 2 {
		t.Errorf("%+v", s)
	}
	h.must(Mode{Step: Locked})
}

// SEC-2: a copy that a machine kept of a shared secret goes with its old key, and is no reason to refuse the new one again
func TestChangedRecipientOfFormerHolder(t *testing.T) {
	h := newHome(t, "board", "laptop")
	gossip, token := SharedNeed("consul", "gossip", ""), Licence("personal")
	h.want(held(gossip, "consul@board", "consul@laptop"), held(token, "client@board", "client@laptop"))
	accept(h, token, "x")
	h.must(Mode{Step: Build})
	h.wants = []Want{held(gossip, "consul@board"), held(token, "client@board")}
	h.newKey("laptop")
	_, p := h.must(Mode{Step: Relock, NewRecipients: []string{"laptop"}})
	if action(t, p, gossip) != Kept || action(t, p, token) != Kept {
		t.Errorf("%+v", p.Secrets)
	}
	h.want(held(Need(instance("notes@laptop"), "key"), "notes@laptop"))
	h.must(Mode{Step: Build})
	h.must(Mode{Step: Locked})
}

// SEC-1: a declared recovery key opens everything, by a blob of its own
func TestRecoveryKey(t *testing.T) {
	h := newHome(t, "anchor", "board")
	h.recovery = []seal.Identity{newIdentity(t), newIdentity(t)}
	n := Credential(pair(gitea))
	h.want(credential(gitea))
	c, _ := h.must(Mode{Step: Build})
	v := h.value(c, n, seal.Consumer, "gitea@board")
	for _, r := range h.recovery {
		if h.value(c, n, seal.Recovery, r.Recipient().Fingerprint()) != v {
			t.Error("the recovery key opens another secret")
		}
	}
	blobs := 0
	for name := range h.files() {
		if strings.HasPrefix(name, "sealed/_recovery/") {
			blobs++
		}
	}
	if blobs != 2 {
		t.Errorf("%d recovery blobs: %v", blobs, changed(nil, h.files()))
	}
}

// SEC-2: a recovery key that came later is confirmed like any new key, and everything is made anew for it
func TestNewRecoveryKey(t *testing.T) {
	h := newHome(t, "anchor", "board")
	n, token := Credential(pair(gitea)), Licence("personal")
	h.want(credential(gitea), held(token, "gitea@board"))
	accept(h, token, "hunter2")
	h.must(Mode{Step: Build})
	h.recovery = []seal.Identity{newIdentity(t)}
	fp := h.recovery[0].Recipient().Fingerprint()

	_, _, faults := h.step(Mode{Step: Locked})
	if len(faults) != 1 || faults[0].Code != diag.RecoveryNew || faults[0].Help != "meshc lock --new-recipient recovery" || !strings.Contains(faults[0].Message, fp) {
		t.Errorf("%v", faults)
	}
	_, _, faults = h.step(Mode{Step: Relock, NewRecipients: []string{"recovery"}})
	says(t, faults, diag.SecretAwaited, "the recovery key "+fp+" has no copy of the licence personal", "meshc accept personal")
	accept(h, token, "hunter2")
	c, _ := h.must(Mode{Step: Locked})
	if h.value(c, n, seal.Recovery, fp) != h.value(c, n, seal.Consumer, "gitea@board") || h.value(c, token, seal.Recovery, fp) != "hunter2" {
		t.Error("the recovery key opens another secret")
	}

	// Taken out again, its copies go, and it is said what it still opens.
	h.recovery = nil
	_, p, faults := h.step(Mode{Step: Build})
	says(t, faults, diag.RecoveryGone, fp+", which is no recovery key any more, can still open 2 secrets", "")
	if action(t, p, n) != Kept {
		t.Error("a recovery key that went makes the secret anew")
	}
	for name := range h.files() {
		if strings.Contains(name, "_recovery") {
			t.Errorf("%s is left", name)
		}
	}
	h.must(Mode{Step: Locked})
}

// SEC-1: what is no key, one key for two, and a machine without one are refused, each once
func TestRecipientsRefused(t *testing.T) {
	base := func() (Demand, *home) {
		h := newHome(t, "anchor", "board")
		h.want(credential(gitea), credential("redis@anchor cache gitea@board"))
		return h.demand(), h
	}
	review := func(d Demand) diag.List {
		_, faults, err := Review(d, nil, &View{store: Open(t.TempDir())}, Mode{Step: Locked})
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(faults, func(d diag.Diagnostic) bool { return d.Code == diag.SecretNotMade })
	}

	d, _ := base()
	d.Nodes[0].Recipient = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQ== root@anchor"
	says(t, review(d), diag.RecipientInvalid, "nothing can be sealed to anchor: RSA keys are not used", "")

	d, _ = base()
	d.Nodes[0].Recipient = "AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0"
	faults := review(d)
	says(t, faults, diag.RecipientInvalid, "private key", "")
	if strings.Contains(faults[0].Message, "AGE-SECRET") {
		t.Error("the private key is repeated")
	}

	d, h := base()
	d.Nodes[1].Recipient = " " + d.Nodes[0].Recipient
	faults = review(d)
	says(t, faults, diag.RecipientTwice, "board has the same key as anchor, "+h.keys["anchor"].Recipient().Fingerprint(), "")
	if faults[0].At != line(11) || faults[0].Also[0].At != line(10) {
		t.Errorf("places: %v", faults[0])
	}

	d, _ = base()
	d.Recovery = []Key{{d.Nodes[0].Recipient, line(5)}}
	says(t, review(d), diag.RecipientTwice, "the recovery key has the same key as anchor", "")

	d, _ = base()
	d.Nodes[1].Recipient = ""
	faults = review(d)
	says(t, faults, diag.RecipientMissing, "board has no recipient, and gitea@board is to hold the credential for", "mesh-host init board # on that machine; it prints the line for mesh.cue")

	d, _ = base()
	d.Nodes = append(d.Nodes, Node{Name: "phone", At: line(12)})
	if faults := review(d); len(faults) > 0 {
		t.Errorf("a machine that holds nothing needs no key: %v", faults)
	}
}
