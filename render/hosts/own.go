package hosts

import (
	"slices"
	"strings"
)

// own are the names that every machine has for itself, or gives to its containers, and that
// no line of ours may take from it: those of Debian's own /etc/hosts (netbase, RFC 4291's
// addresses), of other systems', and of Podman and Docker.
var own = []string{
	"broadcasthost",
	"gateway.docker.internal", "host.containers.internal", "host.docker.internal", "kubernetes.docker.internal",
	"ip6-allhosts", "ip6-allnodes", "ip6-allrouters", "ip6-localhost", "ip6-localnet", "ip6-loopback", "ip6-mcastprefix",
	"ipv6-allhosts", "ipv6-allnodes", "ipv6-allrouters", "ipv6-localhost", "ipv6-localnet", "ipv6-loopback", "ipv6-mcastprefix",
	"localdomain", "localhost", "localhost4", "localhost6", "loopback",
}

// isOwn says whether a name is one of these, or below one that stands for the machine as a
// whole (RFC 6761, 6.3).
func isOwn(name string) bool {
	return slices.Contains(own, name) || strings.HasSuffix(name, ".localhost") || strings.HasSuffix(name, ".localdomain")
}
