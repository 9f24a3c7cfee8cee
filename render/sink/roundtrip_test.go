package sink_test

import (
	"math/rand/v2"
	"testing"

	"meshc.dev/compiler/data"
)

// BLD-6: what is read back equals what was written, or it was refused
//
// SET-6: strings, numbers and bytes survive every format
func TestWhatIsReadIsWhatWasWritten(t *testing.T) {
	// least is how many of the values below each format takes at least, so that a writer
	// that refuses everything does not pass.
	least := map[string]int{"json": 500, "yaml": 500, "toml": 300, "ini": 60, "env": 150, "envfile": 150, "systemd": 100, "properties": 200}
	for format, check := range checks {
		t.Run(format, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			accepted := 0
			for range 2000 {
				b := make([]byte, 120)
				for i := range b {
					b[i] = byte(r.Uint32())
				}
				s := &source{bytes: b, wild: r.IntN(4) == 0}
				depth := map[string]int{"json": 4, "yaml": 4, "toml": 4, "ini": 2, "systemd": 3, "properties": 3}[format]
				if check(t, s.structure(max(depth, 1))) {
					accepted++
				}
			}
			if accepted < least[format] {
				t.Errorf("%d of 2000 values were accepted, want %d", accepted, least[format])
			}
		})
	}
}

// BLD-6: each string by itself, as a value, as a name and in a section, survives or is refused
func TestEachNastyString(t *testing.T) {
	for format, check := range checks {
		t.Run(format, func(t *testing.T) {
			for _, s := range nasty {
				check(t, object("key", s))
				check(t, object(s, "value"))
				check(t, object("Section", object("Key", s, s, "value")))
				check(t, object(s, object("Key", "value")))
				check(t, object("Service", object("Environment", object("A", s))))
				check(t, object("list", data.NewList(data.NewString(s), data.NewString(s))))
			}
		})
	}
}
