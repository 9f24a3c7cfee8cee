package host

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"meshc.dev/host/machine"
)

// surroundings are what else is on a machine that runs.
type surroundings struct {
	listeners []listener
	chains    []baseChain
	// names are those of the bundle's units, and what else systemd calls them.
	names []string
}

// surroundings looks around on a machine that runs; units are those of the bundle.
func (h *Host) surroundings(ctx context.Context, units []string) (surroundings, error) {
	var s surroundings
	if !h.Machine.IsLive {
		return s, nil
	}
	var err error
	if s.listeners, err = listeners(); err != nil {
		return s, err
	}
	if s.names, err = unitNames(ctx, units); err != nil {
		return s, err
	}
	s.chains, err = baseChains(ctx)
	return s, err
}

// unitNames adds to the names of units those that they have besides.
func unitNames(ctx context.Context, units []string) ([]string, error) {
	args := []string{"show", "--property=Names", "--value", "--"}
	for _, u := range units {
		if !strings.Contains(u, "@.") { // a template has no other, and cannot be asked about
			args = append(args, u)
		}
	}
	if len(args) == 4 {
		return units, nil
	}
	out, err := machine.Ask(ctx, "systemctl", args...)
	if err != nil {
		return nil, err
	}
	return append(slices.Clone(units), strings.Fields(string(out))...), nil
}

// listener is a socket that something listens on.
type listener struct {
	protocol string
	port     int
	address  netip.Addr // the zero Addr for every address
	holders  []holder   // none where the kernel itself listens
}

// holder is a process that holds a socket.
type holder struct {
	program string
	// cgroup is its path there, such as /system.slice/nginx.service.
	cgroup string
}

// unit is what systemd calls the process's unit.
func (h holder) unit() string {
	parts := strings.Split(h.cgroup, "/")
	for _, p := range slices.Backward(parts) {
		if strings.HasSuffix(p, ".service") || strings.HasSuffix(p, ".scope") {
			return p
		}
	}
	return ""
}

// is says whether the process is of one of these units. Instances of one template count
// as the same, and as what starts them: that is how postgresql.service and
// postgresql@17-main.service belong together.
func (h holder) is(names []string) bool {
	for part := range strings.SplitSeq(h.cgroup, "/") {
		for _, n := range names {
			if part == n || unitStem(part) != "" && unitStem(part) == unitStem(n) {
				return true
			}
		}
	}
	return false
}

// unitStem is a service's or socket's name without what tells instances apart.
func unitStem(name string) string {
	base, ok := strings.CutSuffix(name, ".service")
	if !ok {
		base, ok = strings.CutSuffix(name, ".socket")
	}
	if !ok {
		return ""
	}
	base, _, _ = strings.Cut(base, "@")
	return base
}

// isManager says whether the process is systemd itself, which listens for others.
func (h holder) isManager() bool { return h.cgroup == "/init.scope" || h.program == "systemd" }

// listeners reads what listens from /proc/net, and who from each process's open
// files.
func listeners() ([]listener, error) {
	holders := socketHolders()
	var out []listener
	for _, f := range []struct{ file, protocol, state string }{
		{"tcp", "tcp", "0A"}, {"tcp6", "tcp", "0A"}, {"udp", "udp", "07"}, {"udp6", "udp", "07"},
	} {
		data, err := os.Open("/proc/net/" + f.file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(data)
		for lines.Scan() {
			l, inode, ok := parseListener(lines.Text(), f.protocol, f.state)
			if !ok {
				continue
			}
			for _, process := range holders[inode] {
				l.holders = append(l.holders, readHolder(process))
			}
			out = append(out, l)
		}
		data.Close()
		if err := lines.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// parseListener reads one line of /proc/net/tcp (proc(5)): fields are number, local
// address, remote address, state and, tenth, the socket's inode.
func parseListener(line, protocol, state string) (l listener, inode string, ok bool) {
	f := strings.Fields(line)
	if len(f) < 10 || f[3] != state {
		return listener{}, "", false
	}
	address, number, ok := strings.Cut(f[1], ":")
	port, err := strconv.ParseUint(number, 16, 16)
	if !ok || err != nil {
		return listener{}, "", false
	}
	return listener{protocol: protocol, port: int(port), address: procAddress(address)}, f[9], true
}

// procAddress reads an address of /proc/net, whose words of four bytes are as the
// processor has them: the last byte first on every machine that we know.
func procAddress(s string) netip.Addr {
	b, err := hex.DecodeString(s)
	if err != nil || len(b)%4 != 0 {
		return netip.Addr{}
	}
	for word := range slices.Chunk(b, 4) {
		slices.Reverse(word)
	}
	a, ok := netip.AddrFromSlice(b)
	if !ok || a.IsUnspecified() {
		return netip.Addr{}
	}
	return a.Unmap()
}

// socketHolders are the processes' folders in /proc that hold each socket's inode.
func socketHolders() map[string][]string {
	out := map[string][]string{}
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range fds {
		to, err := os.Readlink(fd)
		inode, ok := strings.CutPrefix(to, "socket:[")
		if err != nil || !ok {
			continue
		}
		inode = strings.TrimSuffix(inode, "]")
		if process := filepath.Dir(filepath.Dir(fd)); !slices.Contains(out[inode], process) {
			out[inode] = append(out[inode], process)
		}
	}
	return out
}

func readHolder(process string) holder {
	name, _ := os.ReadFile(filepath.Join(process, "comm"))
	groups, _ := os.ReadFile(filepath.Join(process, "cgroup"))
	return holder{strings.TrimSpace(string(name)), cgroupOf(string(groups))}
}

// cgroupOf reads /proc/PID/cgroup (cgroups(7)): the line of the one hierarchy, or of
// systemd's own among several.
func cgroupOf(text string) string {
	out := ""
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) == 3 && (f[1] == "name=systemd" || f[1] == "" && out == "") {
			out = f[2]
		}
	}
	return out
}
