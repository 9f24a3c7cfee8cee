package compiler

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/load"
)

// ours are the ranges that a private network may be of: those that nobody else on the
// internet has (RFC 1918, 4193, 6598, and those for tests and documentation).
var ours = func() []netip.Prefix {
	var out []netip.Prefix
	for _, s := range []string{
		"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24",
		"fc00::/7", "2001:db8::/32",
	} {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}()

// networkFaults refuses a range for the mesh that is somebody else's: the internet's, the
// machine's own, or a site's.
func networkFaults(m *load.Mesh) diag.List {
	p, err := netip.ParsePrefix(m.CIDR.Value)
	if err != nil {
		return nil
	}
	p = p.Masked()
	if !slices.ContainsFunc(ours, func(o netip.Prefix) bool { return o.Bits() <= p.Bits() && o.Contains(p.Addr()) }) {
		return diag.List{networkNotOurs(m.CIDR)}
	}
	var ds diag.List
	for _, name := range slices.Sorted(maps.Keys(m.Sites)) {
		s := m.Sites[name]
		if site, err := netip.ParsePrefix(s.Prefix.Value); err == nil && site.Overlaps(p) {
			ds = append(ds, networkOverSite(m.CIDR, name, s.Prefix))
		}
	}
	return ds
}

func networkNotOurs(t load.Text) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.NetworkNotOurs, At: t.At,
		Message: fmt.Sprintf("%s is no range for a private network: its addresses are the internet's, or mean something else on every machine", t.Value),
	}
}

func networkOverSite(t load.Text, name string, site load.Text) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.NetworkNotOurs, At: t.At,
		Message: fmt.Sprintf("%s and the prefix of site %s, %s, have addresses in common: what is sent to one of them could be meant for either", t.Value, name, site.Value),
		Also:    []diag.Note{{At: site.At, Text: "the site's"}},
	}
}
