package postgres_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"meshc.dev/host/provision"
	"meshc.dev/host/provision/postgres"
	"meshc.dev/host/provision/provisiontest"
)

// server is a PostgreSQL of its own, on a socket in a folder of the test.
type server struct {
	dir, bin string
	log      *bytes.Buffer
	cmd      *exec.Cmd
	cred     *syscall.Credential
}

const port = 5999

// start makes an empty server. Its log holds every statement.
func start(t *testing.T) *server {
	t.Helper()
	bins, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(bins) == 0 {
		if os.Getenv("MESHC_TEST_TOOLS") == "required" {
			t.Fatal("there is no PostgreSQL: testdata/tools/install.sh installs it")
		}
		t.Skip("there is no PostgreSQL: testdata/tools/install.sh installs it")
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &server{dir: dir, bin: bins[len(bins)-1], log: &bytes.Buffer{}}
	if os.Getuid() == 0 {
		// The server does not run as root.
		who, err := user.Lookup("postgres")
		if err != nil {
			t.Skip("there is no user postgres to run the server as")
		}
		uid, _ := strconv.Atoi(who.Uid)
		gid, _ := strconv.Atoi(who.Gid)
		s.cred = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := s.run("initdb", "--no-sync", "--auth-local=scram-sha-256", "--auth-host=scram-sha-256", "-U", "admin", "--pwfile="+s.file(t, "admin", "admin's own"), "-D", dir+"/data").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.Start(t)
	t.Cleanup(func() { s.Stop(t) })
	return s
}

// file writes one that only the server's user, and root, can read.
func (s *server) file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.cred != nil {
		if err := os.Chown(path, int(s.cred.Uid), int(s.cred.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func (s *server) run(program string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, program), args...)
	c.Dir = s.dir
	c.Env = []string{"LC_ALL=C.UTF-8", "PATH=" + s.bin}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.cred, Pdeathsig: syscall.SIGKILL}
	return c
}

func (s *server) Start(t *testing.T) {
	t.Helper()
	s.cmd = s.run("postgres", "-D", s.dir+"/data", "-k", s.dir, "-h", "", "-p", strconv.Itoa(port), "-F", "-c", "log_statement=all", "-c", "log_min_duration_statement=0", "-c", "shared_buffers=16MB")
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if c, err := s.connect("admin", "admin's own", "postgres"); err == nil {
			c.Close(context.Background())
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("the server does not come up:\n%s", s.log)
}

func (s *server) Stop(t *testing.T) {
	t.Helper()
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGQUIT)
	_ = s.cmd.Wait()
	s.cmd = nil
}

func (s *server) config(provider string) provision.Config {
	return provision.Config{
		Provider: provider, Server: provision.Server{Address: s.dir, Port: port, User: "admin", Secret: filepath.Join(s.dir, "admin")},
		Options: json.RawMessage(`{"extensions": ["hstore", "nowhere"]}`),
	}
}

func (s *server) Adapter(t *testing.T, provider string) provision.Adapter {
	t.Helper()
	a, err := postgres.New(s.config(provider))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (s *server) connect(login, password, database string) (*pgx.Conn, error) {
	c, err := pgx.ParseConfig("host=/nowhere sslmode=disable")
	if err != nil {
		return nil, err
	}
	c.Host, c.Port, c.User, c.Password, c.Database, c.Fallbacks = s.dir, port, login, password, database, nil
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return pgx.ConnectConfig(ctx, c)
}

// as does something as a login, in a database.
func (s *server) as(login, password, database string, f func(context.Context, *pgx.Conn) error) error {
	c, err := s.connect(login, password, database)
	if err != nil {
		return err
	}
	ctx := context.Background()
	defer c.Close(ctx)
	return f(ctx, c)
}

func (s *server) admin(t *testing.T, database, sql string, args ...any) {
	t.Helper()
	if err := s.as("admin", "admin's own", database, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, sql, args...)
		return err
	}); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (s *server) Login(login, password, database string) error {
	if database == "" {
		database = "postgres"
	}
	return s.as(login, password, database, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, "SELECT 1")
		return err
	})
}

func (s *server) Foreign(t *testing.T, login, password string) {
	s.admin(t, "postgres", fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s'", pgx.Identifier{login}.Sanitize(), password))
}

func (s *server) Put(t *testing.T, login, password, database string) {
	t.Helper()
	if err := s.as(login, password, database, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, "CREATE TABLE kept (x int); INSERT INTO kept VALUES (7)")
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func (s *server) Has(t *testing.T, login, password, database string) bool {
	t.Helper()
	x := 0
	err := s.as(login, password, database, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, "UPDATE kept SET x = x RETURNING x").Scan(&x)
	})
	return err == nil && x == 7
}

func (s *server) Forget(t *testing.T, login string) {
	s.admin(t, "postgres", "ALTER ROLE "+pgx.Identifier{login}.Sanitize()+" NOLOGIN")
}

var changing = regexp.MustCompile(`(?m)(?:statement|execute [^:]*): +(?:CREATE|ALTER|GRANT|REVOKE|DROP|REASSIGN|COMMENT|UPDATE|INSERT|DELETE)`)

func (s *server) Changes(t *testing.T) int { return len(changing.FindAllString(s.Log(t), -1)) }

func (s *server) Log(t *testing.T) string {
	time.Sleep(20 * time.Millisecond) // what the server wrote is on its way through a pipe
	return s.log.String()
}

// PRV-4, PRV-5, PRV-6, PRV-7, PRV-14, PRV-16, PRV-19, PRV-20: PostgreSQL passes the suite of all adapters.
func TestConformance(t *testing.T) {
	provisiontest.Run(t, func(t *testing.T) provisiontest.Server { return start(t) })
}

func with(c provision.Consumer, values string) provision.Consumer {
	c.Values = json.RawMessage(values)
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// PRV-14: withdrawal ends the sessions that are open.
func TestWithdrawalEndsSessions(t *testing.T) {
	s := start(t)
	ctx := context.Background()
	a := s.Adapter(t, "postgres@anchor")
	defer a.Close()
	must(t, a.Create(ctx, provisiontest.Consumer("one_board", "pw", "one")))
	c, err := s.connect("one_board", "pw", "one")
	must(t, err)
	defer c.Close(ctx)
	must(t, a.Remove(ctx, "one_board"))
	if _, err := c.Exec(ctx, "SELECT 1"); err == nil {
		t.Error("the session goes on")
	}
}

// PRV-21, O40: what is made is closed; a consumer makes tables in public, and nobody else enters; extensions are made by the administrator.
func TestWhatIsMadeIsClosed(t *testing.T) {
	s := start(t)
	ctx := context.Background()
	a := s.Adapter(t, "postgres@anchor")
	defer a.Close()
	c := with(provisiontest.Consumer("one_board", "pw", "one"), `{"extensions": ["hstore"], "connections": 2}`)
	must(t, a.Create(ctx, c))
	s.Put(t, "one_board", "pw", "one")
	must(t, s.as("one_board", "pw", "one", func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, "SELECT 'a=>1'::hstore")
		return err
	}))
	s.Foreign(t, "theirs", "pw")
	if err := s.Login("theirs", "pw", "one"); err == nil {
		t.Error("somebody else enters the database")
	}
	if o, err := a.Observe(ctx, []provision.Consumer{c}); err != nil || !o.Held["one_board"] {
		t.Errorf("held: %v %v", o, err)
	}
	for what, sql := range map[string]string{
		"PUBLIC may enter":       "GRANT CONNECT ON DATABASE one TO PUBLIC",
		"the limit is another":   "ALTER ROLE one_board CONNECTION LIMIT 5",
		"the owner is another":   "ALTER DATABASE one OWNER TO admin",
		"the password is gone":   "ALTER ROLE one_board PASSWORD NULL",
		"the database was moved": "ALTER DATABASE one RENAME TO elsewhere",
	} {
		must(t, a.Create(ctx, c))
		s.admin(t, "postgres", sql)
		if o, err := a.Observe(ctx, []provision.Consumer{c}); err != nil || o.Held["one_board"] {
			t.Errorf("%s, and it is said to be held (%v)", what, err)
		}
		switch what {
		case "the owner is another":
			s.admin(t, "postgres", "ALTER DATABASE one OWNER TO one_board")
		case "the database was moved":
			s.admin(t, "postgres", "ALTER DATABASE elsewhere RENAME TO one")
		}
	}
	must(t, a.Create(ctx, c))
	s.admin(t, "one", "GRANT CREATE ON SCHEMA public TO PUBLIC; DROP EXTENSION hstore")
	held := true
	for range 3 {
		o, err := a.Observe(ctx, []provision.Consumer{c})
		must(t, err)
		held = held && o.Held["one_board"]
	}
	if held {
		t.Error("everybody may make things in its schema, and its extension is gone, and it is said to be held")
	}
}

// PRV-7: a database that belongs to somebody else is refused, and so are the server's own, and an extension that is not offered.
func TestWhatIsRefused(t *testing.T) {
	s := start(t)
	ctx := context.Background()
	a := s.Adapter(t, "postgres@anchor")
	defer a.Close()
	s.admin(t, "postgres", "CREATE DATABASE theirs")
	for _, c := range []provision.Consumer{
		provisiontest.Consumer("one_board", "pw", "theirs"),
		provisiontest.Consumer("one_board", "pw", "postgres"),
		provisiontest.Consumer("one_board", "pw", "template1"),
		with(provisiontest.Consumer("one_board", "pw", "one"), `{"extensions": ["plpython3u"]}`),
		with(provisiontest.Consumer("one_board", "pw", "one"), `{"extensions": 7}`),
		provisiontest.Consumer("one_board", "pässword", "one"),
		provisiontest.Consumer("admin", "pw", "one"),
	} {
		var f *provision.Failure
		if err := a.Create(ctx, c); !errors.As(err, &f) || f.Class != provision.Refused {
			t.Errorf("%s %s %s: %v, want a refusal", c.Login, c.Derived, c.Values, err)
		}
	}
	// A library that is not there is the provider's fault, and named.
	err := a.Create(ctx, with(provisiontest.Consumer("one_board", "pw", "one"), `{"extensions": ["nowhere"]}`))
	if err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("an extension without a library: %v", err)
	}
	must(t, s.Login("admin", "admin's own", "theirs"))
}

// PRV-21: logins that share a database act as one role: each owns what the others make, and one that had it alone hands it over.
func TestSharedDatabase(t *testing.T) {
	s := start(t)
	ctx := context.Background()
	a := s.Adapter(t, "postgres@anchor")
	defer a.Close()
	must(t, a.Create(ctx, provisiontest.Consumer("shop_one", "pw1", "shop")))
	s.Put(t, "shop_one", "pw1", "shop")
	both := []provision.Consumer{
		with(provisiontest.Consumer("shop_one", "pw1", "shop"), `{"share": "shop"}`),
		with(provisiontest.Consumer("shop_two", "pw2", "shop"), `{"share": "shop"}`),
	}
	for _, c := range both {
		must(t, a.Create(ctx, c))
	}
	must(t, s.as("shop_two", "pw2", "shop", func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, "ALTER TABLE kept ADD y int; CREATE TABLE second (x int)")
		return err
	}))
	must(t, s.as("shop_one", "pw1", "shop", func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, "DROP TABLE second")
		return err
	}))
	if !s.Has(t, "shop_one", "pw1", "shop") {
		t.Error("what it had before is gone")
	}
	o, err := a.Observe(ctx, both)
	if err != nil || !o.Held["shop_one"] || !o.Held["shop_two"] || len(o.Marked) != 2 {
		t.Errorf("%v %v", o, err)
	}
	must(t, a.Remove(ctx, "shop_one"))
	if err := s.Login("shop_one", "pw1", "shop"); err == nil {
		t.Error("one that was withdrawn logs in")
	}
	if !s.Has(t, "shop_two", "pw2", "shop") {
		t.Error("the other one lost the data")
	}
}

// PRV-12, PRV-15: an administrator whom the server does not take has a class of its own, and the environment is not asked.
func TestTheAdministrator(t *testing.T) {
	s := start(t)
	t.Setenv("PGPASSWORD", "admin's own")
	t.Setenv("PGUSER", "admin")
	c := s.config("postgres@anchor")
	c.Server.Secret = s.file(t, "wrong", "wrong")
	a, err := postgres.New(c)
	must(t, err)
	var f *provision.Failure
	if _, err := a.Observe(context.Background(), nil); !errors.As(err, &f) || f.Class != provision.Rejected {
		t.Errorf("%v, want %s", err, provision.Rejected)
	}
	c.Server.Secret = filepath.Join(s.dir, "none")
	a, err = postgres.New(c)
	must(t, err)
	if _, err := a.Observe(context.Background(), nil); !errors.As(err, &f) || f.Class != provision.Unreadable {
		t.Errorf("%v, want %s", err, provision.Unreadable)
	}
	c.Options = json.RawMessage(`{"extension": []}`)
	if _, err := postgres.New(c); err == nil || !strings.Contains(err.Error(), `"extension"`) {
		t.Errorf("an unknown option: %v", err)
	}
}

// PRV-18: what is asked of five consumers takes as many statements as what is asked of one hundred, but for a few databases.
func TestOneRoundTripForEverybody(t *testing.T) {
	s := start(t)
	ctx := context.Background()
	a := s.Adapter(t, "postgres@anchor")
	defer a.Close()
	var all []provision.Consumer
	for k := range 20 {
		all = append(all, provisiontest.Consumer(fmt.Sprintf("l%d", k), "pw", fmt.Sprintf("d%d", k)))
		must(t, a.Create(ctx, all[k]))
	}
	count := func(c []provision.Consumer) int {
		before := strings.Count(s.Log(t), "duration: ")
		o, err := a.Observe(ctx, c)
		if err != nil || len(o.Held) != len(c) {
			t.Fatalf("%v %v", o, err)
		}
		return strings.Count(s.Log(t), "duration: ") - before
	}
	if few, many := count(all[:5]), count(all); many != few {
		t.Errorf("%d statements for 5 consumers, %d for 20", few, many)
	}
	for range 20 {
		count(all)
	}
	var sessions int
	must(t, s.as("admin", "admin's own", "postgres", func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'mesh-host'").Scan(&sessions)
	}))
	if sessions != 1 {
		t.Errorf("%d sessions of ours", sessions)
	}
}
