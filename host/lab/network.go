package lab

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
)

// Cable joins a machine to the lab's network.
type Cable struct {
	Machine string
	Address string // of the machine, with its prefix: 192.0.2.2/24
	Router  string // the router's address there, with its prefix
	// Behind says that the machine has a cable of its own to the router, which
	// translates what it sends, and lets nobody call it.
	Behind bool
}

// Wire makes a network namespace for each machine, and joins those on the outside by
// a bridge. The run's own namespace is the router, and stands for everybody else out
// there: whoever calls from it is no machine of the mesh.
func Wire(cables ...Cable) error {
	commands := []string{"ip link set lo up", "ip link add outside type bridge", "ip link set outside up"}
	var behind []Cable
	for _, c := range cables {
		at := "outside"
		commands = append(commands,
			"ip netns add "+c.Machine,
			fmt.Sprintf("ip link add %s type veth peer name eth0 netns %s", c.Machine, c.Machine),
			fmt.Sprintf("ip -n %s addr add %s dev eth0", c.Machine, c.Address),
			fmt.Sprintf("ip -n %s link set lo up", c.Machine),
			fmt.Sprintf("ip -n %s link set eth0 up", c.Machine),
			"ip link set "+c.Machine+" up",
		)
		if c.Behind {
			at, behind = c.Machine, append(behind, c)
		} else {
			commands = append(commands, "ip link set "+c.Machine+" master outside")
		}
		router, _, _ := strings.Cut(c.Router, "/")
		commands = append(commands,
			fmt.Sprintf("ip addr replace %s dev %s", c.Router, at),
			fmt.Sprintf("ip -n %s route add default via %s", c.Machine, router))
	}
	for _, command := range commands {
		words := strings.Fields(command)
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", command, err, strings.TrimSpace(string(out)))
		}
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644); err != nil {
		return err
	}
	for _, c := range cables {
		// A machine that nobody listens on says so to every call, and not only a few times
		// a second: the probe counts these answers.
		err := In(c.Machine, func() error { return os.WriteFile("/proc/sys/net/ipv4/icmp_ratelimit", []byte("0"), 0o644) })
		if err != nil {
			return fmt.Errorf("in the network of %s: %w", c.Machine, err)
		}
	}
	return translate(behind)
}

// translate is what a household's router does for who is behind it.
func translate(behind []Cable) error {
	var table strings.Builder
	table.WriteString("table ip router {\nchain out { type nat hook postrouting priority srcnat;")
	for _, c := range behind {
		fmt.Fprintf(&table, " ip saddr %s oifname \"outside\" masquerade random;", netip.MustParsePrefix(c.Address).Masked())
	}
	table.WriteString(" }\n")
	table.WriteString("chain through { type filter hook forward priority filter; policy drop; ct state established,related accept;")
	// Some kernels show it what the bridge passes on, too.
	table.WriteString(" iifname \"outside\" oifname \"outside\" accept;")
	for _, c := range behind {
		fmt.Fprintf(&table, " iifname %q accept;", c.Machine)
	}
	table.WriteString(" }\n}\n")
	c := exec.Command("nft", "-f", "-")
	c.Stdin = strings.NewReader(table.String())
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("nft: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
