package host

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

// Check says what Apply would do, and what on the machine contradicts the bundle. It
// changes nothing.
func (h *Host) Check(ctx context.Context, o *Opened) (Report, error) {
	r, err := h.newRun(o, nil)
	if err != nil {
		return Report{}, err
	}
	r.dry, r.ahead = true, newAhead()
	ctx = machine.Hiding(ctx, o.hide)
	for _, do := range []func(context.Context) error{r.preflight, r.withdraw, r.remember, r.makeThings, r.makeUnits} {
		if err := do(ctx); err != nil {
			return r.report, err
		}
	}
	around, err := h.surroundings(ctx)
	if err != nil {
		return r.report, err
	}
	r.report.Contradictions, err = r.contradictions(ctx, around)
	return r.report, err
}

// surroundings are what else is on a machine that runs.
type surroundings struct {
	listeners []listener
	drops     []dropChain
}

// listener is a socket that something listens on.
type listener struct {
	protocol string
	port     int
	program  string // empty where it is not known
}

// dropChain is a chain of the packet filter, not ours, that drops what it does not
// accept.
type dropChain struct {
	name    string // inet filter input
	accepts map[string]bool
	all     bool // accepts something in a way that is not understood here
}

func (h *Host) surroundings(ctx context.Context) (surroundings, error) {
	var s surroundings
	if !h.Machine.IsLive {
		return s, nil
	}
	var err error
	if s.listeners, err = listeners(); err != nil {
		return s, err
	}
	s.drops, err = dropChains(ctx)
	return s, err
}

// contradictions are what on the machine is in the bundle's way (HST-11).
func (r *run) contradictions(ctx context.Context, around surroundings) ([]string, error) {
	var out []string
	var opened []port
	ourTables := map[string]bool{}
	for _, item := range r.opened.Declaration.Items {
		switch i := item.(type) {
		case *bundle.Block:
			lines, err := r.foreignNames(i)
			if err != nil {
				return nil, err
			}
			out = append(out, lines...)
		case *bundle.File:
			e, _ := r.opened.Entry(i.Source)
			text := string(e.Data)
			if machine.IsQuadlet(i.Path) {
				if hidden, err := r.hidden(ctx, i); err != nil {
					return nil, err
				} else if hidden != "" {
					out = append(out, hidden)
				}
			}
			if machine.IsUnitText(i.Path) {
				out = append(out, r.taken(ctx, i, published(text), around.listeners)...)
			}
			for _, t := range tablePattern.FindAllStringSubmatch(text, -1) {
				ourTables[t[1]] = true
				opened = append(opened, openedIn(text)...)
			}
		}
	}
	for _, c := range around.drops {
		if ourTables[c.table()] || c.all {
			continue
		}
		for _, p := range opened {
			if !c.accepts[p.String()] {
				out = append(out, fmt.Sprintf("chain %s drops what it does not accept, and does not accept %s, which the bundle opens", c.name, p))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// foreignNames are lines of a hosts file, outside our blocks, for names in a block.
func (r *run) foreignNames(b *bundle.Block) ([]string, error) {
	if path.Base(b.Path) != "hosts" {
		return nil, nil
	}
	var markers []string
	for _, w := range r.wishes {
		if w.key.Kind == machine.Block && w.key.Name == b.Path {
			markers = append(markers, w.key.Marker)
		}
	}
	for _, t := range r.state.Things {
		if t.Kind == machine.Block && t.Name == b.Path {
			markers = append(markers, t.Marker)
		}
	}
	outside, err := r.host.Machine.Blocks.Outside(b.Path, markers)
	if err != nil {
		return nil, nil // apply makes the file
	}
	e, _ := r.opened.Entry(b.Source)
	ours := hostNames(string(e.Data))
	var out []string
	for name, address := range hostNames(string(outside)) {
		if want, ok := ours[name]; ok && want != address {
			out = append(out, fmt.Sprintf("%s says that %s is %s, outside our block, which says %s; remove that line", b.Path, name, address, want))
		}
	}
	return out, nil
}

// hostNames are the names in a hosts file with their address; the first line wins,
// as it does for the resolver.
func hostNames(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		for _, name := range fields[min(1, len(fields)):] {
			if _, ok := out[strings.ToLower(name)]; !ok {
				out[strings.ToLower(name)] = fields[0]
			}
		}
	}
	return out
}

// hidden says that a unit of somebody else's stands before one that is generated.
func (r *run) hidden(ctx context.Context, f *bundle.File) (string, error) {
	p := "/etc/systemd/system/" + machine.QuadletUnit(f.Path)
	k := machine.Key{Kind: machine.File, Name: p}
	if r.state.find(k) != nil || slices.ContainsFunc(r.wishes, func(w *wish) bool { return w.key == k }) {
		return "", nil
	}
	is, err := r.look(ctx, k)
	if err != nil || is.Absent {
		return "", err
	}
	return fmt.Sprintf("%s hides the unit that is made from %s (%s); remove it", p, f.Path, f.ID), nil
}

// taken are listeners on ports that a container is to publish, while its unit does
// not run.
func (r *run) taken(ctx context.Context, f *bundle.File, ports []port, all []listener) []string {
	unit := path.Base(f.Path)
	if machine.IsQuadlet(f.Path) {
		unit = machine.QuadletUnit(f.Path)
	}
	if len(ports) == 0 || len(all) == 0 {
		return nil
	}
	if is, err := r.host.Machine.Units.Look(ctx, machine.Key{Kind: machine.Unit, Name: unit}); err != nil || is.Running {
		return nil
	}
	var out []string
	for _, l := range all {
		for _, p := range ports {
			if p.protocol == l.protocol && p.from <= l.port && l.port <= p.to {
				who := l.program
				if who == "" {
					who = "something"
				}
				out = append(out, fmt.Sprintf("%s listens on %d/%s, which is assigned to %s (%s)", who, l.port, l.protocol, unit, f.ID))
			}
		}
	}
	return out
}

// port is a port or range of one protocol.
type port struct {
	from, to int
	protocol string
}

func (p port) String() string {
	if p.from == p.to {
		return fmt.Sprintf("%d/%s", p.from, p.protocol)
	}
	return fmt.Sprintf("%d-%d/%s", p.from, p.to, p.protocol)
}

var (
	publishPattern = regexp.MustCompile(`(?m)(?:^PublishPort=|--publish[= ]|\s-p )"?(?:(?:\[[^\]]*\]|[0-9.]+):)?([0-9]+)(?:-([0-9]+))?:[0-9]+(?:-[0-9]+)?(?:/(tcp|udp))?`)
	tablePattern   = regexp.MustCompile(`(?m)^table (\w+ \w+) \{`)
	dportPattern   = regexp.MustCompile(`\b(tcp|udp|th) dport ([0-9]+)(?:-([0-9]+))?\b.*\baccept\b`)
)

// published are the ports of the machine that a container's unit text publishes.
func published(text string) []port {
	var out []port
	for _, m := range publishPattern.FindAllStringSubmatch(text, -1) {
		p := port{protocol: m[3]}
		if p.protocol == "" {
			p.protocol = "tcp"
		}
		p.from, _ = strconv.Atoi(m[1])
		if p.to, _ = strconv.Atoi(m[2]); p.to == 0 {
			p.to = p.from
		}
		out = append(out, p)
	}
	return out
}

// openedIn are the ports that an nftables text accepts.
func openedIn(text string) []port {
	var out []port
	for _, m := range dportPattern.FindAllStringSubmatch(text, -1) {
		from, _ := strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[3])
		if to == 0 {
			to = from
		}
		for _, protocol := range []string{"tcp", "udp"} {
			if m[1] == protocol || m[1] == "th" {
				out = append(out, port{from, to, protocol})
			}
		}
	}
	return out
}
