package view

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"meshc.dev/compiler/plan"
)

// table lines up columns and ends no line in blanks.
type table struct {
	*tabwriter.Writer
	w   io.Writer
	buf bytes.Buffer
}

func newTable(w io.Writer) *table {
	t := &table{w: w}
	t.Writer = tabwriter.NewWriter(&t.buf, 0, 0, 2, ' ', 0)
	return t
}

// Flush writes the table.
func (t *table) Flush() error {
	if err := t.Writer.Flush(); err != nil {
		return err
	}
	for line := range bytes.Lines(t.buf.Bytes()) {
		if _, err := t.w.Write(append(bytes.TrimRight(line, " \n"), '\n')); err != nil {
			return err
		}
	}
	return nil
}

// Overview writes one line a node.
func Overview(w io.Writer, p *plan.Plan) error {
	t := newTable(w)
	for _, n := range p.Nodes {
		var names []string
		for _, i := range n.Instances {
			names = append(names, i.Name)
		}
		address := ""
		if n.Address.IsValid() {
			address = n.Address.String()
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", n.Name, n.Site, address, strings.Join(names, " "))
	}
	return t.Flush()
}

// Machine writes what one node runs, takes and gives.
func Machine(w io.Writer, n *plan.Node, opens []string, firewalled bool) error {
	t := newTable(w)
	fmt.Fprintf(t, "%s", n.Name)
	if n.Site != "" {
		fmt.Fprintf(t, " at %s", n.Site)
	}
	if n.Address.IsValid() {
		fmt.Fprintf(t, ", %s", n.Address)
	}
	if !n.Managed {
		fmt.Fprint(t, ", not managed: a person applies its files")
	}
	fmt.Fprintf(t, "\n\nruns, in this order\n")
	for _, i := range n.Instances {
		module := ""
		if i.Module != i.Name {
			module = "(" + i.Module + ")"
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", i.Name, module, strings.Join(i.Because, ", "), listens(i))
	}
	if len(n.Takes) > 0 {
		fmt.Fprintf(t, "\ntakes\n")
		for _, x := range n.Takes {
			from := fmt.Sprintf("%s@%s", x.Provider, x.Node)
			if x.Licence != "" {
				from = "licence " + x.Licence
			}
			as := ""
			if x.As != "" {
				as = "as " + x.As
			}
			fmt.Fprintf(t, "  %s\t%s\tfrom %s\t%s\t%s\n", x.Instance, labelled(x.Label, x.Provision), from, x.HostPort, as)
		}
	}
	if len(n.Gives) > 0 {
		fmt.Fprintf(t, "\ngives\n")
		for _, x := range n.Gives {
			as := ""
			if x.As != "" {
				as = "as " + x.As
			}
			fmt.Fprintf(t, "  %s\t%s\tto %s@%s\t%s\n", x.Provider, x.Provision, x.Instance, x.Node, as)
		}
	}
	if len(opens) > 0 {
		if firewalled {
			fmt.Fprintf(t, "\nopens\n")
		} else {
			fmt.Fprintf(t, "\nhas no firewall; one would open\n")
		}
		for _, o := range opens {
			fmt.Fprintf(t, "  %s\n", o)
		}
	}
	return t.Flush()
}

func labelled(label, provision string) string {
	if label == provision {
		return provision
	}
	return provision + " (" + label + ")"
}

func listens(i *plan.Instance) string {
	var out []string
	for _, l := range i.Listens {
		port := fmt.Sprint(l.Port)
		if l.To != l.Port {
			port = fmt.Sprintf("%d-%d", l.Port, l.To)
		}
		out = append(out, fmt.Sprintf("%s %s/%s", l.Name, port, l.Protocol))
	}
	return strings.Join(out, ", ")
}

// Resources lists what a node is given, in the order in which it is applied.
func Resources(w io.Writer, n *plan.Node) error {
	t := newTable(w)
	for _, i := range n.Instances {
		for _, r := range i.Resources {
			v := ofResource(r)
			what := v.Path
			if what == "" {
				what = v.Name
			}
			generation := ""
			if r.Secret != nil {
				generation = "not made"
				if r.Secret.Generation > 0 {
					generation = fmt.Sprintf("generation %d, sealed to %s", r.Secret.Generation, r.Secret.Recipient)
				}
			}
			fmt.Fprintf(t, "%s\t%s\t%s\n", v.ID, what, generation)
		}
	}
	return t.Flush()
}

// Impact is what stops working without a node or one of its instances (SCP-7).
type Impact struct {
	Node     string `json:"node"`
	Instance string `json:"instance"`
	Needs    string `json:"needs"` // provision
	From     string `json:"from"`  // instance@node that is gone, directly or because of another
	// Stops is false for one that only loses something it can do without.
	Stops bool `json:"stops"`
}

// OfImpact follows who takes from whom, until nothing more stops.
func OfImpact(p *plan.Plan, node, instance string) []Impact {
	gone := map[string]bool{}
	hub := false
	for _, n := range p.Nodes {
		for _, i := range n.Instances {
			if string(n.Name) == node && (instance == "" || i.Name == instance) {
				gone[i.Name+"@"+node] = true
				hub = hub || i.Module == "hub" && p.Hub == n.Name
			}
		}
	}
	out := []Impact{}
	for again := true; again; {
		again = false
		for _, n := range p.Nodes {
			for _, t := range n.Takes {
				self, from := t.Instance+"@"+string(n.Name), t.Provider+"@"+string(t.Node)
				if t.Provider == "" || string(n.Name) == node && gone[self] && instance == "" {
					continue
				}
				needs := t.Provision
				switch {
				case gone[from]:
				case hub && relayed(p, n, t):
					needs += ", through the hub,"
				default:
					continue
				}
				i := Impact{string(n.Name), t.Instance, needs, from, !t.Optional}
				if slices.Contains(out, i) {
					continue
				}
				out, again = append(out, i), true
				gone[self] = gone[self] || i.Stops
			}
		}
	}
	return out
}

// relayed says whether what is taken goes by way of the hub: between two nodes that
// are both behind NAT.
func relayed(p *plan.Plan, n *plan.Node, t plan.Take) bool {
	other := p.Node(t.Node)
	return other != nil && other != n && n.Endpoint == "" && other.Endpoint == ""
}
