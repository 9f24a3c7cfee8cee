package resolve

import (
	"maps"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/load"
)

// option is an instance that could answer a requirement from beyond the node.
type option struct {
	instance *Instance
	provide  *evaluate.Provide
	network  string
	at       string
}

// bind answers the requirements of a node that are answered beyond it, from what
// all nodes offer. It never installs anything (SCP-1).
func (r *resolver) bind(o *offer) {
	for _, q := range r.open(o) {
		if q.by.Answer(q.require.Label) != nil || !r.isWide(q.require.Provision) && !r.pinned(o, q) {
			continue
		}
		if a, ok := r.answer(o, q); ok {
			q.by.Answers = append(q.by.Answers, a)
		}
	}
	for _, i := range o.instances {
		slices.SortFunc(i.Answers, func(a, b Answer) int { return strings.Compare(a.Label, b.Label) })
	}
}

func (r *resolver) pinned(o *offer, q question) bool {
	pin, ok := r.pin(o, q.by, q.require.Label, q.require.Provision)
	return ok && r.src.Mesh.Licences[pin.Value] != nil
}

// answer decides one requirement: who is in scope, who matches, who is reachable, and then
// the pin, the only one, or a refusal.
func (r *resolver) answer(o *offer, q question) (Answer, bool) {
	what := q.require.Provision
	if pin, ok := r.pin(o, q.by, q.require.Label, what); ok {
		return r.answerPinned(o, q, pin)
	}
	inScope, beyond := r.inScope(o, what)
	var fit, reach []option
	var others []Candidate
	var beyondReach []far
	late := false
	for _, c := range inScope {
		if why := r.matches(q.require, c.instance.Interface, c.provide); why != "" {
			late = late || strings.HasPrefix(why, notKnownYet+" no ") && strings.HasSuffix(why, "before ports are assigned")
			others = append(others, Candidate{c.instance.Addr.String(), why})
			continue
		}
		fit = append(fit, c)
		if c, ok := r.reach(o, q, c); ok {
			reach = append(reach, c)
		} else {
			beyondReach = append(beyondReach, far{c.instance.Addr.String(), r.networksOf(c.instance.Addr.Node)})
		}
	}
	licences := r.licences(what)
	switch {
	case len(licences) > 0 && (len(reach) > 0 || !q.require.Optional):
		if q.require.Optional && len(reach) == 0 {
			return Answer{}, false
		}
		o.problems = append(o.problems, licenceNotChosen(r, o, q, reach, licences))
	case len(reach) == 1:
		a := taken(q, reach[0])
		for _, f := range beyondReach {
			others = append(others, Candidate{f.name, "shares no private network: it is on " + f.on})
		}
		a.Others = append(others, beyond...)
		return a, true
	case len(reach) > 1:
		o.problems = append(o.problems, severalAnswers(r, o, q, instancesOf(reach)))
	case q.require.Optional, r.ghosts[what]:
	case late:
		o.say(whereTooLate(q, others))
	case len(fit) > 0:
		o.problems = append(o.problems, noSharedNetwork(o, q, r.networksOf(o.spec.Name), beyondReach))
	case len(others) > 0:
		o.problems = append(o.problems, noMatch(o, q, others))
	default:
		o.problems = append(o.problems, nothingAnswers(r, o, q, r.assignable(q, beyond)))
	}
	return Answer{}, false
}

func taken(q question, c option) Answer {
	return Answer{Label: q.require.Label, Provision: q.require.Provision, Provider: c.instance, Provide: c.provide, Network: c.network, At: c.at}
}

// answerPinned follows a pin, and never falls back to anything else (SCP-3).
func (r *resolver) answerPinned(o *offer, q question, pin load.Text) (Answer, bool) {
	what := q.require.Provision
	if l := r.src.Mesh.Licences[pin.Value]; l != nil {
		if l.Answers.Value != what {
			o.say(licenceElsewhere(q, pin, l))
			return Answer{}, false
		}
		return Answer{Label: q.require.Label, Provision: what, Licence: pin.Value, Pinned: pin.At}, true
	}
	node, err := addr.ParseInstance(pin.Value)
	if err != nil {
		node = addr.Instance{Node: addr.Node(pin.Value)}
	}
	if r.src.Mesh.Nodes[node.Node] == nil {
		known := append(slices.Collect(maps.Keys(r.src.Mesh.Licences)), nodeNames(r.nodes)...)
		o.problems = append(o.problems, pinUnknown(q, pin, diag.Nearest(pin.Value, known)))
		return Answer{}, false
	}
	inScope, beyond := r.inScope(o, what)
	var at []option
	for _, c := range inScope {
		if c.instance.Addr.Node == node.Node && (node.Name == "" || c.instance.Addr.Name == node.Name) {
			at = append(at, c)
		}
	}
	switch {
	case len(at) == 0 && r.offers[node.Node] != nil && r.offers[node.Node].faulty:
	case len(at) == 0:
		o.problems = append(o.problems, pinNotThere(r, o, q, pin, instancesOf(inScope), beyond))
	case len(at) > 1:
		o.problems = append(o.problems, severalAnswers(r, o, q, instancesOf(at)))
	default:
		if why := r.matches(q.require, at[0].instance.Interface, at[0].provide); why != "" {
			o.problems = append(o.problems, noMatch(o, q, []Candidate{{at[0].instance.Addr.String(), why}}))
			break
		}
		c, ok := r.reach(o, q, at[0])
		if !ok {
			o.problems = append(o.problems, noSharedNetwork(o, q, r.networksOf(o.spec.Name), []far{{c.instance.Addr.String(), r.networksOf(c.instance.Addr.Node)}}))
			break
		}
		a := taken(q, c)
		a.Pinned = pin.At
		for _, x := range inScope {
			if x.instance != c.instance {
				a.Others = append(a.Others, Candidate{x.instance.Addr.String(), "is not pinned"})
			}
		}
		return a, true
	}
	return Answer{}, false
}

// inScope are those that offer a provision where a node can take it; beyond are those that
// offer it elsewhere.
func (r *resolver) inScope(o *offer, provision string) (in []option, beyond []Candidate) {
	for _, i := range r.wide[provision] {
		p := i.Interface.Provision(provision)
		site := r.src.Mesh.Nodes[i.Addr.Node].Site.Value
		if p.Scope == "site" && (site == "" || site != o.spec.Site.Value) {
			beyond = append(beyond, Candidate{i.Addr.String(), "answers only at site " + orNone(site)})
			continue
		}
		in = append(in, option{instance: i, provide: p})
	}
	return in, beyond
}

// reach says by which network and name a node reaches a provider (SCP-5, SCP-6).
func (r *resolver) reach(o *offer, q question, c option) (option, bool) {
	there := r.offers[c.instance.Addr.Node]
	for _, mine := range o.networks {
		for _, theirs := range there.networks {
			if mine.Network == theirs.Network {
				c.network, c.at = mine.Network, theirs.Name
				return c, true
			}
		}
	}
	if there.spec.Name != o.spec.Name {
		return c, false
	}
	c.at = Loopback
	if q.by.Module.Containers {
		c.at = GatewayName(o.spec.Runtime)
	}
	return c, true
}

// Loopback is how a program reaches another one of its machine where the machine is on no network.
const Loopback = "127.0.0.1"

// GatewayName is how a container reaches its machine (podman-run(1), docker's --add-host).
func GatewayName(runtime string) string {
	if runtime == "docker" {
		return "host.docker.internal"
	}
	return "host.containers.internal"
}

// networksOf says which private networks a node is on, for messages.
func (r *resolver) networksOf(n addr.Node) string {
	o := r.offers[n]
	if o == nil || len(o.networks) == 0 {
		return "none"
	}
	var names []string
	for _, w := range o.networks {
		names = append(names, w.Network)
	}
	return enumerate(names)
}

func (r *resolver) licences(provision string) []string {
	var out []string
	for name, l := range r.src.Mesh.Licences {
		if l.Answers.Value == provision {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// assignable are the modules that would answer a requirement if some node ran them,
// and how far those that do reach.
func (r *resolver) assignable(q question, beyond []Candidate) []Candidate {
	out := beyond
	for _, m := range r.byWhat[q.require.Provision] {
		out = append(out, Candidate{m.Name, "is assigned to no node that it could be taken from"})
	}
	return out
}

func instancesOf(os []option) []*Instance {
	var out []*Instance
	for _, o := range os {
		out = append(out, o.instance)
	}
	return out
}

func nodeNames(ns []addr.Node) []string {
	var out []string
	for _, n := range ns {
		out = append(out, string(n))
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}
