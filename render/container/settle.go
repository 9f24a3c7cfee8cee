package container

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"meshc.dev/compiler/netaddr"
	"meshc.dev/compiler/plan"
)

// settled is a container whose parts were checked and taken apart, before it is
// written for one of the runtimes.
type settled struct {
	plan.Container
	description string
	after       []string
	options     Options
	publishes   []string
	volumes     []volume
}

// volume is one mount.
type volume struct {
	index          int
	source, target string
	options        []string
}

// isPath says whether the source is a path of the machine and no volume of the runtime's.
func (v volume) isPath() bool { return v.source[0] == '/' }

func (v volume) String() string {
	s := v.source + ":" + v.target
	if len(v.options) > 0 {
		s += ":" + strings.Join(v.options, ",")
	}
	return s
}

var (
	unitName    = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,126}[a-z0-9])?$`)
	imageName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:@+-]*$`)
	userName    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$`)
	networkName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
	otherUnit   = regexp.MustCompile(`^[A-Za-z0-9_.@:-]+\.(service|socket|target|mount|timer|path|device|slice)$`)
	envName     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
)

// settle checks everything that does not depend on the runtime.
func settle(c plan.Container, o Options, description string, after []string) (settled, error) {
	s := settled{Container: c, description: description, after: after, options: o}
	switch {
	case !unitName.MatchString(c.Unit):
		return s, badUnitName()
	case !imageName.MatchString(c.Image):
		return s, badImage()
	case c.User != "" && !userName.MatchString(c.User):
		return s, badUser()
	case c.Network != "" && (!networkName.MatchString(c.Network) || strings.HasSuffix(c.Network, ".network") || strings.HasSuffix(c.Network, ".container")):
		return s, badNetwork()
	case len(c.Publishes) > 0 && (c.Network == "host" || c.Network == "none"):
		return s, publishesWithoutNetwork(c.Network)
	case o.MTU != 0 && (o.MTU < 1280 || o.MTU > 65535):
		return s, badMTU()
	case !slices.ContainsFunc(after, func(u string) bool { return !otherUnit.MatchString(u) }):
	default:
		return s, badAfter()
	}
	for _, h := range o.Hosts {
		if !netaddr.IsName(h.Name) || !h.Address.IsValid() {
			return s, badHost()
		}
	}
	for _, e := range c.Env {
		if !envName.MatchString(e.Name) {
			return s, badEnvName(e.Name)
		}
	}
	for i, name := range c.Capabilities {
		if !slices.Contains(capabilities, capability(name)) {
			return s, unknownCapability(i)
		}
	}
	for i, p := range c.Publishes {
		text, err := publish(i, p)
		if err != nil {
			return s, err
		}
		s.publishes = append(s.publishes, text)
	}
	for i, text := range c.Volumes {
		v, err := parseVolume(i, text)
		if err != nil {
			return s, err
		}
		s.volumes = append(s.volumes, v)
	}
	return s, nil
}

// publish writes a mapping as both runtimes read it: ADDRESS:PORT:INSIDE, an IPv6 address in
// brackets (O22), a range as a range (PRT-3), tcp unless it is said. One that an author wrote
// whole is left as it is (PRT-4).
func publish(i int, p plan.Publish) (string, error) {
	if p.Whole != "" {
		if strings.ContainsFunc(p.Whole, func(r rune) bool { return r > '~' || r <= ' ' || strings.ContainsRune(`"'\$`, r) }) {
			return "", badPublish(i, "is no mapping of a port")
		}
		return p.Whole, nil
	}
	outside, n := portRange(p.Port, p.To)
	inside, m := portRange(p.Inside, p.InTo)
	if n < 1 || n != m {
		return "", badPublish(i, fmt.Sprintf("maps %d ports to %d", n, m))
	}
	if p.Address != "" {
		if !netaddr.IsAddr(p.Address) {
			return "", badPublish(i, "binds something that is no address")
		}
		outside = netaddr.Join(p.Address, p.Port) + strings.TrimPrefix(outside, fmt.Sprint(p.Port))
	}
	text := outside + ":" + inside
	switch p.Protocol {
	case "", "tcp":
		return text, nil
	case "udp", "sctp":
		return text + "/" + p.Protocol, nil
	}
	return "", badPublish(i, "has a protocol that is none of tcp, udp and sctp")
}

// portRange writes one port or several and counts them; a range that ends nowhere is one port.
func portRange(from, to int) (string, int) {
	switch {
	case from < 1 || from > 65535 || to > 65535:
		return "", 0
	case to == 0 || to == from:
		return fmt.Sprint(from), 1
	}
	return fmt.Sprintf("%d-%d", from, to), to - from + 1
}

func parseVolume(i int, text string) (volume, error) {
	parts := strings.Split(text, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return volume{}, badVolume(i, "is not of the form source:target or source:target:options")
	}
	v := volume{index: i, source: parts[0], target: parts[1]}
	if len(parts) == 3 {
		v.options = strings.Split(parts[2], ",")
	}
	switch {
	case !volumePath(v.target):
		return v, badVolume(i, "has a target that is no clean absolute path of plain characters")
	case v.target == "/":
		return v, badVolume(i, "has the container's root as its target")
	case v.source == "" || v.isPath() && !volumePath(v.source):
		return v, badVolume(i, "has a source that is no clean absolute path of plain characters")
	case !v.isPath() && (!networkName.MatchString(v.source) || strings.HasSuffix(v.source, ".volume")):
		return v, badVolume(i, "has a source that is neither an absolute path nor the name of a volume: letters, digits and _ . -, not ending in .volume")
	}
	return v, nil
}

// volumePath takes what both runtimes, their lists of options and systemd's list of
// mounts read as one path.
func volumePath(p string) bool {
	return path.IsAbs(p) && path.Clean(p) == p &&
		!strings.ContainsFunc(p, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r) || r == unicode.ReplacementChar || strings.ContainsRune("\"'\\$,:", r)
		})
}

// capability gives a capability's name without its prefix, in upper case.
func capability(s string) string { return strings.TrimPrefix(strings.ToUpper(s), "CAP_") }

// capabilities are those of capabilities(7) as of Linux 6.
var capabilities = []string{
	"AUDIT_CONTROL", "AUDIT_READ", "AUDIT_WRITE", "BLOCK_SUSPEND", "BPF", "CHECKPOINT_RESTORE", "CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID",
	"IPC_LOCK", "IPC_OWNER", "KILL", "LEASE", "LINUX_IMMUTABLE", "MAC_ADMIN", "MAC_OVERRIDE", "MKNOD", "NET_ADMIN", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_RAW",
	"PERFMON", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYSLOG", "SYS_ADMIN", "SYS_BOOT", "SYS_CHROOT", "SYS_MODULE", "SYS_NICE", "SYS_PACCT", "SYS_PTRACE",
	"SYS_RAWIO", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "WAKE_ALARM",
}
