package main

import "golang.org/x/sys/unix"

// keepMemory keeps what is in memory, where secrets are until they are sealed, from getting
// into a file or another's hands: no core is written, and no other process looks in (SEC-1).
func keepMemory() {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}
