package compose

import (
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/plan"
)

// runtimePackages are what a machine needs to run containers under a runtime, as Debian 13 has
// them: mesh-host installs what a package depends on, not what it recommends, and docker's client,
// the network of podman's containers and the certificates that registries are known by are only that.
var runtimePackages = map[string][]string{
	"podman": {"podman", "netavark", "ca-certificates"},
	"docker": {"docker.io", "docker-cli", "ca-certificates"},
}

// insteadOf are packages that others publish in the place of Debian's, which cannot stand beside them.
var insteadOf = map[string][]string{
	"docker.io":  {"docker-ce", "moby-engine"},
	"docker-cli": {"docker-ce", "docker-ce-cli", "moby-engine", "moby-cli"},
}

// runtime gives every instance with a container the packages of the node's runtime. Those that two
// have in common are one, as with any packages (CLM-3).
func (b *builder) runtime() {
	declared := map[string]bool{}
	for _, i := range b.out.plan.Instances {
		for _, r := range i.Resources {
			if r.Package != nil && !r.Package.Absent {
				declared[r.Package.Name] = true
			}
		}
	}
	for _, i := range b.out.plan.Instances {
		k := slices.IndexFunc(i.Resources, func(r plan.Resource) bool { return r.Container != nil })
		if k < 0 {
			continue
		}
		at := i.Resources[k].At
		for _, name := range runtimePackages[b.out.plan.Runtime] {
			if slices.ContainsFunc(insteadOf[name], func(other string) bool { return declared[other] }) {
				continue
			}
			id := addr.Resource{Instance: i.Name, Kind: "package", Name: "runtime." + name}
			i.Resources = append(i.Resources, plan.Resource{ID: id, At: at, Package: &plan.Package{Name: name}})
		}
		slices.SortStableFunc(i.Resources, compareResources)
	}
}
