package netaddr

import (
	"errors"
	"fmt"
)

// The errors say what is wrong with the text alone; who wrote it where is the
// caller's to say. They are lower case and fit behind a colon.

var errNoHost = errors.New("there is no host in it")

func errBracket(s string) error {
	return fmt.Errorf("%q opens a bracket and does not close it at the end of the address", s)
}

func errNotIPv6(s string) error {
	return fmt.Errorf("%q is no IPv6 address; with a port behind it, it is written [2001:db8::1]:51820", s)
}

func errZone(s string) error { return fmt.Errorf("%q is no name of a network interface", s) }

func errPort(s string) error {
	return fmt.Errorf("%q is no port; a port is a number from 1 to 65535", s)
}

func errLong(s string) error {
	return fmt.Errorf("%.20q… is longer than the 253 bytes that a host name can have", s)
}

func errDot(s string) error { return fmt.Errorf("%q ends in a dot", s) }

func errUpper(s string) error { return fmt.Errorf("%q is not lower case", s) }

func errDigits(s string) error {
	return fmt.Errorf("%q ends in digits, and programs take that for an address", s)
}

type errLabel struct{ name, label string }

func (e errLabel) Error() string {
	switch {
	case e.label == "":
		return fmt.Sprintf("%q has an empty part between dots", e.name)
	case len(e.label) > 63:
		return fmt.Sprintf("%.20q… is longer than the 63 bytes that a part of a host name can have", e.label)
	}
	return fmt.Sprintf("%q in %q is not letters, digits and inner hyphens", e.label, e.name)
}
