// Package addr has a type for every thing of a mesh that has a name. Each type
// prints the form that people read in plans, locks and messages, and parses it
// back; nothing else in the compiler puts such strings together.
package addr

import (
	"cmp"
	"fmt"
	"strings"
)

// Node is the name of a machine.
type Node string

// Instance is one running of a module on a node: postgres@anchor.
type Instance struct {
	Name string
	Node Node
}

func (i Instance) String() string { return i.Name + "@" + string(i.Node) }

// Compare orders instances by node, then name.
func (i Instance) Compare(o Instance) int {
	return cmp.Or(cmp.Compare(i.Node, o.Node), cmp.Compare(i.Name, o.Name))
}

// ParseInstance reads postgres@anchor.
func ParseInstance(s string) (Instance, error) {
	name, node, ok := strings.Cut(s, "@")
	if !ok || !IsName(name) || !IsName(node) {
		return Instance{}, fmt.Errorf("%q is not of the form instance@node", s)
	}
	return Instance{name, Node(node)}, nil
}

// Listen is a port that an instance listens on: board/gitea/http.
type Listen struct {
	Instance Instance
	Name     string
}

func (l Listen) String() string {
	return string(l.Instance.Node) + "/" + l.Instance.Name + "/" + l.Name
}

// Compare orders listens by node, instance and name.
func (l Listen) Compare(o Listen) int {
	return cmp.Or(l.Instance.Compare(o.Instance), cmp.Compare(l.Name, o.Name))
}

// ParseListen reads board/gitea/http.
func ParseListen(s string) (Listen, error) {
	p := strings.Split(s, "/")
	if len(p) != 3 || !IsName(p[0]) || !IsName(p[1]) || !IsName(p[2]) {
		return Listen{}, fmt.Errorf("%q is not of the form node/instance/listen", s)
	}
	return Listen{Instance{p[1], Node(p[0])}, p[2]}, nil
}

// Consumer is a requirement of an instance, told apart by its label.
type Consumer struct {
	Instance Instance
	Label    string
}

func (c Consumer) String() string { return c.Instance.String() + " " + c.Label }

// Compare orders consumers by node, instance and label.
func (c Consumer) Compare(o Consumer) int {
	return cmp.Or(c.Instance.Compare(o.Instance), cmp.Compare(c.Label, o.Label))
}

// Pair is a consumer and who answers it: what a login and a credential belong to.
// It prints as "postgres@anchor database gitea@board", with the requirement's
// label at the end where that is not the provision's name.
type Pair struct {
	Provider  Instance
	Provision string
	Consumer  Consumer
}

func (p Pair) String() string {
	s := p.Provider.String() + " " + p.Provision + " " + p.Consumer.Instance.String()
	if p.Consumer.Label != p.Provision {
		s += " " + p.Consumer.Label
	}
	return s
}

// Compare orders pairs by provider, provision and consumer.
func (p Pair) Compare(o Pair) int {
	return cmp.Or(p.Provider.Compare(o.Provider), cmp.Compare(p.Provision, o.Provision), p.Consumer.Compare(o.Consumer))
}

// ParsePair reads what Pair.String prints.
func ParsePair(s string) (Pair, error) {
	f := strings.Split(s, " ")
	if len(f) != 3 && len(f) != 4 {
		return Pair{}, fmt.Errorf("%q is not of the form provider@node provision consumer@node", s)
	}
	provider, err := ParseInstance(f[0])
	if err != nil {
		return Pair{}, err
	}
	consumer, err := ParseInstance(f[2])
	if err != nil {
		return Pair{}, err
	}
	label := f[1]
	if len(f) == 4 {
		label = f[3]
	}
	if !IsName(f[1]) || !IsName(label) || len(f) == 4 && label == f[1] {
		return Pair{}, fmt.Errorf("%q does not name a provision and a label", s)
	}
	return Pair{provider, f[1], Consumer{consumer, label}}, nil
}

// Resource is one thing an instance puts on its machine. Within the module it is
// "file.config"; on the node it carries its instance, "gitea/file.config" (SEL-7).
type Resource struct {
	Instance string
	Kind     string
	Name     string // may hold dots: requires.database in secret.requires.database
}

func (r Resource) String() string { return r.Instance + "/" + r.Local() }

// Local is the resource's name within its module.
func (r Resource) Local() string { return r.Kind + "." + r.Name }

// ParseLocal reads file.config for an instance.
func ParseLocal(instance, s string) (Resource, error) {
	kind, name, ok := strings.Cut(s, ".")
	if !ok || kind == "" || name == "" {
		return Resource{}, fmt.Errorf("%q is not of the form kind.name", s)
	}
	return Resource{instance, kind, name}, nil
}

// ParseResource reads gitea/file.config.
func ParseResource(s string) (Resource, error) {
	instance, local, ok := strings.Cut(s, "/")
	if !ok || !IsName(instance) {
		return Resource{}, fmt.Errorf("%q is not of the form instance/kind.name", s)
	}
	return ParseLocal(instance, local)
}

// IsName says whether s is a lower-case host name label (RFC 1123): what every
// name in a mesh has to be, since each may become part of a host or file name.
func IsName(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}
