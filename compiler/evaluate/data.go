package evaluate

import (
	"slices"
	"strconv"

	"cuelang.org/go/cue"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/cuedata"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/plan"
)

// allData reads what a module keeps, and declares its directories (DAT-1).
func (d *decoder) allData(out *Resources, v cue.Value) {
	if !v.Exists() {
		return
	}
	labels, err := v.Fields()
	if err != nil {
		d.ds = append(d.ds, d.in.fault(err, "data of module "+d.m.Name, nil, load.ValueAt(v))...)
		return
	}
	for labels.Next() {
		d.data(out, cuedata.Label(labels.Selector()), labels.Value())
	}
	slices.SortFunc(out.Data, func(a, b plan.Data) int {
		return slices.Compare([]string{a.Label}, []string{b.Label})
	})
}

func (d *decoder) data(out *Resources, label string, v cue.Value) {
	d.id, d.at, d.v = addr.Resource{Instance: d.in.Instance, Kind: "data", Name: label}, load.KeyAt(v), v
	x, err := cuedata.From(v)
	if err != nil {
		for _, u := range unknownValue(v, "data "+label+" of module "+d.m.Name, err) {
			if !u.At.IsValid() {
				u.At = d.at
			}
			d.ds = append(d.ds, u)
		}
		return
	}
	d.x = x
	d.exposed("data")
	d.only("path", "owner", "group", "mode", "dump", "exclude")
	kept := plan.Data{Label: label, At: d.at, Owner: d.owner("owner"), Group: d.owner("group"), Exclude: d.list("exclude")}
	mode := d.mode("0755")
	if x.Get("path").Kind() == data.List {
		kept.Paths = d.list("path")
	} else {
		kept.Paths = []string{d.need("path")}
	}
	if dump := x.Get("dump"); dump.Kind() != data.Absent {
		kept.DumpCommand, kept.DumpFile = dump.Get("command").Strings(), dump.Get("file").Text()
	}
	for k, p := range kept.Paths {
		if why := BadPath(p); why != "" {
			d.refuse("path", strconv.Quote(p)+" "+why)
			continue
		}
		id := d.id
		if k > 0 {
			id.Name += "-" + strconv.Itoa(k+1)
		}
		out.Items = append(out.Items, plan.Resource{ID: id, At: d.at, Directory: &plan.Directory{Path: p, Owner: kept.Owner, Group: kept.Group, Mode: mode}})
	}
	out.Data = append(out.Data, kept)
}
