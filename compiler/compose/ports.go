package compose

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/exchange"
	"meshc.dev/compiler/plan"
	"meshc.dev/compiler/settle"
)

// publish gives every container the numbers of the listens that it publishes
// (PRT-2), and leaves alone what an author wrote whole (PRT-4).
func (b *builder) publish(i *exchange.Instance, p *plan.Instance) {
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
				c.Publishes = append(c.Publishes, plan.Publish{
					Address: bindable(l.Address), Port: l.Port, To: l.To, Inside: l.Inside, InTo: l.Inside + l.To - l.Port, Protocol: l.Protocol,
				})
			case addr.IsName(s.Whole) && !isNumber(s.Whole):
				b.refuse(unknownListen(r, s.Whole, i.Listens))
			default:
				m, ok := mapping(s.Whole)
				if !ok {
					b.refuse(badMapping(r, s.Whole))
					continue
				}
				m.Node, m.Resource, m.At = i.Addr.Node, r.ID, i.At
				b.out.mappings = append(b.out.mappings, m)
				c.Publishes = append(c.Publishes, s)
			}
		}
		p.Resources[k].Container = &c
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

// opens lists the ways in that an instance has: of its listens as far as they are
// reached, unless a rule of its own says otherwise, and of its rules.
func (b *builder) opens(i *exchange.Instance, p *plan.Instance, rules []evaluate.Rule) {
	ruled := map[string]bool{}
	for _, r := range rules {
		if r.Listen != "" {
			ruled[r.Listen] = true
		}
	}
	inContainer := map[string]bool{}
	for _, r := range p.Resources {
		if r.Container != nil && r.Container.Network != "host" {
			for _, l := range i.Listens {
				for _, pub := range r.Container.Publishes {
					if pub.Whole == "" && pub.Port == l.Port && pub.Protocol == l.Protocol {
						inContainer[l.Name] = true
					}
				}
			}
		}
	}
	open := func(name string, l plan.Listen, from string) {
		b.out.plan.Opens = append(b.out.plan.Opens, plan.Open{
			Instance: i.Addr.Name, Name: name, Port: l.Port, To: l.To, Protocol: l.Protocol, From: from,
			Container: inContainer[l.Name], Inside: l.Inside, Address: l.Address,
		})
	}
	for _, l := range i.Listens {
		if ruled[l.Name] {
			continue
		}
		if l.Reach != "machine" || i.FromContainers[l.Name] {
			open(l.Name, l, l.Reach)
		}
	}
	for _, r := range rules {
		if !knownFrom(r.From) {
			b.refuse(badFrom(i, r))
			continue
		}
		if r.Listen == "" {
			open(r.Name, plan.Listen{Port: r.Port, To: r.To, Protocol: r.Protocol}, r.From)
			continue
		}
		l := listen(i.Listens, r.Listen)
		if l == nil {
			b.refuse(unknownRuleListen(i, r))
			continue
		}
		open(r.Name, *l, r.From)
	}
}

func knownFrom(from string) bool {
	if slices.Contains([]string{"machine", "network", "world"}, from) {
		return true
	}
	_, err := netip.ParsePrefix(from)
	return err == nil
}
