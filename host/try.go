package host

import (
	"context"
	"strings"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

// try asks systemd, and the generator of Podman, about all unit texts of the bundle, once,
// before the first of each is swapped in: a bad one never replaces a good one.
func (r *run) try(ctx context.Context, p string) error {
	if r.dry {
		return nil
	}
	if !machine.IsQuadlet(p) {
		return r.verify(ctx, p)
	}
	if !r.hasTry {
		files, err := r.texts(machine.IsQuadlet)
		if err != nil {
			return err
		}
		if err := r.addForeign(files); err != nil {
			return err
		}
		tried, err := r.host.Machine.Units.Try(ctx, files)
		if err != nil {
			return err
		}
		r.tried, r.hasTry = tried, true
	}
	return r.tried[p]
}

// verify is try of a text that no generator reads.
func (r *run) verify(ctx context.Context, p string) error {
	if r.verified == nil {
		files, err := r.texts(func(p string) bool { return machine.IsUnitText(p) && !strings.HasPrefix(p, machine.QuadletDir+"/") })
		if err != nil {
			return err
		}
		verified, err := r.host.Machine.Units.Verify(ctx, files)
		if err := stopped(ctx, err); err != nil {
			return err
		}
		if err != nil || verified == nil { // one that cannot be asked has said nothing against any
			verified = map[string]error{}
		}
		r.verified = verified
	}
	return r.verified[p]
}

// texts are the bundle's files of a kind, by path.
func (r *run) texts(are func(p string) bool) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, w := range r.wishes {
		if f, ok := w.item.(*bundle.File); ok && are(f.Path) {
			content, err := r.opened.content(f)
			if err != nil {
				return nil, err
			}
			files[f.Path] = content
		}
	}
	return files, nil
}

// addForeign adds the Quadlet files of others, which those of the bundle may name.
func (r *run) addForeign(files map[string][]byte) error {
	names, err := r.host.Machine.Root.ReadDir(machine.QuadletDir)
	if err != nil {
		return err
	}
	for _, name := range names {
		p := machine.QuadletDir + "/" + name
		if _, ours := files[p]; ours || !machine.IsQuadlet(p) {
			continue
		}
		if files[p], err = r.host.Machine.Root.ReadFile(p); err != nil {
			return err
		}
	}
	return nil
}
