// Package parallel does one thing for many: it calls a function for every index on
// all processors. Stages use it for nodes, write each result into its own place of a
// slice, and so come to the same output with any number of workers (BLD-1).
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls f for 0 … n-1, several at once, and returns when all are done.
func Each(n int, f func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}
