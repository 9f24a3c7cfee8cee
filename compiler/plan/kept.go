package plan

import (
	"maps"
	"path"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
)

// Kept is where everything is that has to survive (DAT-1), by who keeps it: of "gitea@board" where its
// data is and which major versions read it; of "gitea@board database" with whom its database
// is, where that is one who keeps data, and what it is told of it. Where two states of a mesh
// are equal in this, no change between them moves data or leaves any behind.
func (p *Plan) Kept() map[string][]string {
	out := map[string][]string{}
	keeps := map[addr.Instance]bool{}
	for _, n := range p.Nodes {
		for _, i := range n.Instances {
			if at := i.Keeps(); len(at) > 0 {
				name := addr.Instance{Name: i.Name, Node: n.Name}
				keeps[name] = true
				out[name.String()] = append(at, pairs(i.Versions())...)
			}
		}
	}
	for _, n := range p.Nodes {
		for k, t := range n.Takes {
			by := addr.Instance{Name: t.Provider, Node: t.Node}
			one := func(o Take) bool { return o.Instance == t.Instance && o.Label == t.Label }
			if t.As == "" || !keeps[by] || slices.ContainsFunc(n.Takes[:k], one) || slices.ContainsFunc(n.Takes[k+1:], one) {
				continue // of several nobody can say which has what
			}
			name := addr.Instance{Name: t.Instance, Node: n.Name}
			out[name.String()+" "+t.Label] = append([]string{by.String()}, pairs(t.Stored())...)
		}
	}
	return out
}

func pairs(m map[string]string) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, k+" "+m[k])
	}
	return out
}

// Told are the values that a consumer is told, by path.
func (t Take) Told() map[string]string {
	out := map[string]string{}
	t.Binding.Walk(func(path []string, v data.Value) {
		if len(path) > 0 && v.Kind() != data.Struct && (v.Kind() != data.List || len(v.Items()) == 0) {
			out[strings.Join(path, ".")] = v.String()
		}
	})
	return out
}

// Stored are those of the values that say what is stored, and not where it is reached.
func (t Take) Stored() map[string]string {
	out := t.Told()
	for _, k := range whereabouts {
		delete(out, k)
	}
	return out
}

var whereabouts = []string{"provision", "node", "instance", "at", "as", "hostport", "host", "port", "note", "driver", "url", "user"}

// Keeps lists where an instance has its data: what its module says; where that says nothing, its
// containers' volumes and its folders under /var/lib, /srv, /home and /data.
func (i *Instance) Keeps() []string {
	var out []string
	for _, d := range i.Data {
		out = append(out, d.Paths...)
	}
	if len(out) > 0 {
		return out
	}
	add := func(p string) {
		for _, under := range []string{"/var/lib/", "/srv/", "/home/", "/data/"} {
			if strings.HasPrefix(p, under) && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	for _, r := range i.Resources {
		switch {
		case r.Directory != nil:
			add(r.Directory.Path)
		case r.Container != nil:
			for _, v := range r.Container.Volumes {
				source, _, _ := strings.Cut(v, ":")
				if strings.HasPrefix(source, "/") {
					add(source)
				} else if source != "" {
					out = append(out, "the volume "+source)
				}
			}
		}
	}
	return out
}

// Versions are the major versions of what an instance runs, by what it is: of an image its tag's first
// number, of a package the number at the end of its name.
func (i *Instance) Versions() map[string]string {
	out := map[string]string{}
	for _, r := range i.Resources {
		switch {
		case r.Package != nil && !r.Package.Absent:
			name := strings.TrimRight(r.Package.Name, "0123456789.")
			if v, _, _ := strings.Cut(r.Package.Name[len(name):], "."); v != "" {
				out["package "+strings.TrimSuffix(name, "-")] = v
			}
		case r.Container != nil:
			image, _, _ := strings.Cut(r.Container.Image, "@")
			name, tag, ok := strings.Cut(path.Base(image), ":")
			if !ok {
				continue
			}
			tag = strings.TrimPrefix(tag, "v")
			if n := len(tag) - len(strings.TrimLeft(tag, "0123456789")); n > 0 {
				out["image "+name] = tag[:n]
			}
		}
	}
	return out
}
