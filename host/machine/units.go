package machine

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
)

// unitDirs are where systemd looks for a unit's text, strongest first.
var unitDirs = []string{
	"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system",
}

// QuadletDir is where Podman's generator finds what it makes units from.
const QuadletDir = "/etc/containers/systemd"

// IsUnitText says whether a file is one that systemd or its generators read, so that
// they have to read again when it changes: a unit's text, or what adds to one.
func IsUnitText(p string) bool {
	return slices.ContainsFunc(append([]string{QuadletDir}, unitDirs...), func(dir string) bool { return strings.HasPrefix(p, dir+"/") })
}

// IsQuadlet says whether a file is one that a unit is generated from.
func IsQuadlet(p string) bool {
	return strings.HasPrefix(p, QuadletDir+"/") &&
		slices.Contains([]string{".container", ".volume", ".network", ".pod", ".kube", ".build", ".image"}, path.Ext(p))
}

// IsTextOf says whether a file is the text of a unit, or what that is generated from.
func IsTextOf(p, unit string) bool {
	return path.Base(p) == unit || IsQuadlet(p) && QuadletUnit(p) == unit
}

// QuadletUnit is the unit that is generated from a Quadlet file's name.
func QuadletUnit(p string) string {
	base, ext := strings.TrimSuffix(path.Base(p), path.Ext(p)), path.Ext(p)
	if ext == ".container" || ext == ".kube" {
		return base + ".service"
	}
	return base + "-" + ext[1:] + ".service"
}

// treeUnits enables units in a tree by links, as systemctl does, and records which
// are to run.
type treeUnits struct {
	root   *Root
	record *record
}

// installLinks are the links that a unit's text asks for.
func installLinks(name, text string) []string {
	asked := install(text)
	var links []string
	for key, below := range map[string]string{"WantedBy": ".wants/", "RequiredBy": ".requires/", "UpheldBy": ".upholds/"} {
		for _, v := range asked[key] {
			links = append(links, unitDirs[0]+"/"+v+below+name)
		}
	}
	for _, v := range asked["Alias"] {
		if v != name { // which it has
			links = append(links, unitDirs[0]+"/"+v)
		}
	}
	slices.Sort(links)
	return slices.Compact(links)
}

// linksOf are those that enable a unit now.
func linksOf(root *Root, name string) ([]string, error) {
	all, err := allLinks(root)
	return all[name], err
}

// allLinks are those that enable units now, by the unit's name: of that name below a
// target, or of another name to it. A link of its own name is where its text is. Each is
// written with where it leads, so that it can be made again.
func allLinks(root *Root) (map[string][]string, error) {
	all := map[string][]string{}
	add := func(name, p, to string) { all[name] = append(all[name], p+arrow+to) }
	aliases, err := linksIn(root, unitDirs[0])
	if err != nil {
		return nil, err
	}
	for e, to := range aliases {
		if path.Base(to) != e {
			add(path.Base(to), unitDirs[0]+"/"+e, to)
		}
	}
	entries, err := root.ReadDir(unitDirs[0])
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if ext := path.Ext(e); ext != ".wants" && ext != ".requires" && ext != ".upholds" {
			continue
		}
		below, err := linksIn(root, unitDirs[0]+"/"+e)
		if err != nil {
			continue // no folder, or one that is out of place
		}
		for name, to := range below {
			add(name, unitDirs[0]+"/"+e+"/"+name, to)
		}
	}
	for _, links := range all {
		slices.Sort(links)
	}
	return all, nil
}

// linksIn are the links in a folder, by name, with where they lead; none where that is
// not there.
func linksIn(root *Root, dir string) (map[string]string, error) {
	names, err := root.ReadDir(dir)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	at, err := root.place(dir + "/" + names[0]) // any: what counts is the folder
	if err != nil {
		return nil, err
	}
	defer at.close()
	links := map[string]string{}
	for _, name := range names {
		if to, err := readlink(at.fd, name); err == nil {
			links[name] = to
		}
	}
	return links, nil
}

const arrow = " -> "

// stale says whether links are not those that a unit's text asks for.
func stale(name, text string, links []string) bool {
	at := make([]string, len(links))
	for i, l := range links {
		at[i], _, _ = strings.Cut(l, arrow)
	}
	return !slices.Equal(at, installLinks(name, text))
}

// Look says whether the unit is enabled and is to run.
func (b *treeUnits) Look(ctx context.Context, key Key) (Condition, error) {
	all, err := b.LookAll(ctx, []string{key.Name})
	return all[key.Name], err
}

// LookAll looks at several.
func (b *treeUnits) LookAll(_ context.Context, names []string) (map[string]Condition, error) {
	r, err := b.record.read()
	if err != nil {
		return nil, err
	}
	enabling, err := allLinks(b.root)
	if err != nil {
		return nil, err
	}
	out := make(map[string]Condition, len(names))
	unknown := Unknowable{}
	for _, name := range names {
		t, err := unitText(b.root, name, nil)
		if err == nil && strings.Contains(name, "@.") {
			err = isTemplate(name)
		}
		if err != nil {
			unknown[name] = err
			continue
		}
		links := enabling[name]
		enabled := len(links) > 0 || r.Enabled[name]
		out[name] = Condition{
			Running: r.Running[name], Enabled: enabled, Generated: t.generated,
			Links: strings.Join(links, "\n"), Stale: enabled && stale(name, t.all, links),
		}
	}
	return out, unknown.orNil()
}

// Make makes exactly the links that enable the unit, or none, and records whether it
// is to run.
func (b *treeUnits) Make(ctx context.Context, key Key, want Want) error {
	t, err := unitText(b.root, key.Name, nil)
	if err != nil {
		return err
	}
	next := map[string]string{}
	asked := installLinks(key.Name, t.all)
	switch {
	case want.Links != "": // as it was found
		for l := range strings.SplitSeq(want.Links, "\n") {
			from, to, _ := strings.Cut(l, arrow)
			next[from] = to
		}
	case want.Enabled:
		for _, l := range asked {
			next[l] = b.where(key.Name)
		}
	}
	links, err := linksOf(b.root, key.Name)
	if err != nil {
		return err
	}
	for _, l := range links {
		from, to, _ := strings.Cut(l, arrow)
		switch next[from] {
		case to:
			delete(next, from)
		case "":
			if err := b.unlink(from); err != nil {
				return err
			}
		}
	}
	for from, to := range next {
		if err := b.link(from, to); err != nil {
			return err
		}
	}
	return b.record.change(func(r *recorded) {
		if !want.Either {
			set(r.Running, key.Name, want.Running && !want.Absent)
		}
		set(r.Enabled, key.Name, want.Enabled && want.Links == "" && len(asked) == 0 && !t.generated)
	})
}

func set(m map[string]bool, name string, is bool) {
	if is {
		m[name] = true
	} else {
		delete(m, name)
	}
}

func (b *treeUnits) link(from, to string) error {
	if err := b.root.MkdirAll(path.Dir(from), 0o755); err != nil {
		return err
	}
	at, err := b.root.place(from)
	if err != nil {
		return err
	}
	defer at.close()
	return at.link(to, Owner{})
}

// where is the path of a unit's text, which a link to it leads to.
func (b *treeUnits) where(name string) string {
	for _, dir := range unitDirs {
		if c, err := (&Files{root: b.root}).Look(context.Background(), Key{Kind: File, Name: dir + "/" + name}); err == nil && !c.Absent {
			return dir + "/" + name
		}
	}
	return unitDirs[0] + "/" + name
}

// unlink removes a link and the folder that it was alone in.
func (b *treeUnits) unlink(l string) error {
	if err := b.root.Remove(l); err != nil {
		return err
	}
	dir := path.Dir(l)
	if dir == unitDirs[0] {
		return nil
	}
	err := (directories{b.root}).Make(context.Background(), Key{Kind: Directory, Name: dir}, Want{Condition: Condition{Absent: true}})
	if errors.Is(err, ErrNotEmpty) {
		return nil
	}
	return err
}

// Enable has no need to go ahead of Make in a tree, where nobody reads anything.
func (b *treeUnits) Enable(context.Context, string, bool) error { return nil }

// Reread has nobody to tell in a tree.
func (b *treeUnits) Reread(context.Context) error { return nil }

// Restart has nothing to restart in a tree.
func (b *treeUnits) Restart(context.Context, string) error { return nil }

// Reload has nothing to reload in a tree.
func (b *treeUnits) Reload(context.Context, string) error { return nil }

// Try has no generator in a tree: the one of whoever builds it may be another.
func (b *treeUnits) Try(context.Context, map[string][]byte) (map[string]error, error) {
	return nil, nil
}

// Verify has no systemd in a tree either.
func (b *treeUnits) Verify(context.Context, map[string][]byte) (map[string]error, error) {
	return nil, nil
}
