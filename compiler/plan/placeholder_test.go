package plan_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"meshc.dev/compiler/plan"
)

func held(secret, encoding string) string {
	return plan.PlaceholderBegin + hex.EncodeToString([]byte(secret+" "+encoding)) + plan.PlaceholderEnd
}

func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// SEC-10, T03: whatever was done to a placeholder is noticed in the bytes for a machine,
// wherever it stands in them.
func TestRemains(t *testing.T) {
	done := map[string]func(string) string{
		"lower":         strings.ToLower,
		"upper":         strings.ToUpper,
		"first lowered": func(s string) string { return strings.ToLower(s[:1]) + s[1:] },
		"backwards":     backwards,
		"the beginning": func(s string) string { return s[:7] },
		"the end":       func(s string) string { return s[len(s)-7:] },
		"without ends":  func(s string) string { return s[5 : len(s)-5] },
		"the first off": func(s string) string { return s[1:] },
		"the last off":  func(s string) string { return s[:len(s)-1] },
		"hex":           func(s string) string { return hex.EncodeToString([]byte(s)) },
		"HEX":           func(s string) string { return fmt.Sprintf("%X", s) },
		"hex of lower":  func(s string) string { return hex.EncodeToString([]byte(strings.ToLower(s))) },
		"base64":        func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"base64url":     func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
		"after one":     func(s string) string { return base64.StdEncoding.EncodeToString([]byte("u" + s)) },
		"after two":     func(s string) string { return base64.StdEncoding.EncodeToString([]byte("u:" + s)) },
		"within base64": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("user:" + s + "@host")) },
		"upper's":       func(s string) string { return base64.StdEncoding.EncodeToString([]byte("u:" + strings.ToUpper(s))) },
		"backward's":    func(s string) string { return base64.StdEncoding.EncodeToString([]byte("u:" + backwards(s))) },
		"quoted":        func(s string) string { return fmt.Sprintf("%q", strings.ToUpper(s)) },
	}
	for _, secret := range []string{"needs.k", "requires.storage"} {
		for _, encoding := range []string{"value", "urlencoded", "json", "base64", "shell"} {
			for what, do := range done {
				if s := "x=" + do(held(secret, encoding)) + "\n"; !plan.Remains([]byte(s)) {
					t.Errorf("%s of the %s of %s is not noticed: %s", what, encoding, secret, s)
				}
			}
		}
	}
}

// SEC-10: what nobody made of a placeholder is nobody's remains.
func TestRemainsNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 1<<21)
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	for _, s := range []string{
		"", "Mshc0", "the needs.k value\n", "meshc", "0xMSHC", "mshc01", hex.EncodeToString(random), base64.StdEncoding.EncodeToString(random), string(random),
	} {
		if plan.Remains([]byte(s)) {
			t.Errorf("%.40q is taken for remains", s)
		}
	}
}

func BenchmarkRemains(b *testing.B) {
	text := []byte(strings.Repeat("listen_addresses = '127.0.0.1'\n", 1<<15))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		plan.Remains(text)
	}
}
