package host

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"meshc.dev/render/bundle"
	"meshc.dev/render/seal"
)

const (
	// Every encoding writes this one otherwise.
	password = `Kanari"envo'gel & 7/%`
	// A key has several lines, of which a program may repeat one.
	privateKey = "-----BEGIN KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbm\nUAAAAEbm9uZQAAAAAAAAABAAAAMwAA\n-----END KEY-----\n"
)

// tellTale are the forms in which the two could stand somewhere.
func tellTale(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{"a line of the key": "b3BlbnNzaC1rZXktdjEAAAAABG5vbm", "hex": hex.EncodeToString([]byte(password)), "raw base64": base64.RawURLEncoding.EncodeToString([]byte(password))}
	for _, e := range seal.Encodings() {
		s, err := seal.Encode(seal.NewSecret([]byte(password)), e)
		if err != nil {
			t.Fatal(err)
		}
		s.Use(func(b []byte) { out[string(e)] = string(b) })
	}
	return out
}

// HST-9: no secret is in an argument, in the environment, in what is told or written down, or in a file that others can read.
func TestNoSecretGetsOut(t *testing.T) {
	dir := newTree(t)
	spied := filepath.Join(t.TempDir(), "spied")
	// A command that accepts one file and has read others, as that of a server does, repeats
	// what they say; and it sees how it and mesh-host were called.
	spy := fmt.Sprintf(`cat %[1]s/etc/s %[1]s/etc/key %[1]s/etc/filled %[1]s/etc/filled
		cat /proc/self/cmdline /proc/$$/environ /proc/$PPID/cmdline /proc/$PPID/environ | tr '\0' '\n' >%[2]s; exit 1`, dir, spied)
	file := &bundle.File{ID: "a/file.filled", Path: "/etc/filled", Mode: 0o640}
	content := ""
	for _, e := range []string{"value", "urlencoded", "json", "base64", "shell"} {
		content += e + " "
		file.Fills = append(file.Fills, bundle.Fill{Offset: len(content), Secret: "a/secret.s", Generation: 1, Encoding: bundle.Encoding(e)})
		content += "\n"
	}
	items := []bundle.Item{
		&bundle.Secret{ID: "a/secret.s", Path: "/etc/s", Mode: 0o600},
		&bundle.Secret{ID: "a/secret.key", Path: "/etc/key", Mode: 0o600},
		file,
		&bundle.File{ID: "a/file.main", Path: "/etc/main", Mode: 0o644, Validate: []string{"sh", "-c", spy, "%"}},
		&bundle.Unit{ID: "a/unit.r", Name: "r.service", State: bundle.Running, RestartOn: []bundle.ID{"a/file.filled", "a/secret.s", "a/file.main"}},
	}
	b := write(t, items, map[bundle.ID]string{"a/secret.s": password, "a/secret.key": privateKey, "a/file.filled": content, "a/file.main": "x"})

	h := onTree(t, dir)
	var told strings.Builder
	for range 2 { // the second finds the secrets in place
		o, err := h.Open(b, Policy{})
		if err != nil {
			t.Fatal(err)
		}
		report, err := h.Apply(context.Background(), o, func(e Event) { fmt.Fprintln(&told, e) })
		if err != nil {
			t.Fatal(err)
		}
		asJSON, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&told, "%s\n%s\n%+v\n", report.Summary(), asJSON, report)
		o.Close()
	}
	status, err := h.Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&told, "%+v\n", status)
	if !strings.Contains(told.String(), "sh does not accept the new content") || !strings.Contains(told.String(), "value (secret)") {
		t.Errorf("the command's words are not told, with the secret left out of them:\n%s", told.String())
	}

	texts := map[string]string{"what was told": told.String(), "how the command was called": read(t, spied)}
	err = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		// What is for its owner alone may hold a secret, but what the host notes for itself may not.
		if info.Mode().Perm()&0o007 != 0 || strings.HasPrefix(p, dir+"/var/lib/mesh-host") {
			texts[p] = read(t, p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range texts {
		for form, secret := range tellTale(t) {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds the secret (%s):\n%s", where, form, text)
			}
		}
	}
}

// HST-9: a secret is found in words whole and longest first, and what is too short to be told from chance is left.
func TestHide(t *testing.T) {
	o := &Opened{secrets: map[bundle.ID]seal.Secret{
		"a/secret.long": seal.NewSecret([]byte("hunter2-and-more")), "a/secret.part": seal.NewSecret([]byte("hunter2")),
		"a/secret.short": seal.NewSecret([]byte("on")), "a/secret.line": seal.NewSecret([]byte("ends in a line\n")),
	}}
	for text, want := range map[string]string{
		"password hunter2-and-more is wrong": "password (secret) is wrong",
		"hunter2, hunter2":                   "(secret), (secret)",
		"turn it on":                         "turn it on",
		"what ends in a line":                "what (secret)",
		"":                                   "",
	} {
		if got := o.hide(text); got != want {
			t.Errorf("hide(%q) = %q, want %q", text, got, want)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
