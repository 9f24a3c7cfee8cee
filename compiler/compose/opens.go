package compose

import (
	"net/netip"
	"slices"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/exchange"
	"meshc.dev/compiler/plan"
)

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
		if d, ok := b.opensNothing(i, r, *l); ok {
			b.refuse(d)
		}
		open(r.Name, *l, r.From)
	}
}

// opensNothing warns of a rule from whose side its listen is not reached, since it is bound elsewhere.
func (b *builder) opensNothing(i *exchange.Instance, r evaluate.Rule, l plan.Listen) (diag.Diagnostic, bool) {
	a, err := netip.ParseAddr(l.Address)
	if err != nil || r.From == "machine" {
		return diag.Diagnostic{}, false
	}
	said := slices.ContainsFunc(i.Told.Listens, func(t evaluate.Listen) bool { return t.Name == l.Name && t.Address != "" })
	if a.IsLoopback() {
		return ruleOpensNothing(i, r, "", said), true
	}
	for _, n := range b.node.Networks {
		if n.Address == l.Address && r.From == "world" {
			return ruleOpensNothing(i, r, n.Network, said), true
		}
	}
	return diag.Diagnostic{}, false
}

func knownFrom(from string) bool {
	if slices.Contains([]string{"machine", "network", "world"}, from) {
		return true
	}
	_, err := netip.ParsePrefix(from)
	return err == nil
}
