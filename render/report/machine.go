package report

import (
	"bytes"
	"cmp"
	"fmt"
	"net/netip"
	"strings"
	"unicode/utf8"

	"meshc.dev/compiler/plan"
	"meshc.dev/render/bundle"
	"meshc.dev/render/firewall"
	"meshc.dev/render/seal"
)

// machine is one node for the page.
type machine struct {
	ID, Name, Site  string
	Facts           []fact
	Impact          string
	Rank            int
	Changes         []*change
	Instances       []instance
	Takes, Gives    []plan.Take
	Opens           []string
	Firewall        bool
	Secrets         []secret
	Units           []unit
	Files           []file
	Other           []string // packages, users and folders
	InstanceNames   string
	ContentsLeftOut bool
}

type fact struct{ Name, Value string }

type instance struct {
	Name, Module string
	Because      string
	Listens      []string
}

// secret is one end of a secret: who holds it, and never what it is.
type secret struct {
	Key, Role, Path, Recipient string
	Generation                 int
	Made                       bool
}

type unit struct{ Name, State, RestartOn, ReloadOn string }

// file is one file or marked block, with its content where there is room.
type file struct {
	Path, Is, ID string
	Size         int
	Pieces       []piece
	Binary       bool
	Cut          int // bytes that are not shown
}

// piece is some of a file's text, or the place of a secret in it.
type piece struct{ Text, Secret string }

// mostOfFile is how much of a file is shown, in bytes.
const mostOfFile = 64 << 10

func machineOf(n *plan.Node, b *bundle.Bundle, c *changes) machine {
	m := machine{ID: anchor(string(n.Name)), Name: string(n.Name), Site: n.Site, Firewall: hasFirewall(n)}
	if c != nil {
		for _, x := range c.of[m.Name] {
			m.Changes = append(m.Changes, x)
			if m.Impact == "" || x.Rank > m.Rank {
				m.Impact, m.Rank = x.Impact, x.Rank
			}
		}
	}
	m.Facts = facts(n)
	var names []string
	for _, i := range n.Instances {
		names = append(names, i.Name)
		x := instance{Name: i.Name, Because: strings.Join(i.Because, ", ")}
		if i.Module != i.Name {
			x.Module = i.Module
		}
		for _, l := range i.Listens {
			x.Listens = append(x.Listens, listens(l))
		}
		m.Instances = append(m.Instances, x)
		for _, r := range i.Resources {
			if s := r.Secret; s != nil {
				m.Secrets = append(m.Secrets, secret{s.Key, s.Role, s.Path, cmp.Or(s.Recipient, sealedTo(n)), s.Generation, s.Sealed != "" || s.Generation > 0})
			}
		}
	}
	m.InstanceNames = strings.Join(names, ", ")
	for _, t := range n.Takes {
		if t.Node != n.Name {
			m.Takes = append(m.Takes, t)
		}
	}
	for _, g := range n.Gives {
		if g.Node != n.Name {
			m.Gives = append(m.Gives, plan.Take{Instance: g.Instance, Provision: g.Provision, Node: g.Node, Provider: g.Provider, As: g.As})
		}
	}
	for _, w := range firewall.Ways(n) {
		m.Opens = append(m.Opens, w.String())
	}
	if b != nil {
		m.items(b)
	}
	return m
}

// sealedTo is the fingerprint of the node's key, to which what is not sealed yet will be.
func sealedTo(n *plan.Node) string {
	r, err := seal.ParseRecipient(n.Recipient)
	if err != nil {
		return ""
	}
	return r.Fingerprint()
}

func facts(n *plan.Node) []fact {
	var out []fact
	add := func(name, value string) {
		if value != "" {
			out = append(out, fact{name, value})
		}
	}
	add("site", n.Site)
	if n.Address.IsValid() {
		add("address", n.Address.String())
	}
	add("reached at", n.Endpoint)
	for _, w := range n.Networks {
		text := w.Network
		if w.Name != "" {
			text += " as " + w.Name
		}
		if w.Interface != "" {
			text += " on " + w.Interface
		}
		add("network", text)
	}
	add("routes", prefixes(n.Routes))
	add("runtime", n.Runtime)
	add("recipient", n.Recipient)
	add("WireGuard key", n.WireGuard)
	if !n.Managed {
		add("managed", "no: its files are for a person")
	}
	for _, r := range n.Reserved {
		ports := fmt.Sprint(r.From)
		if r.To > r.From {
			ports = fmt.Sprintf("%d-%d", r.From, r.To)
		}
		add("reserved", strings.TrimSuffix(strings.Join([]string{ports, r.Protocol, r.Reason}, " "), " "))
	}
	return out
}

func prefixes(ps []netip.Prefix) string {
	var out []string
	for _, p := range ps {
		out = append(out, p.String())
	}
	return strings.Join(out, ", ")
}

func listens(l plan.Listen) string {
	port := fmt.Sprint(l.Port)
	if l.To > l.Port {
		port = fmt.Sprintf("%d-%d", l.Port, l.To)
	}
	s := fmt.Sprintf("%s %s/%s on %s", l.Name, port, l.Protocol, l.Address)
	if l.Inside != 0 && l.Inside != l.Port {
		s += fmt.Sprintf(" (inside: %d)", l.Inside)
	}
	return s + ", reach " + l.Reach
}

func hasFirewall(n *plan.Node) bool {
	for _, i := range n.Instances {
		for _, r := range i.Resources {
			if r.Computed != nil && r.Computed.Kind == "firewall" {
				return true
			}
		}
	}
	return false
}

// items takes what the machine is given from its bundle.
func (m *machine) items(b *bundle.Bundle) {
	if b.Declaration == nil {
		for _, e := range b.Entries {
			m.Files = append(m.Files, contents(file{Path: e.Name, Is: "for a person"}, e.Data, nil))
		}
		return
	}
	for _, item := range b.Declaration.Items {
		id := string(item.Identity())
		switch x := item.(type) {
		case *bundle.File:
			e, _ := b.Entry(x.Source)
			m.Files = append(m.Files, contents(file{Path: x.Path, ID: id, Is: strings.TrimSpace(x.Mode.String() + " " + x.Owner)}, e.Data, x.Fills))
		case *bundle.Block:
			e, _ := b.Entry(x.Source)
			m.Files = append(m.Files, contents(file{Path: x.Path, ID: id, Is: "a block, " + x.Marker}, e.Data, nil))
		case *bundle.Unit:
			state := string(x.State)
			if x.Enabled {
				state += ", enabled"
			}
			m.Units = append(m.Units, unit{x.Name, state, ids(x.RestartOn), ids(x.ReloadOn)})
		case *bundle.Package:
			m.Other = append(m.Other, "package "+x.Name+", "+string(x.State))
		case *bundle.User:
			m.Other = append(m.Other, "user "+x.Name)
		case *bundle.Directory:
			m.Other = append(m.Other, strings.TrimSpace("folder "+x.Path+" "+x.Mode.String()+" "+x.Owner))
		}
	}
}

func ids(of []bundle.ID) string {
	var out []string
	for _, id := range of {
		out = append(out, string(id))
	}
	return strings.Join(out, ", ")
}

// contents shows a file's text, with the places where the machine puts secrets in.
func contents(f file, data []byte, fills []bundle.Fill) file {
	f.Size = len(data)
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		f.Binary = true
		return f
	}
	shown := data
	if len(shown) > mostOfFile {
		end := mostOfFile
		for end > 0 && !utf8.RuneStart(shown[end]) {
			end--
		}
		shown = shown[:end]
		f.Cut = len(data) - end
	}
	from := 0
	for _, fill := range fills {
		if fill.Offset > len(shown) || fill.Offset < from {
			break
		}
		f.Pieces = append(f.Pieces, piece{Text: string(shown[from:fill.Offset])}, piece{Secret: string(fill.Secret) + ", " + string(fill.Encoding)})
		from = fill.Offset
	}
	f.Pieces = append(f.Pieces, piece{Text: string(shown[from:])})
	return f
}
