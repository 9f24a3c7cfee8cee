//go:build !linux

package main

// keepMemory is for systems where it is known how.
func keepMemory() {}
