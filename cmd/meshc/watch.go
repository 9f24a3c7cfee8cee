package main

import (
	"fmt"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/work"
)

// Bounds of what a run may take unless flags say otherwise (DIA-5): no module of a fleet of a
// thousand nodes takes a second, and the whole of it 1.5 GB.
const (
	maxTime   = time.Minute
	maxMemory = memory(3 << 30)
)

// bounds are what computing one thing may take, and how that is watched.
type bounds struct {
	time   time.Duration
	memory memory
	log    *work.Log
	done   chan struct{}
}

// watch ends the process where something is computed beyond the bounds. Nothing can stop a
// computation inside of CUE but that; and while one goes on, nothing was written yet.
func (g *globals) watch() {
	b := &g.bounds
	b.log = &work.Log{Now: time.Now}
	b.done = make(chan struct{})
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-b.done:
				return
			case now := <-tick.C:
				if d, over := b.exceeded(now); over {
					_ = g.say(diag.List{d}, nil)
					g.exit(exitRefused)
				}
			}
		}
	}()
}

// exceeded says what is beyond the bounds.
func (b *bounds) exceeded(now time.Time) (diag.Diagnostic, bool) {
	item, working := b.log.Longest()
	switch {
	case !working:
		return diag.Diagnostic{}, false
	case b.time > 0 && now.Sub(item.Since) > b.time:
		return work.TooLong(item, b.time.String(), "--max-time"), true
	case b.memory > 0 && inUse() > b.memory:
		return work.TooLarge(item, b.memory.String(), "--max-memory"), true
	}
	return diag.Diagnostic{}, false
}

// inUse is the memory of all that lives or was not collected yet.
func inUse() memory {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return memory(s[0].Value.Uint64())
}

// memory is a number of bytes, as a flag.
type memory uint64

func (m memory) String() string {
	switch {
	case m%(1<<30) == 0:
		return strconv.FormatUint(uint64(m>>30), 10) + "GB"
	case m%(1<<20) == 0:
		return strconv.FormatUint(uint64(m>>20), 10) + "MB"
	}
	return strconv.FormatUint(uint64(m), 10)
}

// Set implements pflag.Value.
func (m *memory) Set(s string) error {
	digits, shift := s, 0
	for unit, bits := range map[string]int{"GB": 30, "MB": 20} {
		if d, ok := strings.CutSuffix(strings.ToUpper(s), unit); ok {
			digits, shift = d, bits
		}
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n > 1<<20 && shift > 0 {
		return fmt.Errorf("%q is no size; write 3GB or 500MB", s)
	}
	*m = memory(n << shift)
	return nil
}

// Type implements pflag.Value.
func (*memory) Type() string { return "size" }
