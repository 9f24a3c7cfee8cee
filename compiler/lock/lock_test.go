package lock

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"meshc.dev/compiler/addr"
)

const sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// small is a lock with an entry of every kind, and printed what it looks like.
func small() *Lock {
	l := New()
	l.Mesh = "home"
	l.Ports[listen("board/gitea/http")] = 20311
	l.Ports[listen("anchor/postgres/postgres")] = 24001
	l.Addresses["anchor"] = netip.MustParseAddr("10.86.0.7")
	l.Addresses["board"] = netip.MustParseAddr("fd00::1a2b:3c4d")
	l.Logins[pair("postgres@anchor database gitea@board")] = "gitea_board"
	l.Secrets["credential postgres@anchor database gitea@board"] = Secret{Generation: 1, Ends: []End{
		{"consumer", "gitea@board", "SHA256:abc+/1", "board/gitea.database.age", sum},
		{"provider", "postgres@anchor", "SHA256:def", "anchor/gitea.database.age", sum},
	}}
	l.Secrets["need board/gitea/secret-key"] = Secret{Generation: 3, Ends: []End{{"holder", "gitea@board", "SHA256:abc", "board/gitea.secret-key.age", sum}}}
	return l
}

const printed = `format = 2
mesh = "home"
ports = {
  "anchor/postgres/postgres" = 24001
  "board/gitea/http" = 20311
}
addresses = {
  "anchor" = "10.86.0.7"
  "board" = "fd00::1a2b:3c4d"
}
logins = {
  "postgres@anchor database gitea@board" = "gitea_board"
}
secrets = {
  "credential postgres@anchor database gitea@board" = { generation = 1, ends = ["consumer gitea@board", "provider postgres@anchor"], to = ["SHA256:abc+/1", "SHA256:def"], blobs = ["board/gitea.database.age", "anchor/gitea.database.age"], sha256 = ["` + sum + `", "` + sum + `"] }
  "need board/gitea/secret-key" = { generation = 3, ends = ["holder gitea@board"], to = ["SHA256:abc"], blobs = ["board/gitea.secret-key.age"], sha256 = ["` + sum + `"] }
}
`

func listen(s string) addr.Listen {
	l, err := addr.ParseListen(s)
	if err != nil {
		panic(err)
	}
	return l
}

func pair(s string) addr.Pair {
	p, err := addr.ParsePair(s)
	if err != nil {
		panic(err)
	}
	return p
}

func mustRead(t testing.TB, src string) *Lock {
	t.Helper()
	l, faults := Read(File, []byte(src))
	if len(faults) > 0 {
		t.Fatalf("refused: %v", faults)
	}
	return l
}

func same(a, b *Lock) bool {
	return a.Mesh == b.Mesh && maps.Equal(a.Ports, b.Ports) && maps.Equal(a.Addresses, b.Addresses) && maps.Equal(a.Logins, b.Logins) && maps.Equal(a.Moved, b.Moved) &&
		maps.EqualFunc(a.Secrets, b.Secrets, func(x, y Secret) bool {
			return x.Generation == y.Generation && slices.Equal(x.Ends, y.Ends)
		}) && maps.Equal(sealedAs(a), sealedAs(b))
}

// sealedAs gives the name under which each secret was sealed.
func sealedAs(l *Lock) map[string]string {
	m := map[string]string{}
	for name, s := range l.Secrets {
		m[name] = cmp.Or(s.Sealed, name)
	}
	return m
}

// PRT-1: what was settled is kept in the lock, in one form, one line an entry.
func TestBytes(t *testing.T) {
	if got := string(small().Bytes()); got != printed {
		t.Errorf("printed\n%s\nwanted\n%s", got, printed)
	}
	if got := mustRead(t, printed); !same(got, small()) || got.Format != 2 || got.Mesh != "home" {
		t.Errorf("read %+v", got)
	}
	empty := string(New().Bytes())
	if want := "format = 2\nports = {\n}\naddresses = {\n}\nlogins = {\n}\nsecrets = {\n}\n"; empty != want {
		t.Errorf("an empty lock is\n%s", empty)
	}
	if l, faults := Read(File, nil); len(faults) > 0 || !l.IsEmpty() {
		t.Errorf("no file is read as %v, %v", l, faults)
	}
	if !mustRead(t, empty).IsEmpty() || small().IsEmpty() {
		t.Error("IsEmpty")
	}
}

// DAT-1: where data is stands in the lock on one line for each who keeps it, whatever its name is; two lines for one are
// none, since the next lock writes it anew.
func TestData(t *testing.T) {
	l := New()
	l.Data = Recorded(map[string][]string{"store@board": {"/var/lib/store", "/srv/${a}\"", strings.Repeat("x", 300)}, "gitea@board database": {"store@board", "database gitea"}})
	src := string(l.Bytes())
	if !strings.Contains(src, "data = {\n  \"gitea@board database\" = [\"store@board\", \"database gitea\"]\n  \"store@board\" = [\"/var/lib/store\", \"sha256 ") {
		t.Errorf("printed\n%s", src)
	}
	if got := mustRead(t, src); !maps.EqualFunc(got.Data, l.Data, slices.Equal) || got.IsEmpty() || !got.Nodes()["board"] {
		t.Errorf("read %v", got.Data)
	}
	l.Data = Recorded(nil)
	if got := mustRead(t, string(l.Bytes())); got.Data == nil || mustRead(t, printed).Data != nil {
		t.Errorf("that there is no data is read as %v, that nobody knows as %v", got.Data, mustRead(t, printed).Data)
	}
	twice := strings.Replace(src, "  \"store@board\"", "  \"store@board\" = [\"/srv/store\"]\n  \"store@board\"", 1)
	if got := mustRead(t, twice); len(got.Data) != 1 {
		t.Errorf("of two places it takes one: %v", got.Data)
	}
	if _, ds := Read(File, []byte("format = 2\ndata = {\n  \"store@board\" = \"/srv\"\n}\n")); !ds.HasErrors() {
		t.Error("a place that is no list is taken")
	}
}

// PRT-8: which moves were carried out is kept where it cannot be seen otherwise.
func TestMoved(t *testing.T) {
	l := New()
	l.Moved["node anchor"] = "board"
	l.Moved["instance gitea@board"] = "forge@office"
	if got := mustRead(t, string(l.Bytes())); !same(got, l) {
		t.Errorf("read %+v", got.Moved)
	}
}

// SEC-5: a secret that has a new name keeps the one that its blobs say it is sealed for.
func TestSealedUnderAnotherName(t *testing.T) {
	l := New()
	l.Secrets["need office/forge/key"] = Secret{Generation: 1, Sealed: "need board/gitea/key"}
	b := string(l.Bytes())
	if !strings.Contains(b, `generation = 1, sealed = "need board/gitea/key", ends`) {
		t.Errorf("printed as\n%s", b)
	}
	if got := mustRead(t, b); !same(got, l) {
		t.Errorf("read %+v", got.Secrets)
	}
}

func TestBytesPanicsOnWhatCannotBeRead(t *testing.T) {
	for _, key := range []string{`need "x"`, "need a\nb", "need ${x}", `need \`, "need ä"} {
		l := New()
		l.Secrets[key] = Secret{Generation: 1}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was written", key)
				}
			}()
			l.Bytes()
		}()
	}
}

// BLD-1: the same entries give the same bytes, in whatever order ends are listed.
func TestEndsAreSorted(t *testing.T) {
	l := small()
	for name, s := range l.Secrets {
		slices.Reverse(s.Ends)
		l.Secrets[name] = s
	}
	if string(l.Bytes()) != printed {
		t.Error("the order of ends shows")
	}
}

func TestClone(t *testing.T) {
	l := small()
	c := l.Clone()
	c.Ports[listen("a/b/c")] = 1
	c.Addresses["a"] = netip.Addr{}
	c.Logins[pair("a@b c d@e")] = "x"
	c.Moved["node a"] = "b"
	c.Secrets["need board/gitea/secret-key"].Ends[0].Blob = "changed"
	if !same(l, small()) {
		t.Error("a clone shares with what it was cloned from")
	}
}

// One who edits the lock by hand writes it otherwise than meshc does.
const byHand = `# ours
format = 1 // the only one

mesh="home" # the old house
logins = { "postgres@anchor database gitea@board": "gitea_board" }
addresses = { anchor = "10.86.0.7", "board" = "fd00:0::1a2b:3c4d"
}
ports = {
	"board/gitea/http"=20311   # moved by hand
	/* and this */ "anchor/postgres/postgres" = 24001,
}
secrets = {
  "need board/gitea/secret-key" = {
    generation = 3
    ends       = ["holder gitea@board"], to = ["SHA256:abc"]
    sha256     = ["` + sum + `"]
    blobs      = ["board/gitea.secret-key.age"]
  }
  "credential postgres@anchor database gitea@board" = { generation = 1, ends = ["provider postgres@anchor", "consumer gitea@board"],
    to = ["SHA256:def", "SHA256:abc\u002b/1"], blobs = ["anchor/gitea.database.age", "board/gitea.database.age"],
    sha256 = ["` + sum + `", "` + sum + `"] }
}
`

func TestReadByHand(t *testing.T) {
	for name, src := range map[string]string{
		"other spacing and comments": byHand,
		"CRLF":                       strings.ReplaceAll(printed, "\n", "\r\n"),
		"no line feed at the end":    strings.TrimSuffix(printed, "\n"),
		"a line twice":               strings.Replace(printed, "ports = {\n", "ports = {\n  \"board/gitea/http\" = 20311\n", 1),
		"lines in another order":     strings.Replace(printed, "  \"anchor\" = \"10.86.0.7\"\n  \"board\" = \"fd00::1a2b:3c4d\"\n", "  \"board\" = \"fd00::1a2b:3c4d\"\n  \"anchor\" = \"10.86.0.7\"\n", 1),
	} {
		if got := mustRead(t, src); string(got.Bytes()) != printed {
			t.Errorf("%s: read as\n%s", name, got.Bytes())
		}
	}
}

func TestPositions(t *testing.T) {
	for src, want := range map[string]string{
		printed: "mesh.lock.hcl:5:3 6:3? mesh.lock.hcl:8:3 mesh.lock.hcl:12:3 mesh.lock.hcl:16:3",
		byHand:  "mesh.lock.hcl:9:2 6:3? mesh.lock.hcl:6:15 mesh.lock.hcl:5:12 mesh.lock.hcl:13:3",
	} {
		l := mustRead(t, src)
		got := fmt.Sprint(l.PortAt(listen("board/gitea/http")), " 6:3? ", l.AddressAt("anchor"), " ",
			l.LoginAt(pair("postgres@anchor database gitea@board")), " ", l.SecretAt("need board/gitea/secret-key"))
		if got != want {
			t.Errorf("positions %s, wanted %s", got, want)
		}
	}
	if at := New().PortAt(listen("a/b/c")); at.File != File || at.Line != 0 {
		t.Errorf("an entry that stands nowhere is at %v", at)
	}
}

// The two readers of the printed form agree on everything, positions included.
func TestReadersAgree(t *testing.T) {
	for _, src := range []string{printed, string(New().Bytes()), string(generate(300).Bytes())} {
		fast, ok := readPrinted(src)
		if !ok {
			t.Fatal("the printed form is not read as such")
		}
		slow, faults := readHCL(newSource(File, []byte(src)))
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		if diff := difference(fast, slow); diff != "" {
			t.Error(diff)
		}
	}
}

func difference(a, b document) string {
	if a.format != b.format || a.kept != b.kept || len(a.entries) != len(b.entries) {
		return fmt.Sprintf("format %d and %d, %d and %d entries", a.format, b.format, len(a.entries), len(b.entries))
	}
	for i, x := range a.entries {
		if y := b.entries[i]; x.section != y.section || x.key != y.key || x.at != y.at || !x.value.equal(y.value) {
			return fmt.Sprintf("%+v and %+v", x, y)
		}
	}
	return ""
}

// generate makes a lock of n nodes as a mesh of twenty modules a node would have it.
func generate(n int) *Lock {
	l := New()
	for i := range n {
		node := addr.Node(fmt.Sprintf("node-%04d", i))
		l.Addresses[node] = netip.AddrFrom4([4]byte{10, 86, byte(i >> 8), byte(i)})
		for j := range 20 {
			in := addr.Instance{Name: fmt.Sprintf("module-%02d", j), Node: node}
			l.Ports[addr.Listen{Instance: in, Name: "http"}] = 20000 + j
			if j >= 10 {
				continue
			}
			p := addr.Pair{Provider: addr.Instance{Name: "postgres", Node: "anchor"}, Provision: "database", Consumer: addr.Consumer{Instance: in, Label: "database"}}
			l.Logins[p] = fmt.Sprintf("module_%02d_node_%04d", j, i)
			l.Secrets["credential "+p.String()] = Secret{Generation: 1, Ends: []End{
				{"consumer", in.String(), "SHA256:ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs", string(node) + "/" + in.Name + ".database.age", sum},
				{"provider", "postgres@anchor", "SHA256:ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs", "anchor/" + in.Name + "-" + string(node) + ".database.age", sum},
			}}
		}
	}
	return l
}

func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("MESHC_TEST_TOOLS") == "required" {
			t.Fatal(err)
		}
		t.Skipf("%s is not installed", name)
	}
	return path
}

// PRT-6: where git could not merge, the lock says so, and the help keeps what both sides have.
func TestUnfinishedMerge(t *testing.T) {
	git, sh := tool(t, "git"), tool(t, "sh")
	tool(t, "sed")
	base := generate(1)
	ours, theirs := base.Clone(), base.Clone()
	ours.Ports[listen("zeta/gitea/http")] = 20311
	ours.Ports[listen("zeta/both/http")] = 20555
	theirs.Ports[listen("zeta/forge/http")] = 20412
	theirs.Ports[listen("zeta/both/http")] = 20555
	// What stood there before both changed it: git shows it when told to.
	base.Ports[listen("zeta/base/http")] = 29999
	ours.Logins[pair("postgres@anchor database x@zeta")] = "x"
	theirs.Logins[pair("postgres@anchor database y@zeta")] = "y"

	for _, style := range []string{"--diff3", "--zdiff3", "-q"} {
		dir := t.TempDir()
		for name, l := range map[string]*Lock{File: ours, "base": base, "theirs": theirs} {
			if err := os.WriteFile(filepath.Join(dir, name), l.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		run := func(name string, arg ...string) {
			c := exec.Command(name, arg...)
			c.Dir = dir
			out, err := c.CombinedOutput()
			if code := c.ProcessState.ExitCode(); code < 0 || name != git && err != nil {
				t.Fatalf("%s: %v\n%s", name, err, out)
			}
		}
		run(git, "merge-file", style, File, "base", "theirs")
		src, err := os.ReadFile(filepath.Join(dir, File))
		if err != nil {
			t.Fatal(err)
		}
		_, faults := Read(File, src)
		if len(faults) != 1 || faults[0].Code != "E0302" || !strings.HasPrefix(lineOf(string(src), faults[0].At.Line), "<<<<<<<") {
			t.Fatalf("%s: got %v for\n%s", style, faults, src)
		}
		command, _, _ := strings.Cut(faults[0].Help, "\n")
		run(sh, "-c", command)
		src, err = os.ReadFile(filepath.Join(dir, File))
		if err != nil {
			t.Fatal(err)
		}
		got := mustRead(t, string(src))
		want := ours.Clone()
		maps.Copy(want.Ports, theirs.Ports)
		maps.Copy(want.Logins, theirs.Logins)
		if !same(got, want) {
			t.Errorf("%s: after the help the lock is\n%s", style, src)
		}
	}
}

func lineOf(src string, n int) string { return strings.Split(src, "\n")[n-1] }
