package seal

import (
	"testing"

	"golang.org/x/sys/unix"
)

// HST-9, T72: a program that holds secrets leaves no core, and nobody looks into it.
func TestKeepMemory(t *testing.T) {
	KeepMemory()
	var core unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &core); err != nil || core.Cur != 0 || core.Max != 0 {
		t.Errorf("a core may have %+v, %v", core, err)
	}
	if is, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || is != 0 {
		t.Errorf("dumpable is %d, %v", is, err)
	}
}
