//go:build !linux

package seal

// KeepMemory is for Linux alone.
func KeepMemory() {}
