package host

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// port is a port or range of one protocol, at one address or, where that is the zero
// Addr, at all.
type port struct {
	from, to int
	protocol string
	address  netip.Addr
}

func (p port) String() string {
	if p.from == p.to {
		return fmt.Sprintf("%d/%s", p.from, p.protocol)
	}
	return fmt.Sprintf("%d-%d/%s", p.from, p.to, p.protocol)
}

func (p port) covers(n int, protocol string) bool {
	return p.protocol == protocol && p.from <= n && n <= p.to
}

// portList is ports in their order, each once, and neighbours as one range.
func portList(ports []port) string {
	slices.SortFunc(ports, func(a, b port) int {
		return cmp.Or(strings.Compare(a.protocol, b.protocol), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	var joined []port
	for _, p := range ports {
		last := len(joined) - 1
		if last >= 0 && joined[last].protocol == p.protocol && p.from <= joined[last].to+1 {
			joined[last].to = max(joined[last].to, p.to)
			continue
		}
		joined = append(joined, p)
	}
	out := make([]string, len(joined))
	for i, p := range joined {
		out[i] = p.String()
	}
	return strings.Join(out, ", ")
}

// opening is a port that the bundle's packet filter accepts.
type opening struct {
	port
	// world is one that is open to every address.
	world bool
	// family is ip or ip6 where the rule is for one of them only.
	family string
	// why is the rule's comment. In the table that meshc writes it is INSTANCE/LISTEN for
	// what a module listens on, and begins with "reserved: " for what the machine has for itself.
	why string
}

var (
	publishPattern = regexp.MustCompile(`(?m)(?:^PublishPort=|--publish[= ]|\s-p )"?(?:(\[[^\]]*\]|[0-9.]+):)?([0-9]+)(?:-([0-9]+))?:[0-9]+(?:-[0-9]+)?(?:/(tcp|udp))?`)

	tablePattern   = regexp.MustCompile(`(?m)^\s*table (?:(\w+) )?([\w.-]+) \{`)
	chainPattern   = regexp.MustCompile(`\bchain [\w.-]+ \{`)
	hookPattern    = regexp.MustCompile(`\btype \w+ hook (\w+)`)
	dportPattern   = regexp.MustCompile(`\b(tcp|udp|th) dport (\{[^}]*\}|[\w-]+) (?:.* )?accept\b`)
	l4protoPattern = regexp.MustCompile(`\bl4proto (tcp|udp)\b`)
	addressPattern = regexp.MustCompile(`\b(ip6?) ([sd])addr (\S+)`)
	commentPattern = regexp.MustCompile(`\bcomment "([^"]*)"`)
)

// published are the ports of the machine that a container's unit text publishes.
func published(text string) []port {
	var out []port
	for _, m := range publishPattern.FindAllStringSubmatch(text, -1) {
		p := port{protocol: m[4]}
		if p.protocol == "" {
			p.protocol = "tcp"
		}
		p.from, _ = strconv.Atoi(m[2])
		if p.to, _ = strconv.Atoi(m[3]); p.to == 0 {
			p.to = p.from
		}
		p.address = bindAddress(strings.Trim(m[1], "[]"))
		out = append(out, p)
	}
	return out
}

// bindAddress is the one address that is listened at; the zero Addr for all.
func bindAddress(s string) netip.Addr {
	a, err := netip.ParseAddr(s)
	if err != nil || a.IsUnspecified() {
		return netip.Addr{}
	}
	return a.Unmap()
}

// tablesIn are the tables that an nftables text makes, as "inet filter".
func tablesIn(text string) []string {
	var out []string
	for _, m := range tablePattern.FindAllStringSubmatch(text, -1) {
		if m[1] == "" {
			m[1] = "ip"
		}
		out = append(out, m[1]+" "+m[2])
	}
	return out
}

// openedIn are the ports that an nftables text accepts. What depends on the port that
// is asked from is an answer to the machine's own question, and opens nothing.
func openedIn(text string) []opening {
	var out []opening
	hook := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		for statement := range strings.SplitSeq(line, ";") {
			if chainPattern.MatchString(statement) {
				hook = ""
			}
			if m := hookPattern.FindStringSubmatch(statement); m != nil {
				hook = m[1]
			}
			m := dportPattern.FindStringSubmatch(statement)
			if m == nil || strings.Contains(statement, " sport ") || hook != "" && hook != "input" && hook != "forward" {
				continue
			}
			out = append(out, openings(m, statement, hook)...)
		}
	}
	return out
}

func openings(m []string, statement, hook string) []opening {
	protocols := []string{m[1]}
	if m[1] == "th" {
		protocols = []string{"tcp", "udp"}
		if l4 := l4protoPattern.FindStringSubmatch(statement); l4 != nil {
			protocols = l4[1:]
		}
	}
	o := opening{world: hook == "input" && !strings.Contains(statement, "iif")}
	for _, a := range addressPattern.FindAllStringSubmatch(statement, -1) {
		o.family = a[1]
		if a[2] == "s" {
			o.world = false
		} else {
			o.address = bindAddress(a[3])
		}
	}
	if c := commentPattern.FindStringSubmatch(statement); c != nil {
		o.why = c[1]
	}
	var out []opening
	for _, protocol := range protocols {
		for word := range strings.SplitSeq(strings.Trim(m[2], "{}"), ",") {
			first, last, isRange := strings.Cut(strings.TrimSpace(word), "-")
			if !isRange {
				last = first
			}
			from, err1 := net.LookupPort(protocol, first)
			to, err2 := net.LookupPort(protocol, last)
			if err1 != nil || err2 != nil || from == 0 {
				continue
			}
			o.from, o.to, o.protocol = from, to, protocol
			out = append(out, o)
		}
	}
	return out
}
