package settle

import (
	"testing"

	"meshc.dev/compiler/plan"
)

// CMP-5, T05: keys that have a port in common are found, whatever their spelling.
func TestOpenOverlap(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"22/tcp", "22/tcp", true},
		{"22", "22/tcp", true},
		{"22/udp", "22/tcp", false},
		{"20-30/tcp", "22/tcp", true},
		{"20-21/tcp", "22/tcp", false},
		{"192.168.1.2:53/udp", "53/udp", true},
		{"192.168.1.2:53/udp", "0.0.0.0:53/udp", true},
		{"192.168.1.2:53/udp", "192.168.1.3:53/udp", false},
		{"*:53/udp", "[::1]:53/udp", true},
	} {
		var both []plan.Admit
		for _, key := range []string{c.a, c.b} {
			a, err := ParseOpen(key, "x", []string{"world"})
			if err != nil {
				t.Fatal(key, err)
			}
			both = append(both, a)
		}
		if _, _, got := OpenOverlap(both); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}

// CMP-5, T05: 22/tcp is open to the world where nobody says anything of it, and only then.
func TestDefaultOpen(t *testing.T) {
	for key, want := range map[string]int{"23/tcp": 2, "22/udp": 2, "22/tcp": 1, "22": 1, "1-1024/tcp": 1, "10.0.0.1:22/tcp": 1} {
		a, err := ParseOpen(key, "x", []string{"machine"})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(withDefaultOpen([]plan.Admit{a})); got != want {
			t.Errorf("%s: %d openings, want %d", key, got, want)
		}
	}
}
