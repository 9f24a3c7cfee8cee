package evaluate

import (
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"

	"meshc.dev/compiler/data"
	"meshc.dev/compiler/load"
	"meshc.dev/compiler/plan"
	"meshc.dev/compiler/unit"
)

func (d *decoder) file() *plan.File {
	d.only("path", "content", "format", "data", "owner", "group", "mode", "validate")
	f := &plan.File{Path: d.path("path"), Owner: d.owner("owner"), Group: d.owner("group"), Validate: d.list("validate")}
	content, body := d.x.Get("content"), d.x.Get("data")
	switch {
	case content.Kind() != data.Absent && body.Kind() != data.Absent:
		d.refuse("content", "a file has content or data, not both")
	case content.Kind() == data.Absent && body.Kind() == data.Absent:
		d.refuse("content", "a file has content, or format and data")
	case content.Kind() == data.String || content.Kind() == data.Bytes:
		f.Content = []byte(content.Text())
		f.Fills = Placeholders(d.in.Instance, content.Text())
	case content.Kind() != data.Absent:
		d.refuse("content", "it is a string or bytes, not "+content.Kind().String())
	default:
		f.Format = d.need("format")
		if !slices.Contains(Formats, f.Format) {
			d.refuse("format", strconv.Quote(f.Format)+" is not one of "+strings.Join(Formats, ", "))
		}
		f.Data = body
		body.Walk(func(_ []string, v data.Value) {
			if v.Kind() == data.String || v.Kind() == data.Bytes {
				f.Fills = append(f.Fills, Placeholders(d.in.Instance, v.Text())...)
			}
		})
	}
	d.ownSecrets(f.Fills)
	if kind, ok := unit.KindOf(f.Path); ok {
		if f.Format == "systemd" && body.Kind() == data.Struct {
			d.unitFaults("data", kind.Check(body))
		} else if f.Format == "" {
			d.unitFaults("content", kind.CheckText(string(f.Content)))
		}
	}
	if len(f.Fills) == 0 {
		f.Mode = d.mode("0644")
		return f
	}
	f.Mode = d.mode("0600")
	if f.Mode[3] != '0' {
		d.refuse("mode", "the file holds a secret, and with "+f.Mode+" everybody on the machine could read it")
	}
	return f
}

// Formats in which a file's data can be written.
var Formats = []string{"json", "yaml", "toml", "ini", "env", "systemd", "properties"}

func (d *decoder) user() *plan.User {
	d.only("name", "uid", "group", "groups", "home", "shell", "system")
	u := &plan.User{
		Name: d.text("name", d.id.Name), UID: d.int("uid"), Group: d.owner("group"), Groups: d.list("groups"),
		Home: d.text("home", "/nonexistent"), Shell: d.text("shell", "/usr/sbin/nologin"), System: d.bool("system", true),
	}
	if why := BadUser(u.Name); why != "" {
		d.refuse("name", strconv.Quote(u.Name)+" "+why)
	}
	for _, g := range u.Groups {
		if why := BadUser(g); why != "" {
			d.refuse("groups", strconv.Quote(g)+" "+why)
		}
	}
	for field, p := range map[string]string{"home": u.Home, "shell": u.Shell} {
		if why := BadPath(p); why != "" {
			d.refuse(field, strconv.Quote(p)+" "+why)
		}
	}
	slices.Sort(u.Groups)
	return u
}

func (d *decoder) unit() *plan.Unit {
	d.only("name", "content", "enabled", "state", "replaces", "restart_on", "reload_on")
	u := &plan.Unit{
		Name: d.need("name"), Content: d.x.Get("content"), State: d.oneOf("state", "running", "stopped", "triggered"),
		Replaces: d.bool("replaces", false), RestartOn: d.refs("restart_on"), ReloadOn: d.refs("reload_on"),
	}
	if u.Enabled = d.bool("enabled", u.State != "triggered"); u.Enabled && u.State == "triggered" {
		d.refuse("enabled", "a unit that is triggered is started by something else, not with the machine; enable what starts it")
	}
	if why := badUnit(u.Name); why != "" && u.Name != "" {
		d.refuse("name", strconv.Quote(u.Name)+" "+why)
	}
	switch k := u.Content.Kind(); {
	case k == data.Absent:
	case k != data.Struct:
		d.refuse("content", "it is sections of keys, not "+k.String())
	case unit.IsTemplate(u.Name):
		d.ds = append(d.ds, templateUnit(d.fieldAt("name"), d.id, u.Name))
	default:
		if unit.OfTheSystem(u.Name) && !u.Replaces {
			d.ds = append(d.ds, unitOfTheSystem(d.fieldAt("name"), d.id, u.Name, "replaces: true"))
		}
		d.unitFaults("content", unit.Named(u.Name).Check(u.Content))
	}
	if unit.IsTemplate(u.Name) && u.Content.Kind() == data.Absent {
		d.ds = append(d.ds, templateUnit(d.fieldAt("name"), d.id, u.Name))
	}
	return u
}

// unitFaults says of a unit what systemd, or Podman's generator, would refuse or pass over.
func (d *decoder) unitFaults(field string, faults []unit.Fault) {
	for _, f := range faults {
		at := d.fieldAt(field)
		v := d.v.LookupPath(cue.MakePath(cue.Str(field)))
		for _, name := range f.Path {
			v = v.LookupPath(cue.MakePath(cue.Str(name)))
			if p := load.KeyAt(v); v.Exists() && p.IsValid() {
				at = p
			}
		}
		d.ds = append(d.ds, unitText(at, d.id, f))
	}
}

func (d *decoder) container() *plan.Container {
	d.only("image", "command", "publishes", "volumes", "env", "user", "network", "capabilities", "read_only", "health", "restart_on", "reload_on")
	c := &plan.Container{
		Unit: d.in.Instance, Image: d.need("image"), Command: d.list("command"), Volumes: d.list("volumes"), User: d.text("user", ""),
		Network: d.text("network", ""), Capabilities: d.list("capabilities"), ReadOnly: d.bool("read_only", false),
		Health: d.list("health"), RestartOn: d.refs("restart_on"), ReloadOn: d.refs("reload_on"),
	}
	if d.id.Name != "server" {
		c.Unit += "-" + d.id.Name
	}
	if why, moves := BadImage(c.Image); c.Image != "" && why != "" {
		d.ds = append(d.ds, badImage(d.fieldAt("image"), d.id, c.Image, why))
	} else if c.Image != "" && moves {
		d.ds = append(d.ds, imageMoves(d.fieldAt("image"), d.id, d.m.Name, c.Image))
	}
	if unit.OfTheSystem(c.Unit + ".service") {
		d.ds = append(d.ds, unitOfTheSystem(d.at, d.id, c.Unit+".service", ""))
	}
	slices.Sort(c.Capabilities)
	for _, f := range d.x.Get("env").Fields() {
		switch f.Value.Kind() {
		case data.String, data.Int, data.Float, data.Bool:
			c.Env = append(c.Env, plan.EnvVar{Name: f.Name, Value: f.Value.Text()})
		case data.Null: // key-value formats leave such a key out (SET-1)
		default:
			d.refuse("env", f.Name+" is a string, a number, true or false")
		}
	}
	// Publishes are resolved by whoever knows the listens: here they are only read.
	for _, p := range d.names("publishes") {
		c.Publishes = append(c.Publishes, plan.Publish{Whole: p})
	}
	for _, v := range c.Volumes {
		source, _, ok := strings.Cut(v, ":")
		if !ok {
			d.refuse("volumes", strconv.Quote(v)+" is not source:target or source:target:options")
		} else if strings.HasPrefix(source, "/") && BadPath(source) != "" {
			d.refuse("volumes", strconv.Quote(source)+" "+BadPath(source))
		}
	}
	return c
}

func (d *decoder) computed() *plan.Computed {
	d.only("kind", "interface", "port", "key", "path", "keepalive", "bridges", "trusted", "forward", "ping", "log")
	c := &plan.Computed{
		Kind: d.need("kind"), Interface: d.text("interface", ""), Port: d.int("port"), Key: d.text("key", ""),
		Path: d.text("path", ""), Keepalive: d.int("keepalive"),
		Bridges: d.list("bridges"), Trusted: d.list("trusted"), Forward: d.text("forward", ""), Ping: d.int("ping"), Log: d.bool("log", false),
	}
	if d.x.Get("keepalive").Kind() != data.Absent && c.Keepalive == 0 {
		c.Keepalive = plan.NoKeepalive
	}
	if kinds := []string{"wireguard", "hosts", "trust", "firewall"}; !slices.Contains(kinds, c.Kind) {
		d.refuse("kind", strconv.Quote(c.Kind)+" is not one of "+strings.Join(kinds, ", "))
	}
	if c.Path != "" {
		d.path("path")
	}
	return c
}
