package diff

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pmezard/go-difflib/difflib"

	"meshc.dev/render/bundle"
)

// content is a file's text with the name of each secret where the machine puts it in.
func content(b *bundle.Bundle, source string, fills []bundle.Fill) string {
	if b == nil {
		return ""
	}
	e, ok := b.Entry(source)
	if !ok {
		return ""
	}
	return bundle.Marked(e.Data, fills)
}

// unified is a unified diff without file names, empty only where the two are equal. What is
// mostly text is shown with its other bytes by number; of what is none, the sums.
func unified(a, b string) string {
	if a == b {
		return ""
	}
	if !isText(a) || !isText(b) {
		x, y := escaped(a), escaped(b)
		if !mostlyText(a) || !mostlyText(b) || x == y {
			return fmt.Sprintf("binary: %s\n    now: %s\n", sized(a), sized(b))
		}
		a, b = x, y
	}
	out, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: lines(a), B: lines(b), Context: 3})
	if err != nil {
		return err.Error()
	}
	return out
}

func sized(s string) string {
	return fmt.Sprintf("%d bytes, sha256 %s", len(s), bundle.SumOf([]byte(s)))
}

func isText(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, isControl) < 0
}

func isControl(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || r == 0xfeff || unicode.Is(unicode.Cf, r))
}

// mostlyText says whether at most one byte in ten is no text.
func mostlyText(s string) bool {
	odd := 0
	for k, r := range s {
		if isControl(r) || r == utf8.RuneError && !strings.HasPrefix(s[k:], "\uFFFD") {
			odd++
		}
	}
	return odd*10 <= len(s)
}

// escaped writes the bytes that are no text as \xff, as does Go.
func escaped(s string) string {
	var b strings.Builder
	for k := 0; k < len(s); {
		r, n := utf8.DecodeRuneInString(s[k:])
		if isControl(r) || r == utf8.RuneError && n == 1 {
			for _, c := range []byte(s[k : k+n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		} else {
			b.WriteString(s[k : k+n])
		}
		k += n
	}
	return b.String()
}

// lines splits a text for the differ; the last line says where it has no end.
func lines(s string) []string {
	if s == "" {
		return nil
	}
	out := strings.SplitAfter(s, "\n")
	if last := len(out) - 1; out[last] == "" {
		return out[:last]
	}
	out[len(out)-1] += "\n\\ no newline at the end\n"
	return out
}
