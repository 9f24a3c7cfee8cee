package diag

import (
	"fmt"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
)

// fold says once what a sorted list says of several nodes or instances.
func fold(sorted List) List {
	type fault struct {
		at   Pos
		code Code
		says string
	}
	var out List
	first := map[fault]int{}
	for _, d := range sorted {
		same, alike := fault{d.At, d.Code, d.Message}, fault{d.At, d.Code, d.says()}
		k, said := first[same]
		if !said {
			k, said = first[alike]
		}
		if said {
			out[k].On = slices.Concat(out[k].On, d.On)
			out[k].By = slices.Concat(out[k].By, d.By)
			continue
		}
		first[same], first[alike] = len(out), len(out)
		out = append(out, d)
	}
	for k := range out {
		out[k] = out[k].withNodes().withInstances()
	}
	return out
}

// says is the message without the names of whom it was found at.
func (d Diagnostic) says() string {
	s := d.Message
	for _, i := range d.By {
		s = replaceName(replaceName(s, i.Name, "\x00instance"), string(i.Node), "\x00node")
	}
	return s
}

// replaceName replaces a name where it stands alone, and not within a longer one.
func replaceName(s, name, by string) string {
	var b strings.Builder
	for name != "" {
		k := strings.Index(s, name)
		if k < 0 {
			break
		}
		end := k + len(name)
		if k > 0 && inName(s[k-1]) || end < len(s) && inName(s[end]) {
			b.WriteString(s[:end])
		} else {
			b.WriteString(s[:k] + by)
		}
		s = s[end:]
	}
	b.WriteString(s)
	return b.String()
}

func inName(c byte) bool {
	return c == '-' || c == 0 || c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
}

// withNodes writes the nodes into the message.
func (d Diagnostic) withNodes() Diagnostic {
	if len(d.On) == 0 {
		return d
	}
	d.Message = strings.ReplaceAll(d.Message, Nodes, enumerate(d.On, "nodes"))
	d.On = nil
	return d
}

// withInstances says which instances a fault strikes, where they are several.
func (d Diagnostic) withInstances() Diagnostic {
	var all, nodes []string
	one := true
	d.By = slices.Compact(slices.SortedFunc(slices.Values(d.By), addr.Instance.Compare))
	for _, i := range d.By {
		all, nodes = append(all, i.String()), append(nodes, string(i.Node))
		one = one && i.Name == d.By[0].Name
	}
	switch {
	case len(all) < 2:
	case one:
		d.Message += fmt.Sprintf(" (for %s on %s)", d.By[0].Name, enumerate(nodes, "nodes"))
	default:
		d.Message += " (for " + enumerate(all, "instances") + ")"
	}
	d.By = nil
	return d
}

// enumerate names a few, sorted, and counts the rest.
func enumerate(of []string, what string) string {
	of = slices.Compact(slices.Sorted(slices.Values(of)))
	switch {
	case len(of) > 3:
		return fmt.Sprintf("%s, %s and %d more %s", of[0], of[1], len(of)-2, what)
	case len(of) > 1:
		return strings.Join(of[:len(of)-1], ", ") + " and " + of[len(of)-1]
	}
	return of[0]
}
