package seal

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
)

// SEC-1: secrets are made from the random bytes given, in the format and length asked for
func TestGenerate(t *testing.T) {
	for _, c := range []struct {
		format Format
		length int
		form   string
	}{
		{"", 0, `^[A-Za-z][A-Za-z2-9]{31}$`},
		{Password, 0, `^[A-Za-z][A-Za-z2-9]{31}$`},
		{Password, 16, `^[A-Za-z][A-Za-z2-9]{15}$`},
		{Password, 1000, `^[A-Za-z][A-Za-z2-9]{999}$`},
		{Hex, 0, `^[0-9a-f]{64}$`},
		{Hex, 16, `^[0-9a-f]{32}$`},
		{Base64, 32, `^[A-Za-z0-9+/]{43}=$`},
		{UUID, 0, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`},
	} {
		seen := map[string]bool{}
		for range 50 {
			s, err := Generate(c.format, c.length, rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			if !regexp.MustCompile(c.form).MatchString(text(s)) || seen[text(s)] {
				t.Errorf("%s of %d: %q", c.format, c.length, text(s))
			}
			seen[text(s)] = true
		}
	}
	raw := bytes.Repeat([]byte{0xab}, 32)
	s, err := Generate(Hex, 32, bytes.NewReader(raw))
	if err != nil || text(s) != hex.EncodeToString(raw) {
		t.Errorf("hex is not of the bytes read: %q (%v)", text(s), err)
	}
}

func TestGenerateRefuses(t *testing.T) {
	for _, c := range []struct {
		format Format
		length int
		random io.Reader
		says   string
	}{
		{Password, 15, rand.Reader, "length 15"},
		{Hex, 1025, rand.Reader, "length 1025"},
		{Password, -1, rand.Reader, "length -1"},
		{"pin", 0, rand.Reader, "pin"},
		{Password, 0, iotest.ErrReader(errors.New("no entropy")), "no entropy"},
		{Hex, 0, iotest.ErrReader(errors.New("no entropy")), "no entropy"},
		{Base64, 0, bytes.NewReader(make([]byte, 31)), "unexpected EOF"},
		{UUID, 0, bytes.NewReader(make([]byte, 15)), "unexpected EOF"},
	} {
		if s, err := Generate(c.format, c.length, c.random); err == nil || !strings.Contains(err.Error(), c.says) || !s.IsZero() {
			t.Errorf("%s of %d: got %v, want it to say %q", c.format, c.length, err, c.says)
		}
	}
}

// O10: every character of the alphabet is drawn about as often as every other
func TestPasswordIsEven(t *testing.T) {
	const each = 2000
	counts := map[byte]int{}
	for range each * len(alphabet) / 1000 {
		s, err := Generate(Password, 1001, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		s.Use(func(b []byte) {
			for _, c := range b[1:] {
				counts[c]++
			}
		})
	}
	for i := range len(alphabet) {
		// Seven standard deviations; a plain remainder would favour a fourth of them by a fifth.
		if n := counts[alphabet[i]]; n < each-313 || n > each+313 {
			t.Errorf("%c was drawn %d times, expected about %d", alphabet[i], n, each)
		}
	}
	if len(counts) != len(alphabet) {
		t.Errorf("%d characters were drawn, of %d", len(counts), len(alphabet))
	}
}

// O10: no encoding changes a password that was made, so that no sink has to escape it
func TestPasswordNeedsNoEscaping(t *testing.T) {
	s, err := Generate(Password, 1024, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []Encoding{Value, URLEncoded, JSON} {
		if got, err := Encode(s, e); err != nil || text(got) != text(s) {
			t.Errorf("%s changes %q to %q (%v)", e, text(s), text(got), err)
		}
	}
}

var awkward = []string{
	"p&|\\\"#'%${x}\n", // O11
	"p@ss/#?[%25]:",    // O32
	"it's \"q\"", " lead", "tab\t", "\x01\x7f", "bücher €", "\u2028", "$a ${b} $$", "`x`", "!", "<&>", "a",
}

// HST-6: each encoding is read back by its reader as exactly the secret
func TestEncode(t *testing.T) {
	shell := tool(t, "sh")
	for _, want := range awkward {
		s := secretOf(want)
		encoded := func(e Encoding) string {
			t.Helper()
			out, err := Encode(s, e)
			if err != nil {
				t.Fatalf("%s of %q: %v", e, want, err)
			}
			return text(out)
		}
		if got := encoded(Value); got != want {
			t.Errorf("value of %q: %q", want, got)
		}
		if got, err := url.Parse("postgres://user:" + encoded(URLEncoded) + "@host/db?x=" + encoded(URLEncoded) + "#" + encoded(URLEncoded)); err != nil {
			t.Errorf("urlencoded %q: %v", want, err)
		} else if password, _ := got.User.Password(); password != want || got.Query().Get("x") != want || got.Fragment != want || got.Host != "host" {
			t.Errorf("urlencoded %q: %q %q %q", want, password, got.Query().Get("x"), got.Fragment)
		}
		var value string
		if err := json.Unmarshal([]byte(`"`+encoded(JSON)+`"`), &value); err != nil || value != want {
			t.Errorf("json %q: %q (%v)", want, value, err)
		}
		if got, err := base64.StdEncoding.DecodeString(encoded(Base64Encoded)); err != nil || string(got) != want {
			t.Errorf("base64 %q: %q (%v)", want, got, err)
		}
		if got, err := exec.Command(shell, "-c", "printf %s "+encoded(Shell)).Output(); err != nil || string(got) != want {
			t.Errorf("shell %q: %q (%v)", want, got, err)
		}
	}
	if got, err := Encode(secretOf("\x00\xff"), URLEncoded); err != nil || text(got) != "%00%FF" {
		t.Errorf("urlencoded bytes: %q (%v)", text(got), err)
	}
}

// HST-6: what an encoding cannot carry is refused, and the refusal does not show it
func TestEncodeRefuses(t *testing.T) {
	for in, e := range map[string]Encoding{
		canary + "\xff": JSON,
		canary + "\x00": Shell,
		canary:          "rot13",
	} {
		s, err := Encode(secretOf(in), e)
		if err == nil || !s.IsZero() || strings.Contains(err.Error(), canary) {
			t.Errorf("%s of %q: %v", e, in, err)
		}
	}
}

func FuzzEncode(f *testing.F) {
	for _, s := range awkward {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, e := range Encodings() {
			out, err := Encode(NewSecret(bytes.Clone(b)), e)
			if err != nil {
				continue
			}
			var back []byte
			switch e {
			case Value:
				back = []byte(text(out))
			case URLEncoded:
				s, err := url.PathUnescape(text(out))
				if err != nil {
					t.Fatal(err)
				}
				back = []byte(s)
			case JSON:
				var s string
				if err := json.Unmarshal([]byte(`"`+text(out)+`"`), &s); err != nil {
					t.Fatal(err)
				}
				back = []byte(s)
			case Base64Encoded:
				if back, err = base64.StdEncoding.DecodeString(text(out)); err != nil {
					t.Fatal(err)
				}
			case Shell:
				inner := strings.TrimSuffix(strings.TrimPrefix(text(out), "'"), "'")
				parts := strings.Split(inner, `'\''`)
				if strings.Contains(strings.Join(parts, ""), "'") {
					t.Fatalf("%q leaves its quotes", text(out))
				}
				back = []byte(strings.Join(parts, "'"))
			}
			if !bytes.Equal(back, b) {
				t.Errorf("%s of %q reads back as %q", e, b, back)
			}
		}
	})
}
