package diff

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"meshc.dev/compiler/lock"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/bundle"
)

// everyKind is an item of each kind of which every field is set.
func everyKind() []bundle.Item {
	text := []byte("text\n")
	return []bundle.Item{
		&bundle.Package{ID: "a/package.x", Name: "x", State: bundle.Present},
		&bundle.User{ID: "a/user.x", Name: "x", UID: 600, Group: "x", Groups: []string{"y"}, System: true, Home: "/var/lib/x", Shell: "/usr/sbin/nologin"},
		&bundle.Directory{ID: "a/directory.x", Path: "/var/lib/x", Owner: "x", Group: "x", Mode: 0o755},
		&bundle.File{
			ID: "a/file.x", Path: "/etc/x", Source: bundle.FileSource("/etc/x"), SHA256: bundle.SumOf(text), Owner: "x", Group: "x", Mode: 0o640,
			Validate: []string{"x", "%"}, Fills: []bundle.Fill{{Offset: 2, Secret: "a/secret.x", Generation: 1, Encoding: "value"}},
		},
		&bundle.Block{ID: "a/block.x", Path: "/etc/y", Marker: "m", Source: bundle.BlockSource("/etc/y", "m"), SHA256: bundle.SumOf(text)},
		&bundle.Secret{ID: "a/secret.x", Path: "/etc/s", Generation: 1, Key: "need a@n x", Role: "holder", Owner: "x", Group: "x", Mode: 0o600},
		&bundle.Unit{ID: "a/unit.x", Name: "x.service", Enabled: true, State: bundle.Running, RestartOn: []bundle.ID{"a/file.x"}, ReloadOn: []bundle.ID{"a/block.x"}},
	}
}

// oneOf is the state of a mesh with one node that has the items; what its files hold is "text".
func oneOf(items []bundle.Item, contents map[string]string) Side {
	b := &bundle.Bundle{Declaration: &bundle.Declaration{Format: 1, Mesh: "m", Node: "n", Items: items}}
	for _, name := range []string{bundle.BlockSource("/etc/y", "m"), bundle.FileSource("/etc/x")} {
		text := "text\n"
		if t, ok := contents[name]; ok {
			text = t
		}
		b.Entries = append(b.Entries, bundle.NewEntry(name, []byte(text)))
	}
	if b.Entries[0].Name > b.Entries[1].Name {
		b.Entries[0], b.Entries[1] = b.Entries[1], b.Entries[0]
	}
	p := &plan.Plan{Mesh: "m", Nodes: []*plan.Node{{Name: "n", Managed: true}}}
	return Side{Name: "s", Plan: p, Bundles: []*bundle.Bundle{b}, Lock: &lock.Lock{Secrets: map[string]lock.Secret{}}}
}

// another is a value that differs; known is false where a field's type is one of which the test
// knows none, and then somebody has to teach it.
func another(v reflect.Value) (known bool) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "z")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint16:
		v.SetUint(v.Uint() ^ 0o100)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Slice:
		if v.Len() == 0 || v.Type().Elem().Kind() != reflect.String {
			return false
		}
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	default:
		return false
	}
	return true
}

// REV-2, T48, T57: every field of every kind that a declaration has is compared: changed alone, each
// is said, and so is an item that goes or comes.
func TestEveryFieldIsSaid(t *testing.T) {
	if d := Compare(oneOf(everyKind(), nil), oneOf(everyKind(), nil)); !d.IsEmpty() {
		t.Fatalf("equal states differ: %+v", d.Changes)
	}
	for k, item := range everyKind() {
		kind := reflect.TypeOf(item).Elem()
		for f := range kind.NumField() {
			name := kind.Field(f).Name
			if name == "Sealed" || name == "Source" || name == "SHA256" {
				continue // the blob, which every sealing makes anew; where the bytes lie, and their sum
			}
			t.Run(kind.Name()+"."+name, func(t *testing.T) {
				items := everyKind()
				v := reflect.ValueOf(items[k]).Elem().Field(f)
				if fills, ok := v.Interface().([]bundle.Fill); ok {
					fills[0].Generation++
				} else if !another(v) {
					t.Fatalf("the test knows no other value of a %s", v.Type())
				}
				d := Compare(oneOf(everyKind(), nil), oneOf(items, nil))
				if d.IsEmpty() { // not even the declaration's lines
					t.Fatal("nothing is said")
				}
				var b bytes.Buffer
				if err := Text(&b, d, false); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(b.String(), "the declaration") {
					t.Errorf("only the lines of the declaration are shown:\n%s", b.String())
				}
			})
		}
	}
}

// T48, T57: what is in a file is said whatever bytes it has.
func TestEveryByteIsSaid(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"#!/bin/sh\necho one\n", "#!/bin/sh\necho \xff\n", `+echo \xff`},
		{"#!/bin/sh\necho one\n", "#!/bin/sh\necho two \x1b[0m with text around it\n", `+echo two \x1b[0m`},
		{"\x00\x01\x02\x03\x04", "\x00\x01\x02\x03\x05", "sha256"},
		{"a text with a byte \xff in it\n", "a text with a byte \\xff in it\n", "sha256"},
		{"text\n", "text", "no newline at the end"},
	} {
		name := bundle.FileSource("/etc/x")
		items := everyKind()
		for _, i := range items {
			if f, ok := i.(*bundle.File); ok {
				f.Fills = nil
			}
		}
		d := Compare(oneOf(items, map[string]string{name: c.from}), oneOf(items, map[string]string{name: c.to}))
		if got := fmt.Sprint(d.Changes); !strings.Contains(got, c.want) {
			t.Errorf("%q → %q does not say %q: %s", c.from, c.to, c.want, got)
		}
	}
}

// REV-5, T58: a new recovery key is the first line and of the highest class.
func TestRecoveryKeyComesFirst(t *testing.T) {
	a, b := oneOf(everyKind(), nil), oneOf(nil, nil)
	b.Recovery = []string{"age1h6f4lkmp64z7e4uzfsl70ygkxsgeu6xn9yyuk3kud9522gsfwgrq9czwks"}
	d := Compare(a, b)
	if d.Impact != Access || d.Changes[0].Kind != OfRecovery || !strings.Contains(d.Changes[0].What, b.Recovery[0]) {
		t.Errorf("the first is %+v", d.Changes[0])
	}
	if md := markdown(d); !strings.Contains(strings.SplitN(md, "\n\n", 4)[2], "recovery key") {
		t.Errorf("the comment has it not first:\n%.600s", md)
	}
}

// REV-5, T59: whatever gives power over a machine is of the class access.
func TestAccess(t *testing.T) {
	file := func(path, text string, mode bundle.Mode) func() (bundle.Item, string) {
		return func() (bundle.Item, string) {
			return &bundle.File{ID: "a/file.new", Path: path, Source: bundle.FileSource("/etc/x"), SHA256: bundle.SumOf([]byte(text)), Mode: mode}, text
		}
	}
	item := func(i bundle.Item) func() (bundle.Item, string) { return func() (bundle.Item, string) { return i, "" } }
	service := "/etc/systemd/system/x.service"
	for name, c := range map[string]struct {
		make func() (bundle.Item, string)
		want bool
	}{
		"sudo":                  {item(&bundle.User{ID: "a/user.e", Name: "eve", Groups: []string{"sudo"}}), true},
		"docker group":          {item(&bundle.User{ID: "a/user.e", Name: "eve", Group: "docker"}), true},
		"login shell":           {item(&bundle.User{ID: "a/user.e", Name: "eve", Shell: "/bin/bash"}), true},
		"service account":       {item(&bundle.User{ID: "a/user.e", Name: "git", Shell: "/usr/sbin/nologin", System: true}), false},
		"keys":                  {file("/home/eve/.ssh/authorized_keys", "ssh-ed25519 A\n", 0o600), true},
		"sudoers":               {file("/etc/sudoers.d/eve", "x", 0o440), true},
		"cron":                  {file("/etc/cron.d/x", "x", 0o644), true},
		"pam":                   {file("/etc/pam.d/sshd", "x", 0o644), true},
		"polkit":                {file("/etc/polkit-1/rules.d/x.rules", "x", 0o644), true},
		"sshd":                  {file("/etc/ssh/sshd_config.d/x.conf", "x", 0o644), true},
		"path":                  {file("/usr/local/bin/ls", "x", 0o755), true},
		"dotted path":           {file("/usr/local/bin/../bin/ls", "x", 0o755), true},
		"preload":               {file("/etc/ld.so.preload", "x", 0o644), true},
		"setuid":                {file("/opt/x", "x", 0o4755), true},
		"writable":              {file("/opt/x", "x", 0o666), true},
		"plain":                 {file("/etc/gitea/app.ini", "x", 0o640), false},
		"root service":          {file(service, "[Service]\nExecStart=/opt/x\n", 0o644), true},
		"root by name":          {file(service, "[Service]\nUser=0\nExecStart=/opt/x\n", 0o644), true},
		"user's":                {file(service, "[Service]\nUser=git\nExecStart=/opt/x\n", 0o644), false},
		"user's, with +":        {file(service, "[Service]\nUser=git\nExecStartPre=+/opt/x\n", 0o644), true},
		"dynamic":               {file(service, "[Service]\nDynamicUser=yes\nExecStart=/opt/x\n", 0o644), false},
		"drop-in":               {file("/etc/systemd/system/x.service.d/y.conf", "[Service]\nExecStart=/opt/x\n", 0o644), true},
		"journald":              {file("/etc/systemd/journald.conf", "x", 0o644), true},
		"podman":                {file("/etc/containers/systemd/x.container", "[Container]\nImage=x\nVolume=/var/lib/x:/data\nAddCapability=CAP_CHOWN\n", 0o644), false},
		"podman root mount":     {file("/etc/containers/systemd/x.container", "[Container]\nVolume=/:/host:ro\n", 0o644), true},
		"podman socket":         {file("/etc/containers/systemd/x.container", "[Container]\nVolume=/run/podman/podman.sock:/s\n", 0o644), true},
		"podman capability":     {file("/etc/containers/systemd/x.container", "[Container]\nAddCapability=CAP_SYS_ADMIN\n", 0o644), true},
		"podman host network":   {file("/etc/containers/systemd/x.container", "[Container]\nNetwork=host\n", 0o644), true},
		"docker":                {file(service, "[Service]\nExecStart=/usr/bin/docker run \\\n    --name=x \\\n    --volume=/var/lib/x:/data \\\n    img\n", 0o644), false},
		"docker socket":         {file(service, "[Service]\nExecStart=/usr/bin/docker run \\\n    --volume=/var/run/docker.sock:/s \\\n    img\n", 0o644), true},
		"docker mount of /":     {file(service, "[Service]\nExecStart=/usr/bin/docker run \\\n    --mount=type=bind,source=/,target=/h \\\n    img\n", 0o644), true},
		"docker privileged":     {file(service, "[Service]\nExecStart=/usr/bin/docker run \\\n    --privileged \\\n    img\n", 0o644), true},
		"validate":              {item(&bundle.File{ID: "a/file.new", Path: "/etc/z", Source: bundle.FileSource("/etc/x"), Validate: []string{"sh", "-c", "x"}, Mode: 0o644}), true},
		"secret as login's key": {item(&bundle.Secret{ID: "a/secret.k", Path: "/root/.ssh/id_ed25519", Mode: 0o600}), true},
		"ssh":                   {item(&bundle.Unit{ID: "a/unit.s", Name: "ssh.service", State: bundle.Running}), true},
		"hook":                  {file("/etc/wireguard/wg0.conf", "[Interface]\nPostUp = sh -c x\n", 0o600), true},
	} {
		t.Run(name, func(t *testing.T) {
			i, text := c.make()
			from, to := oneOf(nil, nil), oneOf([]bundle.Item{i}, map[string]string{bundle.FileSource("/etc/x"): text})
			if d := Compare(from, to); (d.Impact == Access) != c.want {
				t.Errorf("its class is %s: %+v", d.Impact, d.Changes)
			}
		})
	}
}

// T59: an account that loses its way in is no way in; one that is given another group is, and only the
// new group is named.
func TestAccessOfWhatStays(t *testing.T) {
	user := func(groups ...string) []bundle.Item {
		return []bundle.Item{&bundle.User{ID: "a/user.e", Name: "eve", Groups: groups}}
	}
	if d := Compare(oneOf(user("adm"), nil), oneOf(user("adm", "sudo"), nil)); d.Impact != Access || d.Changes[0].Because[0] != "groups: in sudo" {
		t.Errorf("%+v", d.Changes)
	}
	if d := Compare(oneOf(user("adm", "sudo"), nil), oneOf(user("adm"), nil)); d.Impact != Nothing || d.IsEmpty() {
		t.Errorf("%+v", d.Changes)
	}
	run := func(text string) Side {
		return oneOf([]bundle.Item{
			&bundle.File{ID: "a/file.s", Path: "/opt/run.sh", Source: bundle.FileSource("/etc/x"), Mode: 0o755},
			&bundle.File{ID: "a/file.u", Path: "/etc/systemd/system/x.service", Source: bundle.BlockSource("/etc/y", "m"), Mode: 0o644},
		}, map[string]string{bundle.FileSource("/etc/x"): text, bundle.BlockSource("/etc/y", "m"): "[Service]\nExecStart=/bin/sh /opt/run.sh\n"})
	}
	if d := Compare(run("one"), run("two")); d.Impact != Access {
		t.Errorf("code that root runs: %+v", d.Changes)
	}
}

// REV-3, T59: what gives access is in the comment, however much of it there is and whatever stands
// around it.
func TestAccessIsNeverLeftOut(t *testing.T) {
	var changes []Change
	for k := range 3000 {
		changes = append(changes, Change{Kind: OfFile, Nodes: []string{"n"}, What: fmt.Sprintf("/etc/%d", k), Detail: strings.Repeat("+line\n", 20)})
	}
	few := append([]Change{{Impact: Access, Kind: OfAccess, Reason: "sudo", Nodes: []string{"n"}, What: "/etc/sudoers.d/eve"}}, changes...)
	if md := markdown(&Diff{Impact: Access, Changes: few, Nodes: map[string]Impact{"n": Access}}); !strings.Contains(md, "sudoers.d/eve") || len([]rune(md)) > MaxComment {
		t.Error("one line of access is not there")
	}
	var many []Change
	for k := range 2000 {
		many = append(many, Change{Impact: Access, Kind: OfAccess, Reason: []string{"cron", "keys that log in", "sudo"}[k/1998+k/1999], Nodes: []string{"n"}, What: fmt.Sprintf("/etc/%d%s", k, strings.Repeat("x", k))})
	}
	md := markdown(&Diff{Impact: Access, Changes: append(many, changes...), Nodes: map[string]Impact{"n": Access}})
	for _, want := range []string{"cron: 1998 changes", "keys that log in: 1 change", "sudo: 1 change"} {
		if !strings.Contains(md, want) {
			t.Errorf("%q is not there:\n%.3000s", want, md)
		}
	}
	if n := len([]rune(md)); n > MaxComment {
		t.Errorf("%d characters", n)
	}
}
