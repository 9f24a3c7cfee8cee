package redis_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	client "github.com/redis/go-redis/v9"

	"meshc.dev/host/provision"
	"meshc.dev/host/provision/provisiontest"
	"meshc.dev/host/provision/redis"
)

// server is a Redis of its own, on a socket in a folder of the test.
type server struct {
	dir, bin string
	log      *bytes.Buffer
	cmd      *exec.Cmd
}

const adminsOwn = "admin's_own"

func start(t *testing.T) *server {
	t.Helper()
	bin, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("MESHC_TEST_TOOLS") == "required" {
			t.Fatal("there is no Redis: testdata/tools/install.sh installs it")
		}
		t.Skip("there is no Redis: testdata/tools/install.sh installs it")
	}
	// A socket's path has to be short.
	dir, err := os.MkdirTemp("", "redis")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &server{dir: dir, bin: bin, log: &bytes.Buffer{}}
	s.write(t, "users.acl", "user default off\nuser admin on ~* &* +@all >"+adminsOwn+"\n")
	s.write(t, "admin", adminsOwn)
	s.Start(t)
	t.Cleanup(func() { s.Stop(t) })
	return s
}

func (s *server) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *server) Start(t *testing.T) {
	t.Helper()
	s.cmd = exec.Command(s.bin, "--port", "0", "--unixsocket", s.dir+"/s", "--dir", s.dir, "--aclfile", s.dir+"/users.acl", "--appendonly", "yes", "--save", "", "--loglevel", "debug")
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if s.as("admin", adminsOwn, "PING") == nil {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("the server does not come up:\n%s", s.log)
}

func (s *server) Stop(t *testing.T) {
	t.Helper()
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
	s.cmd = nil
}

func (s *server) Adapter(t *testing.T, provider string) provision.Adapter {
	t.Helper()
	a, err := redis.New(provision.Config{Provider: provider, Server: provision.Server{Address: s.dir + "/s", User: "admin", Secret: s.dir + "/admin"}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (s *server) open(login, password string) *client.Client {
	return client.NewClient(&client.Options{Network: "unix", Addr: s.dir + "/s", Username: login, Password: password, Protocol: 2, DisableIdentity: true, MaxRetries: -1})
}

// as sends one command as a login.
func (s *server) as(login, password string, args ...any) error {
	c := s.open(login, password)
	defer c.Close()
	err := c.Do(context.Background(), args...).Err()
	if errors.Is(err, client.Nil) {
		return nil
	}
	return err
}

func (s *server) admin(t *testing.T, args ...any) string {
	t.Helper()
	c := s.open("admin", adminsOwn)
	defer c.Close()
	out, err := c.Do(context.Background(), args...).Result()
	if err != nil && !errors.Is(err, client.Nil) {
		t.Fatalf("%v: %v", args, err)
	}
	text, _ := json.Marshal(out)
	return string(text)
}

func (s *server) Login(login, password, thing string) error {
	if thing == "" {
		return s.as(login, password, "PING")
	}
	return s.as(login, password, "GET", thing+":x")
}

func (s *server) Foreign(t *testing.T, login, password string) {
	s.admin(t, "ACL", "SETUSER", login, "on", ">"+password, "+ping")
}

func (s *server) Put(t *testing.T, login, password, thing string) {
	t.Helper()
	if err := s.as(login, password, "SET", thing+":kept", "7"); err != nil {
		t.Fatal(err)
	}
}

func (s *server) Has(t *testing.T, login, password, thing string) bool {
	t.Helper()
	c := s.open(login, password)
	defer c.Close()
	v, err := c.Get(context.Background(), thing+":kept").Result()
	return err == nil && v == "7"
}

func (s *server) Forget(t *testing.T, login string) { s.admin(t, "ACL", "DELUSER", login) }

func (s *server) Changes(t *testing.T) int {
	t.Helper()
	c := s.open("admin", adminsOwn)
	defer c.Close()
	info, err := c.Info(context.Background(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(info) {
		for _, command := range []string{"acl|setuser", "acl|deluser", "acl|save", "config|set"} {
			if calls, ok := strings.CutPrefix(line, "cmdstat_"+command+":calls="); ok {
				calls, _, _ = strings.Cut(calls, ",")
				for _, d := range calls {
					n = n*10 + int(d-'0')
				}
			}
		}
	}
	return n
}

func (s *server) Log(t *testing.T) string {
	acl, _ := os.ReadFile(s.dir + "/users.acl")
	aof := ""
	files, _ := filepath.Glob(s.dir + "/appendonlydir/*")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		aof += string(b)
	}
	return s.log.String() + s.admin(t, "ACL", "LOG") + s.admin(t, "SLOWLOG", "GET") + string(acl) + aof
}

// PRV-4, PRV-5, PRV-6, PRV-7, PRV-14, PRV-16, PRV-19, PRV-20, O38: Redis passes the suite of all adapters.
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

// PRV-21: a consumer may run what works on its own keys, and nothing that administers the server or concerns others.
func TestWhatAConsumerMay(t *testing.T) {
	s := start(t)
	ctx := context.Background()
	a := s.Adapter(t, "redis@anchor")
	defer a.Close()
	must(t, a.Create(ctx, with(provisiontest.Consumer("shop", "pw", "shop"), `{"channels": ["orders.*"]}`)))
	for _, may := range []string{
		"SET shop:a 1", "GET shop:a", "EXPIRE shop:a 100", "LPUSH shop:l 1", "HSET shop:h a b", "ZADD shop:z 1 a", "XADD shop:s * a b", "SCAN 0", "INFO server", "SELECT 1",
		"EVAL return(redis.call('get',KEYS[1])) 1 shop:a", "PUBLISH shop:x hello", "PUBLISH orders.new hello", "MULTI", "CLIENT SETNAME app", "HELLO 3", "DBSIZE", "WAIT 0 1",
		"SORT shop:l", "MEMORY USAGE shop:a", "SETRANGE shop:r 0 x", "PFADD shop:p a", "GEOADD shop:g 1 1 a", "BITCOUNT shop:a", "OBJECT ENCODING shop:a", "TYPE shop:a", "DEL shop:a",
	} {
		if err := s.as("shop", "pw", words(may)...); err != nil {
			t.Errorf("%s: %v", may, err)
		}
	}
	for _, not := range []string{
		"SET other:a 1", "GET other:a", "DEL other:a", "SET mesh-provider:redis@anchor x", "RENAME shop:a other:a", "COPY shop:a other:a",
		"EVAL return(redis.call('get','other:a')) 0", "PUBLISH other hello", "SUBSCRIBE other", "PSUBSCRIBE *",
		"FLUSHALL", "FLUSHDB", "CONFIG GET *", "CONFIG SET maxmemory 1", "ACL LIST", "ACL SETUSER shop +@all", "MONITOR", "SAVE", "BGSAVE", "BGREWRITEAOF", "SHUTDOWN NOSAVE",
		"DEBUG SLEEP 0", "KEYS *", "RANDOMKEY", "SWAPDB 0 1", "CLIENT LIST", "CLIENT KILL 1", "SLAVEOF no one", "REPLICAOF no one", "MODULE LIST", "FUNCTION FLUSH", "SCRIPT FLUSH", "SCRIPT KILL",
		"LATENCY RESET", "SLOWLOG RESET", "CLUSTER RESET", "FAILOVER", "MIGRATE h 1 shop:a 0 1", "MEMORY PURGE", "PUBSUB CHANNELS", "SYNC", "PSYNC ? -1", "LASTSAVE",
	} {
		if err := s.as("shop", "pw", words(not)...); err == nil || strings.HasPrefix(err.Error(), "ERR wrong number") {
			t.Errorf("%s: %v", not, err)
		}
	}
}

func words(s string) []any {
	var out []any
	for _, w := range strings.Fields(s) {
		out = append(out, w)
	}
	return out
}

// PRV-4: what somebody changed of a user is seen: its commands, keys, channels, a second password.
func TestWhatSomebodyChanged(t *testing.T) {
	s := start(t)
	ctx := context.Background()
	a := s.Adapter(t, "redis@anchor")
	defer a.Close()
	c := provisiontest.Consumer("shop", "pw", "shop")
	for _, change := range []string{"+config", "&*", ">second", "nopass", "off", "-get", "resetchannels", "resetpass"} {
		must(t, a.Create(ctx, c))
		if o, err := a.Observe(ctx, []provision.Consumer{c}); err != nil || !o.Held["shop"] {
			t.Fatalf("after it was made: %v %v\n%s", o, err, s.admin(t, "ACL", "LIST"))
		}
		s.admin(t, "ACL", "SETUSER", "shop", change)
		if o, err := a.Observe(ctx, []provision.Consumer{c}); err != nil || o.Held["shop"] {
			t.Errorf("%s: it is said to be held (%v)", change, err)
		}
	}
	for _, change := range []string{"~*", "reset"} {
		s.admin(t, "ACL", "SETUSER", "shop", change)
		if o, err := a.Observe(ctx, []provision.Consumer{c}); err != nil || o.Held["shop"] {
			t.Errorf("%s: it is said to be held (%v)", change, err)
		}
		var f *provision.Failure
		if err := a.Create(ctx, c); !errors.As(err, &f) || f.Class != provision.Refused {
			t.Errorf("%s: a user that lost its mark is somebody else's: %v", change, err)
		}
	}
}

// PRV-21: a consumer that knows no prefix has the server for itself, or is refused.
func TestExclusive(t *testing.T) {
	s := start(t)
	ctx := context.Background()
	a := s.Adapter(t, "redis@anchor")
	defer a.Close()
	c := with(provisiontest.Consumer("old", "pw", "old"), `{"exclusive": true}`)
	_, err := a.Observe(ctx, []provision.Consumer{c})
	must(t, err)
	must(t, a.Create(ctx, c))
	if o, err := a.Observe(ctx, []provision.Consumer{c}); err != nil || !o.Held["old"] {
		t.Errorf("%v %v", o, err)
	}
	must(t, s.as("old", "pw", "SET", "anything", "1"))
	must(t, s.as("old", "pw", "FLUSHDB"))
	if err := s.as("old", "pw", "CONFIG", "GET", "*"); err == nil {
		t.Error("it administers the server")
	}
	if o, err := a.Observe(ctx, []provision.Consumer{c, provisiontest.Consumer("new", "pw", "new")}); err != nil || o.Held["old"] {
		t.Errorf("with another one: %v %v", o, err)
	}
	var f *provision.Failure
	if err := a.Create(ctx, c); !errors.As(err, &f) || f.Class != provision.Refused || !strings.Contains(err.Error(), "assign a second instance") {
		t.Errorf("with another one: %v", err)
	}
}

// PRV-12: an administrator whom the server does not take has a class of its own.
func TestTheAdministrator(t *testing.T) {
	s := start(t)
	s.write(t, "admin", "wrong")
	var f *provision.Failure
	if _, err := s.Adapter(t, "redis@anchor").Observe(context.Background(), nil); !errors.As(err, &f) || f.Class != provision.Rejected {
		t.Errorf("%v, want %s", err, provision.Rejected)
	}
	s.write(t, "admin", "")
	if _, err := s.Adapter(t, "redis@anchor").Observe(context.Background(), nil); !errors.As(err, &f) || f.Class != provision.Unreadable {
		t.Errorf("%v, want %s", err, provision.Unreadable)
	}
}
