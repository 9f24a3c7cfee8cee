package netaddr

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/quick"
)

// BLD-7, O22: a port behind an address has brackets exactly where the address is IPv6, once.
func TestJoin(t *testing.T) {
	for host, want := range map[string]string{
		"2001:db8::1":       "[2001:db8::1]:51820",
		"[2001:db8::1]":     "[2001:db8::1]:51820",
		"fe80::1%eth0":      "[fe80::1%eth0]:51820",
		"::ffff:192.0.2.1":  "[::ffff:192.0.2.1]:51820",
		"192.0.2.1":         "192.0.2.1:51820",
		"anchor.home.mesh":  "anchor.home.mesh:51820",
		"host.containers.x": "host.containers.x:51820",
	} {
		if got := Join(host, 51820); got != want {
			t.Errorf("Join(%q) = %q, want %q", host, got, want)
		}
	}
}

// BLD-7, O22: every way in which people write an endpoint is read, and nothing else is.
func TestParseEndpoint(t *testing.T) {
	for s, want := range map[string]Endpoint{
		"203.0.113.7":             {"203.0.113.7", 51820},
		"203.0.113.7:4500":        {"203.0.113.7", 4500},
		"vpn.example.com":         {"vpn.example.com", 51820},
		"VPN.Example.com:443":     {"vpn.example.com", 443},
		"anchor":                  {"anchor", 51820},
		"2001:db8::1":             {"2001:db8::1", 51820},
		"[2001:db8::1]":           {"2001:db8::1", 51820},
		"[2001:db8::1]:4500":      {"2001:db8::1", 4500},
		"2001:DB8:0:0::1":         {"2001:db8::1", 51820},
		"2001:db8::1:4500":        {"2001:db8::1:4500", 51820}, // digits of the address
		"fe80::1%eth0":            {"fe80::1%eth0", 51820},
		"[fe80::1%eth0]:9":        {"fe80::1%eth0", 9},
		"1st.example":             {"1st.example", 51820},
		"xn--bcher-kva.example:1": {"xn--bcher-kva.example", 1},
	} {
		got, err := ParseEndpoint(s, 51820)
		if err != nil || got != want {
			t.Errorf("ParseEndpoint(%q) = %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{
		"", ":51820", "anchor:", "anchor:0", "anchor:65536", "anchor:+1", "anchor:080", "anchor: 80", "anchor:http",
		"[2001:db8::1", "2001:db8::1]", "[2001:db8::1]]", "[[2001:db8::1]]:1", "[203.0.113.7]:1", "[anchor]:1", "[]:1",
		"2001:db8::1::4500", "[2001:db8::1]4500", "[2001:db8::1]:", "203.0.113.256", "1.2.3", "anchor.5",
		"redis_cache", "-lead", "trail-.example", "Web.", "a..b", strings.Repeat("a", 64), strings.Repeat("a.", 130) + "a",
		"anchor home", "anchor\n", "fe80::1%eth0\nPostUp = id", "[fe80::1%e]th]:1", "http://anchor", "user@anchor", "bücher.example",
	} {
		if got, err := ParseEndpoint(s, 51820); err == nil {
			t.Errorf("ParseEndpoint(%q) = %v, want a refusal", s, got)
		}
	}
}

// BLD-7, O30: names are lower-case LDH labels with dots between.
func TestIsName(t *testing.T) {
	for s, want := range map[string]bool{
		"anchor": true, "anchor.home.mesh": true, "1st.x": true, strings.Repeat("a", 63) + ".b": true,
		"redis_cache": false, "Web.": false, "web.": false, "UPPER": false, "-lead": false, "": false, ".": false, "a..b": false,
		strings.Repeat("a", 64): false, "10.86.0.7": false, "a.7": false, "ä.mesh": false, "a b": false, "a\x00": false,
	} {
		if IsName(s) != want {
			t.Errorf("IsName(%q) = %v", s, !want)
		}
	}
}

// BLD-4: an interface's name becomes part of a file name and of a rule.
func TestIsInterface(t *testing.T) {
	for s, want := range map[string]bool{
		"wg0": true, "enp3s0.10": true, "br-1a2b": true, "a_b": true,
		"": false, ".": false, "..": false, "wg/0": false, "a b": false, `wg"`: false, "sixteen-letters-": false, "wg*": false,
	} {
		if IsInterface(s) != want {
			t.Errorf("IsInterface(%q) = %v", s, !want)
		}
	}
}

// BLD-7: what is joined is taken apart again by us and by Go's own reader, for every address and port.
func TestJoinRoundTrip(t *testing.T) {
	holds := func(raw [16]byte, v4, zone bool, port uint16) bool {
		a := netip.AddrFrom16(raw)
		if v4 {
			a = netip.AddrFrom4([4]byte(raw[:4]))
		} else if zone && !a.Is4In6() {
			a = a.WithZone("eth0")
		}
		p := int(port)%65535 + 1
		joined := Join(a.String(), p)
		e, err := ParseEndpoint(joined, 1)
		host, digits, err2 := net.SplitHostPort(joined)
		return err == nil && err2 == nil && e == Endpoint{a.String(), p} &&
			host == a.String() && digits == strconv.Itoa(p) && e.String() == joined
	}
	if err := quick.Check(holds, &quick.Config{MaxCount: 5000}); err != nil {
		t.Error(err)
	}
}

// BLD-7, DIA-5: whatever is read as an endpoint prints as text that is read as the same, in one
// word that no file format could take for anything else.
func FuzzParseEndpoint(f *testing.F) {
	for _, s := range []string{"a:1", "[::1]:2", "::1", "fe80::1%eth0", "fe80::1%\n", "[::]", "A.b", "1.2.3.4:5", "]:1:", ":::"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := ParseEndpoint(s, 51820)
		if err != nil {
			return
		}
		again, err := ParseEndpoint(e.String(), 1)
		if err != nil || again != e {
			t.Errorf("%q is read as %v, which is read as %v, %v", s, e, again, err)
		}
		if strings.Trim(e.String(), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:[]%") != "" {
			t.Errorf("%q is read as %q", s, e.String())
		}
		if _, _, err := net.SplitHostPort(e.String()); err != nil {
			t.Errorf("%q prints as %q: %v", s, e.String(), err)
		}
	})
}
