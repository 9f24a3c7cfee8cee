//go:build !linux

package dist

func exchange(a, b string) error { return exchangeInTwo(a, b) }
