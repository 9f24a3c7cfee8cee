package addr

import (
	"strings"
	"testing"
)

// SEL-7: every identity carries its instance, and prints what it parses.
func TestRoundTrip(t *testing.T) {
	gitea := Instance{"gitea", "board"}
	for _, want := range []string{"gitea@board", "a@b"} {
		got, err := ParseInstance(want)
		if err != nil || got.String() != want {
			t.Errorf("ParseInstance(%q) = %v, %v", want, got, err)
		}
	}
	for _, p := range []Pair{
		{Instance{"postgres", "anchor"}, "database", Consumer{gitea, "database"}},
		{Instance{"reverse-proxy", "anchor"}, "reverse-proxy", Consumer{gitea, "api"}},
	} {
		got, err := ParsePair(p.String())
		if err != nil || got != p {
			t.Errorf("ParsePair(%q) = %v, %v", p, got, err)
		}
	}
	for _, r := range []Resource{{"gitea", "file", "config"}, {"gitea", "secret", "requires.database"}} {
		got, err := ParseResource(r.String())
		if err != nil || got != r {
			t.Errorf("ParseResource(%q) = %v, %v", r, got, err)
		}
	}
	l := Listen{gitea, "http"}
	if got, err := ParseListen(l.String()); err != nil || got != l {
		t.Errorf("ParseListen(%q) = %v, %v", l, got, err)
	}
}

// BLD-7: names are lower-case LDH labels.
func TestIsName(t *testing.T) {
	for s, want := range map[string]bool{
		"a": true, "web-1": true, "1st": true, strings.Repeat("a", 63): true,
		"": false, "-lead": false, "trail-": false, "UPPER": false, "redis_cache": false,
		"a.b": false, "Web.": false, strings.Repeat("a", 64): false, "ä": false,
	} {
		if IsName(s) != want {
			t.Errorf("IsName(%q) = %v", s, !want)
		}
	}
}
