// Package screen is what stands between a mesh's words and a person's eyes. Whoever may write
// to a repository chooses names, reasons, titles and contents, and a terminal obeys some
// bytes, hides others and turns the order of what it shows; so all that a command prints
// goes through one Writer, which spells what cannot be seen.
//
// A character is spelled as JSON spells it, so that JSON that goes through is the same JSON.
// Who draws in colour escapes its own text with Text, and then asks for Inked. Enter at New.
package screen

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Hidden says whether a character must not be shown as it is: it moves the cursor, changes
// what stands on the screen, reorders or joins the text around it, or takes no place at all.
// What Unicode of this build does not know is hidden too.
func Hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return !unicode.IsPrint(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r)
}

// Spell writes the first character of a text, or its first byte where that is no UTF-8, so
// that it can be seen.
func Spell(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size == 1:
		return fmt.Sprintf(`\x%02x`, s[0])
	case r < ' ':
		return fmt.Sprintf(`\x%02x`, r)
	case r > 0xffff:
		a, b := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, a, b)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// Text gives text in which nothing is hidden but tabs. A newline is spelled too: who draws
// several lines splits them first.
func Text(s string) string { return spelled(s, "\t") }

// spelled spells what is hidden, but for what is named.
func spelled(s, but string) string {
	var b strings.Builder
	from := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if (r == utf8.RuneError && size == 1 || Hidden(r)) && !strings.ContainsRune(but, r) {
			b.WriteString(s[from:i])
			b.WriteString(Spell(s[i:]))
			from = i + size
		}
		i += size
	}
	if from == 0 {
		return s
	}
	b.WriteString(s[from:])
	return b.String()
}

// Writer spells what is hidden, newlines and tabs apart.
type Writer struct {
	w    io.Writer
	rest []byte // of a character whose other bytes are still to come
}

// New gives the writer through which everything goes that a stream is to show.
func New(w io.Writer) *Writer { return &Writer{w: w} }

// Write implements io.Writer.
func (w *Writer) Write(b []byte) (int, error) {
	s := string(w.rest) + string(b)
	w.rest = nil
	for back := 1; back < utf8.UTFMax && back <= len(s); back++ {
		if tail := s[len(s)-back:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				w.rest, s = []byte(tail), s[:len(s)-back]
			}
			break
		}
	}
	if _, err := io.WriteString(w.w, spelled(s, "\n\t")); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Close writes what is left of a character that did not end. The stream stays open.
func (w *Writer) Close() error {
	_, err := io.WriteString(w.w, spelled(string(w.rest), ""))
	w.rest = nil
	return err
}

// Inked is the stream for a printer that has escaped all that it was given: our own inks pass,
// and nothing else does that New would spell.
func Inked(w io.Writer) io.Writer {
	if s, ok := w.(*Writer); ok {
		return inked{s}
	}
	return w
}

type inked struct{ *Writer }

// ink is bold, dim or one of the colours that can be read on any ground, and the end of it.
var ink = regexp.MustCompile("\x1b\\[(?:0|1|2|3[1-6]|1;3[1-6])m")

func (w inked) Write(b []byte) (int, error) {
	from := 0
	for _, at := range ink.FindAllIndex(b, -1) {
		if _, err := w.Writer.Write(b[from:at[0]]); err != nil {
			return 0, err
		}
		if _, err := w.w.Write(b[at[0]:at[1]]); err != nil {
			return 0, err
		}
		from = at[1]
	}
	if _, err := w.Writer.Write(b[from:]); err != nil {
		return 0, err
	}
	return len(b), nil
}
