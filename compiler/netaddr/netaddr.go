// Package netaddr is the one place where addresses, names and ports are joined,
// taken apart and judged (BLD-7). A host is written without brackets everywhere in
// meshc; brackets appear when Join puts a port behind an IPv6 address and go when
// ParseEndpoint or Host reads one. It knows nothing of meshes and imports the
// standard library only, so that every stage can use it.
package netaddr

import (
	"net/netip"
	"strconv"
	"strings"
)

// Join puts a port behind a host: a name, an IPv4 address or an IPv6 address,
// the last with or without brackets and with or without a zone.
func Join(host string, port int) string {
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(port)
}

// Host reads a host without a port and gives it in the form in which hosts are
// compared: names in lower case, addresses as short as they can be written,
// IPv6 without brackets. IPv6 may be given with brackets.
func Host(s string) (string, error) {
	if s == "" {
		return "", errNoHost
	}
	if inner, ok := strings.CutPrefix(s, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok {
			return "", errBracket(s)
		}
		a, err := parseAddr(inner)
		if err != nil || !a.Is6() {
			return "", errNotIPv6(s)
		}
		return a.String(), nil
	}
	if a, err := parseAddr(s); err == nil {
		return a.String(), nil
	}
	if strings.Contains(s, ":") {
		return "", errNotIPv6(s)
	}
	name := strings.ToLower(s)
	if err := CheckName(name); err != nil {
		return "", err
	}
	return name, nil
}

// parseAddr is netip.ParseAddr with a zone that can be the name of an interface:
// netip takes any bytes at all for a zone, line feeds included.
func parseAddr(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	if err != nil {
		return a, err
	}
	if z := a.Zone(); z != "" && !IsInterface(z) {
		return netip.Addr{}, errZone(z)
	}
	return a, nil
}

// IsAddr says whether a host is an address and no name.
func IsAddr(host string) bool {
	_, err := parseAddr(host)
	return err == nil
}
