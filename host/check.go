package host

import (
	"context"
	"fmt"
	"path"
	"slices"
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
	around, err := h.surroundings(ctx, r.ownUnits())
	if err != nil {
		return r.report, err
	}
	r.report.Contradictions, err = r.contradictions(ctx, around)
	return r.report, err
}

// contradictions are what on the machine is in the bundle's way (HST-11).
func (r *run) contradictions(ctx context.Context, around surroundings) ([]string, error) {
	var out []string
	var opened []opening
	var claims []claim
	ours := map[string]bool{}
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
				for _, p := range published(text) {
					claims = append(claims, claim{port: p, units: []string{unitOf(i.Path)}, who: fmt.Sprintf("%s (%s)", unitOf(i.Path), i.ID)})
				}
			}
			if tables := tablesIn(text); len(tables) > 0 {
				opened = append(opened, openedIn(text)...)
				for _, t := range tables {
					ours[t] = true
				}
			}
		}
	}
	isPublished := func(o opening) bool {
		return slices.ContainsFunc(claims, func(c claim) bool { return c.covers(o.from, o.protocol) && c.covers(o.to, o.protocol) })
	}
	out = append(out, closed(around.chains, ours, opened, isPublished)...)
	claims = append(claims, r.listens(opened, isPublished)...)
	out = append(out, r.taken(ctx, claims, around)...)
	slices.Sort(out)
	return slices.Compact(out), nil
}

// closed are the chains of others that drop what the bundle opens. What a container
// publishes is redirected before it would come to the machine itself, and forwarded.
func closed(chains []baseChain, ours map[string]bool, opened []opening, isPublished func(opening) bool) []string {
	var out []string
	for _, c := range chains {
		if ours[c.family+" "+c.table] {
			continue
		}
		var dropped []port
		for _, o := range opened {
			redirected := isPublished(o)
			if redirected != (c.hook == "forward") || o.family == "ip" && c.family == "ip6" || o.family == "ip6" && c.family == "ip" {
				continue
			}
			for _, p := range c.pieces(o.port) {
				if !c.lets(packet{protocol: p.protocol, port: p.from, redirected: redirected, world: o.world}) {
					dropped = append(dropped, p)
				}
			}
		}
		switch {
		case len(dropped) == 0:
		case c.drops:
			out = append(out, fmt.Sprintf("chain %s drops what it does not accept, and does not accept %s, which the bundle opens", c, portList(dropped)))
		default:
			out = append(out, fmt.Sprintf("chain %s drops %s, which the bundle opens", c, portList(dropped)))
		}
	}
	return out
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

// claim is a port that is assigned to somebody.
type claim struct {
	port
	units    []string // all of which run where it has the port
	who      string   // for messages
	isListen bool     // a program's own, and not a container's that is published
}

// listens are the ports that the bundle's own programs listen on, as far as the table
// that meshc writes tells: what is open to nobody is not in it. A port that the machine
// has for itself, such as ssh's, is none, and neither is one of an instance without a
// service that is to run.
func (r *run) listens(opened []opening, isPublished func(opening) bool) []claim {
	var out []claim
	for _, o := range opened {
		instance, _, ok := strings.Cut(o.why, "/")
		if !ok || isPublished(o) {
			continue
		}
		c := claim{port: o.port, who: o.why, isListen: true}
		for _, item := range r.opened.Declaration.Items {
			u, ok := item.(*bundle.Unit)
			if ok && u.State == bundle.Running && strings.HasSuffix(u.Name, ".service") && strings.HasPrefix(string(u.ID), instance+"/") {
				c.units = append(c.units, u.Name)
			}
		}
		if len(c.units) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// firstTransient is the first port that Linux gives to sockets that ask for any
// (ip_local_port_range, ip(7)).
const firstTransient = 32768

// conflicts says whether a listener keeps a program from a port. An address of
// loopback does not: the program need not listen there.
func (c claim) conflicts(l listener) bool {
	switch {
	case !c.covers(l.port, l.protocol):
		return false
	case l.protocol == "udp" && c.from != c.to && l.port >= firstTransient:
		return false // a client's, and gone in a moment
	case l.address.IsLoopback() && c.address != l.address:
		return false
	}
	return !c.address.IsValid() || !l.address.IsValid() || c.address == l.address
}

// taken are listeners of others on assigned ports.
func (r *run) taken(ctx context.Context, claims []claim, around surroundings) []string {
	var out []string
	for _, l := range around.listeners {
		for _, c := range claims {
			if c.conflicts(l) && r.isForeign(ctx, c, l, around.names) {
				out = append(out, fmt.Sprintf("%s listens on %d/%s, which is assigned to %s", whoListens(l), l.port, l.protocol, c.who))
			}
		}
	}
	return out
}

// isForeign says whether a listener is none of the bundle's own programs, nor can be
// one: where all that is to run does, a service that nobody declared, such as one that
// came with a package, may be what listens for it.
func (r *run) isForeign(ctx context.Context, c claim, l listener, ours []string) bool {
	if slices.ContainsFunc(l.holders, func(h holder) bool { return h.is(ours) }) {
		return false
	}
	if c.isListen && (len(l.holders) == 0 || slices.ContainsFunc(l.holders, holder.isManager)) {
		return false // the kernel's own, such as a tunnel's, or systemd's for a unit
	}
	is, _, err := knowable(r.host.Machine.Units.LookAll(ctx, c.units))
	return err == nil && slices.ContainsFunc(c.units, func(u string) bool { return !is[u].Running || is[u].Broken })
}

func whoListens(l listener) string {
	if len(l.holders) == 0 || l.holders[0].program == "" {
		return "something"
	}
	h := l.holders[0]
	if unit := h.unit(); unit != "" {
		return h.program + " of " + unit
	}
	return h.program
}

// unitOf is the unit that a text is of.
func unitOf(p string) string {
	if machine.IsQuadlet(p) {
		return machine.QuadletUnit(p)
	}
	return path.Base(p)
}

// ownUnits are the units of the bundle, and of the one before it.
func (r *run) ownUnits() []string {
	var out []string
	add := func(k machine.Key) {
		switch {
		case k.Kind == machine.Unit:
			out = append(out, k.Name)
		case isText(k) && (strings.HasSuffix(unitOf(k.Name), ".service") || strings.HasSuffix(unitOf(k.Name), ".socket")):
			out = append(out, unitOf(k.Name))
		}
	}
	for _, w := range r.wishes {
		add(w.key)
	}
	for _, t := range r.state.Things {
		add(t.Key)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
