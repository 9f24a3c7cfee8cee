//go:build lab

package lab

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// set changes a line of mesh.cue.
func (d day) set(from, to string) {
	d.Helper()
	p := filepath.Join(d.mesh, "mesh.cue")
	data, err := os.ReadFile(p)
	d.check(err)
	if strings.Count(string(data), from) != 1 {
		d.Fatalf("%q stands %d times in mesh.cue", from, strings.Count(string(data), from))
	}
	d.check(os.WriteFile(p, []byte(strings.Replace(string(data), from, to, 1)), 0o644))
}

// node is what `meshc plan --json` says of one.
type node struct {
	Address   string
	Instances map[string]struct{ Ports map[string]int }
}

func (d day) plan(name string) node {
	d.Helper()
	c := exec.Command("meshc", "plan", "--json", name)
	c.Dir = d.mesh
	out, err := c.Output()
	d.check(err)
	var p struct{ Nodes map[string]node }
	d.check(json.Unmarshal(out, &p))
	return p.Nodes[name]
}

func (d day) address(name string) string { d.Helper(); return d.plan(name).Address }

func (d day) port(name, instance, listen string) int {
	d.Helper()
	p := d.plan(name).Instances[instance].Ports[listen]
	if p == 0 {
		d.Fatalf("the plan has no port for %s of %s on %s", listen, instance, name)
	}
	return p
}

// diffRestarts is which units `meshc diff` says will restart, by machine.
func (d day) diffRestarts() map[string][]string {
	d.Helper()
	c := exec.Command("meshc", "diff", "--json")
	c.Dir = d.mesh
	out, err := c.Output()
	d.check(err)
	var diff struct {
		Changes []struct {
			Kind, What string
			Nodes      []string
		}
	}
	d.check(json.Unmarshal(out, &diff))
	said := map[string][]string{}
	for _, c := range diff.Changes {
		if unit, ok := strings.CutSuffix(c.What, " restarts"); ok && c.Kind == "unit" {
			for _, n := range c.Nodes {
				said[n] = append(said[n], unit)
			}
		}
	}
	return said
}

var unitPattern = regexp.MustCompile(`(?m)^unit "[^"]+" \{\n +name += "([^"]+)"\n +enabled += \w+\n +state += "running"`)

// units are those that a machine's bundle declares to run; others start what is triggered.
func (d day) units(name string) []string {
	d.Helper()
	data, err := os.ReadFile(filepath.Join(d.mesh, "dist", name, "declaration.hcl"))
	d.check(err)
	var out []string
	for _, m := range unitPattern.FindAllStringSubmatch(string(data), -1) {
		out = append(out, m[1])
	}
	if len(out) < 2 {
		d.Fatalf("the declaration of %s has units %v", name, out)
	}
	return out
}

// starts is when each unit of a machine was last started, and by which start.
func (d day) starts(name string) map[string]string {
	d.Helper()
	units := d.units(name)
	out := d.must(d.lab.Machine(name).Ask("systemctl show -p Id,InvocationID,ActiveEnterTimestampMonotonic,MainPID -- %s", strings.Join(units, " ")), 0)
	answers := strings.Split(strings.TrimSpace(out), "\n\n")
	if len(answers) != len(units) {
		d.Fatalf("systemctl told of %d units, asked for %d", len(answers), len(units))
	}
	starts := map[string]string{}
	for i, u := range units {
		starts[u] = answers[i]
	}
	return starts
}

func changedStarts(before, after map[string]string) []string {
	var out []string
	for _, u := range slices.Sorted(maps.Keys(before)) {
		if after[u] != before[u] {
			out = append(out, u)
		}
	}
	return out
}
