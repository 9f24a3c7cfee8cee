package compose

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/exchange"
	"meshc.dev/compiler/plan"
	"meshc.dev/compiler/settle"
)

// publish gives every container the numbers of the listens that it publishes
// (PRT-2), and leaves alone what an author wrote whole (PRT-4).
func (b *builder) publish(i *exchange.Instance, p *plan.Instance) {
	mapped := map[string]bool{}
	for k, r := range p.Resources {
		if r.Container == nil {
			continue
		}
		c := *r.Container // shared between instances with equal inputs
		c.Publishes = nil
		for _, s := range r.Container.Publishes {
			l := listen(i.Listens, s.Whole)
			switch {
			case l != nil:
				mapped[l.Name] = true
				c.Publishes = append(c.Publishes, plan.Publish{
					Address: bindable(l.Address), Port: l.Port, To: l.To, Inside: l.Inside, InTo: l.Inside + l.To - l.Port, Protocol: l.Protocol,
				})
			case addr.IsName(s.Whole) && !isNumber(s.Whole):
				b.refuse(unknownListen(r, s.Whole, i.Listens))
				b.faulty[i.Addr.Name] = true
			default:
				m, ok := mapping(s.Whole)
				if !ok {
					b.refuse(badMapping(r, s.Whole))
					b.faulty[i.Addr.Name] = true
					continue
				}
				m.Node, m.Resource, m.At = i.Addr.Node, r.ID, i.At
				b.out.mappings = append(b.out.mappings, m)
				for _, l := range i.Listens {
					mapped[l.Name] = mapped[l.Name] || m.Protocol == l.Protocol && m.Port <= l.Port && l.To <= max(m.Port, m.To)
				}
				c.Publishes = append(c.Publishes, s)
			}
		}
		p.Resources[k].Container = &c
	}
	b.unpublished(i, p, mapped)
}

// unpublished refuses a listen that is reached and that nothing can answer at: all that the
// instance runs is in containers with networks of their own, and none of them maps it.
func (b *builder) unpublished(i *exchange.Instance, p *plan.Instance, mapped map[string]bool) {
	contained := false
	for _, r := range p.Resources {
		if r.Unit != nil || r.Container != nil && r.Container.Network == "host" {
			return
		}
		contained = contained || r.Container != nil
	}
	for _, l := range i.Listens {
		if contained && !mapped[l.Name] && !b.faulty[i.Addr.Name] && (i.Reached[l.Name] || l.Reach != "machine") {
			b.refuse(notPublished(i, l.Name))
		}
	}
}

// bindable is the address of a mapping: every address needs none.
func bindable(a string) string {
	if a == exchange.Everywhere {
		return ""
	}
	return a
}

func isNumber(s string) bool { _, err := strconv.Atoi(s); return err == nil }

func listen(ls []plan.Listen, name string) *plan.Listen {
	for k := range ls {
		if ls[k].Name == name {
			return &ls[k]
		}
	}
	return nil
}

// whole is a mapping as podman and docker read it: [address:][port:]inside[/protocol].
var whole = regexp.MustCompile(`^(?:(\[[0-9a-fA-F:.]+\]|[0-9]+(?:\.[0-9]+){3}):)?(?:([0-9]+)(?:-([0-9]+))?:)?([0-9]+)(?:-([0-9]+))?(?:/(tcp|udp))?$`)

func mapping(s string) (settle.Mapping, bool) {
	m := whole.FindStringSubmatch(s)
	if m == nil {
		return settle.Mapping{}, false
	}
	out := settle.Mapping{Address: strings.Trim(m[1], "[]"), Protocol: "tcp"}
	if out.Address != "" {
		if _, err := netip.ParseAddr(out.Address); err != nil {
			return out, false
		}
	}
	if m[6] != "" {
		out.Protocol = m[6]
	}
	from, to := m[2], m[3]
	if from == "" {
		return out, false // the runtime would choose a port, which nobody could be told
	}
	out.Port, _ = strconv.Atoi(from)
	out.To, _ = strconv.Atoi(to)
	inside, _ := strconv.Atoi(m[4])
	return out, out.Port > 0 && out.Port < 65536 && out.To < 65536 && inside > 0 && inside < 65536
}
