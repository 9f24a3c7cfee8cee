package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"

	"meshc.dev/render/seal"
)

// block is a source of random bytes of which everything is known: every read gives the
// same bytes from the beginning, so that every secret of one format is the same.
type block struct{ bytes []byte }

func newBlock(seed string) block {
	var b []byte
	for i := range 64 {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", seed, i))
		b = append(b, sum[:]...)
	}
	return block{b}
}

func (b block) Read(p []byte) (int, error) { return copy(p, b.bytes), nil }

// secrets are those that a run with this source can make.
func (b block) secrets(t *testing.T) map[string][]byte {
	out := map[string][]byte{}
	for _, f := range []seal.Format{seal.Password, seal.Hex, seal.Base64, seal.UUID} {
		s, err := seal.Generate(f, 0, b)
		if err != nil {
			t.Fatal(err)
		}
		s.Use(func(v []byte) { out[string(f)] = slices.Clone(v) })
	}
	return out
}

// forms are all the ways in which a secret could stand somewhere.
func forms(secret []byte) map[string][]byte {
	out := map[string][]byte{"raw": secret}
	reversed := slices.Clone(secret)
	slices.Reverse(reversed)
	out["reversed"] = reversed
	out["hex"] = []byte(hex.EncodeToString(secret))
	out["upper hex"] = bytes.ToUpper(out["hex"])
	out["query"] = []byte(url.QueryEscape(string(secret)))
	out["path"] = []byte(url.PathEscape(string(secret)))
	j, _ := json.Marshal(string(secret))
	out["JSON"] = j[1 : len(j)-1]
	out["Go"] = []byte(strings.Trim(fmt.Sprintf("%q", secret), `"`))
	out["numbers"] = []byte(strings.Trim(fmt.Sprint(secret), "[]"))
	for name, e := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64url": base64.RawURLEncoding} {
		// Behind one or two other bytes, or before others, its middle comes out in one of three ways.
		for shift := range 3 {
			text := e.EncodeToString(append(bytes.Repeat([]byte{0}, shift), secret...))
			from := []int{0, 2, 3}[shift]
			to := (shift + len(secret)) / 3 * 4
			out[fmt.Sprintf("%s+%d", name, shift)] = []byte(text[from:to])
		}
	}
	// A piece is as bad as the whole.
	const piece = 12
	for i := 0; i+piece <= len(secret); i += 4 {
		out[fmt.Sprintf("piece at %d", i)] = secret[i : i+piece]
	}
	return out
}

// leak is where a secret was found.
type leak struct{ where, secret, form string }

// search looks for secrets in texts.
func search(texts map[string][]byte, secrets map[string][]byte) []leak {
	var out []leak
	for name, s := range secrets {
		for form, f := range forms(s) {
			for where, text := range texts {
				if bytes.Contains(text, f) {
					out = append(out, leak{where, name, form})
				}
			}
		}
	}
	return out
}

// canary is a mesh in a folder of its own, and everything that was printed.
type canary struct {
	t          *testing.T
	root, mesh string
	random     block
	known      map[string][]byte
	printed    map[string][]byte
	runs       int
}

func newCanary(t *testing.T) *canary {
	c := &canary{t: t, root: t.TempDir(), known: map[string][]byte{}, printed: map[string][]byte{}}
	c.mesh = filepath.Join(c.root, "mesh")
	for _, name := range []string{"HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"} {
		dir := filepath.Join(c.root, strings.ToLower(name))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv(name, dir)
	}
	for _, kind := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+kind+"_NAME", "test")
		t.Setenv("GIT_"+kind+"_EMAIL", "test@example.org")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	t.Setenv("CI", "")
	c.seed("first")
	return c
}

// seed changes the random bytes, and with them the secrets that are made from now on.
func (c *canary) seed(s string) {
	c.random = newBlock(s)
	for format, v := range c.random.secrets(c.t) {
		c.known[s+" "+format] = v
	}
}

// run runs a command and keeps what it printed.
func (c *canary) run(stdin string, args ...string) int {
	c.t.Helper()
	var out, errs bytes.Buffer
	w := &world{
		stdin: strings.NewReader(stdin), stdout: &out, stderr: &errs, env: os.Getenv,
		random: func() io.Reader { return c.random },
	}
	code := run(append([]string{"-C", c.mesh}, args...), w)
	c.keep(strings.Join(args, " "), out.Bytes(), errs.Bytes())
	return code
}

func (c *canary) keep(what string, out, errs []byte) {
	c.runs++
	c.printed[fmt.Sprintf("%d %s, stdout", c.runs, what)] = slices.Clone(out)
	c.printed[fmt.Sprintf("%d %s, stderr", c.runs, what)] = slices.Clone(errs)
}

func (c *canary) last() string {
	for name, b := range c.printed {
		if strings.HasPrefix(name, fmt.Sprintf("%d ", c.runs)) && strings.HasSuffix(name, "stderr") {
			return string(b)
		}
	}
	return ""
}

func (c *canary) must(stdin string, args ...string) {
	c.t.Helper()
	if code := c.run(stdin, args...); code != 0 {
		c.t.Fatalf("%v ends with %d: %s", args, code, c.last())
	}
}

// refused runs a command that has to fail with a certain message.
func (c *canary) refused(message, stdin string, args ...string) {
	c.t.Helper()
	if code := c.run(stdin, args...); code == 0 || !strings.Contains(c.last(), message) {
		c.t.Fatalf("%v ends with %d and not with %q: %s", args, code, message, c.last())
	}
}

func (c *canary) git(args ...string) []byte {
	c.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", c.mesh}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return out
}

func (c *canary) commit() {
	c.t.Helper()
	c.git("add", "--all", "--force", ".", ":!.meshc")
	c.git("commit", "-q", "--allow-empty", "-m", "as it is")
}

func (c *canary) write(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.mesh, name), []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// everything is all that was printed and all files below the root: the mesh, its git
// objects unpacked, what was built, the home, the caches, the folder for temporary files.
func (c *canary) everything() map[string][]byte {
	c.t.Helper()
	out := map[string][]byte{}
	for k, v := range c.printed {
		out[k] = v
	}
	err := filepath.WalkDir(c.root, func(p string, d fs.DirEntry, err error) error {
		out["the name of "+p] = []byte(d.Name())
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		out[p], err = os.ReadFile(p)
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(c.mesh, ".git")); err == nil {
		out["git's objects"] = c.git("cat-file", "--batch", "--batch-all-objects")
	}
	return out
}

// opened is how many blobs of the store a machine's key opens to something that is known.
func (c *canary) opened(node string) int {
	c.t.Helper()
	key, err := os.ReadFile("../../testdata/keys/" + node + ".txt")
	if err != nil {
		c.t.Fatal(err)
	}
	ids, err := age.ParseIdentities(bytes.NewReader(key))
	if err != nil {
		c.t.Fatal(err)
	}
	blobs, _ := filepath.Glob(filepath.Join(c.mesh, "sealed", node, "*.age"))
	n := 0
	for _, b := range blobs {
		data, err := os.ReadFile(b)
		if err != nil {
			c.t.Fatal(err)
		}
		r, err := age.Decrypt(bytes.NewReader(data), ids...)
		if err != nil {
			c.t.Fatal(err)
		}
		plain, err := io.ReadAll(r)
		if err != nil {
			c.t.Fatal(err)
		}
		_, secret, _ := bytes.Cut(plain, []byte("\n\n"))
		for _, v := range c.known {
			if bytes.Equal(v, secret) {
				n++
				break
			}
		}
	}
	return n
}

// SEC-1: a whole run with known secrets, and a run that fails at each stage, leave no secret
// anywhere but in the blobs, which its holder opens; O33
func TestCanary(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	c := newCanary(t)
	c.must("", "init", ".")
	for _, name := range []string{"mesh.cue", ".gitignore"} {
		if err := os.Remove(filepath.Join(c.mesh, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(c.mesh, os.DirFS("../../testdata/fixture/secrets")); err != nil {
		t.Fatal(err)
	}
	c.git("init", "-q", ".")
	c.commit()
	c.known["supplied"] = []byte(`tok"en/+&=?%'<>-Grüße-04519921`)
	c.known["supplied later"] = []byte("-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n-----END KEY-----\n")

	for _, step := range []struct {
		seed, stdin string
		args        []string
	}{
		{"", "", []string{"check"}},
		{"", "", []string{"lock"}},
		{"", string(c.known["supplied"]) + "\n", []string{"accept", "board/app/token"}},
		{"", "", []string{"build"}},
		{"", "", []string{"build", "--archive", "-o", filepath.Join(c.root, "archive")}},
		{"", "", []string{"plan", "--json"}},
		{"", "", []string{"plan", "board", "--files"}},
		{"", "", []string{"why", "board", "app"}},
		{"", "", []string{"why", "board", "/etc/app/dsn"}},
		{"", "", []string{"impact", "anchor"}},
		{"", "", []string{"holders", "database"}},
		{"", "", []string{"diff"}},
		{"second", "", []string{"rotate", "database", "--json"}},
		{"third", "", []string{"rotate", "session-key"}},
		{"", "", []string{"diff", "--format", "markdown"}},
		{"", string(c.known["supplied later"]), []string{"accept", "board/app/token", "--json"}},
		{"", "", []string{"build", "--locked"}},
	} {
		if step.seed != "" {
			c.seed(step.seed)
		}
		c.must(step.stdin, step.args...)
		c.commit()
	}
	if n := c.opened("board"); n != 3 {
		t.Fatalf("%d of board's blobs hold what is searched for, not 3: the test would find nothing", n)
	}
	c.failing()
	c.retiring()
	for _, l := range search(c.everything(), c.known) {
		t.Errorf("%s holds the secret %s as %s", l.where, l.secret, l.form)
	}
}

// failing runs into a refusal at every stage, each with secrets at hand.
func (c *canary) failing() {
	c.t.Helper()
	c.seed("failing")
	token := string(c.known["supplied"])
	for _, f := range []struct{ stage, message, text string }{
		{"load", "E01", "package mesh\n\nnodes: board: recipient: 12\n"},
		{"resolve", "E02", "package mesh\n\nnodes: board: assign: nothing: {}\n"},
		{"settle", "E03", "package mesh\n\nmoved: nodes: nowhere: \"nobody\"\n"},
		{"compose", "E04", "package mesh\n\nnodes: board: assign: twice: {module: \"app\"}\n"},
		{"vault", "E0604", ""},
	} {
		if f.text != "" {
			c.write("fault.cue", f.text)
		}
		if f.stage == "vault" {
			c.swapKey("age1h6f4lkmp64z7e4uzfsl70ygkxsgeu6xn9yyuk3kud9522gsfwgrq9czwks", "age1h2cq8lsp6vytrwpv8nj2j0vgz5s4wk90ugsw9atr5rx3lfxxze9qjjknjv")
		}
		for _, args := range [][]string{{"build"}, {"lock", "--remake"}, {"rotate", "database"}, {"plan", "--json"}, {"check", "--json"}} {
			if code := c.run("", args...); code == 0 && args[0] != "plan" {
				c.t.Fatalf("%s: %v is not refused", f.stage, args)
			}
		}
		c.refused(f.message, token, "accept", "board/app/token")
		_ = os.Remove(filepath.Join(c.mesh, "fault.cue"))
		c.git("restore", ".")
	}
	// a value that cannot be one, for a secret that is none
	c.refused("empty lines", token+"\n\n\n", "accept", "board/app/token")
	c.refused("more than 1 MB", strings.Repeat(token, 1<<16), "accept", "board/app/token")
	c.refused("E0615", token, "accept", "board/app/nothing")
	c.refused("E0614", token, "accept", "board/app/session-key")
	// the store: a blob that is damaged, a folder where the lock belongs
	blobs, _ := filepath.Glob(filepath.Join(c.mesh, "sealed/board/credential*"))
	if err := os.WriteFile(blobs[0], []byte(token), 0o644); err != nil { // the worst that could lie there
		c.t.Fatal(err)
	}
	c.refused("E0622", "", "rotate", "superuser")
	c.git("restore", ".")
	// dist: a folder that is not ours, made only once the secrets are
	c.write("kept", "")
	c.refused("", "", "build", "-o", c.mesh)
	if err := os.Remove(filepath.Join(c.mesh, "kept")); err != nil {
		c.t.Fatal(err)
	}
	c.panicking()
}

// panicking stops in the middle of making secrets, in a process of its own.
func (c *canary) panicking() {
	c.t.Helper()
	cmd := exec.Command("meshc-panics", "-C", c.mesh, "rotate", "database")
	cmd.Env = append(os.Environ(), "GOTRACEBACK=system")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err == nil || !bytes.Contains(errs.Bytes(), []byte("goroutine ")) {
		c.t.Fatalf("meshc-panics ends with %v and without a panic: %s", err, errs.Bytes())
	}
	c.keep("panic", out.Bytes(), errs.Bytes())
	c.known["panicking"] = panicBlock().secrets(c.t)["password"]
	c.must("", "check")
}

// panics is meshc whose source of random bytes fails by a panic while a secret is half made.
func panics() {
	w := process()
	w.random = func() io.Reader { return &panicAfter{panicBlock(), 1} }
	os.Exit(run(os.Args[1:], w))
}

// panicBlock has so many bytes that no password is made of that one read is not enough for one.
func panicBlock() block {
	b := newBlock("panicking")
	for i := range b.bytes {
		if i%2 == 1 {
			b.bytes[i] = 0xff
		}
	}
	return b
}

type panicAfter struct {
	block
	reads int
}

func (p *panicAfter) Read(b []byte) (int, error) {
	if p.reads--; p.reads < 0 {
		panic("the source of random bytes broke")
	}
	return p.block.Read(b)
}

// retiring takes a machine out and makes anew what it could open.
func (c *canary) retiring() {
	c.t.Helper()
	c.seed("retired")
	c.swapKey("age1h6f4lkmp64z7e4uzfsl70ygkxsgeu6xn9yyuk3kud9522gsfwgrq9czwks", "age1h2cq8lsp6vytrwpv8nj2j0vgz5s4wk90ugsw9atr5rx3lfxxze9qjjknjv")
	c.must("", "lock", "--new-recipient", "board")
	c.must(string(c.known["supplied"]), "accept", "board/app/token")
	c.must("", "retire", "board")
	c.must("", "build")
	c.commit()
}

func (c *canary) swapKey(old, now string) {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.mesh, "mesh.cue"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.write("mesh.cue", strings.ReplaceAll(string(b), old, now))
}

// The search finds what was planted, in every form and in every place.
func TestCanaryFindsWhatIsPlanted(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	secret := newBlock("planted").secrets(t)["password"]
	for form, f := range forms(secret) {
		text := append(append([]byte("a log line: "), f...), "\nand more"...)
		if len(search(map[string][]byte{"log": text}, map[string][]byte{"s": secret})) == 0 {
			t.Errorf("as %s it is not found", form)
		}
	}
	for n := range 3 { // in the middle of something that is encoded as a whole
		whole := base64.StdEncoding.EncodeToString([]byte("user:" + strings.Repeat("x", n) + string(secret) + "@host"))
		if len(search(map[string][]byte{"log": []byte(whole)}, map[string][]byte{"s": secret})) == 0 {
			t.Errorf("behind %d bytes in base64 it is not found", n+5)
		}
	}
	c := newCanary(t)
	c.known = map[string][]byte{"planted": secret}
	for _, place := range []string{"mesh/dist/board/x", "home/.cache/x", "tmpdir/x", "xdg_cache_home/meshc/x"} {
		p := filepath.Join(c.root, place)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, secret, 0o600); err != nil {
			t.Fatal(err)
		}
		if len(search(c.everything(), c.known)) == 0 {
			t.Errorf("in %s it is not found", place)
		}
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
	}
	// in an object of git that no commit has any more
	c.git("init", "-q", ".")
	c.write("note", string(secret))
	c.git("add", "note")
	c.git("rm", "-q", "-f", "--cached", "note")
	if err := os.Remove(filepath.Join(c.mesh, "note")); err != nil {
		t.Fatal(err)
	}
	if len(search(c.everything(), c.known)) == 0 {
		t.Error("in git's objects it is not found")
	}
}
