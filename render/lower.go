package render

import (
	"bytes"
	"cmp"
	"net/netip"
	"path"
	"slices"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/bundle"
	"meshc.dev/render/container"
	"meshc.dev/render/firewall"
	"meshc.dev/render/sink"
	"meshc.dev/render/wireguard"
)

// lowering turns one node's resources into what the machine's side knows:
// package, user, directory, file, block, secret and unit.
type lowering struct {
	mesh     *Mesh
	node     *plan.Node
	instance *plan.Instance
	items    []bundle.Item
	entries  []bundle.Entry
	ds       diag.List
}

func (l *lowering) resource(r plan.Resource) {
	items, entries := len(l.items), len(l.entries)
	defer func() { l.noRemains(r, l.items[items:], l.entries[entries:]) }()
	id := bundle.ID(r.ID.String())
	switch {
	case r.Package != nil:
		state := bundle.Present
		if r.Package.Absent {
			state = bundle.Absent
		}
		l.items = append(l.items, &bundle.Package{ID: id, Name: r.Package.Name, State: state})
	case r.User != nil:
		u := r.User
		l.items = append(l.items, &bundle.User{ID: id, Name: u.Name, UID: u.UID, Group: u.Group, Groups: u.Groups, System: u.System, Home: u.Home, Shell: u.Shell})
	case r.Directory != nil:
		d := r.Directory
		l.items = append(l.items, &bundle.Directory{ID: id, Path: d.Path, Owner: d.Owner, Group: d.Group, Mode: mode(d.Mode)})
	case r.Secret != nil:
		l.secret(id, r.Secret)
	case r.File != nil:
		l.file(r, id, r.File)
	case r.Block != nil:
		l.block(id, r.Block.Path, r.Block.Marker, r.Block.Content)
	case r.Unit != nil:
		l.unit(r, id)
	case r.Container != nil:
		l.container(r, id)
	case r.Computed != nil:
		l.computed(r, id)
	}
}

// mode of a plan, which holds only modes that parse.
func mode(s string) bundle.Mode {
	m, err := bundle.ParseMode(s)
	if err != nil {
		panic(err)
	}
	return m
}

func (l *lowering) secret(id bundle.ID, s *plan.Secret) {
	item := &bundle.Secret{ID: id, Path: s.Path, Generation: s.Generation, Key: cmp.Or(s.SealedAs, s.Key), Role: s.Role, Owner: s.Owner, Group: s.Group, Mode: mode(s.Mode)}
	if s.Sealed != "" {
		item.Sealed = bundle.SealedSource(s.Sealed)
		l.entries = append(l.entries, bundle.NewEntry(item.Sealed, s.Blob))
	}
	l.items = append(l.items, item)
}

// rendered is a file's bytes with its placeholders taken out, and where they were.
type rendered struct {
	entry   bundle.Entry
	fills   []place
	remains bool
	err     error
}

type place struct {
	offset int
	plan.Placeholder
}

func (l *lowering) file(r plan.Resource, id bundle.ID, f *plan.File) {
	kept, ok := l.mesh.files.Load(f)
	if !ok {
		kept, _ = l.mesh.files.LoadOrStore(f, renderFile(f))
	}
	out := kept.(rendered)
	if out.err != nil {
		l.ds = append(l.ds, notCarried(r.At, r.ID, f.Format, out.err))
		return
	}
	if out.remains {
		l.ds = append(l.ds, secretChanged(r))
		return
	}
	item := &bundle.File{
		ID: id, Path: f.Path, Source: out.entry.Name, SHA256: out.entry.Sum, Owner: f.Owner, Group: f.Group, Mode: mode(f.Mode), Validate: f.Validate,
	}
	for _, p := range out.fills {
		item.Fills = append(item.Fills, bundle.Fill{
			Offset: p.offset, Secret: bundle.ID(p.Secret.String()), Generation: l.generation(p.Secret), Encoding: bundle.Encoding(p.Encoding),
		})
		if s := l.secretOf(p.Secret); s != nil && s.Supplied && f.Format != "" && !sink.Carries(f.Format, p.Encoding) {
			l.ds = append(l.ds, notSafeIn(r, p.Secret, f.Format, p.Encoding))
		}
	}
	l.add(item, out.entry)
}

func (l *lowering) add(item bundle.Item, e bundle.Entry) {
	l.items = append(l.items, item)
	l.entries = append(l.entries, e)
}

// secretOf finds a secret of the node's plan.
func (l *lowering) secretOf(id addr.Resource) *plan.Secret {
	for _, r := range l.instance.Resources {
		if r.ID == id {
			return r.Secret
		}
	}
	return nil
}

func (l *lowering) generation(id addr.Resource) int {
	if s := l.secretOf(id); s != nil {
		return s.Generation
	}
	return 0
}

func renderFile(f *plan.File) rendered {
	content := f.Content
	if f.Format != "" {
		b, err := sink.Write(f.Format, f.Data)
		if err != nil {
			return rendered{err: err}
		}
		content = b
	}
	content, fills := takeOut(content, f.Fills)
	return rendered{entry: bundle.NewEntry(bundle.FileSource(f.Path), content), fills: fills, remains: plan.Remains(content)}
}

// takeOut removes every placeholder and tells where each stood in what is left (SEC-10).
func takeOut(content []byte, placeholders []plan.Placeholder) ([]byte, []place) {
	type found struct {
		at int
		plan.Placeholder
	}
	var all []found
	done := map[string]bool{}
	for _, p := range placeholders {
		if done[p.Text] {
			continue
		}
		done[p.Text] = true
		for from := 0; ; {
			i := bytes.Index(content[from:], []byte(p.Text))
			if i < 0 {
				break
			}
			all = append(all, found{from + i, p})
			from += i + len(p.Text)
		}
	}
	if len(all) == 0 {
		return content, nil
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Compare(a.at, b.at) })
	var out []byte
	var fills []place
	from := 0
	for _, f := range all {
		out = append(out, content[from:f.at]...)
		fills = append(fills, place{len(out), f.Placeholder})
		from = f.at + len(f.Text)
	}
	return append(out, content[from:]...), fills
}

func (l *lowering) block(id bundle.ID, path, marker string, content []byte) {
	if !l.node.Managed {
		// A person takes the block's lines from a file.
		l.entries = append(l.entries, bundle.NewEntry(bundle.BlockSource(path, marker), content))
		return
	}
	e := bundle.NewEntry(bundle.BlockSource(path, marker), content)
	l.add(&bundle.Block{ID: id, Path: path, Marker: marker, Source: e.Name, SHA256: e.Sum}, e)
}

// unit declares a unit's state and, where its text is ours, the file that holds it.
func (l *lowering) unit(r plan.Resource, id bundle.ID) {
	u := r.Unit
	item := &bundle.Unit{ID: id, Name: u.Name, Enabled: u.Enabled, State: bundle.UnitState(u.State), Replaces: u.Replaces, RestartOn: ids(u.RestartOn), ReloadOn: ids(u.ReloadOn)}
	if fields := u.Content.Fields(); len(fields) > 0 {
		text, err := sink.Systemd(orderedAfter(u.Name, installed(u), l.before()))
		if err != nil {
			l.ds = append(l.ds, notCarried(r.At, r.ID, "systemd", err))
			return
		}
		item.RestartOn = l.text(r, "/etc/systemd/system/"+u.Name, text, item.RestartOn)
	}
	if after := l.before(); len(u.Content.Fields()) == 0 && len(after) > 0 && path.Ext(u.Name) == ".service" {
		l.dropIn(r, u.Name, after)
	}
	l.items = append(l.items, item)
}

// startTargets start units with the machine, by suffix; all others are started by the
// first (bootup(7), systemd.special(7)).
var startTargets = map[string]string{
	".service": "multi-user.target", ".timer": "timers.target", ".socket": "sockets.target", ".path": "paths.target",
}

// installed is the content of a unit. One that is enabled and does not say what starts
// it is started with the machine: systemd would take the one without the other, and do nothing.
func installed(u *plan.Unit) data.Value {
	install := u.Content.Get("Install")
	asked := slices.ContainsFunc([]string{"WantedBy", "RequiredBy", "UpheldBy", "Alias", "Also"}, func(key string) bool {
		return install.Get(key).Kind() != data.Absent
	})
	if !u.Enabled || asked {
		return u.Content
	}
	target := cmp.Or(startTargets[path.Ext(u.Name)], startTargets[".service"])
	if install.Kind() != data.Struct {
		install = data.NewStruct()
	}
	return u.Content.With("Install", install.With("WantedBy", data.NewString(target)))
}

// text adds the file of a unit's text and makes its unit restart when it changes.
func (l *lowering) text(r plan.Resource, path string, text []byte, restartOn []bundle.ID) []bundle.ID {
	id := bundle.ID(addr.Resource{Instance: r.ID.Instance, Kind: "file", Name: r.ID.Local()}.String())
	e := bundle.NewEntry(bundle.FileSource(path), text)
	l.add(&bundle.File{ID: id, Path: path, Source: e.Name, SHA256: e.Sum, Mode: 0o644}, e)
	return append([]bundle.ID{id}, restartOn...)
}

func ids(rs []addr.Resource) []bundle.ID {
	var out []bundle.ID
	for _, r := range rs {
		out = append(out, bundle.ID(r.String()))
	}
	return out
}

func (l *lowering) container(r plan.Resource, id bundle.ID) {
	c := r.Container
	var after []string
	o := container.Options{}
	for _, t := range wireguard.Tunnels(l.node) {
		// An address of a tunnel can be bound only once the tunnel is there.
		after = append(after, "wg-quick@"+t.Interface+".service")
		if !l.clamped() && (o.MTU == 0 || t.MTU < o.MTU) {
			o.MTU = t.MTU
		}
	}
	if l.node.Runtime == "docker" {
		o.Hosts = l.taken()
	}
	for _, u := range l.before() {
		if !slices.Contains(after, u) {
			after = append(after, u)
		}
	}
	f, err := o.Lower(*c, l.node.Runtime, l.instance.Name+" ("+l.instance.Module+")", after)
	if err != nil {
		l.ds = append(l.ds, notCarried(r.At, r.ID, "a unit", err))
		return
	}
	item := &bundle.Unit{ID: id, Name: f.Unit, Enabled: true, State: bundle.Running, RestartOn: ids(c.RestartOn), ReloadOn: ids(c.ReloadOn)}
	item.RestartOn = l.text(r, f.Path, f.Content, item.RestartOn)
	l.items = append(l.items, item)
}

// clamped says whether the node's firewall makes TCP segments fit the tunnel, so that
// containers need no smaller network (O26).
func (l *lowering) clamped() bool {
	for _, i := range l.node.Instances {
		for _, r := range i.Resources {
			if r.Computed != nil && r.Computed.Kind == "firewall" {
				return true
			}
		}
	}
	return false
}

// taken are the names that the instance's providers have and their addresses.
func (l *lowering) taken() []container.Host {
	var out []container.Host
	for _, t := range l.node.Takes {
		n := l.mesh.plan.Node(t.Node)
		if t.Instance != l.instance.Name || n == nil {
			continue
		}
		for _, w := range n.Networks {
			if a, err := netip.ParseAddr(w.Address); err == nil && w.Name == t.At && !slices.ContainsFunc(out, func(h container.Host) bool { return h.Name == w.Name }) {
				out = append(out, container.Host{Name: w.Name, Address: a})
			}
		}
	}
	return out
}

// Where computed files stand unless a module says otherwise.
const (
	hostsPath    = "/etc/hosts"
	trustPath    = "/usr/local/share/ca-certificates/mesh.crt"
	firewallPath = "/etc/nftables.d/meshc.nft"
)

func (l *lowering) computed(r plan.Resource, id bundle.ID) {
	c := *r.Computed
	switch c.Kind {
	case "hosts":
		l.block(id, cmp.Or(c.Path, hostsPath), "mesh "+l.mesh.plan.Mesh, l.mesh.names.Block(l.node))
	case "wireguard":
		b, ds := l.mesh.tunnel.Config(l.node, r.ID, c)
		l.computedFile(id, wireguard.Path(c), b, 0o600, nil, ds)
	case "trust":
		l.computedFile(id, cmp.Or(c.Path, trustPath), l.mesh.roots, 0o644, nil, nil)
	case "firewall":
		b, ds := firewall.Table(l.mesh.plan, l.node, c)
		l.computedFile(id, cmp.Or(c.Path, firewallPath), b, 0o644, []string{"nft", "-c", "-f", "%"}, ds)
	}
}

func (l *lowering) computedFile(id bundle.ID, path string, b []byte, m bundle.Mode, validate []string, ds diag.List) {
	l.ds = append(l.ds, ds...)
	if ds.HasErrors() {
		return
	}
	e := bundle.NewEntry(bundle.FileSource(path), b)
	l.add(&bundle.File{ID: id, Path: path, Source: e.Name, SHA256: e.Sum, Mode: m, Validate: validate}, e)
}
