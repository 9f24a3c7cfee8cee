// Package exchange lets the two ends of every answer tell each other what they
// have to: providers serve, consumers contribute, and what a provider derives for
// each consumer reaches both. It also works out how far each listen has to be
// reached, and so the address that it is bound to. Everything was settled before;
// what the ends are told is final. Enter at Exchange.
package exchange

import (
	"net/netip"
	"slices"
	"sync"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/parallel"
	"meshc.dev/compiler/plan"
	"meshc.dev/compiler/resolve"
	"meshc.dev/compiler/settle"
	"meshc.dev/compiler/vault"
)

// Exchanged is a mesh in which every end knows what it is told.
type Exchanged struct {
	Resolved *resolve.Resolved
	Settled  settle.Settled
	Nodes    []*Node // by name
}

// Node is a machine.
type Node struct {
	*resolve.Node
	Address   netip.Addr
	Networks  []plan.Network
	Instances []*Instance // in the order in which they are applied
}

// Instance is one running of a module, with all that its resources may read.
type Instance struct {
	*resolve.Instance
	// Told is the interface with everything served and contributed.
	Told   *evaluate.Interface
	Inputs evaluate.Inputs
	Taken  []Taken // by label
	Given  map[string][]Given
	// Listens as they are bound, by name.
	Listens []plan.Listen
	// FromContainers names the listens that containers of the same machine reach through its gateway.
	FromContainers map[string]bool
	// Reached names the listens whose ports somebody is told, on this machine or another.
	Reached map[string]bool
}

// Taken is what one requirement was answered with.
type Taken struct {
	Answer  *resolve.Answer
	Pair    addr.Pair // of an instance that answers; zero for a licence
	As      string    // the login, where there is one
	Binding data.Value
	// Secret says whether the consumer is given a credential.
	Secret bool
	// values are what the consumer contributes, derived what the provider derives of them.
	values, derived data.Value
	at              string // of the consumer, as its provider reaches it
	// endpoints are the consumer's listens that the provider is told the ports of, and so reaches.
	endpoints []string
}

// Given is a consumer as its provider is told of it.
type Given struct {
	Pair    addr.Pair
	By      *Instance
	As      string
	At      string
	Values  data.Value
	Derived data.Value
	Secret  string // path of the file with its credential
}

type exchanger struct {
	eval     evaluate.Evaluator
	out      *Exchanged
	byName   map[addr.Instance]*Instance
	mu       sync.Mutex
	ds       diag.List
	settled  settle.Settled
	resolved *resolve.Resolved
}

// Exchange tells every end what it is told.
func Exchange(r *resolve.Resolved, s settle.Settled, eval evaluate.Evaluator) (*Exchanged, diag.List) {
	x := &exchanger{eval: eval, resolved: r, settled: s, byName: map[addr.Instance]*Instance{}, out: &Exchanged{Resolved: r, Settled: s}}
	for _, n := range r.Nodes {
		node := &Node{Node: n, Address: s.Addresses[n.Name]}
		for _, i := range n.Instances {
			inst := &Instance{Instance: i, Given: map[string][]Given{}, FromContainers: map[string]bool{}, Reached: map[string]bool{}}
			inst.Inputs = i.Inputs
			if node.Address.IsValid() {
				inst.Inputs.Node.Address = node.Address.String()
			}
			inst.Inputs.Ports = map[string]int{}
			for _, l := range i.Interface.Listens {
				inst.Inputs.Ports[l.Name] = s.Ports[addr.Listen{Instance: i.Addr, Name: l.Name}].From
			}
			x.byName[i.Addr] = inst
			node.Instances = append(node.Instances, inst)
		}
		x.out.Nodes = append(x.out.Nodes, node)
	}
	// What is served depends on ports alone, so all of it is known before anything
	// is contributed, in whatever order instances take from each other.
	x.each(func(_ *Node, i *Instance) {
		told, ds := eval.Exchange(i.Module, i.Inputs)
		x.say(ds)
		i.Told = told
		if !ds.HasErrors() {
			x.say(x.served(i))
		}
	})
	if x.ds.HasErrors() {
		return x.out, x.ds
	}
	for _, n := range x.out.Nodes {
		x.networks(n)
	}
	x.each(func(n *Node, i *Instance) { x.say(x.take(n, i)) })
	if x.ds.HasErrors() {
		return x.out, x.ds
	}
	x.give()
	x.listens()
	return x.out, x.ds
}

// each calls f for every instance, on all processors, a node at a time.
func (x *exchanger) each(f func(n *Node, i *Instance)) {
	parallel.Each(len(x.out.Nodes), func(k int) {
		for _, i := range x.out.Nodes[k].Instances {
			f(x.out.Nodes[k], i)
		}
	})
}

func (x *exchanger) say(ds diag.List) {
	if len(ds) == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ds = append(x.ds, ds...)
}

// networks reads what a node's private networks serve now that addresses are known.
func (x *exchanger) networks(n *Node) {
	for _, w := range n.Node.Networks {
		i := x.byName[w.Instance.Addr]
		s := i.Told.Provision("private-network").Serves
		n.Networks = append(n.Networks, plan.Network{
			Instance: i.Addr.Name, Network: w.Network, Name: w.Name,
			Address: s.Get("address").Text(), Interface: s.Get("interface").Text(), Prefix: s.Get("prefix").Text(),
		})
	}
}

// give tells every provider who takes from it, ordered by node, instance and label (CON-3).
func (x *exchanger) give() {
	for _, n := range x.out.Nodes {
		for _, i := range n.Instances {
			for _, t := range i.Taken {
				if t.Answer.Provider == nil {
					continue
				}
				p := x.byName[t.Answer.Provider.Addr]
				provide := p.Told.Provision(t.Answer.Provision)
				g := Given{Pair: t.Pair, By: i, As: t.As, At: t.at, Values: t.values, Derived: t.derived}
				if provide.Credential && provide.Secrets != nil {
					g.Secret = provide.Secrets.Path + "/" + vault.ConsumerFile(t.Pair.Consumer)
				}
				p.Given[provide.Name] = append(p.Given[provide.Name], g)
			}
		}
	}
	for _, n := range x.out.Nodes {
		for _, i := range n.Instances {
			i.Inputs.Consumers = map[string]data.Value{}
			for k := range i.Told.Provides {
				p := &i.Told.Provides[k]
				slices.SortFunc(i.Given[p.Name], func(a, b Given) int { return a.Pair.Consumer.Compare(b.Pair.Consumer) })
				x.ds = append(x.ds, sameDerived(i, p, i.Given[p.Name])...)
				i.Inputs.Consumers[p.Name] = Entries(i.Given[p.Name], false)
			}
		}
	}
}

// Entries are consumers as `receives` lists them (CON-3); secrets says whether
// they name the files of their credentials.
func Entries(given []Given, secrets bool) data.Value {
	var out []data.Value
	for _, g := range given {
		str := func(s string) data.Value {
			if s == "" {
				return data.Value{}
			}
			return data.NewString(s)
		}
		fields := []data.Field{
			{Name: "as", Value: str(g.As)},
			{Name: "instance", Value: str(g.By.Addr.Name)},
			{Name: "module", Value: str(g.By.Module.Name)},
			{Name: "node", Value: str(string(g.By.Addr.Node))},
			{Name: "label", Value: str(g.Pair.Consumer.Label)},
			{Name: "at", Value: str(g.At)},
			{Name: "values", Value: g.Values},
			{Name: "derived", Value: g.Derived},
		}
		if secrets {
			fields = append(fields, data.Field{Name: "secret", Value: str(g.Secret)})
		}
		out = append(out, data.NewStruct(fields...))
	}
	return data.NewList(out...)
}
