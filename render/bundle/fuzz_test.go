package bundle

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os/exec"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/text/unicode/norm"
)

// FuzzQuoted holds the printer's strings to HCL: what is printed is read as what
// it was.
func FuzzQuoted(f *testing.F) {
	for _, s := range []string{"", "a", "${x}", "%{if}", "$${x}", "$$${", "%${", "$%{", "%%%{", "a\"b\\c\n\r\t\x01", "50%20off", "\u2028é\ufeff", "$", "$$", "{"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if checkString("string", s) != nil {
			return
		}
		src := append([]byte("x = "), appendQuoted(nil, s)...)
		file, diags := hclsyntax.ParseConfig(append(src, '\n'), "x.hcl", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatalf("%q is printed as %s: %v", s, src, diags)
		}
		got, ok := literalText(file.Body.(*hclsyntax.Body).Attributes["x"].Expr)
		if !ok || norm.NFC.String(s) != got {
			t.Errorf("%q is printed as %s and read as %q", s, src, got)
		}
	})
}

// FuzzDeclaration holds printer and reader to each other over whole declarations,
// and the reader to giving an answer for any input (DIA-5).
func FuzzDeclaration(f *testing.F) {
	d, _ := example()
	f.Add(d.Append(nil))
	f.Add([]byte("declaration {\n  format = 1\n  mesh = \"home\"\n  node = \"a\"\n}\nuser \"a/user.x\" {\n  name = \"x\"\n  system = true\n}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		d, err := ParseDeclaration(src)
		if err != nil {
			return
		}
		once := d.Append(nil)
		again, err := ParseDeclaration(once)
		if err != nil {
			t.Fatalf("printed as\n%s\nwhich is refused: %v", once, err)
		}
		if twice := again.Append(nil); !bytes.Equal(once, twice) {
			t.Errorf("printed as\n%s\nand then as\n%s", once, twice)
		}
	})
}

// hard secrets are those that some encoding has to do something about (O11, O32).
var hard = []string{"p&|\\\"#'%${x}\n", "p@ss/#?[%25]:", "s7@o8\\p=\"u$0#!", "é\u2028<&>", "''", " ", "-n", "`id`"}

// HST-6: a secret arrives through each encoding as it was, or is refused.
func TestEncodings(t *testing.T) {
	for _, s := range hard {
		encode := func(e Encoding) string {
			out, err := e.Encode([]byte(s))
			if err != nil {
				t.Errorf("%s of %q: %v", e, s, err)
			}
			return string(out)
		}
		if got := encode(Value); got != s {
			t.Errorf("value of %q is %q", s, got)
		}
		u, err := url.Parse("postgres://git:" + encode(URLEncoded) + "@[::1]:5432/x?y=" + encode(URLEncoded))
		if err != nil {
			t.Errorf("%q: %v", s, err)
		} else if p, _ := u.User.Password(); p != s || u.Query().Get("y") != s {
			t.Errorf("%q is read from an URL as %q and %q", s, p, u.Query().Get("y"))
		}
		var got string
		if err := json.Unmarshal([]byte(`"`+encode(JSON)+`"`), &got); err != nil || got != s {
			t.Errorf("%q is read from JSON as %q, %v", s, got, err)
		}
		out, err := exec.Command("sh", "-c", "printf %s "+encode(Shell)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q is read by a shell as %q, %v", s, out, err)
		}
	}
	for _, c := range []struct {
		e Encoding
		s string
	}{{JSON, "\xff"}, {Shell, "a\x00b"}, {"rot13", "a"}} {
		if _, err := c.e.Encode([]byte(c.s)); err == nil {
			t.Errorf("%s carries %q", c.e, c.s)
		}
	}
}

// HST-6: each secret stands in its place, two in one place in their order.
func TestFilled(t *testing.T) {
	f := &File{ID: "a/file.x", Fills: []Fill{
		{Offset: 0, Secret: "u", Encoding: Value},
		{Offset: 1, Secret: "p", Encoding: URLEncoded},
		{Offset: 1, Secret: "p", Encoding: Base64},
		{Offset: 3, Secret: "u", Encoding: Shell},
	}}
	secrets := map[ID]string{"u": "me", "p": "a b"}
	got, err := f.Filled([]byte(":@/"), func(id ID) ([]byte, error) { return []byte(secrets[id]), nil })
	if want := "me:a%20bYSBi@/'me'"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, not %q", got, err, want)
	}
}
