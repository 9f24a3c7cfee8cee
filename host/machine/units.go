package machine

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// unitDirs are where systemd looks for a unit's text, strongest first.
var unitDirs = []string{
	"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system",
}

// QuadletDir is where Podman's generator finds what it makes units from.
const QuadletDir = "/etc/containers/systemd"

// IsUnitText says whether a file is one that systemd or its generators read, so that
// they have to read again when it changes.
func IsUnitText(p string) bool {
	return strings.HasPrefix(p, "/etc/systemd/system/") || IsQuadlet(p)
}

// IsQuadlet says whether a file is one that a unit is generated from.
func IsQuadlet(p string) bool {
	return strings.HasPrefix(p, QuadletDir+"/") &&
		slices.Contains([]string{".container", ".volume", ".network", ".pod", ".kube", ".build", ".image"}, path.Ext(p))
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

// text finds a unit's own text and says whether it is generated instead.
func (b *treeUnits) text(name string) (text string, generated bool, err error) {
	template := name
	if prefix, rest, ok := strings.Cut(name, "@"); ok {
		template = prefix + "@" + path.Ext(rest)
	}
	for _, dir := range unitDirs {
		data, err := b.root.ReadFile(dir + "/" + template)
		if err == nil {
			return string(data), false, nil
		}
	}
	names, err := b.root.ReadDir(QuadletDir)
	for _, f := range names {
		if IsQuadlet(QuadletDir+"/"+f) && QuadletUnit(f) == name {
			return "", true, nil
		}
	}
	return "", false, err
}

// installLinks are the links that a unit's [Install] section asks for.
func installLinks(name, text string) []string {
	var links []string
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if section != "[Install]" || !ok {
			continue
		}
		for _, v := range strings.Fields(value) {
			switch strings.TrimSpace(key) {
			case "WantedBy":
				links = append(links, "/etc/systemd/system/"+v+".wants/"+name)
			case "RequiredBy":
				links = append(links, "/etc/systemd/system/"+v+".requires/"+name)
			case "Alias":
				links = append(links, "/etc/systemd/system/"+v)
			}
		}
	}
	return links
}

// Look says whether the unit is enabled and is to run.
func (b *treeUnits) Look(ctx context.Context, key Key) (Condition, error) {
	r, err := b.record.read()
	if err != nil {
		return Condition{}, err
	}
	text, generated, err := b.text(key.Name)
	if err != nil {
		return Condition{}, err
	}
	c := Condition{Running: r.Running[key.Name], Enabled: r.Enabled[key.Name], Generated: generated}
	links := installLinks(key.Name, text)
	for i, l := range links {
		is, err := (&Files{b.root}).Look(ctx, Key{Kind: File, Name: l})
		if err != nil {
			return c, err
		}
		c.Enabled = (i == 0 || c.Enabled) && is.Target != ""
	}
	return c, nil
}

// LookAll looks at several.
func (b *treeUnits) LookAll(ctx context.Context, names []string) (map[string]Condition, error) {
	out := make(map[string]Condition, len(names))
	for _, name := range names {
		c, err := b.Look(ctx, Key{Kind: Unit, Name: name})
		if err != nil {
			return nil, err
		}
		out[name] = c
	}
	return out, nil
}

// Make enables or disables the unit, and records whether it is to run.
func (b *treeUnits) Make(_ context.Context, key Key, want Want) error {
	text, generated, err := b.text(key.Name)
	if err != nil {
		return err
	}
	links := installLinks(key.Name, text)
	for _, l := range links {
		if err := b.link(l, text, want.Enabled && !want.Absent); err != nil {
			return err
		}
	}
	if !want.Enabled || want.Absent {
		if err := b.unlinkStale(key.Name); err != nil {
			return err
		}
	}
	return b.record.change(func(r *recorded) {
		set(r.Running, key.Name, want.Running && !want.Absent)
		set(r.Enabled, key.Name, want.Enabled && !want.Absent && len(links) == 0 && !generated)
	})
}

func set(m map[string]bool, name string, is bool) {
	if is {
		m[name] = true
	} else {
		delete(m, name)
	}
}

func (b *treeUnits) link(l, _ string, enable bool) error {
	if !enable {
		return b.unlink(l)
	}
	if err := b.root.MkdirAll(path.Dir(l), 0o755); err != nil {
		return err
	}
	name := path.Base(l)
	at, err := b.root.place(l)
	if err != nil {
		return err
	}
	defer at.close()
	return at.link(b.where(name), Owner{})
}

// where is the path of a unit's text, which a link to it leads to.
func (b *treeUnits) where(name string) string {
	for _, dir := range unitDirs {
		if c, err := (&Files{b.root}).Look(context.Background(), Key{Kind: File, Name: dir + "/" + name}); err == nil && !c.Absent {
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

// unlinkStale removes links that an earlier text of the unit asked for.
func (b *treeUnits) unlinkStale(name string) error {
	dirs, err := b.root.ReadDir(unitDirs[0])
	if err != nil {
		return err
	}
	for _, d := range dirs {
		if !strings.HasSuffix(d, ".wants") && !strings.HasSuffix(d, ".requires") {
			continue
		}
		l := unitDirs[0] + "/" + d + "/" + name
		at, err := b.root.place(l)
		if err != nil {
			continue
		}
		st, err := at.stat()
		at.close()
		if err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			if err := b.unlink(l); err != nil {
				return err
			}
		}
	}
	return nil
}

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
