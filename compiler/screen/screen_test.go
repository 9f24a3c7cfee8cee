package screen

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// DIA-5, T52, T68: what drives a terminal, reorders text or takes no place is spelled, whatever way it comes in.
func TestNothingHidden(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":                    "plain\ttext\n",
		"grüße 東京 …→ é 🙂":                  "grüße 東京 …→ é 🙂",
		"\x1b[2J":                          `\x1b[2J`,
		"\x1b]0;title\a":                   `\x1b]0;title\x07`,
		"over\rwritten\b":                  `over\x0dwritten\x08`,
		"\x00\x7f":                         `\x00\u007f`,
		"\u009b2J \u0085":                  `\u009b2J \u0085`, // C1 as characters
		"\x9b2J \xc3":                      `\x9b2J \xc3`,     // and as bytes that are no UTF-8
		"\u202egpj.exe\u2066\u2069":        `\u202egpj.exe\u2066\u2069`,
		"a\u200bb\u200c\u200d\ufeff\u2060": `a\u200bb\u200c\u200d\ufeff\u2060`,
		"a\u2028b\u2029":                   `a\u2028b\u2029`,
		"soft\u00ad \u00a0 \u061c":         `soft\u00ad \u00a0 \u061c`,
		"\u3164\u115f\u034f\ufe0f":         `\u3164\u115f\u034f\ufe0f`, // letters and marks that show nothing
		"\U000e0041\U000e0100":             `\udb40\udc41\udb40\udd00`,
		"\x1b[31mred":                      `\x1b[31mred`, // a colour of somebody else's
	} {
		for _, step := range []int{1, 2, 3, 1000} { // however it is cut into writes
			var b strings.Builder
			w := New(&b)
			for rest := in; rest != ""; {
				n := min(step, len(rest))
				if got, err := w.Write([]byte(rest[:n])); got != n || err != nil {
					t.Fatal(got, err)
				}
				rest = rest[n:]
			}
			if err := w.Close(); err != nil || b.String() != want {
				t.Errorf("%q in steps of %d is %s, not %s (%v)", in, step, b.String(), want, err)
			}
		}
		if got := Text(strings.TrimSuffix(in, "\n")); got != strings.TrimSuffix(want, "\n") {
			t.Errorf("text %q is %s", in, got)
		}
	}
	if got := Text("two\nlines"); got != `two\x0alines` {
		t.Error(got)
	}
}

// DIA-5: JSON that goes through is the same JSON, and shows nothing hidden either.
func TestJSONStaysItself(t *testing.T) {
	in := "\x1b[2J\u009b\x7f\u202e\u200b\u2028\U000e0041\"\\\n"
	var b strings.Builder
	if err := json.NewEncoder(New(&b)).Encode(in); err != nil {
		t.Fatal(err)
	}
	var out string
	if err := json.Unmarshal([]byte(b.String()), &out); err != nil || out != in {
		t.Errorf("%s is %q (%v)", b.String(), out, err)
	}
	for _, r := range strings.TrimSuffix(b.String(), "\n") {
		if Hidden(r) {
			t.Errorf("%q holds %U", b.String(), r)
		}
	}
}

// Our own inks pass where they are asked for, and no other sequence.
func TestInked(t *testing.T) {
	var b strings.Builder
	if _, err := io.WriteString(Inked(New(&b)), "\x1b[1;31merror\x1b[0m \x1b[8mhidden\x1b[2Jgone\u202e\n"); err != nil {
		t.Fatal(err)
	}
	if want := "\x1b[1;31merror\x1b[0m " + `\x1b[8mhidden\x1b[2Jgone\u202e` + "\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
	b.Reset()
	if Inked(&b) != io.Writer(&b) {
		t.Error("a stream that shows everything is another")
	}
}
