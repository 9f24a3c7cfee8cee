package show

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/screen"
)

// DIA-5: no file, position or text makes a printer panic, print what is hidden, or break its format.
func FuzzPrint(f *testing.F) {
	f.Add("name: \"home\"\n", "claim held twice", 1, 7, 1, 13, 100)
	f.Add("\ufeffa\r\n\tb: \x1b[31m\u202e\r\n", "\x1b[0m\r\n::error::x", 2, 2, 2, 400, 10)
	f.Add(strings.Repeat("é漢", 3000), "x", 1, 9000, 1, 9003, 40)
	f.Add("e\u0301\u0301\u200d\U0001F468\u200d\U0001F469 x", "\xff\xfe%0A", 1, 3, 1, 5, 3)
	f.Add("", "", 0, 0, -1, -5, 0)
	f.Add("a\nb\nc", "m\tn", -3, 1<<40, 1<<50, -1<<60, -9)
	f.Fuzz(func(t *testing.T, content, text string, line, column, endLine, endColumn, width int) {
		at := diag.Pos{File: "mesh.cue", Line: line, Column: column, EndLine: endLine, EndColumn: endColumn}
		odd := diag.Pos{File: text, Line: line, Column: endColumn, EndLine: line, EndColumn: column}
		l := diag.List{
			{Code: "E0204", Message: text, At: at, Help: text, Also: []diag.Note{{At: odd, Text: text}, {Text: text}}},
			{Code: diag.Code(text), Message: text, At: odd, Also: []diag.Note{{At: at, Text: text}}},
		}
		read := func(string) ([]byte, error) { return []byte(content), nil }
		for _, format := range Formats() {
			p, err := newPrinter(format, Options{Read: read, Width: width, Prefix: text}, table)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := p.Print(&b, l); err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			out := b.String()
			if !utf8.ValidString(out) {
				t.Errorf("%s: the output is not UTF-8: %q", format, out)
			}
			for _, r := range out {
				if screen.Hidden(r) && r != '\n' {
					t.Errorf("%s: %U is printed as it is", format, r)
				}
			}
			switch format {
			case "text":
			case "github":
				if n := len(strings.Split(strings.TrimRight(out, "\n"), "\n")); n > len(l) {
					t.Errorf("github: %d lines for %d diagnostics: %q", n, len(l), out)
				}
				for _, s := range strings.Split(strings.TrimRight(out, "\n"), "\n") {
					if !strings.HasPrefix(s, "::error ") && !strings.HasPrefix(s, "::warning ") {
						t.Errorf("github: a line that is no annotation: %q", s)
					}
				}
			default:
				if !json.Valid(b.Bytes()) {
					t.Errorf("%s: not JSON: %q", format, out)
				}
			}
		}
	})
}

// DIA-2: the marker stands under exactly what the position means, whole line or cut.
func FuzzMarker(f *testing.F) {
	f.Add("    assign: sway: {}", 12, 16, 100)
	f.Add(strings.Repeat("assign: sway: {}, ", 50), 300, 304, 40)
	f.Add("a: \"\x1b\"", 3, 6, 100)
	f.Add("漢字 = 漢", 6, 8, 7)
	f.Add("\ta\tb", 2, 3, 5)
	f.Fuzz(func(t *testing.T, line string, from, to, width int) {
		if strings.ContainsAny(line, "\n") || width < 3 || width > 500 {
			t.Skip()
		}
		from = clamp(from, 0, len(line))
		to = clamp(to, from, len(line))
		d := cut(line, from, to, width)
		if n := uniseg.StringWidth(d.text); n > width && plainText(line) {
			t.Errorf("the line takes %d columns of %d: %q", n, width, d.text)
		}
		if laid, fits := whole(line, width); fits {
			d = mark(laid, from, to)
		}
		if !plainText(line) || from == to || len(line) > farthest {
			return
		}
		want := line[from:to]
		got := d.text[strings.Count(d.text[:min(len(d.text), len(ellipsis))], ellipsis)*(len(ellipsis)-1):]
		got = got[min(d.pad, len(got)):min(d.pad+d.width, len(got))]
		if !strings.HasPrefix(want, got) || got == "" {
			t.Errorf("%q %d..%d: under the marker stands %q, not %q (%+v)", line, from, to, got, want, d)
		}
		if len(want) < width/3 && got != want {
			t.Errorf("%q %d..%d: only %q is marked of %q", line, from, to, got, want)
		}
	})
}

// plainText says whether every byte of a line takes one column.
func plainText(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
