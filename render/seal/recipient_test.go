package seal

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// SEC-1: the three kinds of key are read, and each has one canonical form
func TestParseRecipient(t *testing.T) {
	for kind, id := range identities(t) {
		r := id.Recipient()
		for _, written := range []string{r.String(), r.String() + "\n", "  " + r.String()} {
			got, err := ParseRecipient(written)
			if err != nil || got.String() != r.String() || got.Fingerprint() != r.Fingerprint() || got.Kind() != r.Kind() {
				t.Errorf("%s: %q is read as %v (%v)", kind, written, got, err)
			}
		}
		if fp, ok := strings.CutPrefix(r.Fingerprint(), "SHA256:"); !ok || len(fp) != 43 {
			t.Errorf("%s: fingerprint %s", kind, r.Fingerprint())
		}
	}
	ssh := identityOf(t, "ssh_key").Recipient()
	commented, err := ParseRecipient(ssh.String() + " root@board")
	if err != nil || commented.String() != ssh.String() || commented.Fingerprint() != ssh.Fingerprint() {
		t.Errorf("a comment changes the key: %v (%v)", commented, err)
	}
}

// SEC-1: what is no recipient is refused with the reason, and a private key is never repeated
func TestParseRecipientRefuses(t *testing.T) {
	x := identityOf(t, "x25519_key").Recipient().String()
	ssh := identityOf(t, "ssh_key").Recipient().String()
	private := strings.TrimSpace(strings.Split(string(testdata(t, "x25519_key")), "\n")[2])
	for in, says := range map[string]string{
		"":                             "no key",
		"board":                        "neither",
		x[:len(x)-1]:                   "damaged",
		x[:len(x)-1] + "q":             "damaged",
		x + " a comment":               "damaged",
		"age1pq1" + x[5:]:              "damaged",
		"age1yubikey1" + x[5:]:         "plugin",
		private:                        "private key",
		strings.ToLower(private):       "private key",
		string(testdata(t, "ssh_key")): "private key",
		"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQ== root@board": "RSA",
		"ecdsa-sha2-nistp256 AAAA":                            "sign",
		"sk-ssh-ed25519@openssh.com AAAA":                     "sign",
		"ssh-dss AAAA":                                        "sign",
		"ssh-ed25519-cert-v01@openssh.com AAAA":               "certificate",
		"ssh-ed25519":                                         "damaged",
		"ssh-ed25519 AAAA":                                    "damaged",
		ssh[:len(ssh)-8]:                                      "damaged",
		ssh + "\n" + ssh:                                      "damaged",
		"restrict " + ssh:                                     "neither",
	} {
		_, err := ParseRecipient(in)
		var e *RecipientError
		if !errors.As(err, &e) || !strings.Contains(e.Reason, says) {
			t.Errorf("%q: got %v, want it to say %q", in, err, says)
			continue
		}
		if in != "" && (strings.Contains(e.Reason, private) || strings.Contains(strings.ToUpper(e.Reason), private) || strings.Contains(e.Reason, "OPENSSH")) {
			t.Errorf("%q: the reason repeats the key: %v", in, err)
		}
	}
}

// SEC-5: a blob for another kind of key, or for another SSH key, shows before it is opened
func TestCheck(t *testing.T) {
	ids := identities(t)
	for kind, id := range ids {
		blob := mustSeal(t, purpose, "x", id.Recipient())
		for other, o := range ids {
			if err := o.Recipient().Check(blob); (err == nil) != (kind == other) {
				t.Errorf("a blob for %s, held against %s: %v", kind, other, err)
			}
		}
	}
	other, err := ParseIdentity(testdata(t, "ssh_key2"))
	if err != nil {
		t.Fatal(err)
	}
	blob := mustSeal(t, purpose, "x", ids["ssh"].Recipient())
	var e *BlobError
	if err := other.Recipient().Check(blob); !errors.As(err, &e) || e.Fault != OtherKey {
		t.Errorf("a blob for another SSH key: %v", err)
	}
	if err := ids["ssh"].Recipient().Check(blob[:20]); !errors.As(err, &e) || e.Fault != Cut {
		t.Errorf("a blob cut short: %v", err)
	}
}

func TestParseIdentityRefuses(t *testing.T) {
	age := string(testdata(t, "x25519_key"))
	for name, c := range map[string]struct{ file, says string }{
		"nothing":     {"", "no age identity"},
		"a recipient": {identityOf(t, "x25519_key").Recipient().String(), "no age identity"},
		"two":         {age + age, "2 identities"},
		"RSA":         {string(testdata(t, "rsa_key")), "rsa"},
		"protected":   {string(testdata(t, "protected_key")), "passphrase"},
		"cut short":   {string(testdata(t, "ssh_key"))[:200], "damaged"},
	} {
		_, err := ParseIdentity([]byte(c.file))
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "SECRET-KEY") {
			t.Errorf("%s: got %v, want it to say %q", name, err, c.says)
		}
	}
}

// SEC-1: an identity prints as its recipient's fingerprint, and a generated one is its file
func TestIdentity(t *testing.T) {
	for _, kind := range []Kind{X25519, Hybrid} {
		id, file, err := GenerateIdentity(kind)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseIdentity([]byte(text(file)))
		if err != nil || again.Recipient().String() != id.Recipient().String() || id.Recipient().Kind() != kind {
			t.Errorf("%s: the file is read as %v (%v)", kind, again, err)
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q"} {
			if got := fmt.Sprintf(verb, id); got != id.Recipient().Fingerprint() {
				t.Errorf("%s: %s prints %s", kind, verb, got)
			}
		}
		another, _, err := GenerateIdentity(kind)
		if err != nil || another.Recipient().String() == id.Recipient().String() {
			t.Errorf("%s: two identities are one (%v)", kind, err)
		}
	}
	if _, _, err := GenerateIdentity(Ed25519); err == nil {
		t.Error("an SSH key is made here")
	}
}
