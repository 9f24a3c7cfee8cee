package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/screen"
)

// jsonPrinter writes one array, in which every diagnostic has every key: "at" is
// null where it has no place, "also" may be empty, "help" an empty string.
type jsonPrinter struct{ known lookup }

type jsonDiagnostic struct {
	Code     diag.Code  `json:"code"`
	Rule     string     `json:"rule"`
	Severity string     `json:"severity"`
	Title    string     `json:"title"`
	Message  string     `json:"message"`
	At       *diag.Pos  `json:"at"`
	Also     []jsonNote `json:"also"`
	Help     string     `json:"help"`
}

type jsonNote struct {
	At   *diag.Pos `json:"at"`
	Text string    `json:"text"`
}

func (p jsonPrinter) Print(w io.Writer, l diag.List) error {
	out := []jsonDiagnostic{}
	for _, d := range l.Sorted() {
		info, _ := p.known(d.Code)
		also := []jsonNote{}
		for _, n := range d.Also {
			also = append(also, jsonNote{jsonPos(n.At), n.Text})
		}
		out = append(out, jsonDiagnostic{
			d.Code, info.Rule, d.Severity().String(), info.Title, d.Message, jsonPos(d.At), also, d.Help,
		})
	}
	return writeJSON(w, out)
}

func jsonPos(p diag.Pos) *diag.Pos {
	if !p.IsValid() {
		return nil
	}
	return &p
}

// writeJSON writes a document with two spaces of indentation. Whatever would be
// hidden on a terminal is written as an escape, which reads back as the same text.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing diagnostics: %w", err)
	}
	raw := b.Bytes()
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		if screen.Hidden(r) && r != '\n' {
			out = append(out, screen.Spell(string(r))...)
		} else {
			out = append(out, raw[:size]...)
		}
		raw = raw[size:]
	}
	_, err := w.Write(out)
	return err
}
