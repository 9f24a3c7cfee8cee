package provision

import "time"

// SystemClock is the machine's. What elapses is counted by its monotonic clock.
type SystemClock struct{ began time.Time }

// NewSystemClock begins to count now.
func NewSystemClock() SystemClock { return SystemClock{time.Now()} }

// Now implements Clock.
func (SystemClock) Now() time.Time { return time.Now() }

// Elapsed implements Clock.
func (c SystemClock) Elapsed() time.Duration { return time.Since(c.began) }
