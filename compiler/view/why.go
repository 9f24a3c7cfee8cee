package view

import (
	"fmt"
	"io"
	"strings"

	"cuelang.org/go/cue"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/cuedata"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/layer"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/plan"
	"meshc.dev/compiler/resolve"
	"meshc.dev/compiler/vault"
)

// Why is why an instance is there and what answers it (SEL-9).
type Why struct {
	Node     string    `json:"node"`
	Instance string    `json:"instance"`
	Module   string    `json:"module"`
	At       string    `json:"at"`
	Chain    []string  `json:"chain"` // from what was assigned to this instance
	Answers  []Answer  `json:"answers"`
	Settings []Setting `json:"settings"`
}

// Answer is what one requirement was answered with, and what was not taken.
type Answer struct {
	Label     string   `json:"label"`
	Provision string   `json:"provision"`
	By        string   `json:"by"`
	As        string   `json:"as,omitempty"`
	Network   string   `json:"network,omitempty"`
	Pinned    string   `json:"pinned,omitempty"`
	NotTaken  []string `json:"not_taken"`
	// Secret is the credential that comes with the answer, where there is one.
	Secret *Holding `json:"secret,omitempty"`
}

// Setting is a key and every layer that spoke, the strongest first (SET-5).
type Setting struct {
	Path  string  `json:"path"`
	Value string  `json:"value"`
	Spoke []Spoke `json:"spoke"`
}

// Spoke is what one layer said.
type Spoke struct {
	Layer string `json:"layer"`
	At    string `json:"at"`
	Value string `json:"value"`
	Won   bool   `json:"won"`
}

// OfInstance explains an instance; path is a setting to explain alone, "settings.conf.x" or
// "conf.x", or empty for all that layers set.
func OfInstance(n *resolve.Node, i *resolve.Instance, p *plan.Instance, takes []plan.Take, lk *lock.Lock, path string) (Why, error) {
	out := Why{
		Node: string(n.Name), Instance: i.Addr.Name, Module: i.Module.Name, At: place(i.At),
		Chain: chain(n, i, map[string]bool{}), Answers: []Answer{}, Settings: []Setting{},
	}
	for _, a := range i.Answers {
		v := Answer{Label: a.Label, Provision: a.Provision, Network: a.Network, Pinned: place(a.Pinned), NotTaken: []string{}}
		if a.Licence != "" {
			v.By = "licence " + a.Licence
		} else {
			v.By = a.Provider.Addr.String()
		}
		for _, t := range takes {
			if t.Instance == i.Addr.Name && t.Label == a.Label {
				v.As = t.As
			}
		}
		v.Secret = credential(a, i, lk)
		for _, c := range a.Others {
			v.NotTaken = append(v.NotTaken, c.Name+" "+c.Why)
		}
		out.Answers = append(out.Answers, v)
	}
	path = strings.TrimPrefix(strings.TrimPrefix(path, "settings"), ".")
	var keys []string
	if path != "" {
		keys = strings.Split(path, ".")
	}
	settings(i.Settings.At(keys...), keys, func(s Setting) {
		s.Spoke = append(s.Spoke, moduleSays(i, strings.Split(s.Path, "."))...)
		out.Settings = append(out.Settings, s)
	})
	if len(out.Settings) > 0 || path == "" {
		return out, nil
	}
	value := p.Settings.Lookup(keys...)
	if value.Kind() == data.Absent {
		near := ""
		var known []string
		for _, f := range p.Settings.Lookup(keys[:len(keys)-1]...).Fields() {
			known = append(known, f.Name)
		}
		if n := diag.Nearest(keys[len(keys)-1], known); len(n) > 0 {
			near = "; did you mean " + strings.Join(append(keys[:len(keys)-1:len(keys)-1], n[0]), ".") + "?"
		}
		return out, fmt.Errorf("module %s has no setting %s%s", i.Module.Name, path, near)
	}
	s := Setting{path, value.String(), moduleSays(i, keys)}
	if len(s.Spoke) == 0 {
		s.Spoke = []Spoke{{"module " + i.Module.Name, place(i.Module.At), value.String(), true}}
	}
	s.Spoke[0].Won = true
	out.Settings = append(out.Settings, s)
	return out, nil
}

// credential is who holds the secret of an answer, by the lock; nil where there is none.
func credential(a resolve.Answer, i *resolve.Instance, lk *lock.Lock) *Holding {
	name := vault.Licence(a.Licence)
	if a.Licence == "" {
		if a.Provide == nil || !a.Provide.Credential {
			return nil
		}
		name = vault.Credential(addr.Pair{Provider: a.Provider.Addr, Provision: a.Provision, Consumer: addr.Consumer{Instance: i.Addr, Label: a.Label}})
	}
	s, ok := lk.Secrets[name.String()]
	if !ok {
		return nil
	}
	return &OfHoldings([]vault.Holding{{Name: name, Generation: s.Generation, Ends: s.Ends}})[0]
}

// moduleSays is what the module itself says of a setting: its default, or a value that it keeps.
func moduleSays(i *resolve.Instance, keys []string) []Spoke {
	v, ds := i.Module.Value()
	if ds.HasErrors() {
		return nil
	}
	path := []cue.Selector{cue.Str("settings")}
	for _, k := range keys {
		path = append(path, cue.Str(k))
	}
	v = v.LookupPath(cue.MakePath(path...))
	value, err := cuedata.From(v)
	if err != nil {
		return nil
	}
	return []Spoke{{"module " + i.Module.Name, place(load.ValueAt(v)), value.String(), false}}
}

// settings calls f for every leaf below a merged setting.
func settings(m *layer.Merged, path []string, f func(Setting)) {
	if m == nil {
		return
	}
	if len(m.Fields) > 0 {
		for _, name := range sortedKeys(m.Fields) {
			settings(m.Fields[name], append(path[:len(path):len(path)], name), f)
		}
		return
	}
	s := Setting{Path: strings.Join(path, "."), Value: m.Leaf.String()}
	for k, sp := range m.Spoke {
		value := sp.Setting.Leaf.String()
		if sp.Setting.Fields != nil {
			value = "{…}"
		}
		s.Spoke = append(s.Spoke, Spoke{sp.Layer, place(sp.Setting.Span), value, k == 0})
	}
	f(s)
}

// chain is how an instance came to be here, from what a person assigned.
func chain(n *resolve.Node, i *resolve.Instance, seen map[string]bool) []string {
	if i.Assigned {
		return []string{fmt.Sprintf("%s is assigned at %s", i.Addr.Name, place(i.At))}
	}
	if seen[i.Addr.Name] || len(i.Brought) == 0 {
		return nil
	}
	seen[i.Addr.Name] = true
	c := i.Brought[0]
	var out []string
	if by := n.Instance(c.Instance); by != nil {
		out = chain(n, by, seen)
	}
	return append(out, fmt.Sprintf("%s requires %s, which brings %s", c.Instance, c.Provision, i.Addr.Name))
}

func place(p diag.Pos) string {
	if !p.IsValid() {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// WriteWhy writes an explanation for a person.
func WriteWhy(w io.Writer, y Why) {
	fmt.Fprintf(w, "%s on %s", y.Instance, y.Node)
	if y.Module != y.Instance {
		fmt.Fprintf(w, " (module %s)", y.Module)
	}
	fmt.Fprintln(w)
	for _, c := range y.Chain {
		fmt.Fprintf(w, "  %s\n", c)
	}
	for _, a := range y.Answers {
		fmt.Fprintf(w, "\n  %s is answered by %s", labelled(a.Label, a.Provision), a.By)
		if a.As != "" {
			fmt.Fprintf(w, " as %s", a.As)
		}
		if a.Network != "" {
			fmt.Fprintf(w, ", over %s", a.Network)
		}
		if a.Pinned != "" {
			fmt.Fprintf(w, ", pinned at %s", a.Pinned)
		}
		fmt.Fprintln(w)
		if a.Secret != nil {
			fmt.Fprintf(w, "    %s, generation %d\n", a.Secret.Name, a.Secret.Generation)
			for _, e := range a.Secret.Ends {
				fmt.Fprintf(w, "      %s %s, sealed to %s\n", e.Role, e.Holder, e.Recipient)
			}
		}
		for _, c := range a.NotTaken {
			fmt.Fprintf(w, "    not taken: %s\n", c)
		}
	}
	for _, s := range y.Settings {
		fmt.Fprintf(w, "\n  %s = %s\n", s.Path, s.Value)
		for _, p := range s.Spoke {
			won := "     "
			if p.Won {
				won = "won: "
			}
			fmt.Fprintf(w, "    %s%s says %s", won, p.Layer, p.Value)
			if p.At != "" {
				fmt.Fprintf(w, " at %s", p.At)
			}
			fmt.Fprintln(w)
		}
	}
}
