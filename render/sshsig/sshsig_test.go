package sshsig

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// The keys and signatures in testdata were made by OpenSSH 9.2.
func testdata(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func testKey(t testing.TB) *Key {
	t.Helper()
	k, err := ParseKey(testdata(t, "key"))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func signersOf(t testing.TB, lines ...string) Signers {
	t.Helper()
	s, err := ParseSigners([]byte(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newKeyFile is a fresh key as ssh-keygen would write it.
func newKeyFile(t testing.TB) []byte {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(block)
}

// BLD-1: the same key signs the same bytes with the same bytes, and they are OpenSSH's
func TestSignIsWhatOpenSSHWrites(t *testing.T) {
	got := testKey(t).Sign(testdata(t, "message"))
	if want := testdata(t, "message.sig512"); !bytes.Equal(got, want) {
		t.Errorf("Sign printed\n%s\nand ssh-keygen\n%s", got, want)
	}
}

func TestVerifyTakesWhatOpenSSHSigned(t *testing.T) {
	k := testKey(t)
	signers := signersOf(t, "# who may sign", "", "admin@home "+k.Public()+" a comment")
	for _, name := range []string{"message.sig512", "message.sig256"} {
		who, err := signers.Verify(testdata(t, "message"), testdata(t, name), noon)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if who.Principals != "admin@home" || who.Fingerprint != k.Fingerprint() {
			t.Errorf("%s: signed by %q %s", name, who.Principals, who.Fingerprint)
		}
	}
}

// HST-1: a signature of other content, in another form or by another key does not count
func TestVerifyRefuses(t *testing.T) {
	k := testKey(t)
	other, err := ParseKey(newKeyFile(t))
	if err != nil {
		t.Fatal(err)
	}
	data, good := testdata(t, "message"), testdata(t, "message.sig512")
	mine := "admin " + k.Public()
	for _, c := range []struct {
		name      string
		signers   Signers
		data, sig []byte
		says      string
	}{
		{"other content", signersOf(t, mine), append(bytes.Clone(data), '\n'), good, "not of this content"},
		{"nobody signs", nil, data, good, "not among the signers"},
		{"somebody else signs", signersOf(t, "admin "+other.Public()), data, good, k.Fingerprint() + ", which is not among"},
		{"another namespace", signersOf(t, mine), data, testdata(t, "message.sigfile"), `for "file", not for "meshc"`},
		{"an RSA key", signersOf(t, mine), data, testdata(t, "message.sigrsa"), "type ssh-rsa"},
		{"nothing", signersOf(t, mine), data, nil, "not a whole SSH signature"},
		{"cut short", signersOf(t, mine), data, good[:len(good)-40], "not a whole SSH signature"},
		{"text before", signersOf(t, mine), data, append([]byte("x\n"), good...), "not a whole SSH signature"},
		{"too early", signersOf(t, "admin valid-after=\"20270101Z\" "+k.Public()), data, good, "only from 2027-01-01"},
		{"too late", signersOf(t, "admin valid-before=\"20250101Z\" "+k.Public()), data, good, "until 2025-01-01"},
		{"for git alone", signersOf(t, "admin namespaces=\"git,file\" "+k.Public()), data, good, "other namespaces"},
		{"for all but meshc", signersOf(t, "admin namespaces=\"*,!meshc\" "+k.Public()), data, good, "other namespaces"},
	} {
		_, err := c.signers.Verify(c.data, c.sig, noon)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want it to say %q", c.name, err, c.says)
		}
	}
	var not *NotSignerError
	if _, err := (Signers{}).Verify(data, good, noon); !errors.As(err, &not) || not.Fingerprint != k.Fingerprint() {
		t.Errorf("a stranger's signature gives %v, not a NotSignerError with his fingerprint", err)
	}
	for _, line := range []string{
		"admin namespaces=\"meshc\" " + k.Public(),
		"admin namespaces=\"git,mesh?\" " + k.Public(),
		"admin,other@* valid-after=\"202501010000Z\",valid-before=\"20270101000000Z\" " + k.Public(),
	} {
		if _, err := signersOf(t, line).Verify(data, good, noon); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// Every byte of a signature counts: changed anywhere, it does not verify.
func TestVerifyRefusesEveryChangedByte(t *testing.T) {
	k := testKey(t)
	signers, data := signersOf(t, "admin "+k.Public()), testdata(t, "message")
	raw, err := dearmor(k.Sign(data))
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		changed := bytes.Clone(raw)
		changed[i] ^= 1
		if _, err := signers.Verify(data, armor(changed), noon); err == nil {
			t.Errorf("byte %d changed, and it still verifies", i)
		}
		if _, err := signers.Verify(data, armor(raw[:i]), noon); err == nil {
			t.Errorf("cut after %d bytes, and it still verifies", i)
		}
	}
	if _, err := signers.Verify(data, armor(append(raw, 0)), noon); err == nil {
		t.Error("a byte more, and it still verifies")
	}
}

func TestParseKeyRefuses(t *testing.T) {
	if _, err := ParseKey(testdata(t, "protected")); !errors.Is(err, ErrPassphrase) {
		t.Errorf("a protected key gives %v", err)
	}
	if _, err := ParseKeyWithPassphrase(testdata(t, "protected"), []byte("a passphrase")); err != nil {
		t.Errorf("a protected key and its passphrase give %v", err)
	}
	if _, err := ParseKeyWithPassphrase(testdata(t, "protected"), []byte("another")); err == nil {
		t.Error("any passphrase opens a protected key")
	}
	if _, err := ParseKey(testdata(t, "rsa")); err == nil || !strings.Contains(err.Error(), "rsa") {
		t.Errorf("an RSA key gives %v", err)
	}
	if _, err := ParseKey(testdata(t, "key.pub")); err == nil {
		t.Error("a public key is taken for a private one")
	}
}

func TestParseSignersRefuses(t *testing.T) {
	k := testKey(t)
	for line, says := range map[string]string{
		k.Public():               "a line is who signs",
		"admin":                  "a line is who signs",
		"admin ssh-ed25519 AAAA": "no public SSH key",
		"admin " + string(testdata(t, "rsa.pub")):    "type ssh-rsa",
		"admin cert-authority " + k.Public():         "cert-authority",
		"admin no-touch-required " + k.Public():      "not known",
		"admin valid-after=\"soon\" " + k.Public():   "no time",
		"admin valid-before=\"2025\" " + k.Public():  "no time",
		"# fine\nadmin " + k.Public() + "\nbroken x": "line 3",
	} {
		if _, err := ParseSigners([]byte(line)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want it to say %q", line, err, says)
		}
	}
}

func TestKeyPrintsAsItsFingerprint(t *testing.T) {
	k := testKey(t)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q", "%d"} {
		if got := fmt.Sprintf(verb, k); got != k.Fingerprint() {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}

// The stock programs and this package take each other's signatures.
func TestWithSSHKeygen(t *testing.T) {
	program := tool(t, "ssh-keygen")
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	run := func(stdin []byte, args ...string) ([]byte, error) {
		cmd := exec.Command(program, args...)
		cmd.Stdin = bytes.NewReader(stdin)
		return cmd.CombinedOutput()
	}

	private := newKeyFile(t)
	k, err := ParseKey(private)
	if err != nil {
		t.Fatal(err)
	}
	data := []byte(`{"digest":"00","serial":7}` + "\n")
	line := "admin namespaces=\"meshc\" " + k.Public() + "\n"
	signers := file("signers", []byte(line))

	if out, err := run(data, "-Y", "verify", "-n", "meshc", "-I", "admin", "-f", signers, "-s", file("sig", k.Sign(data))); err != nil {
		t.Errorf("ssh-keygen refuses our signature: %s", out)
	}
	if out, err := run(append(data, 'x'), "-Y", "verify", "-n", "meshc", "-I", "admin", "-f", signers, "-s", filepath.Join(dir, "sig")); err == nil {
		t.Errorf("ssh-keygen takes our signature for other content: %s", out)
	}

	provenance := file("provenance.json", data)
	if out, err := run(nil, "-Y", "sign", "-n", "meshc", "-f", file("key", private), provenance); err != nil {
		t.Fatalf("ssh-keygen does not sign: %s", out)
	}
	theirs, err := os.ReadFile(provenance + ".sig")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := signersOf(t, line).Verify(data, theirs, noon); err != nil {
		t.Errorf("we refuse ssh-keygen's signature: %v", err)
	}
	if out, err := run([]byte(k.Public()), "-lf", "-"); err != nil || !strings.Contains(string(out), k.Fingerprint()) {
		t.Errorf("ssh-keygen calls the key %s, we call it %s (%v)", out, k.Fingerprint(), err)
	}
}

func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("MESHC_TEST_TOOLS") == "required" {
			t.Fatal(err)
		}
		t.Skipf("%s is not installed", name)
	}
	return path
}

func FuzzVerify(f *testing.F) {
	k := testKey(f)
	good := k.Sign([]byte("x"))
	f.Add(good)
	f.Add(good[:100])
	f.Add([]byte(begin + end))
	raw, _ := dearmor(good)
	f.Add(armor(raw[:20]))
	signers := signersOf(f, "admin "+k.Public())
	f.Fuzz(func(t *testing.T, sig []byte) {
		if _, err := signers.Verify([]byte("y"), sig, noon); err == nil {
			t.Error("a signature of other content verifies")
		}
		_, _ = signers.Verify([]byte("y"), armor(sig), noon)
	})
}

func FuzzParseSigners(f *testing.F) {
	f.Add([]byte("admin " + testKey(f).Public()))
	f.Add([]byte("\"a b\" namespaces=\"x,y\",valid-after=\"20200101\" ssh-ed25519 AAAA"))
	f.Fuzz(func(t *testing.T, file []byte) { _, _ = ParseSigners(file) })
}
