package render

import (
	"path"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/bundle"
)

// before are the units that the instance's own start after: those that run the node's
// private network and name resolution, where it uses them (SEL-8).
func (l *lowering) before() []string {
	var out []string
	for _, i := range l.node.Instances {
		if !slices.Contains(l.instance.After, i.Name) {
			continue
		}
		for _, r := range i.Resources {
			switch {
			case r.Unit != nil && r.Unit.State == string(bundle.Running) && path.Ext(r.Unit.Name) == ".service":
				out = append(out, r.Unit.Name)
			case r.Container != nil:
				out = append(out, r.Container.Unit+".service")
			}
		}
	}
	return out
}

// orderedAfter makes a service's text start after units, at boot too. Other kinds are left:
// sockets and timers come before services, and so would wait for each other; and so would what
// has no default dependencies, since it belongs to an earlier part of the boot.
func orderedAfter(unit string, content data.Value, units []string) data.Value {
	section := content.Get("Unit")
	isEarly := slices.Contains([]string{"no", "false", "off", "0"}, section.Get("DefaultDependencies").Text())
	if len(units) == 0 || isEarly || path.Ext(unit) != ".service" {
		return content
	}
	if section.Kind() != data.Struct {
		section = data.NewStruct()
	}
	for _, key := range []string{"After", "Wants"} {
		section = section.With(key, also(section.Get(key), units))
	}
	return content.With("Unit", section)
}

// also is a list of units and more, as systemd reads it: names apart by blanks, in one value or several.
func also(v data.Value, units []string) data.Value {
	var all []data.Value
	switch v.Kind() {
	case data.List:
		all = v.Items()
	case data.Absent, data.Null:
	default:
		all = []data.Value{v}
	}
	for _, u := range units {
		if !slices.ContainsFunc(all, func(v data.Value) bool { return slices.Contains(strings.Fields(v.Text()), u) }) {
			all = append(slices.Clip(all), data.NewString(u))
		}
	}
	return data.NewList(all...)
}

// dropIn orders a unit whose text is not ours, such as one of the distribution.
func (l *lowering) dropIn(r plan.Resource, unit string, after []string) {
	id := bundle.ID(addr.Resource{Instance: r.ID.Instance, Kind: "file", Name: r.ID.Local() + ".order"}.String())
	list := strings.Join(after, " ")
	text := "# Written by meshc: it uses the private network, or names on it.\n[Unit]\nAfter=" + list + "\nWants=" + list + "\n"
	where := "/etc/systemd/system/" + unit + ".d/50-mesh-order.conf"
	e := bundle.NewEntry(bundle.FileSource(where), []byte(text))
	l.add(&bundle.File{ID: id, Path: where, Source: e.Name, SHA256: e.Sum, Mode: 0o644}, e)
}
