package provision

import (
	"testing"
	"time"
)

// PRV-4, PRV-5, PRV-6: what is done about one login follows from what is remembered and what is seen, and from nothing else.
func TestDecide(t *testing.T) {
	one, two := print{entry: digest{1}, secret: digest{1}}, print{entry: digest{1}, secret: digest{2}}
	made := memory{made: true, as: one}
	for name, c := range map[string]struct {
		m    memory
		s    sight
		now  time.Duration
		want verb
	}{
		"new":                              {memory{}, sight{wanted: true, print: one}, 0, create},
		"new, and not held":                {memory{}, sight{wanted: true, print: one, asked: true}, 0, create},
		"new to us, and held already":      {memory{}, sight{wanted: true, print: one, asked: true, held: true}, 0, adopt},
		"unchanged, nobody asked":          {made, sight{wanted: true, print: one}, 0, leave},
		"unchanged, and held":              {made, sight{wanted: true, print: one, asked: true, held: true}, 0, adopt},
		"unchanged, and lost":              {made, sight{wanted: true, print: one, asked: true}, 0, repair},
		"lost again at once":               {memory{made: true, as: one, repaired: 1, patience: 9}, sight{wanted: true, print: one, asked: true}, 8, doubt},
		"lost again, and waited":           {memory{made: true, as: one, repaired: 1, patience: 9}, sight{wanted: true, print: one, asked: true}, 9, repair},
		"lost again, not asked":            {memory{made: true, as: one, repaired: 1, patience: 9}, sight{wanted: true, print: one}, 9, leave},
		"another credential":               {made, sight{wanted: true, print: two}, 0, create},
		"another credential, patience":     {memory{made: true, as: one, repaired: 3, patience: 99}, sight{wanted: true, print: two, asked: true}, 1, create},
		"its credential cannot be read":    {made, sight{wanted: true, broken: true, asked: true, marked: true}, 0, blame},
		"frozen":                           {made, sight{wanted: true, frozen: true, asked: true, marked: true}, 0, freeze},
		"gone, nobody asked":               {made, sight{}, 0, leave},
		"gone, and marked":                 {made, sight{asked: true, marked: true}, 0, remove},
		"gone, and nothing there":          {made, sight{asked: true}, 0, forget},
		"never known to this run, marked":  {memory{}, sight{asked: true, marked: true}, 0, remove},
		"never known, not marked, no list": {memory{}, sight{asked: true}, 0, forget},
	} {
		if got := decide(c.m, c.s, c.now); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// PRV-4: the wait doubles, and ends at an hour.
func TestPatience(t *testing.T) {
	for k, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour} {
		if got := patience(time.Minute, k); got != want {
			t.Errorf("after %d: %s, want %s", k, got, want)
		}
	}
	if got := patience(time.Minute, 1<<30); got != time.Hour {
		t.Errorf("after very many: %s", got)
	}
}
