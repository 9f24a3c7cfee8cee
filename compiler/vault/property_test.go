package vault

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/lock"
	"meshc.dev/render/seal"
)

func sha256Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func noRandom() io.Reader { return iotest.ErrReader(errors.New("no entropy")) }

// somePairs draws pairs over few short names, so that they look alike.
func somePairs(r *mathrand.Rand, n int, nodes []addr.Node) []addr.Pair {
	words := []string{"a", "b", "a-b", "aa", "database", "x"}
	word := func() string { return words[r.IntN(len(words))] }
	seen := map[string]bool{}
	var out []addr.Pair
	for len(out) < n {
		p := addr.Pair{
			Provider:  addr.Instance{Name: word(), Node: nodes[r.IntN(len(nodes))]},
			Provision: word(),
			Consumer:  addr.Consumer{Instance: addr.Instance{Name: word(), Node: nodes[r.IntN(len(nodes))]}, Label: word()},
		}
		if !seen[p.String()] {
			seen[p.String()] = true
			out = append(out, p)
		}
	}
	return out
}

// SEC-1: the recipients of a pair's blobs are exactly its ends, whatever the names, and every other key fails to open them
func TestPropertyRecipientsAreTheEnds(t *testing.T) {
	nodes := []addr.Node{"a", "b", "a-b", "aa"}
	for seed := range uint64(3) {
		r := mathrand.New(mathrand.NewPCG(seed, 1))
		h := newHome(t, nodes...)
		for _, p := range somePairs(r, 15, nodes) {
			h.want(credential(p.String()))
		}
		c, _ := h.must(Mode{Step: Build})
		blobs := map[string]string{}
		for _, s := range c.Secrets {
			p := s.Name.Pair
			opens := map[addr.Node]bool{}
			for _, e := range s.Ends {
				if other, ok := blobs[e.Blob]; ok {
					t.Errorf("%s and %s share %s", other, s.Name, e.Blob)
				}
				blobs[e.Blob] = s.Name.String()
				for node, id := range h.keys {
					if _, err := seal.Open(id, c.Blob(e.Blob), e.Purpose, ""); err == nil {
						opens[node] = true
						if node != e.Node {
							t.Errorf("%s opens the blob of %s", node, e.Node)
						}
					}
				}
				// No blob passes for any other, not even on its own machine.
				for _, o := range c.Secrets {
					for _, oe := range o.Ends {
						if oe.Node == e.Node && oe.Blob != e.Blob {
							if _, err := seal.Open(h.keys[e.Node], c.Blob(e.Blob), oe.Purpose, ""); err == nil {
								t.Errorf("the blob of %s passes for that of %s", s.Name, o.Name)
							}
						}
					}
				}
			}
			if len(opens) == 0 || !opens[p.Provider.Node] || !opens[p.Consumer.Instance.Node] {
				t.Errorf("%s is opened by %v", s.Name, opens)
			}
		}
		h.must(Mode{Step: Locked})
	}
}

// SEC-3: no two copies share a blob's name, a consumer's file or a name in the bundle, for any names
func TestPropertyNamesAreInjective(t *testing.T) {
	long := strings.Repeat("x", 62)
	words := []string{"a", "b", "a-b", "for", long + "a", long + "b"}
	var pairs []addr.Pair
	r := mathrand.New(mathrand.NewPCG(1, 2))
	word := func() string { return words[r.IntN(len(words))] }
	inst := func() addr.Instance { return addr.Instance{Name: word(), Node: addr.Node(word())} }
	for range 4000 {
		pairs = append(pairs, addr.Pair{Provider: inst(), Provision: word(), Consumer: addr.Consumer{Instance: inst(), Label: word()}})
	}
	prefixes, files, inBundle := map[string]string{}, map[string]string{}, map[string]string{}
	claim := func(m map[string]string, name, whose string) {
		t.Helper()
		if other, ok := m[name]; ok && other != whose {
			t.Fatalf("%q is the name of %s and of %s", name, other, whose)
		}
		m[name] = whose
		for part := range strings.SplitSeq(name, "/") {
			if len(part) > 255-tagLen-len(blobEnd) {
				t.Fatalf("%q has %d bytes", part, len(part))
			}
		}
	}
	enter := func(n Name, role seal.Role, holder addr.Instance) {
		claim(prefixes, blobPrefix(n.String(), lock.End{Role: string(role), Holder: holder.String()}), n.String()+" "+string(role)+" "+holder.String())
	}
	for _, p := range pairs {
		enter(Credential(p), seal.Consumer, p.Consumer.Instance)
		enter(Credential(p), seal.Provider, p.Provider)
		i, j := p.Provider, p.Consumer.Instance
		enter(Need(i, p.Provision), seal.Holder, i)
		enter(Supplied(Need(i, p.Provision)), seal.Holder, i)
		enter(SharedNeed(i.Name, p.Provision, ""), seal.Holder, j)
		enter(SharedNeed(i.Name, p.Provision, string(i.Node)), seal.Holder, j)
		enter(Licence(p.Provision), seal.Holder, j)
		claim(files, ConsumerFile(p.Consumer), p.Consumer.String())
		claim(inBundle, BundleName(addr.Resource{Instance: i.Name, Kind: "secret", Name: "requires." + p.Provision}), "requires "+i.Name+" "+p.Provision)
		claim(inBundle, BundleName(addr.Resource{Instance: i.Name, Kind: "secret", Name: "needs." + p.Provision}), "needs "+i.Name+" "+p.Provision)
		claim(inBundle, BundleName(addr.Resource{Instance: i.Name, Kind: "secret", Name: "provides." + p.Provision + "." + j.Name}), "provides "+i.Name+" "+p.Provision+" "+j.Name)
	}
}

// CON-8: adding a consumer writes only its own two blobs and its own line; removing it and returning gives back the same bytes
func TestPropertyAddRemoveReturn(t *testing.T) {
	nodes := []addr.Node{"a", "b", "a-b"}
	h := newHome(t, nodes...)
	pairs := somePairs(mathrand.New(mathrand.NewPCG(3, 4)), 12, nodes)
	for i, p := range pairs {
		before := h.files()
		h.want(credential(p.String()))
		c, _ := h.must(Mode{Step: Build})
		after := h.files()
		s, _ := c.Find(Credential(p))
		want := []string{lock.File}
		for _, e := range s.Ends {
			want = append(want, "sealed/"+e.Blob)
		}
		slices.Sort(want)
		if got := changed(before, after); !slices.Equal(got, want) || len(want) != 3 {
			t.Errorf("adding %s changed %v, want %v", p, got, want)
		}
		if i > 0 {
			if added := lineDiff(before[lock.File], after[lock.File]); len(added) != 1 || !strings.Contains(added[0], p.String()) {
				t.Errorf("adding %s changed the lines %q", p, added)
			}
		}
	}
	all := h.files()
	for _, p := range pairs {
		h.unwant(Credential(p))
		h.must(Mode{Step: Build})
		h.must(Mode{Step: Relock})
		h.want(credential(p.String()))
		if _, plan := h.must(Mode{Step: Build}); len(plan.Of(Kept)) != len(pairs) {
			t.Errorf("%s did not come back as it was", p)
		}
	}
	if d := changed(all, h.files()); len(d) > 0 {
		t.Errorf("changed: %v", d)
	}
}

func lineDiff(before, after string) []string {
	old := map[string]bool{}
	for l := range strings.Lines(before) {
		old[l] = true
	}
	var out []string
	for l := range strings.Lines(after) {
		if !old[l] {
			out = append(out, l)
		}
	}
	return out
}

// BLD-1: the order in which secrets are wanted does not matter
func TestPropertyOrder(t *testing.T) {
	nodes := []addr.Node{"a", "b", "a-b"}
	h := newHome(t, nodes...)
	r := mathrand.New(mathrand.NewPCG(5, 6))
	for _, p := range somePairs(r, 10, nodes) {
		h.want(credential(p.String()))
	}
	_, _, first := h.step(Mode{Step: Locked})
	h.must(Mode{Step: Build})
	before := h.files()
	for range 5 {
		r.Shuffle(len(h.wants), func(i, j int) { h.wants[i], h.wants[j] = h.wants[j], h.wants[i] })
		h.must(Mode{Step: Build})
		if d := changed(before, h.files()); len(d) > 0 {
			t.Errorf("changed: %v", d)
		}
	}
	fresh := newHome(t)
	fresh.keys, fresh.wants = h.keys, h.wants
	if _, _, again := fresh.step(Mode{Step: Locked}); fmt.Sprint(again) != fmt.Sprint(first) {
		t.Errorf("the diagnostics depend on the order:\n%v\n%v", first, again)
	}
}

func TestNames(t *testing.T) {
	i := instance("gitea@board")
	for want, n := range map[string]Name{
		"credential postgres@anchor database gitea@board":       Credential(pair("postgres@anchor database gitea@board")),
		"credential proxy@anchor reverse-proxy gitea@board web": Credential(pair("proxy@anchor reverse-proxy gitea@board web")),
		"need gitea@board secret-key":                           Need(i, "secret-key"),
		"need mesh consul gossip":                               SharedNeed("consul", "gossip", ""),
		"need site house consul gossip":                         SharedNeed("consul", "gossip", "house"),
		"supplied gitea@board token":                            Supplied(Need(i, "token")),
		"supplied mesh consul token":                            Supplied(SharedNeed("consul", "token", "")),
		"licence personal":                                      Licence("personal"),
	} {
		if n.String() != want {
			t.Errorf("%q is printed %q", want, n)
		}
		if got, err := ParseName(want); err != nil || got != n {
			t.Errorf("%q is read as %#v (%v)", want, got, err)
		}
	}
	for _, s := range []string{"", "need", "need gitea@board", "need gitea secret", "need mesh consul", "need site house consul", "credential x", "licence", "licence a b", "licence A", "need gitea@board  x", "supplied licence x", "need site house consul gossip more", "credential a@b c d@e c"} {
		if n, err := ParseName(s); err == nil {
			t.Errorf("%q is read as %#v", s, n)
		}
	}
	if got := blobName("credential "+gitea, lock.End{Role: "consumer", Holder: "gitea@board"}, []byte("x")); got != "board/credential.postgres@anchor.database.gitea@board.consumer.2d711642b726.age" || !isOurs(got) {
		t.Errorf("blob name %s", got)
	}
	if got := BundleName(addr.Resource{Instance: "gitea", Kind: "secret", Name: "requires.database"}); got != "gitea.database" {
		t.Errorf("bundle name %s", got)
	}
}

// SEC-1: nothing that is written holds a secret, in any form
func TestNothingWrittenHoldsASecret(t *testing.T) {
	h := newHome(t, "anchor", "board")
	h.want(credential(gitea), held(Licence("personal"), "gitea@board"))
	accept(h, Licence("personal"), "Kanarienvogel7")
	c, p := h.must(Mode{Step: Build})
	value := h.value(c, Credential(pair(gitea)), seal.Consumer, "gitea@board")
	everything := fmt.Sprintf("%v %+v %#v %+v", p, p, c, c.Secrets)
	for name, content := range h.files() {
		everything += name + content
	}
	x := h.begin()
	defer x.Close()
	for _, name := range []string{busyFile, ignoreFile} {
		b, err := x.store.disk.ReadFile(x.store.path(name))
		if err != nil {
			t.Fatal(err)
		}
		everything += string(b)
	}
	for _, secret := range []string{value, "Kanarienvogel7"} {
		for _, form := range []string{secret, fmt.Sprintf("%x", secret), fmt.Sprint([]byte(secret))} {
			if bytes.Contains([]byte(everything), []byte(form)) {
				t.Errorf("a secret is written")
			}
		}
	}
}
