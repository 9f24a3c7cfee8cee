package host

import (
	"path"
	"slices"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

// mayStand says whether a unit's text may be put in its place: not where the machine has
// a unit of that name, or of one that the text takes besides, from somebody else. It would
// be gone in silence, and ssh's or cron's is what the machine is kept up by.
func (r *run) mayStand(p string, content []byte) error {
	unit := unitOf(p)
	if path.Dir(p) != unitTexts && !machine.IsQuadlet(p) || r.replaces(unit) {
		return nil
	}
	for _, name := range append([]string{unit}, machine.Aliases(string(content))...) {
		others, err := machine.UnitPlaces(r.host.Machine.Root, name, unit)
		if err != nil {
			return err
		}
		for _, other := range others {
			if !r.isOurs(other) {
				return unitFromElsewhere(name, other)
			}
		}
	}
	return nil
}

const unitTexts = "/etc/systemd/system"

// replaces says whether the bundle declares that it means to replace a unit.
func (r *run) replaces(unit string) bool {
	return slices.ContainsFunc(r.opened.Declaration.Items, func(item bundle.Item) bool {
		u, ok := item.(*bundle.Unit)
		return ok && u.Replaces && u.Name == unit
	})
}

// isOurs says whether a file is there because a bundle has made it.
func (r *run) isOurs(p string) bool {
	t := r.state.find(machine.Key{Kind: machine.File, Name: p})
	return t != nil && t.Found != nil && t.Found.Absent
}
