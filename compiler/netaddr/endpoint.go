package netaddr

import (
	"strconv"
	"strings"
)

// Endpoint is a host and a port that something can be sent to. The host is in the
// form that Host gives.
type Endpoint struct {
	Host string
	Port int
}

// String joins the two as programs read them: [2001:db8::1]:51820.
func (e Endpoint) String() string { return Join(e.Host, e.Port) }

// ParseEndpoint reads host, host:port, an IPv6 address with or without brackets,
// or [IPv6]:port; where no port is written the default is taken. Digits behind an
// IPv6 address without brackets are part of the address.
func ParseEndpoint(s string, port int) (Endpoint, error) {
	host, digits, hasPort := s, "", false
	switch strings.Count(s, ":") {
	case 0:
	case 1:
		host, digits, hasPort = strings.Cut(s, ":")
	default:
		if i := strings.LastIndex(s, "]:"); i >= 0 {
			host, digits, hasPort = s[:i+1], s[i+2:], true
		}
	}
	if hasPort {
		p, err := Port(digits)
		if err != nil {
			return Endpoint{}, err
		}
		port = p
	}
	host, err := Host(host)
	if err != nil {
		return Endpoint{}, err
	}
	return Endpoint{host, port}, nil
}

// Port reads a port number from 1 to 65535: digits alone, no sign, no space, no
// leading zero.
func Port(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 65535 || strconv.Itoa(n) != s {
		return 0, errPort(s)
	}
	return n, nil
}
