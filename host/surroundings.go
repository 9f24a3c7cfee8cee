package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// listeners reads what listens from /proc/net, and who from each process's open
// files.
func listeners() ([]listener, error) {
	programs := socketPrograms()
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
			if l, ok := parseListener(lines.Text(), f.protocol, f.state, programs); ok {
				out = append(out, l)
			}
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
func parseListener(line, protocol, state string, programs map[string]string) (listener, bool) {
	f := strings.Fields(line)
	if len(f) < 10 || f[3] != state {
		return listener{}, false
	}
	_, hex, ok := strings.Cut(f[1], ":")
	port, err := strconv.ParseUint(hex, 16, 16)
	if !ok || err != nil {
		return listener{}, false
	}
	return listener{protocol, int(port), programs[f[9]]}, true
}

// socketPrograms finds the program of each socket's inode.
func socketPrograms() map[string]string {
	out := map[string]string{}
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range fds {
		to, err := os.Readlink(fd)
		inode, ok := strings.CutPrefix(to, "socket:[")
		if err != nil || !ok {
			continue
		}
		name, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(fd)), "comm"))
		if err == nil {
			out[strings.TrimSuffix(inode, "]")] = strings.TrimSpace(string(name))
		}
	}
	return out
}

// dropChains asks nft for the chains that drop what they do not accept.
func dropChains(ctx context.Context) ([]dropChain, error) {
	out, err := exec.CommandContext(ctx, "nft", "-j", "list", "ruleset").Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, nil // no packet filter, or none that we know of
	}
	if err != nil {
		return nil, fmt.Errorf("nft list ruleset: %w", err)
	}
	return parseRuleset(out)
}

type nftObject struct {
	Chain *struct{ Family, Table, Name, Hook, Policy string }
	Rule  *struct {
		Family, Table, Chain string
		Expr                 []map[string]json.RawMessage
	}
}

// parseRuleset reads libnftables-json(5). Rules that match one port and accept it are
// understood; a chain that jumps elsewhere is given the benefit of the doubt.
func parseRuleset(data []byte) ([]dropChain, error) {
	var doc struct{ Nftables []nftObject }
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("nft list ruleset: %w", err)
	}
	var out []dropChain
	at := map[string]int{}
	for _, o := range doc.Nftables {
		if c := o.Chain; c != nil && c.Policy == "drop" && (c.Hook == "input" || c.Hook == "forward") {
			name := c.Family + " " + c.Table + " " + c.Name
			at[name] = len(out)
			out = append(out, dropChain{name: name, accepts: map[string]bool{}})
		}
	}
	for _, o := range doc.Nftables {
		if o.Rule == nil {
			continue
		}
		i, ok := at[o.Rule.Family+" "+o.Rule.Table+" "+o.Rule.Chain]
		if !ok {
			continue
		}
		readRule(&out[i], o.Rule.Expr)
	}
	return out, nil
}

func readRule(c *dropChain, expr []map[string]json.RawMessage) {
	var ports []port
	accepts, matches := false, 0
	for _, e := range expr {
		if _, ok := e["accept"]; ok {
			accepts = true
		}
		for _, jump := range []string{"jump", "goto", "vmap"} {
			if _, ok := e[jump]; ok {
				c.all = c.all || jump != "vmap"
			}
		}
		m, ok := e["match"]
		if !ok {
			continue
		}
		matches++
		var match struct {
			Left struct {
				Payload struct{ Protocol, Field string }
			}
			Right json.RawMessage
		}
		if json.Unmarshal(m, &match) == nil && match.Left.Payload.Field == "dport" {
			ports = append(ports, rightPorts(match.Left.Payload.Protocol, match.Right)...)
		}
	}
	if accepts && matches == 0 {
		c.all = true
	}
	if accepts {
		for _, p := range ports {
			c.accepts[p.String()] = true
		}
	}
}

// rightPorts are the ports on the right of a match: one, a range, or a set of them.
func rightPorts(protocol string, right json.RawMessage) []port {
	var one int
	var structured struct {
		Set   []json.RawMessage
		Range []int
	}
	switch {
	case json.Unmarshal(right, &one) == nil:
		return []port{{one, one, protocol}}
	case json.Unmarshal(right, &structured) != nil:
		return nil
	case len(structured.Range) == 2:
		return []port{{structured.Range[0], structured.Range[1], protocol}}
	}
	var out []port
	for _, r := range structured.Set {
		out = append(out, rightPorts(protocol, r)...)
	}
	return out
}

// table of a chain, as "inet filter".
func (c dropChain) table() string { return c.name[:strings.LastIndexByte(c.name, ' ')] }
