package parallel

import (
	"runtime"
	"testing"
)

// BLD-1: every index is called once, with any number of workers.
func TestEach(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(procs)
		for _, n := range []int{0, 1, 7, 1000} {
			calls := make([]int, n)
			Each(n, func(i int) { calls[i]++ })
			for i, c := range calls {
				if c != 1 {
					t.Fatalf("%d workers, %d of %d: called %d times", procs, i, n, c)
				}
			}
		}
	}
}
