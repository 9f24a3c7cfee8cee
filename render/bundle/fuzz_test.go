package bundle

import (
	"bytes"
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

// HST-6: each secret stands in its place, two in one place in their order.
func TestFilled(t *testing.T) {
	f := &File{ID: "a/file.x", Fills: []Fill{
		{Offset: 0, Secret: "u", Encoding: Value},
		{Offset: 1, Secret: "p", Encoding: URLEncoded},
		{Offset: 1, Secret: "q", Encoding: Base64},
		{Offset: 3, Secret: "u", Encoding: Shell},
	}}
	got, err := f.Filled([]byte(":@/"), func(fill Fill) ([]byte, error) {
		return []byte("<" + string(fill.Secret) + " " + string(fill.Encoding) + ">"), nil
	})
	if want := "<u value>:<p urlencoded><q base64>@/<u shell>"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, not %q", got, err, want)
	}
}
