package settle

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"meshc.dev/compiler/netaddr"
	"meshc.dev/compiler/plan"
)

// usualOutgoing is net.ipv4.ip_local_port_range of a Linux kernel that nobody told otherwise.
var usualOutgoing = Range{32768, 60999}

// ParseReserved reads a key of reserved.ports: "22", "8000-8100", "53/udp",
// "127.0.0.53:53/udp" or "[::1]:631"; "*" stands for every address. The error says
// what is wrong with the text.
func ParseReserved(key, reason string) (plan.Reserved, error) {
	r := plan.Reserved{Reason: reason}
	if strings.TrimSpace(reason) == "" {
		return r, errors.New("a reserved port has a reason, which is told to whoever wants the port")
	}
	var err error
	r.Address, r.Protocol, r.From, r.To, err = parsePorts(key)
	return r, err
}

// parsePorts reads a port or a range, at an address or at every one, for one protocol or both.
func parsePorts(key string) (host, protocol string, from, to int, err error) {
	rest := key
	if ports, p, ok := strings.Cut(key, "/"); ok {
		if p != "tcp" && p != "udp" {
			return "", "", 0, 0, fmt.Errorf("%q is no protocol; it is tcp or udp, or left out for both", p)
		}
		rest, protocol = ports, p
	}
	if i := strings.LastIndexByte(rest, ':'); i >= 0 {
		address := rest[:i]
		rest = rest[i+1:]
		if address != "*" {
			// Brackets are wanted, since ::1:22 could be an address alone.
			if strings.Contains(address, ":") && !strings.HasPrefix(address, "[") {
				return "", "", 0, 0, fmt.Errorf("an IPv6 address before a port stands in brackets: [%s]:%s", address, rest)
			}
			host, err = netaddr.Host(address)
			if err != nil || !netaddr.IsAddr(host) {
				return "", "", 0, 0, fmt.Errorf("%q is no address", address)
			}
		}
	}
	ports, err := ParseRange(rest)
	return host, protocol, ports.From, ports.To, err
}

// ParseRange reads one port, or two with a hyphen between, as reserved.outgoing is written.
func ParseRange(s string) (Range, error) {
	first, last, isRange := strings.Cut(s, "-")
	from, err := netaddr.Port(first)
	if err != nil {
		return Range{}, err
	}
	if !isRange {
		return Range{from, from}, nil
	}
	to, err := netaddr.Port(last)
	if err != nil {
		return Range{}, err
	}
	if to < from {
		return Range{}, fmt.Errorf("%s ends before it begins", s)
	}
	return Range{from, to}, nil
}

// sshd is the way in to most machines: reserved unless the node says otherwise.
var sshd = plan.Reserved{From: 22, To: 22, Reason: "sshd"}

// WithDefaults adds 22 for sshd, unless the node says something of port 22 itself
// or that its sshd is at another port. Doing it twice is doing it once.
func WithDefaults(reserved []plan.Reserved) []plan.Reserved {
	for _, r := range reserved {
		if r.Reason == sshd.Reason || r.From <= sshd.From && sshd.To <= r.To {
			return reserved
		}
	}
	return append(slices.Clip(slices.Clone(reserved)), sshd)
}

// String is how a range is written.
func (r Range) String() string {
	if r.From == r.To {
		return strconv.Itoa(r.From)
	}
	return strconv.Itoa(r.From) + "-" + strconv.Itoa(r.To)
}

// Size is the number of ports; 0 for a range that ends before it begins.
func (r Range) Size() int { return max(r.To-r.From+1, 0) }

// Contains says whether a port is in the range.
func (r Range) Contains(port int) bool { return r.From <= port && port <= r.To }

// Meets says whether two ranges have a port in common.
func (r Range) Meets(o Range) bool { return r.From <= o.To && o.From <= r.To }
