package catalog_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const quoted = "it's $HOME, \"so\" \\ `x`"

// SET-6: what a shell is told arrives in its environment as it was written
func TestShellsQuoteWhatTheyAreTold(t *testing.T) {
	lib := open(t)
	for _, c := range []struct {
		module, file string
		command      func(path string) []string
	}{
		{"bash", "rc", func(p string) []string {
			return []string{"bash", "--norc", "--noprofile", "-c", `. "$0"; printf '%s\n' "$QUOTED"; printf '%s\n' "$PATH"; alias quoted`, p}
		}},
		{"zsh", "rc", func(p string) []string {
			return []string{"zsh", "-f", "-c", `. "$0"; print -r -- "$QUOTED"; print -r -- "$PATH"; alias quoted`, p}
		}},
		{"fish", "conf", func(p string) []string {
			return []string{"fish", "--no-config", "--interactive", "-c", `source "` + p + `"; echo $QUOTED; string join : $PATH; functions ll`}
		}},
	} {
		t.Run(c.module, func(t *testing.T) {
			need(t, c.module)
			f := lib.render(t, c.module, "full").file(t, c.file)
			// The parts that Debian's packages bring are not what is tried here.
			content := strings.ReplaceAll(string(f.content), ". /usr/share/", "# /usr/share/")
			p := write(t, t.TempDir(), "rc", []byte(content))
			args := c.command(p)
			command := exec.Command(args[0], args[1:]...)
			command.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "TERM=dumb"}
			out, err := command.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			lines := strings.Split(string(out), "\n")
			if lines[0] != quoted {
				t.Errorf("the environment holds %q, want %q", lines[0], quoted)
			}
			if !strings.HasSuffix(lines[1], ":/opt/tools/bin:/opt/with space/bin") {
				t.Errorf("PATH is %q", lines[1])
			}
			if c.module == "fish" {
				if !strings.Contains(string(out), "ls -l") {
					t.Errorf("there is no alias ll:\n%s", out)
				}
				return
			}
			if !strings.Contains(lines[2], "$HOME") {
				t.Errorf("the alias became %q", lines[2])
			}
		})
	}
}

// SEC-1: the key goes to the model's server from its file, and nobody sees it in an argument
func TestAskSendsTheKeyFromItsFile(t *testing.T) {
	for _, p := range []string{"sh", "jq", "curl"} {
		need(t, p)
	}
	var header string
	var asked struct {
		Model    string
		Messages []struct{ Role, Content string }
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		header = q.Header.Get("Authorization")
		if err := json.NewDecoder(q.Body).Decode(&asked); err != nil || q.URL.Path != "/v1/chat/completions" {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, `{"choices": [{"message": {"content": "Because of \"Rayleigh\"."}}]}`)
	}))
	defer server.Close()

	lib := open(t)
	r := lib.render(t, "model-client", "full")
	dir := t.TempDir()
	for _, f := range r.files(t) {
		content := strings.ReplaceAll(string(f.content), "/etc/model-client", dir+"/etc/model-client")
		write(t, dir, f.path, []byte(strings.ReplaceAll(content, "https://models.example", server.URL)))
	}
	script := filepath.Join(dir, "usr/local/bin/ask")
	out, err := exec.Command(script, `why is`, `the "sky" blue?`).CombinedOutput()
	if err != nil || string(out) != "Because of \"Rayleigh\".\n" {
		t.Fatalf("%v: %s", err, out)
	}
	if header != "Bearer "+placeholder+"accessvalue" {
		t.Errorf("the server was sent %q", header)
	}
	if asked.Model != "large-1" || len(asked.Messages) != 2 || asked.Messages[0].Content != "Answer shortly." || asked.Messages[1].Content != `why is the "sky" blue?` {
		t.Errorf("asked %+v", asked)
	}

	c := exec.Command(script)
	c.Stdin = strings.NewReader("from standard input")
	if out, err := c.CombinedOutput(); err != nil || asked.Messages[1].Content != "from standard input" {
		t.Errorf("%v: %s, asked %+v", err, out, asked)
	}
}

// One name whose certificate cannot be had does not keep the others from theirs.
func TestRenewGoesOnAfterAFailure(t *testing.T) {
	need(t, "sh")
	lib := open(t)
	r := lib.render(t, "reverse-proxy", "dns")
	dir := t.TempDir()
	move := strings.NewReplacer("/etc/reverse-proxy", dir+"/etc", "/var/lib/reverse-proxy", dir+"/state")
	write(t, dir, "etc/names", r.file(t, "names").content)
	script := write(t, dir, "renew", []byte(move.Replace(string(r.file(t, "renew").content))))
	if err := os.MkdirAll(filepath.Join(dir, "state"), 0o755); err != nil {
		t.Fatal(err)
	}
	// What is left of lego: it fails for one name, and notes how it was called for the other.
	write(t, dir, "bin/lego", []byte(`#!/bin/sh
echo "$*" >>"`+dir+`/calls"
case "$*" in *git.example.org*) exit 1 ;; esac
mkdir -p lego/certificates
echo certificate >lego/certificates/notes.example.org.crt
echo key >lego/certificates/notes.example.org.key
`))
	run := func() string {
		c := exec.Command(script)
		c.Env = []string{"PATH=" + dir + "/bin:" + os.Getenv("PATH"), "ACME_DIRECTORY=d", "ACME_EMAIL=e", "ACME_KEY=k", "ACME_DNS=hetzner"}
		out, err := c.CombinedOutput()
		if err == nil {
			t.Errorf("a name failed and the script did not say so: %s", out)
		}
		calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
		os.Remove(filepath.Join(dir, "calls"))
		return string(calls)
	}
	if calls := run(); strings.Count(calls, "run") != 2 {
		t.Errorf("at first both are asked for: %s", calls)
	}
	info, err := os.Stat(filepath.Join(dir, "state/tls/notes.example.org.key"))
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the key: %v %v", info, err)
	}
	if calls := run(); !strings.Contains(calls, "--domains notes.example.org renew --days 30") {
		t.Errorf("the second time it is renewed: %s", calls)
	}
}

// O29: two machines with one address reserved, an address elsewhere and a MAC in capitals are refused
func TestReservationsAreSound(t *testing.T) {
	lib := open(t)
	base := `{interface: "eth0", network: "192.168.1.0/24", range: {from: "192.168.1.100", to: "192.168.1.199"}, `
	for _, c := range []struct{ settings, want string }{
		{`reservations: {"52:54:00:12:34:56": address: "192.168.1.20", "52:54:00:12:34:57": address: "192.168.1.20"}}`, "address reserved for several machines: 192.168.1.20 (52:54:00:12:34:56, 52:54:00:12:34:57)"},
		{`reservations: "52:54:00:12:34:56": address: "192.168.2.20"}`, "address outside of the network: reservations.52:54:00:12:34:56 192.168.2.20"},
		{`router: "10.0.0.1"}`, "address outside of the network: router 10.0.0.1"},
		{`reservations: "52:54:00:12:34:5A": address: "192.168.1.20"}`, "named by a MAC address in lower case"},
		{`reservations: "52:54:00:12:34:56": address: "192.168.1.020"}`, "an IPv4 address"},
		{`reservations: "52:54:00:12:34:56": address: "192.168.1.20"}`, ""},
	} {
		given := lib.ctx.CompileString(`settings: ` + base + c.settings)
		if err := given.Err(); err != nil {
			t.Fatal(err)
		}
		filled := lib.fill(t, "dhcp", given)
		closed := lib.ctx.CompileString("#S: _").FillPath(path("#S"), lib.modules["dhcp"].LookupPath(path("settings"))).LookupPath(path("#S"))
		said := fmt.Sprint(closed.Unify(given.LookupPath(path("settings"))).Validate(), filled.LookupPath(path("resources")).Validate())
		if !strings.Contains(said, c.want) || c.want == "" && said != "<nil> <nil>" {
			t.Errorf("%s\n said %s\n want %s", c.settings, said, c.want)
		}
	}
}

// Every parameter that a PostgreSQL reads only at its start is known to be one:
// otherwise a change of it would reload the server and do nothing.
func TestPostgresKnowsWhatNeedsAStart(t *testing.T) {
	servers, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(servers) == 0 {
		need(t, "postgres")
	}
	lib := open(t)
	var known []string
	it, err := lib.modules["postgres"].LookupPath(path("#AtStart")).List()
	if err != nil {
		t.Fatal(err)
	}
	for it.Next() {
		s, _ := it.Value().String()
		known = append(known, s)
	}
	if !slices.IsSorted(known) {
		t.Error("the parameters are not sorted")
	}
	for _, server := range servers {
		out, err := exec.Command(server, "--describe-config").Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Split(line, "\t")
			if f[1] == "postmaster" && !slices.Contains(known, f[0]) {
				t.Errorf("%s reads %s at its start alone", server, f[0])
			}
		}
	}
}

// A server on the rendered files lets the administrator in, and nobody without a name.
func TestRedisLetsNobodyInWithoutAName(t *testing.T) {
	server := need(t, "redis-server")
	lib := open(t)
	r := lib.render(t, "redis", "full")
	dir := t.TempDir()
	port := freePort(t)
	move := strings.NewReplacer(
		"/var/lib/redis", dir, "/etc/redis", dir+"/etc", "/run/redis", dir,
		"port 26379", "port "+port, "port 20379", "port "+port,
		"chown redis:redis", ": chown", // nobody need be root for this
	)
	for _, f := range r.files(t) {
		write(t, dir, "etc/"+strings.TrimPrefix(f.path, "/etc/redis/"), []byte(move.Replace(string(f.content))))
	}
	users := filepath.Join(dir, "etc/usr/local/lib/mesh-redis/users")
	acl := filepath.Join(dir, "users.acl")
	// A login that was made while the server ran is kept; a stale administrator is not.
	if err := os.WriteFile(acl, []byte("user shop_board on ~shop:* +@read #"+strings.Repeat("ab", 32)+"\nuser meshc on nopass +@all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(users).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if info, err := os.Stat(acl); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of users: %v %v", info.Mode(), err)
	}

	c := exec.Command(server, filepath.Join(dir, "etc/redis.conf"))
	var log strings.Builder
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()

	conn := dial(t, "127.0.0.1:"+port, &log)
	defer conn.Close()
	in := bufio.NewReader(conn)
	ask := func(line string) string {
		t.Helper()
		if _, err := io.WriteString(conn, line+"\r\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err, log.String())
		}
		return strings.TrimSpace(answer)
	}
	if a := ask("PING"); !strings.HasPrefix(a, "-NOAUTH") {
		t.Errorf("without a name: %s", a)
	}
	if a := ask("AUTH meshc wrong"); !strings.HasPrefix(a, "-WRONGPASS") {
		t.Errorf("with a wrong password: %s", a)
	}
	if a := ask("AUTH meshc " + placeholder + "administratorvalue"); a != "+OK" {
		t.Errorf("the administrator: %s", a)
	}
	if a := ask("ACL SETUSER notes on >x ~notes:* +@all"); a != "+OK" {
		t.Errorf("making a login: %s", a)
	}
	if a := ask("ACL SAVE"); a != "+OK" {
		t.Errorf("keeping it: %s", a)
	}
	if a := ask("CONFIG GET maxmemory-policy"); a != "*2" {
		t.Errorf("its configuration: %s", a)
	}
	kept, _ := os.ReadFile(acl)
	for _, user := range []string{"user default off", "user meshc on", "user shop_board on", "user notes on"} {
		if strings.Count(string(kept), user) != 1 {
			t.Errorf("the file of users does not have %q once:\n%s", user, kept)
		}
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func dial(t *testing.T, address string, log fmt.Stringer) net.Conn {
	t.Helper()
	for range 100 {
		if conn, err := net.Dial("tcp", address); err == nil {
			_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
			return conn
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("nothing listens on %s: %s", address, log)
	return nil
}
