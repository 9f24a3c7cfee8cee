package seal

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
)

// ageSeal seals any plaintext to any number of recipients, as only others would.
func ageSeal(t testing.TB, plain string, to ...Recipient) []byte {
	t.Helper()
	var keys []age.Recipient
	for _, r := range to {
		keys = append(keys, r.age)
	}
	var blob bytes.Buffer
	w, err := age.Encrypt(&blob, keys...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(plain)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return blob.Bytes()
}

func missing(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("MESHC_TEST_TOOLS") == "required" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, "%s is not installed", name)
	}
	return path
}

// stockOpens asks an age program to open a blob with a key of its own, and looks
// at the whole of what a person would see.
func stockOpens(t *testing.T, program, key string, blob []byte) {
	t.Helper()
	keyFile, err := filepath.Abs(filepath.Join("testdata", key))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "blob.age")
	if err := os.WriteFile(file, blob, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "-d", "-i", keyFile, file).Output()
	if err != nil {
		t.Fatalf("%s does not open a blob for %s: %v", program, key, err)
	}
	want := "meshc secret 1\nmesh: home\nsecret: " + purpose.Name + "\nrole: consumer\ngeneration: 3\n\nexactly\n\nthis"
	if string(out) != want {
		t.Errorf("%s prints %q, want %q", program, out, want)
	}
	cut := exec.Command("sed", "1,/^$/d")
	cut.Stdin = bytes.NewReader(out)
	if only, err := cut.Output(); err != nil || string(only) != "exactly\n\nthis" {
		t.Errorf("the documented sed leaves %q (%v)", only, err)
	}
}

// SEC-1: the stock age program opens a blob with the machine's key
func TestStockAgeOpens(t *testing.T) {
	program := tool(t, "age")
	for _, key := range []string{"x25519_key", "ssh_key"} {
		id := identityOf(t, key)
		stockOpens(t, program, key, mustSeal(t, purpose, "exactly\n\nthis", id.Recipient()))
	}
}

// SEC-1: the age module's own program opens a blob for a post-quantum key, which Debian's does not know
func TestModuleAgeOpensHybrid(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir := t.TempDir()
	build := exec.Command("go", "install", "filippo.io/age/cmd/age@v1.3.2")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		missing(t, "age 1.3.2 cannot be built here: %s", out)
	}
	program := filepath.Join(dir, "age")
	for _, key := range []string{"hybrid_key", "x25519_key", "ssh_key"} {
		id := identityOf(t, key)
		stockOpens(t, program, key, mustSeal(t, purpose, "exactly\n\nthis", id.Recipient()))
	}
}

// SEC-9: an SSH key's fingerprint is the one that ssh-keygen prints
func TestFingerprintIsSSHKeygens(t *testing.T) {
	out, err := exec.Command(tool(t, "ssh-keygen"), "-lf", filepath.Join("testdata", "ssh_key.pub")).Output()
	if err != nil {
		t.Fatal(err)
	}
	if fp := identityOf(t, "ssh_key").Recipient().Fingerprint(); !strings.Contains(string(out), " "+fp+" ") {
		t.Errorf("we say %s, ssh-keygen says %s", fp, out)
	}
}

// A generated identity is a file that the age programs read.
func TestGeneratedIdentityIsAges(t *testing.T) {
	keygen := tool(t, "age-keygen")
	id, file, err := GenerateIdentity(X25519)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(keygen, "-y")
	file.Use(func(b []byte) { cmd.Stdin = bytes.NewReader(b) })
	out, err := cmd.Output()
	if err != nil || strings.TrimSpace(string(out)) != id.Recipient().String() {
		t.Errorf("age-keygen reads the recipient %s of our identity file, we say %s (%v)", out, id.Recipient(), err)
	}
}
