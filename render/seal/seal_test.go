package seal

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var purpose = Purpose{Mesh: "home", Name: "credential postgres@anchor database gitea@board", Role: Consumer, Generation: 3}

// testdata holds keys and blobs that stock programs made: age 1.1.1, age 1.3.2
// for the hybrid key, and ssh-keygen 9.2.
func testdata(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func identityOf(t testing.TB, file string) Identity {
	t.Helper()
	id, err := ParseIdentity(testdata(t, file))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func identities(t testing.TB) map[string]Identity {
	t.Helper()
	return map[string]Identity{
		"x25519": identityOf(t, "x25519_key"),
		"hybrid": identityOf(t, "hybrid_key"),
		"ssh":    identityOf(t, "ssh_key"),
	}
}

func text(s Secret) (out string) {
	s.Use(func(b []byte) { out = string(b) })
	return out
}

func mustSeal(t testing.TB, p Purpose, s string, to Recipient) []byte {
	t.Helper()
	blob, err := Seal(p, NewSecret([]byte(s)), to)
	if err != nil {
		t.Fatal(err)
	}
	return blob
}

func faultOf(err error) Fault {
	var e *OpenError
	if errors.As(err, &e) {
		return e.Fault
	}
	return 0
}

// SEC-1: what is sealed to a key comes back exactly, and no other key opens it
func TestSealAndOpen(t *testing.T) {
	ids := identities(t)
	for kind, id := range ids {
		for _, s := range []string{"x", "no newline", "a newline\n", "\n\nmeshc secret 1\n\n", "\x00\xff\xfe", strings.Repeat("long ", 5000)} {
			blob := mustSeal(t, purpose, s, id.Recipient())
			got, err := Open(id, blob, purpose, "")
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if text(got) != s {
				t.Errorf("%s: %q came back as %q", kind, s, text(got))
			}
			if bytes.Contains(blob, []byte("gitea")) {
				t.Errorf("%s: the blob shows what it is for", kind)
			}
			for other, o := range ids {
				if _, err := Open(o, blob, purpose, ""); other != kind && faultOf(err) != OtherKey {
					t.Errorf("%s opens what is sealed to %s, or says the wrong thing: %v", other, kind, err)
				}
			}
			another, _, err := GenerateIdentity(X25519)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Open(another, blob, purpose, ""); faultOf(err) != OtherKey {
				t.Errorf("a new key opens what is sealed to %s, or says the wrong thing: %v", kind, err)
			}
		}
	}
}

// SEC-1: a blob that stock programs made from the documented form opens
func TestOpenTakesWhatAgeSealed(t *testing.T) {
	for kind, id := range identities(t) {
		s, err := Open(id, testdata(t, kind+".age"), purpose, "")
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if text(s) != "s3cret\n\nwith lines" {
			t.Errorf("%s: got %q", kind, text(s))
		}
	}
}

// SEC-5: a blob that sits where another belongs is refused, naming both
func TestOpenRefusesAnotherPurpose(t *testing.T) {
	id := identityOf(t, "x25519_key")
	blob := mustSeal(t, purpose, "x", id.Recipient())
	for _, change := range []func(*Purpose){
		func(p *Purpose) { p.Mesh = "cabin" },
		func(p *Purpose) { p.Name = "credential postgres@anchor database gitea@office" },
		func(p *Purpose) { p.Role = Provider },
		func(p *Purpose) { p.Generation = 2 },
		func(p *Purpose) { p.Generation = 4 },
	} {
		want := purpose
		change(&want)
		_, err := Open(id, blob, want, "")
		if faultOf(err) != OtherPurpose || !strings.Contains(err.Error(), want.String()) || !strings.Contains(err.Error(), purpose.String()) {
			t.Errorf("wanted %s and got %v", want, err)
		}
	}
}

// O36: the message names the secret, the key that it was sealed to, and the key that the machine has
func TestOpenErrorNamesBothKeys(t *testing.T) {
	ids := identities(t)
	blob := mustSeal(t, purpose, "hunter2", ids["ssh"].Recipient())
	_, err := Open(ids["x25519"], blob, purpose, ids["ssh"].Recipient().Fingerprint())
	for _, part := range []string{
		"credential postgres@anchor database gitea@board",
		"sealed to " + ids["ssh"].Recipient().Fingerprint(),
		"this machine's key is " + ids["x25519"].Recipient().Fingerprint(),
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
}

// HST-1: a blob that was cut, altered or is none at all is told apart
func TestOpenTellsDamageApart(t *testing.T) {
	for kind, id := range identities(t) {
		blob := mustSeal(t, purpose, "hunter2", id.Recipient())
		mac := bytes.Index(blob, []byte("\n--- ")) + 1
		payload := mac + bytes.IndexByte(blob[mac:], '\n') + 1
		for n := range blob {
			want := Altered
			if n < payload+nonceSize+tagSize {
				want = Cut
			}
			if _, err := Open(id, blob[:n], purpose, ""); faultOf(err) != want {
				t.Errorf("%s: cut at %d of %d: %v", kind, n, len(blob), err)
			}
			changed := bytes.Clone(blob)
			changed[n] ^= 1
			if _, err := Open(id, changed, purpose, ""); faultOf(err) == 0 || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: byte %d changed: %v", kind, n, err)
			}
		}
		for name, foreign := range map[string][]byte{
			"text":       []byte("hunter2 hunter2 hunter2"),
			"armored":    []byte("-----BEGIN AGE ENCRYPTED FILE-----\n"),
			"twice":      append(bytes.Clone(blob), blob...),
			"more":       append(bytes.Clone(blob), 0),
			"very large": append(bytes.Clone(blob), make([]byte, maxBlob)...),
		} {
			_, err := Open(id, foreign, purpose, "")
			if f := faultOf(err); f != Foreign && f != Altered || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: %s: %v", kind, name, err)
			}
		}
	}
}

// SEC-5: an age file that was not sealed by meshc does not pass for a secret
func TestOpenRefusesWhatIsNotOurs(t *testing.T) {
	id := identityOf(t, "x25519_key")
	for plain, want := range map[string]Fault{
		"hunter2":                               Foreign,
		"meshc secret 1\nmesh: home\n\nhunter2": Foreign,
		"meshc secret 2\nmesh: home\n\nhunter2": Newer,
		"meshc secret 1\nsecret: " + purpose.Name + "\nmesh: home\nrole: consumer\ngeneration: 3\n\nhunter2":                                                     Foreign,
		"meshc secret 1\nmesh: home\nsecret: " + purpose.Name + "\nrole: consumer\ngeneration: 03\n\nhunter2":                                                    Foreign,
		"meshc secret 1\nmesh: home\nsecret: " + purpose.Name + "\nrole: consumer\ngeneration: 3\nmore: x\n\nhunter2":                                            Foreign,
		"meshc secret 1\nmesh: home\nsecret: " + purpose.Name + "\nrole: consumer\ngeneration: 3\n\n":                                                            Foreign,
		"meshc secret 1\r\nmesh: home\r\nsecret: " + purpose.Name + "\r\nrole: consumer\r\ngeneration: 3\r\n\r\nhunter2":                                         Foreign,
		"meshc secret 1\nmesh: home\nsecret: " + strings.Repeat("x", maxHeader) + "\nrole: consumer\ngeneration: 3\n\nhunter2":                                   Foreign,
		"meshc secret 1\nmesh: home\nsecret: " + purpose.Name + "\nrole: consumer\ngeneration: 99999999999999999999999999999999999999999999999999\n\nhunter2":    Foreign,
		"meshc secret 1\nmesh: home\nsecret: " + purpose.Name + " \nrole: consumer\ngeneration: 3\n\nhunter2":                                                    OtherPurpose,
		"meshc secret 1\nmesh: home\nsecret: " + purpose.Name + "\nrole: consumer\ngeneration: 3\n\nhunter2 and what follows\n\nmeshc secret 1\nmesh: home\n\nx": 0,
	} {
		_, err := Open(id, ageSeal(t, plain, id.Recipient()), purpose, "")
		if got := faultOf(err); got != want || err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %v, want fault %d", plain, err, want)
		}
	}
}

// SEC-1: a blob has one recipient, also where the key that opens it is among several
func TestOpenRefusesSeveralRecipients(t *testing.T) {
	id, other := identityOf(t, "x25519_key"), identityOf(t, "ssh_key")
	header, err := purpose.header()
	if err != nil {
		t.Fatal(err)
	}
	blob := ageSeal(t, string(header)+"x", id.Recipient(), other.Recipient())
	if _, err := Open(id, blob, purpose, ""); faultOf(err) != Foreign || !strings.Contains(err.Error(), "exactly one recipient") {
		t.Errorf("got %v", err)
	}
}

// HST-1: the age format's own test vectors never pass, and fail for the right reason
func TestOpenOnAgeVectors(t *testing.T) {
	names, err := filepath.Glob("testdata/age-vectors/*")
	if err != nil || len(names) < 50 {
		t.Fatalf("%d vectors: %v", len(names), err)
	}
	for _, name := range names {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		head, blob, _ := bytes.Cut(file, []byte("\n\n"))
		field := func(key string) string {
			for line := range strings.Lines(string(head) + "\n") {
				if v, ok := strings.CutPrefix(line, key+": "); ok {
					return strings.TrimSpace(v)
				}
			}
			return ""
		}
		id := identityOf(t, "x25519_key")
		if key := field("identity"); key != "" {
			if id, err = ParseIdentity([]byte(key)); err != nil {
				t.Fatal(name, err)
			}
		}
		_, err = Open(id, blob, purpose, "")
		got := faultOf(err)
		base := filepath.Base(name)
		switch field("expect") {
		case "success": // opens, and is not ours; those with other stanzas beside the key's are refused before
			if got != Foreign {
				t.Errorf("%s: %v", base, err)
			}
		case "no match":
			if got != OtherKey && got != Foreign {
				t.Errorf("%s: %v", base, err)
			}
		default:
			if got != Cut && got != Altered && got != Foreign {
				t.Errorf("%s: %v", base, err)
			}
		}
	}
}

func TestSealRefuses(t *testing.T) {
	to := identityOf(t, "x25519_key").Recipient()
	// 32 zero bytes: of the right form, and a point of low order, from which anybody knows the shared key.
	lowOrder, err := ParseRecipient("age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq5cu47z")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Seal(purpose, NewSecret([]byte("x")), lowOrder); err == nil || !strings.Contains(err.Error(), lowOrder.Fingerprint()) {
		t.Errorf("a point of low order: %v", err)
	}
	for name, c := range map[string]struct {
		change func(*Purpose)
		secret string
		to     Recipient
		says   string
	}{
		"no recipient":    {nil, "x", Recipient{}, "no recipient"},
		"empty":           {nil, "", to, "empty"},
		"too long":        {nil, strings.Repeat("hunter2", MaxLen), to, "more than 65536"},
		"no generation":   {func(p *Purpose) { p.Generation = 0 }, "x", to, "count from 1"},
		"a line end":      {func(p *Purpose) { p.Name = "a\nrole: provider" }, "x", to, "cannot be the secret"},
		"no mesh":         {func(p *Purpose) { p.Mesh = "" }, "x", to, "cannot be the mesh"},
		"far too long":    {func(p *Purpose) { p.Name = strings.Repeat("x", maxHeader) }, "x", to, "more than 4096"},
		"beyond ASCII":    {func(p *Purpose) { p.Name = "bücher" }, "x", to, "cannot be the secret"},
		"a role of blank": {func(p *Purpose) { p.Role = "" }, "x", to, "cannot be the role"},
	} {
		p := purpose
		if c.change != nil {
			c.change(&p)
		}
		_, err := Seal(p, NewSecret([]byte(c.secret)), c.to)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want it to say %q", name, err, c.says)
		}
	}
}

// Foreign bytes never open, and nothing panics.
func FuzzOpen(f *testing.F) {
	ids := identities(f)
	for _, id := range ids {
		blob := mustSeal(f, purpose, "hunter2", id.Recipient())
		f.Add(blob)
		f.Add(blob[:len(blob)/2])
	}
	f.Add([]byte(magic + "-> X25519 x\n\n--- x\n"))
	f.Fuzz(func(t *testing.T, blob []byte) {
		for _, id := range ids {
			// A seed itself opens for its own purpose; nothing opens for one that was never sealed.
			want := purpose
			want.Generation = 77
			if _, err := Open(id, blob, want, ""); err == nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("foreign bytes: %v", err)
			}
			_ = id.Recipient().Check(blob)
		}
	})
}

// A header is read back as it was written, and what is read is written the same.
func FuzzHeader(f *testing.F) {
	h, _ := purpose.header()
	f.Add(append(h, "secret"...))
	f.Add([]byte("meshc secret 1\nmesh: a\n\n"))
	f.Fuzz(func(t *testing.T, plain []byte) {
		p, rest, err := parseHeader(plain)
		if err != nil {
			return
		}
		again, err := p.header()
		if err != nil || !bytes.Equal(append(again, rest...), plain) {
			t.Errorf("%q was read as %+v, which is written %q (%v)", plain, p, again, err)
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	for kind, id := range identities(b) {
		b.Run(kind, func(b *testing.B) {
			for b.Loop() {
				s, err := Generate(Password, 0, rand.Reader)
				if err != nil {
					b.Fatal(err)
				}
				mustSeal(b, purpose, text(s), id.Recipient())
			}
		})
	}
}

// 10,000 credentials, made and sealed at both ends, on all processors.
func BenchmarkTenThousandCredentials(b *testing.B) {
	for kind, id := range identities(b) {
		b.Run(kind, func(b *testing.B) {
			for b.Loop() {
				work := make(chan int)
				done := make(chan error)
				for range 2 {
					go func() {
						for i := range work {
							s, err := Generate(Password, 0, rand.Reader)
							p := Purpose{"home", fmt.Sprintf("credential postgres@anchor database app%d@board", i), Consumer, 1}
							_, err1 := Seal(p, s, id.Recipient())
							p.Role = Provider
							_, err2 := Seal(p, s, id.Recipient())
							s.Wipe()
							done <- errors.Join(err, err1, err2)
						}
					}()
				}
				go func() {
					for i := range 10_000 {
						work <- i
					}
					close(work)
				}()
				for range 10_000 {
					if err := <-done; err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
