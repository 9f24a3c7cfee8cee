package host

import (
	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

// samePlaces says which things a link on the machine makes one, though they have
// different paths: each would undo the other at every apply. A path that cannot be
// reached is said by whoever looks at it.
func (r *run) samePlaces() []error {
	var errs []error
	held := map[string][]*wish{}
	for _, w := range r.wishes {
		switch w.key.Kind {
		case machine.File, machine.Directory, machine.Block:
		default:
			continue
		}
		at, err := r.host.Machine.Place(w.key)
		if err != nil {
			continue
		}
		for _, other := range held[at] {
			if other.key.Name != w.key.Name && !getAlong(w, other) {
				errs = append(errs, onePlace(other, w))
			}
		}
		held[at] = append(held[at], w)
	}
	return errs
}

// getAlong says whether two things can be in one place: blocks of different markers,
// and directories that are to be alike, or that only have to be there.
func getAlong(a, b *wish) bool {
	if a.key.Kind != b.key.Kind {
		return false
	}
	switch a.key.Kind {
	case machine.Block:
		return a.key.Marker != b.key.Marker
	case machine.Directory:
		x, declared := a.item.(*bundle.Directory)
		y, too := b.item.(*bundle.Directory)
		return !declared || !too || x.Owner == y.Owner && x.Group == y.Group && x.Mode == y.Mode
	}
	return false
}
