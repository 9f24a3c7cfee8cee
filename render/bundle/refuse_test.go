package bundle

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// HST-1: whatever differs from what was listed is refused, by name.
func TestReadRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(fstest.MapFS)
		want   string
	}{
		"a file that changed":  {func(m fstest.MapFS) { m["files/etc/gitea/dsn"].Data[0] ^= 1 }, `"files/etc/gitea/dsn" has sha256`},
		"a blob that changed":  {func(m fstest.MapFS) { m["sealed/gitea.database.age"].Data[0] ^= 1 }, `"sealed/gitea.database.age" has sha256`},
		"a file that is gone":  {func(m fstest.MapFS) { delete(m, "files/etc/gitea/dsn") }, "files/etc/gitea/dsn is missing"},
		"a file that is added": {func(m fstest.MapFS) { m["files/x"] = &fstest.MapFile{} }, `"files/x" is not listed in bundle.json`},
		"a note beside them":   {func(m fstest.MapFS) { m["README"] = &fstest.MapFile{} }, `"README" is not listed in bundle.json`},
		"no manifest":          {func(m fstest.MapFS) { delete(m, ManifestName) }, "bundle.json is missing"},
		"no provenance":        {func(m fstest.MapFS) { delete(m, ProvenanceName) }, "provenance.json is missing"},
		"another manifest": {func(m fstest.MapFS) {
			m[ManifestName].Data = bytes.Replace(m[ManifestName].Data, []byte("anchor"), []byte("laptop"), 1)
		}, "bundle.json has sha256"},
		"a link": {func(m fstest.MapFS) {
			m["files/etc/gitea/dsn"] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte("/etc/shadow")}
		}, "is a symbolic link, and a bundle has only plain files"},
		"a device":       {func(m fstest.MapFS) { m["files/x"] = &fstest.MapFile{Mode: fs.ModeDevice} }, "is a device"},
		"a pipe":         {func(m fstest.MapFS) { m["files/x"] = &fstest.MapFile{Mode: fs.ModeNamedPipe} }, "is a named pipe"},
		"too large":      {func(m fstest.MapFS) { m["files/x"] = &fstest.MapFile{Data: make([]byte, MaxFile+1)} }, "the limit is"},
		"a key too many": {func(m fstest.MapFS) { m[ProvenanceName].Data = []byte(`{"bundle": "", "x": 1}`) }, "provenance.json"},
	} {
		t.Run(name, func(t *testing.T) {
			m := asFS(mustNew(t))
			c.change(m)
			_, err := readFS(m)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, not %s", err, c.want)
			}
		})
	}
}

// DIA-5: a tar that lies about itself is refused before it takes memory.
func TestReadTarRefuses(t *testing.T) {
	header := func(h tar.Header, body string) []byte {
		var buf bytes.Buffer
		tw := tar.NewWriter(&buf)
		if err := tw.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		tw.Write([]byte(body))
		tw.Flush()
		return buf.Bytes()
	}
	for name, c := range map[string]struct {
		tar  []byte
		want string
	}{
		"way out":       {header(tar.Header{Name: "../../etc/passwd", Typeflag: tar.TypeReg}, ""), "leads out of the bundle"},
		"way out below": {header(tar.Header{Name: "anchor/files/../../x", Typeflag: tar.TypeReg}, ""), "leads out of the bundle"},
		"absolute":      {header(tar.Header{Name: "/etc/passwd", Typeflag: tar.TypeReg}, ""), "leads out of the bundle"},
		"link":          {header(tar.Header{Name: "anchor/x", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, ""), "symbolic link"},
		"hard link":     {header(tar.Header{Name: "anchor/x", Typeflag: tar.TypeLink, Linkname: "/etc/shadow"}, ""), "only plain files"},
		"device":        {header(tar.Header{Name: "anchor/x", Typeflag: tar.TypeBlock, Devmajor: 8}, ""), "device"},
		"a gigabyte":    {header(tar.Header{Name: "anchor/x", Typeflag: tar.TypeReg, Size: 1 << 30}, "1 kB"), "says that it has 1073741824 bytes"},
		"no tar":        {[]byte(strings.Repeat("hello ", 200)), "not a tar that can be read"},
		"empty":         {nil, "bundle.json is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadTar(bytes.NewReader(c.tar))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, not %s", err, c.want)
			}
		})
	}
}

// HST-1: the declaration is read strictly, and a refusal names the line.
func TestParseRefuses(t *testing.T) {
	const head = "declaration {\n  format = 1\n  mesh = \"home\"\n  node = \"anchor\"\n}\n"
	const dir = "directory \"a/directory.x\" {\n  path = \"/srv/x\"\n  mode = \"0755\"\n}\n"
	for name, c := range map[string]struct{ src, want string }{
		"empty":                 {"", "is empty"},
		"no head":               {dir, "declaration.hcl:1: the first block"},
		"two heads":             {head + head, "declaration.hcl:6: the first block"},
		"unknown block":         {head + "exec \"a/exec.x\" {\n}\n", `declaration.hcl:6: unknown block "exec"`},
		"unknown attribute":     {head + strings.Replace(dir, "mode", "recurse = true\n  mode", 1), `declaration.hcl:8: unknown attribute "recurse"`},
		"unknown at the top":    {"x = 1\n" + head, `unknown attribute "x"`},
		"nested block":          {head + strings.Replace(dir, "mode", "fill {}\n  mode", 1), `declaration.hcl:8: unknown block "fill"`},
		"attribute twice":       {head + strings.Replace(dir, "mode", "mode = \"0700\"\n  mode", 1), "declaration.hcl:9: Attribute redefined"},
		"label missing":         {head + "directory {\n}\n", "declaration.hcl:6: block directory has 0 labels"},
		"identity twice":        {head + dir + dir, "a/directory.x is declared twice"},
		"template":              {head + "package \"a/package.x\" {\n  name = \"a${1}\"\n  state = \"present\"\n}\n", "declaration.hcl:7:"},
		"function":              {head + "package \"a/package.x\" {\n  name = file(\"/etc/shadow\")\n  state = \"present\"\n}\n", "declaration.hcl:7:"},
		"variable":              {head + "package \"a/package.x\" {\n  name = x\n  state = \"present\"\n}\n", "declaration.hcl:7: name is not a quoted string"},
		"for":                   {head + "package \"a/package.x\" {\n  name = [for x in [1] : x]\n  state = \"present\"\n}\n", "declaration.hcl:7: name is not a quoted string"},
		"heredoc":               {head + "package \"a/package.x\" {\n  name = <<E\nx\nE\n  state = \"present\"\n}\n", "declaration.hcl:7:"},
		"deep":                  {head + "x = " + strings.Repeat("[", 100_000), "nested too deeply"},
		"many lists":            {head + "x = [" + strings.Repeat("[],", 1<<20) + "]\n", "more than 700000 words and signs"},
		"many words":            {head + strings.Repeat("a ", 1<<20), "more than 700000 words and signs"},
		"many in a template":    {head + "x = \"$${\" [" + strings.Repeat("[],", 1<<20) + "]\n", "more than 700000 words and signs"},
		"not closed":            {head + "directory \"a/directory.x\" {\n", "declaration.hcl:"},
		"a later format":        {strings.Replace(head, "= 1", "= 3", 1), "format 3 is not known here"},
		"missing attribute":     {head + strings.Replace(dir, "path = \"/srv/x\"", "", 1), "declaration.hcl:6: block directory has no path"},
		"number as text":        {head + strings.Replace(dir, "\"0755\"", "0755", 1), "declaration.hcl:8: mode is not a quoted string"},
		"bad mode":              {head + strings.Replace(dir, "0755", "0999", 1), "declaration.hcl:8: \"0999\" is not a mode"},
		"way out":               {head + strings.Replace(dir, "/srv/x", "/srv/../etc", 1), "is not clean"},
		"own identity":          {head + strings.Replace(dir, "/srv/x", "/etc/mesh-host/identity", 1), "which no bundle may write to"},
		"own folder":            {head + strings.NewReplacer("/srv/x", "/etc/mesh-host", "0755", "0777").Replace(dir), "a/directory.x: /etc/mesh-host lies above /etc/mesh-host/node, and only root may write to it"},
		"state given away":      {head + strings.NewReplacer("/srv/x", "/var/lib", "0755", "0777").Replace(dir), "a/directory.x: /var/lib lies above /var/lib/mesh-host, and only root may write to it"},
		"state given to a user": {head + strings.NewReplacer("/srv/x", "/etc", "\n  mode", "\n  owner = \"git\"\n  mode").Replace(dir), "/etc lies above /etc/mesh-host/node, and only root may write to it"},
		"own state":             {head + strings.Replace(dir, "/srv/x", "/var/lib/mesh-host", 1), "which no bundle may write to"},
		"option as a package":   {head + "package \"a/package.x\" {\n  name = \"--force\"\n  state = \"present\"\n}\n", "is no package's name"},
		"path as a unit":        {head + "unit \"a/unit.x\" {\n  name = \"../x.service\"\n  enabled = true\n  state = \"running\"\n}\n", "is no unit's name"},
		"unknown state":         {head + "unit \"a/unit.x\" {\n  name = \"x.service\"\n  enabled = true\n  state = \"restarted\"\n}\n", "not one of running, stopped"},
		"reference to nothing":  {head + "unit \"a/unit.x\" {\n  name = \"x.service\"\n  enabled = true\n  state = \"running\"\n  restart_on = [\"a/file.x\"]\n}\n", "names a/file.x, which the declaration does not have"},
		"secret for all":        {head + "secret \"a/secret.x\" {\n  path = \"/srv/s\"\n  mode = \"0644\"\n}\n", "mode 0644 lets others read a secret"},
		"two with one number":   {head + "user \"a/user.x\" {\n  name = \"x\"\n  uid = 990\n  system = true\n}\nuser \"b/user.x\" {\n  name = \"x\"\n  uid = 990\n  system = true\n}\nuser \"a/user.y\" {\n  name = \"y\"\n  uid = 990\n  system = true\n}\n", "a/user.y: uid 990 is held by a/user.x already"},
		"two that hold a path":  {head + dir + "secret \"a/secret.x\" {\n  path = \"/srv/x\"\n}\n", "is held by a/directory.x already"},
		"below a file":          {head + "secret \"a/secret.x\" {\n  path = \"/srv/s\"\n}\n" + strings.Replace(dir, "/srv/x", "/srv/s/x", 1), "lies below /srv/s"},
		"block in a whole file": {head + "secret \"a/secret.x\" {\n  path = \"/srv/s\"\n}\nblock \"a/block.x\" {\n  path = \"/srv/s\"\n  marker = \"m\"\n  source = \"files/srv/s.block/m\"\n  sha256 = \"" + strings.Repeat("0", 64) + "\"\n}\n", "is held by a/secret.x already"},
		"source elsewhere":      {head + "file \"a/file.x\" {\n  path = \"/srv/s\"\n  mode = \"0644\"\n  source = \"files/other\"\n  sha256 = \"" + strings.Repeat("0", 64) + "\"\n}\n", `source "files/other" is not "files/srv/s"`},
		"validate of nothing":   {head + "file \"a/file.x\" {\n  path = \"/srv/s\"\n  mode = \"0644\"\n  source = \"files/srv/s\"\n  sha256 = \"" + strings.Repeat("0", 64) + "\"\n  validate = [\"nginx\", \"-t\"]\n}\n", `validate has no "%"`},
		"number as an owner":    {head + strings.Replace(dir, "mode", "owner = \"0123\"\n  mode", 1), `owner "0123" is no account's name`},
		"number as a group":     {head + strings.Replace(dir, "mode", "group = \"-1\"\n  mode", 1), `group "-1" is no account's name`},
		"number as a user":      {head + "user \"a/user.x\" {\n  system = true\n  name = \"123\"\n}\n", `user "123" is no account's name`},
		"number to be in":       {head + "user \"a/user.x\" {\n  system = true\n  name = \"x\"\n  groups = [\"4\"]\n}\n", `group "4" is no account's name`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseDeclaration([]byte(c.src))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, not %s", err, c.want)
			}
		})
	}
}

// CLM-3: equal directories are shared, different ones are not.
func TestSharedDirectories(t *testing.T) {
	d := &Declaration{Format: 1, Mesh: "home", Node: "anchor", Items: []Item{
		&Directory{ID: "a/directory.x", Path: "/srv/x", Mode: 0o755},
		&Directory{ID: "b/directory.x", Path: "/srv/x", Mode: 0o755},
	}}
	if err := d.Check(); err != nil {
		t.Error(err)
	}
	d.Items[1].(*Directory).Mode = 0o700
	if err := d.Check(); err == nil || !strings.Contains(err.Error(), "is held by a/directory.x already") {
		t.Errorf("got %v", err)
	}
}

// New holds the compiler to what the host would refuse.
func TestNewRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Declaration, []Entry) []Entry
		want   string
	}{
		"entry missing":  {func(_ *Declaration, e []Entry) []Entry { return e[1:] }, "gitea/file.config needs"},
		"entry unnamed":  {func(_ *Declaration, e []Entry) []Entry { return append(e, NewEntry("files/x", nil)) }, "belongs to nothing"},
		"entry twice":    {func(_ *Declaration, e []Entry) []Entry { return append(e, e[0]) }, "two entries have one name"},
		"other content":  {func(_ *Declaration, e []Entry) []Entry { e[0] = NewEntry(e[0].Name, nil); return e }, "as declared"},
		"secret missing": {func(d *Declaration, e []Entry) []Entry { d.Items[4].(*Secret).Sealed = ""; return e[:3] }, "has no sealed secret"},
		"fill too far":   {func(d *Declaration, e []Entry) []Entry { d.Items[5].(*File).Fills[0].Offset = 400; return e }, "beyond the end"},
		"old generation": {func(d *Declaration, e []Entry) []Entry { d.Items[5].(*File).Fills[0].Generation = 2; return e }, "which is at 1"},
	} {
		t.Run(name, func(t *testing.T) {
			d, entries := example()
			_, err := New(d, c.change(d, entries), Origin{Complete: true})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, not %s", err, c.want)
			}
		})
	}
}

// HST-5: a block is refused whose content has a line that a machine would read as a
// block's marker, both when a bundle is made and when one is read that somebody else made.
func TestMarkersInABlock(t *testing.T) {
	for content, refused := range map[string]string{
		"10.0.0.1 a\n# END mesh home\n10.0.0.2 b\n": "# END mesh home",
		"# BEGIN mesh home2":                        "# BEGIN mesh home2",
		"a\n# END x \t\r\n":                         "# END x",
		"a # END mesh home\n":                       "",
		"#BEGIN x\n# BEGINNING\n# END\n# BEGIN \n":  "",
		"-----BEGIN CERTIFICATE-----\n":             "",
	} {
		block := &Block{ID: "a/block.x", Path: "/etc/hosts", Marker: "mesh home", Source: BlockSource("/etc/hosts", "mesh home")}
		e := NewEntry(block.Source, []byte(content))
		block.SHA256 = e.Sum
		d := &Declaration{Format: Format, Mesh: "home", Node: "anchor", Items: []Item{block}}
		made, err := New(d, []Entry{e}, Origin{Complete: true})
		if says(t, content, err, refused) {
			continue
		}
		if made == nil { // as somebody would write it who does not ask New
			made = &Bundle{Mesh: d.Mesh, Node: d.Node, Declaration: d, Entries: []Entry{e}, declaration: NewEntry(DeclarationName, d.Append(nil))}
			made.Manifest = Manifest{Format: Format, Mesh: d.Mesh, Node: d.Node, Complete: true, Files: map[string]Sum{e.Name: e.Sum, DeclarationName: made.declaration.Sum}}
			made.manifest = NewEntry(ManifestName, made.Manifest.encode())
			made.provenance = NewEntry(ProvenanceName, (&Provenance{Bundle: made.manifest.Sum}).encode())
		}
		_, err = readFS(asFS(made))
		says(t, content, err, refused)
	}
}

// says reports an error that is not about a line, and says whether it did.
func says(t *testing.T, content string, err error, line string) bool {
	t.Helper()
	switch {
	case line == "" && err == nil, line != "" && err != nil && strings.Contains(err.Error(), fmt.Sprintf("a/block.x: its content has the line %q", line)):
		return false
	}
	t.Errorf("%q: got %v", content, err)
	return true
}
