package seal

import "golang.org/x/sys/unix"

// KeepMemory keeps what a program that opens or makes secrets has in memory from getting
// into a file or another's hands: no core is written, and no other process of its user
// looks in (HST-9). It is for the program to call when it begins.
func KeepMemory() {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}
