package settle

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"meshc.dev/compiler/plan"
)

// ParseOpen reads a key of `open`, written as those of reserved.ports, and from where it is
// open; "site" stays as it is. The error says what is wrong with the text.
func ParseOpen(key, reason string, from []string) (plan.Admit, error) {
	a := plan.Admit{For: reason}
	if strings.TrimSpace(reason) == "" {
		return a, errors.New("an open port says whose it is, for the firewall's table and the plan")
	}
	var err error
	if a.Address, a.Protocol, a.Port, a.To, err = parsePorts(key); err != nil {
		return a, err
	}
	for _, f := range from {
		if slices.Contains([]string{"machine", "site", "network", "world"}, f) {
			a.From = append(a.From, f)
			continue
		}
		p, err := netip.ParsePrefix(f)
		if err != nil || p.Addr().Is4In6() {
			return a, fmt.Errorf("%q is no prefix", f)
		}
		a.From = append(a.From, p.Masked().String())
	}
	slices.Sort(a.From)
	a.From = slices.Compact(a.From)
	return a, nil
}

// openMeets says whether two openings speak of one port: of a protocol, at an address or at every one.
func openMeets(a, b plan.Admit) bool {
	return Range{a.Port, a.To}.Meets(Range{b.Port, b.To}) &&
		(a.Protocol == b.Protocol || a.Protocol == "" || b.Protocol == "") &&
		(a.Address == b.Address || everywhere(a.Address) || everywhere(b.Address))
}

// everywhere says whether an address is every one of its machine.
func everywhere(address string) bool {
	a, err := netip.ParseAddr(address)
	return err != nil || a.IsUnspecified()
}

// OpenOverlap finds two openings of one node that speak of one port, in the order of the list.
func OpenOverlap(open []plan.Admit) (a, b plan.Admit, found bool) {
	for k, x := range open {
		for _, y := range open[:k] {
			if openMeets(x, y) {
				return y, x, true
			}
		}
	}
	return a, b, false
}

// openSSH is the way in to most machines.
var openSSH = plan.Admit{Port: 22, To: 22, Protocol: "tcp", For: "sshd", From: []string{"world"}}

// withDefaultOpen adds 22/tcp for sshd, unless the node says something of it.
func withDefaultOpen(open []plan.Admit) []plan.Admit {
	for _, a := range open {
		if a.Port <= 22 && 22 <= a.To && a.Protocol != "udp" {
			return open
		}
	}
	return append(slices.Clip(slices.Clone(open)), openSSH)
}
