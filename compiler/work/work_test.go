package work

import (
	"strings"
	"testing"
	"time"

	"cuelang.org/go/cue/cuecontext"

	"meshc.dev/compiler/diag"
)

// DIA-5, T49: what CUE panics at is a diagnostic at the place of what was computed; a panic of
// our own is none.
func TestPanics(t *testing.T) {
	var l *Log
	at := diag.Pos{File: "modules/notes/notes.cue", Line: 3, Column: 1}
	ds := l.Do("module notes", at, func() {
		v := cuecontext.New().CompileString("100000000000000000000 * 100000000000000000000")
		_, _ = v.Int(nil)
		t.Error("CUE does not panic at this any more; the test needs another input")
	})
	if len(ds) != 1 || ds[0].Code != diag.CUEFails || ds[0].At != at || !strings.Contains(ds[0].Message, "module notes") {
		t.Errorf("a panic of CUE is %v", ds)
	}
	defer func() {
		if recover() == nil {
			t.Error("a panic of our own was kept")
		}
	}()
	l.Do("module notes", at, func() { panic("a broken invariant") })
}

// DIA-5, T69: what is being computed for the longest time is known, and nothing once it is done.
func TestLongest(t *testing.T) {
	now := time.Unix(0, 0)
	l := &Log{Now: func() time.Time { now = now.Add(time.Second); return now }}
	if _, ok := l.Longest(); ok {
		t.Error("something is computed before anything is")
	}
	l.Do("a", diag.Pos{}, func() {
		l.Do("b", diag.Pos{}, func() {
			if i, ok := l.Longest(); !ok || i.Subject != "a" || !i.Since.Equal(time.Unix(1, 0)) {
				t.Errorf("longest is %v", i)
			}
		})
	})
	l.Do("c", diag.Pos{}, func() {
		if i, _ := l.Longest(); i.Subject != "c" {
			t.Errorf("longest is %v, and a and b are done", i)
		}
	})
	if _, ok := l.Longest(); ok {
		t.Error("something is computed after all is done")
	}
}
