package trust

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
)

// authority makes certificates: its own root, and others that it signs.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pem  string
}

func certificateOf(t *testing.T, c *x509.Certificate, key *ecdsa.PrivateKey, by *authority) string {
	t.Helper()
	parent, signer := c, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func template(name string, ca bool) *x509.Certificate {
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true, IsCA: ca,
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0),
	}
	if ca {
		c.KeyUsage = x509.KeyUsageCertSign
	}
	return c
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{key: newKey(t), cert: template(name, true)}
	a.pem = certificateOf(t, a.cert, a.key, nil)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func mesh(roots ...plan.Root) *plan.Plan {
	return &plan.Plan{Mesh: "home", Roots: roots, Nodes: []*plan.Node{
		{Name: "anchor", At: diag.Pos{File: "mesh.cue", Line: 3, Column: 9}}, {Name: "board", At: diag.Pos{File: "mesh.cue", Line: 9, Column: 9}},
	}}
}

func root(instance, node, text string) plan.Root {
	return plan.Root{Authority: addr.Instance{Name: instance, Node: addr.Node(node)}, PEM: text}
}

// CMP-3: the roots of all authorities are in the file, each once, in an order of their own.
func TestBundle(t *testing.T) {
	a, b := newAuthority(t, "a"), newAuthority(t, "b")
	got, l := Bundle(mesh(root("step", "board", "subject=b\n"+b.pem+"\n"+a.pem), root("ca", "anchor", a.pem)))
	if len(l) > 0 {
		t.Fatal(l)
	}
	want := "# ca@anchor, step@board in the mesh home\n" + a.pem + "# step@board in the mesh home\n" + b.pem
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
	again, _ := Bundle(mesh(root("ca", "anchor", a.pem), root("step", "board", b.pem+a.pem)))
	if !bytes.Equal(again[:len(a.pem)], got[:len(a.pem)]) {
		t.Errorf("in another order\n%s", again)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(got) {
		t.Error("Go reads no certificate from it")
	}
	for _, ca := range []*authority{a, b} {
		block, _ := pem.Decode([]byte(certificateOf(t, template("leaf", false), newKey(t), ca)))
		leaf, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: pool}); err != nil {
			t.Errorf("a certificate of %s: %v", ca.cert.Subject, err)
		}
	}
}

// CMP-3: a root that was signed with an algorithm of old is a root.
func TestOldRoot(t *testing.T) {
	old := template("old", true)
	old.SignatureAlgorithm = x509.ECDSAWithSHA1
	if _, l := Bundle(mesh(root("ca", "anchor", certificateOf(t, old, newKey(t), nil)))); len(l) > 0 {
		t.Error(l)
	}
}

// CMP-3: a mesh without an authority has a file that holds no root.
func TestNoAuthority(t *testing.T) {
	got, l := Bundle(mesh())
	if len(l) > 0 || string(got) != "# no certificate authority in the mesh home\n" {
		t.Errorf("%q %v", got, l)
	}
}

// CMP-3: what must not be trusted is refused with its reason, its text is not repeated, and
// the other roots stay.
func TestRefused(t *testing.T) {
	ca := newAuthority(t, "ca")
	middle := &authority{key: newKey(t), cert: template("middle", true)}
	middle.pem = certificateOf(t, middle.cert, middle.key, ca)
	key := newKey(t)
	noSign := template("no sign", true)
	noSign.KeyUsage = x509.KeyUsageDigitalSignature
	old := template("middle of old", true)
	old.SignatureAlgorithm = x509.ECDSAWithSHA1
	oldMiddle := certificateOf(t, old, key, ca)
	twin := newAuthority(t, "ca") // the same name, another key
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	private := string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
	public := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte("x")}))
	for _, c := range []struct {
		name, text string
		code       diag.Code
		says       string
	}{
		{"key", private, diag.RootWithKey, "it holds a private key"},
		{"key behind", ca.pem + private, diag.RootWithKey, "it holds a private key"},
		{"key before, cut", private[:60] + "\n" + ca.pem, diag.RootWithKey, "it holds a private key"},
		{"OpenSSH key", "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA", diag.RootWithKey, "it holds a private key"},
		{"server", certificateOf(t, template("anchor", false), key, nil), diag.NotARoot, "is not one of an authority"},
		{"may not sign", certificateOf(t, noSign, key, nil), diag.NotARoot, "is not one of an authority"},
		{"intermediate", middle.pem, diag.NotARoot, "was issued by another authority"},
		{"beside a root", ca.pem + middle.pem, diag.NotARoot, "was issued by another authority"},
		{"signed by its namesake", certificateOf(t, template("ca", true), key, twin), diag.NotARoot, "was issued by another authority"},
		{"intermediate of old", oldMiddle, diag.NotARoot, "was issued by another authority"},
		{"nothing", "", diag.NotARoot, "no certificate in PEM"},
		{"words", "see the wiki", diag.NotARoot, "no certificate in PEM"},
		{"other block", public, diag.NotARoot, "something that is no certificate"},
		{"not closed", ca.pem[:len(ca.pem)-30], diag.NotARoot, "damaged or not closed"},
		{"one of two not closed", ca.pem + ca.pem[:len(ca.pem)-30], diag.NotARoot, "damaged or not closed"},
		{"damaged before", "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n" + ca.pem, diag.NotARoot, "damaged or not closed"},
		{"not DER", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", diag.NotARoot, "cannot be read"},
	} {
		good := newAuthority(t, "good")
		got, l := Bundle(mesh(root("ca", "anchor", c.text), root("ca", "board", good.pem)))
		if len(l) != 1 || l[0].Code != c.code || !strings.Contains(l[0].Message, c.says) || !strings.Contains(l[0].Message, "ca@anchor") || l[0].At.Line != 3 {
			t.Errorf("%s: %+v", c.name, l)
			continue
		}
		if !strings.HasSuffix(string(got), good.pem) || bytes.Count(got, []byte("BEGIN")) != 1 {
			t.Errorf("%s: the file is\n%s", c.name, got)
		}
		for _, line := range strings.Split(c.text, "\n") {
			if len(line) > 20 && !strings.HasPrefix(line, "-----") && strings.Contains(l[0].Message+l[0].Help, line) {
				t.Errorf("%s: the message repeats what it refuses: %s", c.name, l[0].Message)
			}
		}
	}
}

// CMP-3: openssl, which most programs read such files with, verifies with it.
func TestOpenSSL(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		if os.Getenv("MESHC_TEST_TOOLS") == "required" {
			t.Fatal("openssl is not installed")
		}
		t.Skip("openssl is not installed")
	}
	a, b := newAuthority(t, "a"), newAuthority(t, "b")
	file := filepath.Join(t.TempDir(), "roots.pem")
	bundle, _ := Bundle(mesh(root("ca", "anchor", a.pem), root("ca", "board", b.pem)))
	if err := os.WriteFile(file, bundle, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, ca := range []*authority{a, b} {
		leaf := filepath.Join(t.TempDir(), "leaf.pem")
		if err := os.WriteFile(leaf, []byte(certificateOf(t, template("leaf", false), newKey(t), ca)), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(openssl, "verify", "-CAfile", file, leaf).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// DIA-5: whatever stands in a root, it is read or refused, and a private key never gets through.
func FuzzRead(f *testing.F) {
	f.Add("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
	f.Add("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
	f.Add("-----BEGIN X-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END X-----")
	f.Fuzz(func(t *testing.T, s string) {
		b, l := Bundle(mesh(root("ca", "anchor", s)))
		if strings.Contains(string(b), "PRIVATE KEY") || len(l) == 0 && !bytes.Contains(b, []byte("BEGIN CERTIFICATE")) {
			t.Errorf("%q gives %q, %v", s, b, l)
		}
	})
}
