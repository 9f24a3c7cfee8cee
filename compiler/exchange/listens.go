package exchange

import (
	"maps"
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/plan"
	"meshc.dev/compiler/resolve"
)

// Everywhere is the address that meets every address of a machine.
const Everywhere = "0.0.0.0"

// user is somebody who reaches a listen.
type user struct {
	by      addr.Instance
	network string // shared with it, empty on one machine without any
	gateway bool   // a container of the same machine, through its gateway
}

// listens works out how far each listen is reached and what it is bound to (BLD-8, SCP-6).
func (x *exchanger) listens() {
	users := map[addr.Listen][]user{}
	reach := func(i *Instance, listen string, by *Instance, network string) {
		k := addr.Listen{Instance: i.Addr, Name: listen}
		users[k] = append(users[k], user{by.Addr, network, network == "" && by.Module.Containers})
	}
	for _, n := range x.out.Nodes {
		for _, i := range n.Instances {
			for _, t := range i.Taken {
				if t.Answer.Provider == nil {
					continue
				}
				p := x.byName[t.Answer.Provider.Addr]
				for _, l := range p.Told.Provision(t.Answer.Provision).Ports {
					reach(p, l, i, t.Answer.Network)
				}
				for _, l := range t.endpoints {
					reach(i, l, p, t.Answer.Network)
				}
			}
		}
	}
	for _, n := range x.out.Nodes {
		for _, i := range n.Instances {
			i.Inputs.Addresses = map[string]string{}
			for _, l := range i.Told.Listens {
				k := addr.Listen{Instance: i.Addr, Name: l.Name}
				bound := x.bound(n, i, l, users[k])
				i.Listens = append(i.Listens, bound)
				i.Inputs.Addresses[l.Name] = bound.Address
				i.Reached[l.Name] = len(users[k]) > 0
				i.FromContainers[l.Name] = slices.ContainsFunc(users[k], func(u user) bool {
					return u.by.Node == i.Addr.Node && x.byName[u.by].Module.Containers
				})
			}
		}
	}
}

// served finds out which ports a provision serves where its source does not say so.
func (x *exchanger) served(i *Instance) (ds diag.List) {
	provides := slices.Clone(i.Told.Provides)
	for k, p := range provides {
		if !p.PortsUnsure {
			continue
		}
		ports, pds := x.told(i, func(told *evaluate.Interface) data.Value { return told.Provision(p.Name).Serves })
		ds = append(ds, pds...)
		provides[k].Ports = slices.Concat(p.Ports, ports)
	}
	told := *i.Told // it may be another instance's too
	told.Provides = provides
	i.Told = &told
	return ds
}

// told gives the listens on whose ports a part of the interface depends: each is given
// another number in turn, and what comes out is another value or the same.
func (x *exchanger) told(i *Instance, part func(*evaluate.Interface) data.Value) ([]string, diag.List) {
	var out []string
	is := part(i.Told)
	if i.Inputs.Bindings != nil {
		now, ds := x.eval.Exchange(i.Module, i.Inputs)
		if ds.HasErrors() {
			return nil, ds
		}
		is = part(now)
	}
	for _, l := range i.Told.Listens {
		in := i.Inputs
		in.Ports = maps.Clone(in.Ports)
		in.Ports[l.Name] = another(in.Ports)
		told, ds := x.eval.Exchange(i.Module, in)
		// What another number is refused for depends on it.
		if ds.HasErrors() || !part(told).Equal(is) {
			out = append(out, l.Name)
		}
	}
	return out, nil
}

// another is a number that none of the listens has.
func another(ports map[string]int) int {
	n := 0
	for _, p := range ports {
		n = max(n, p)
	}
	if n == 65535 {
		for n = 1; slices.Contains(slices.Collect(maps.Values(ports)), n); n++ {
		}
		return n
	}
	return n + 1
}

func (x *exchanger) bound(n *Node, i *Instance, l evaluate.Listen, users []user) plan.Listen {
	r := x.settled.Ports[addr.Listen{Instance: i.Addr, Name: l.Name}]
	out := plan.Listen{
		Name: l.Name, Inside: l.Port, Port: r.From, To: r.To, Protocol: l.Protocol, Fixed: l.Fixed, Reach: "machine", Address: l.Address,
	}
	var networks []string
	local, gateway := false, false
	for _, u := range users {
		if u.by.Node != i.Addr.Node {
			out.Reach = "network"
		}
		if u.network != "" {
			networks = append(networks, u.network)
		}
		local = local || u.network == ""
		gateway = gateway || u.gateway
		if u.by.Node != i.Addr.Node && l.Reach == "machine" {
			x.ds = append(x.ds, onlyMachine(i, l, u.by))
		}
	}
	switch l.Reach {
	case "world":
		out.Reach = "world"
	case "network":
		if out.Reach == "machine" {
			out.Reach = "network"
		}
		if len(networks) == 0 && len(n.Networks) > 0 {
			networks = append(networks, n.Networks[0].Network)
		}
	}
	if out.Address != "" {
		return out
	}
	slices.Sort(networks)
	networks = slices.Compact(networks)
	switch {
	case out.Reach == "world", gateway, len(networks) > 1, local && len(networks) > 0:
		out.Address = Everywhere
	case len(networks) == 1:
		out.Address = Everywhere
		for _, w := range n.Networks {
			if w.Network == networks[0] && w.Address != "" {
				out.Address = w.Address
			}
		}
	default:
		out.Address = resolve.Loopback
	}
	return out
}
