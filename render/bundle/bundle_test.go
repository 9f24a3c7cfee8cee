package bundle

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2/hclwrite"
)

// example has every kind of item and every attribute once.
func example() (*Declaration, []Entry) {
	config := NewEntry("files/etc/gitea/app.ini", []byte("[server]\r\nKEY = \x00\xff\n"))
	dsn := NewEntry("files/etc/gitea/dsn", []byte("postgres://gitea:@anchor/gitea\n"))
	hosts := NewEntry(BlockSource("/etc/hosts", "mesh home"), []byte("10.86.0.7 board\n"))
	blob := NewEntry("sealed/gitea.database.age", []byte("age-encryption.org/v1\n"))
	return &Declaration{
		Format: 1, Mesh: "home", Node: "anchor",
		Items: []Item{
			&Package{ID: "postgres/package.server", Name: "postgresql-17", State: Present},
			&User{ID: "gitea/user.git", Name: "git", UID: 999, Group: "git", Groups: []string{"ssl-cert"}, System: true, Home: "/var/lib/gitea", Shell: "/usr/sbin/nologin"},
			&Directory{ID: "gitea/directory.data", Path: "/var/lib/gitea", Owner: "git", Mode: 0o750},
			&File{ID: "gitea/file.config", Path: "/etc/gitea/app.ini", Source: config.Name, SHA256: config.Sum, Owner: "git", Group: "www-data", Mode: 0o640, Validate: []string{"gitea", "check", "%"}},
			&Secret{ID: "gitea/secret.requires.database", Path: "/etc/gitea/database.password", Sealed: blob.Name, Generation: 1, Key: "credential postgres@anchor database gitea@board", Role: "consumer", Owner: "git", Mode: 0o600},
			&File{ID: "gitea/file.dsn", Path: "/etc/gitea/dsn", Source: dsn.Name, SHA256: dsn.Sum, Mode: 0o600, Fills: []Fill{{Offset: 17, Secret: "gitea/secret.requires.database", Generation: 1, Encoding: URLEncoded}}},
			&Block{ID: "mesh-names/block.hosts", Path: "/etc/hosts", Marker: "mesh home", Source: hosts.Name, SHA256: hosts.Sum},
			&Unit{ID: "gitea/container.server", Name: "gitea.service", Enabled: true, State: Running, RestartOn: []ID{"gitea/file.config", "gitea/secret.requires.database"}, ReloadOn: []ID{"gitea/file.dsn"}},
		},
	}, []Entry{config, dsn, hosts, blob}
}

func mustNew(t testing.TB) *Bundle {
	t.Helper()
	d, entries := example()
	b, err := New(d, entries, Origin{Recipient: "SHA256:abc", Complete: true, Commit: "c0ffee", Serial: 1700000000, Version: "0.1.0"})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func asFS(b *Bundle) fstest.MapFS {
	m := fstest.MapFS{}
	for _, e := range b.Contents() {
		m[e.Name] = &fstest.MapFile{Data: bytes.Clone(e.Data), Mode: 0o644}
	}
	return m
}

// BLD-1: a bundle comes back from a folder and from a tar as it was made, and the
// same bundle is the same bytes.
func TestRoundTrip(t *testing.T) {
	b := mustNew(t)
	var first, second bytes.Buffer
	for _, w := range []*bytes.Buffer{&first, &second} {
		if _, err := mustNew(t).WriteTo(w); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two tars of one bundle differ")
	}
	fromFolder, err := readFS(asFS(b))
	if err != nil {
		t.Fatal(err)
	}
	fromTar, err := ReadTar(&first)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []*Bundle{fromFolder, fromTar} {
		if got.Digest() != b.Digest() || got.Provenance != b.Provenance || len(got.Entries) != len(b.Entries) {
			t.Errorf("read back as %s %+v, made as %s %+v", got.Digest(), got.Provenance, b.Digest(), b.Provenance)
		}
		if want, got := string(b.Declaration.Append(nil)), string(got.Declaration.Append(nil)); got != want {
			t.Errorf("read back as\n%s\nmade as\n%s", got, want)
		}
	}
}

// O07: the bytes of an entry are the bytes of the file.
func TestBytesSurvive(t *testing.T) {
	got, err := readFS(asFS(mustNew(t)))
	if err != nil {
		t.Fatal(err)
	}
	e, ok := got.Entry("files/etc/gitea/app.ini")
	if !ok || string(e.Data) != "[server]\r\nKEY = \x00\xff\n" {
		t.Errorf("got %q", e.Data)
	}
}

func TestPrinted(t *testing.T) {
	d, _ := example()
	text := string(d.Append(nil))
	want := `file "gitea/file.dsn" {
  path   = "/etc/gitea/dsn"
  source = "files/etc/gitea/dsn"
  sha256 = "` + d.Item("gitea/file.dsn").(*File).SHA256.String() + `"
  mode   = "0600"

  fill {
    offset     = 17
    secret     = "gitea/secret.requires.database"
    generation = 1
    encoding   = "urlencoded"
  }
}
`
	if !strings.Contains(text, want) {
		t.Errorf("printed\n%s\nwithout\n%s", text, want)
	}
	if formatted := string(hclwrite.Format([]byte(text))); formatted != text {
		t.Errorf("hclfmt would write\n%s\nnot\n%s", formatted, text)
	}
}

// BLD-4: a bundle has no way out of itself, to the kernel or to the host's own state.
func TestCheckPath(t *testing.T) {
	for _, p := range []string{"/etc/gitea/app.ini", "/srv", "/etc/mesh-host/fetch.conf", "/procedures", "/var/lib/mesh-hosts"} {
		if err := CheckPath(p); err != nil {
			t.Errorf("%s is refused: %v", p, err)
		}
	}
	for _, p := range []string{
		"", "etc/passwd", "/", "/etc/../root", "/etc/", "/etc//x", "/etc/./x", "/proc", "/proc/1/mem", "/sys/x", "/dev/sda",
		"/var/lib/mesh-host/identity", "/var/lib/mesh-host", "/etc/mesh-host/signers", "/etc/mesh-host/node",
		"/etc/a\nb", "/etc/a\x00b", "/etc/\xff", "/etc/e\u0301", "/" + strings.Repeat("a", 256), strings.Repeat("/aaaaaaa", 200),
	} {
		if CheckPath(p) == nil {
			t.Errorf("%q is accepted", p)
		}
	}
}

// O06: a mode is three or four octal digits, and 640 is 0640.
func TestParseMode(t *testing.T) {
	for s, want := range map[string]Mode{"640": 0o640, "0640": 0o640, "4755": 0o4755, "0000": 0} {
		if m, err := ParseMode(s); err != nil || m != want {
			t.Errorf("%s is read as %s, %v", s, m, err)
		}
	}
	for _, s := range []string{"", "64", "999", "0o640", "06400", "u=rw", "-640", "6 4"} {
		if m, err := ParseMode(s); err == nil {
			t.Errorf("%q is read as %s", s, m)
		}
	}
	if Mode(0o640).String() != "0640" {
		t.Errorf("printed as %s", Mode(0o640))
	}
}

// Two markers of one file never share an entry, however they are written.
func TestBlockSource(t *testing.T) {
	seen := map[string]string{}
	for _, m := range []string{"mesh home", "mesh_home", "mesh-home", "mesh%20home", "mesh/home", "..", ".", "a.b"} {
		source := BlockSource("/etc/hosts", m)
		if other, ok := seen[source]; ok {
			t.Errorf("%q and %q share %s", m, other, source)
		}
		seen[source] = m
		if err := checkEntryName(source); err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	d, entries := example()
	for b.Loop() {
		if _, err := New(d, entries, Origin{}); err != nil {
			b.Fatal(err)
		}
	}
}

func readFS(fsys fs.FS) (*Bundle, error) { return read(fsys, anybody) }
