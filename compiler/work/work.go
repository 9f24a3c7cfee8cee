// Package work keeps what is asked of CUE within bounds (DIA-5): a panic inside of CUE
// becomes a fault of whatever was being computed, and what is being computed at the moment
// can be seen from outside, by whoever ends a run that takes too long or too much. Enter
// at Log.Do.
package work

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"meshc.dev/compiler/diag"
)

// Item is something that is being computed.
type Item struct {
	Subject string   // "module gitea for gitea@anchor"
	At      diag.Pos // where it stands
	Since   time.Time
}

// Log knows what is being computed. A nil Log contains panics and knows nothing.
type Log struct {
	// Now is the clock.
	Now func() time.Time

	mu   sync.Mutex
	open []*Item
}

// Do calls f, which asks CUE something. What CUE panics with is given back as a diagnostic;
// a panic of our own code goes on.
func (l *Log) Do(subject string, at diag.Pos, f func()) (ds diag.List) {
	defer l.begin(subject, at)()
	defer func() {
		if r := recover(); r != nil {
			if !ofCUE(string(debug.Stack())) {
				panic(r)
			}
			ds = diag.List{failed(subject, at, fmt.Sprint(r))}
		}
	}()
	f()
	return nil
}

func (l *Log) begin(subject string, at diag.Pos) (end func()) {
	if l == nil {
		return func() {}
	}
	i := &Item{Subject: subject, At: at, Since: l.Now()}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = append(l.open, i)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for k, o := range l.open {
			if o == i {
				l.open = append(l.open[:k], l.open[k+1:]...)
				return
			}
		}
	}
}

// Longest is what has been computed for the longest time, and whether anything is.
func (l *Log) Longest() (Item, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) == 0 {
		return Item{}, false
	}
	longest := l.open[0]
	for _, i := range l.open[1:] {
		if c := cmp.Or(i.Since.Compare(longest.Since), i.At.Compare(longest.At)); c < 0 {
			longest = i
		}
	}
	return *longest, true
}

// ofCUE says whether a panic began in CUE or in what CUE calls, by the first function
// below it that is not Go's own.
func ofCUE(stack string) bool {
	_, below, ok := strings.Cut(stack, "\npanic(")
	for line := range strings.Lines(below) {
		if strings.HasPrefix(line, "\t") || !strings.Contains(line, ".") || strings.HasPrefix(line, "{") {
			continue
		}
		if module, _, dotted := strings.Cut(line, "/"); dotted && strings.Contains(module, ".") {
			return ok && module != "meshc.dev"
		}
	}
	return false
}
