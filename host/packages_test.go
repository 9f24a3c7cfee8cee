package host

import (
	"context"
	"errors"
	"slices"
	"testing"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

// packagesWith counts how packages are asked for. Unknown cannot be had; virtual is not
// there after all, which is found out only by who asks for it alone.
type packagesWith struct {
	machine.Packages
	together, alone int
}

var errNoPackage = errors.New("no such package")

func (p *packagesWith) MakeAll(ctx context.Context, install, remove []string, progress func(string)) error {
	p.together++
	if slices.Contains(install, "unknown") {
		return errNoPackage
	}
	install = slices.DeleteFunc(slices.Clone(install), func(name string) bool { return name == "virtual" })
	return p.Packages.MakeAll(ctx, install, remove, progress)
}

func (p *packagesWith) Make(ctx context.Context, key machine.Key, want machine.Want) error {
	p.alone++
	if key.Name == "unknown" || key.Name == "virtual" {
		return errNoPackage
	}
	return p.Packages.Make(ctx, key, want)
}

// HST-2: packages are asked for together once; where that does not bring all of them,
// one by one, each once, and only the one that cannot be had has failed.
func TestPackagesTogetherOrAlone(t *testing.T) {
	for name, want := range map[string]struct{ together, alone int }{"good": {1, 0}, "unknown": {1, 7}, "virtual": {1, 1}} {
		t.Run(name, func(t *testing.T) {
			var items []bundle.Item
			for _, p := range []string{"aa", "bb", "cc", name, "dd", "ee", "ff"} {
				items = append(items, &bundle.Package{ID: bundle.ID("a/package." + p), Name: p, State: bundle.Present})
			}
			h := onTree(t, newTree(t))
			p := &packagesWith{Packages: h.Machine.Packages}
			h.Machine.Packages = p
			r := apply(t, h, write(t, items, nil))
			if p.together != want.together || p.alone != want.alone {
				t.Errorf("asked %d times together and %d times alone", p.together, p.alone)
			}
			for _, e := range r.Events {
				if failed := e.Verb == Failed; failed != (e.Key.Name == name && name != "good") {
					t.Errorf("got %v", e)
				}
			}
		})
	}
}
