package host

import (
	"bytes"
	"cmp"
	"slices"

	"meshc.dev/render/seal"
)

const (
	// shortestHidden is how long a value is that is looked for in what programs say. A
	// shorter one stands there by chance, and to hide that would only make it known.
	shortestHidden = 4
	// shortestLine is the same for a line of a secret that has several, such as a key.
	shortestLine = 12
)

// hide takes the bundle's secrets out of what a program said, in every form in which
// a file holds them, and the lines of those that have several (HST-9). What a program
// makes of a secret itself is not known here; that is why the output of a file's own
// validator is not shown at all where the file holds one.
func (o *Opened) hide(text string) string {
	var forms [][]byte
	for _, s := range o.secrets {
		for _, e := range seal.Encodings() {
			form, err := seal.Encode(s, e)
			if err != nil {
				continue // it cannot stand anywhere in this form
			}
			form.Use(func(b []byte) { forms = append(forms, slices.Clone(b)) })
			form.Wipe()
		}
	}
	defer func() {
		for _, f := range forms {
			clear(f)
		}
	}()
	var sought [][]byte
	for _, f := range forms {
		if f = bytes.TrimSpace(f); len(f) >= shortestHidden {
			sought = append(sought, f)
		}
		if lines := bytes.Split(f, []byte("\n")); len(lines) > 1 {
			for _, line := range lines {
				if line = bytes.TrimSpace(line); len(line) >= shortestLine {
					sought = append(sought, line)
				}
			}
		}
	}
	// The longest first: one may be a part of another.
	slices.SortFunc(sought, func(a, b []byte) int { return cmp.Compare(len(b), len(a)) })
	out := []byte(text)
	for _, f := range sought {
		if bytes.Contains(out, f) {
			out = bytes.ReplaceAll(out, f, []byte("(secret)"))
		}
	}
	return string(out)
}
