package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// provisionRun runs the loop's command once, with a configuration of lines.
func provisionRun(t *testing.T, ctx context.Context, config string, args ...string) (int, string) {
	t.Helper()
	// The command clears the environment for its client libraries; a test gets its own back.
	for _, e := range os.Environ() {
		name, value, _ := strings.Cut(e, "=")
		t.Setenv(name, value)
	}
	path := filepath.Join(t.TempDir(), "provision.json")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := provisionLoop(ctx, append([]string{"postgres", "--config", path}, args...), &out, &errs)
	return code, strings.ReplaceAll(errs.String(), path, "FILE")
}

// PRV-15: what cannot be meant is refused by name before anything is tried.
func TestProvisionRefusesAConfiguration(t *testing.T) {
	dir := t.TempDir()
	open := filepath.Join(dir, "open")
	if err := os.WriteFile(open, []byte("pw"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(open, link); err != nil {
		t.Fatal(err)
	}
	good := `"receives": "/nowhere/consumers.json", "provider": "postgres@anchor", "server": {"address": "/nowhere", "user": "postgres"}`
	for config, want := range map[string]string{
		`{`:                    "FILE: unexpected EOF",
		`{"recieves": "/x"}`:   `unknown field "recieves"`,
		"{" + good + "} {}":    "something follows the configuration",
		`{}`:                   "receives: the path of the list is missing",
		`{"receives": "list"}`: `provider: "" is not of the form INSTANCE@NODE`,
		`{"receives": "list.json", "provider": "p@n"}`:                                             `receives: "list.json" is no absolute path`,
		`{"receives": "/a/../b", "provider": "p@n"}`:                                               `receives: "/a/../b" is no absolute path`,
		"{" + good + `, "interval": 5}`:                                                            `5 is no time span, such as "5s"`,
		"{" + good + `, "recheck": "-1s"}`:                                                         `"-1s" is no time span`,
		"{" + good + `, "listen": ":80"}`:                                                          `listen: ":80" is no address with a port`,
		"{" + good + `, "listen": "0.0.0.0:80"}`:                                                   `is every address of the machine`,
		"{" + good + `, "options": {"extension": []}}`:                                             `options: unknown field "extension"`,
		"{" + good + `, "bus": {"address": "b:4222"}}`:                                             "bus: announcements on a bus are not built yet",
		`{"receives": "/x", "provider": "p@n", "server": {"address": "h"}}`:                        `server: address: "h" is neither a path nor host:port`,
		`{"receives": "/x", "provider": "p@n", "server": {"address": "h:70000"}}`:                  `"h:70000" is neither a path nor host:port`,
		`{"receives": "/x", "provider": "p@n", "server": {"address": "/s"}}`:                       "server.user: who the administrator is has to be said",
		`{"receives": "/x", "provider": "p@n", "server": {"user": "a", "secret": "` + open + `"}}`: "others can read " + open,
		`{"receives": "/x", "provider": "p@n", "server": {"user": "a", "secret": "` + link + `"}}`: link + " is a link",
	} {
		code, said := provisionRun(t, context.Background(), config, "--once")
		if code != usage || !strings.Contains(said, want) {
			t.Errorf("%s: exit %d, %s, want %s", config, code, said, want)
		}
	}
	var errs bytes.Buffer
	if code := provisionLoop(context.Background(), []string{"oracle", "--config", "/x"}, &errs, &errs); code != usage || !strings.Contains(errs.String(), `no kind "oracle"; there is postgres, redis`) {
		t.Errorf("exit %d, %s", code, errs.String())
	}
}

// PRV-1, PRV-13: a list that cannot be read and a server that is not there are exit 1, a consumer that is not as asked
// exit 3; the standing file says so, two loops on one are one too many, and being told to stop is exit 0.
func TestProvisionOnce(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	standing := filepath.Join(dir, "standing.json")
	config := fmt.Sprintf(`{"receives": %q, "provision": "database", "provider": "postgres@anchor", "server": {"address": %q, "user": "postgres"}, "standing": %q, "interval": "10ms", "listen": "127.0.0.1:0"}`,
		filepath.Join(dir, "consumers.json"), dir, standing)
	if code, said := provisionRun(t, context.Background(), config, "--once"); code != refused || !strings.Contains(said, "no such file") {
		t.Errorf("no list: exit %d, %s", code, said)
	}
	write("consumers.json", fmt.Sprintf(`{"requirement": "database", "given": [{"as": "one", "instance": "app", "node": "board", "secret": %q}]}`, write("one", "pw")))
	if code, said := provisionRun(t, context.Background(), config, "--once"); code != refused || !strings.Contains(said, "the server could not be asked") {
		t.Errorf("no server: exit %d, %s", code, said)
	}
	raw, err := os.ReadFile(standing)
	if err != nil || !bytes.Contains(raw, []byte(`"as":"one","consumer":"app@board","state":"failing","class":"unreachable"`)) {
		t.Errorf("standing: %s %v", raw, err)
	}
	lock := flock.New(standing + ".lock")
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(err)
	}
	if code, said := provisionRun(t, context.Background(), config, "--once"); code != refused || !strings.Contains(said, "another loop writes") {
		t.Errorf("two loops: exit %d, %s", code, said)
	}
	_ = lock.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if code, said := provisionRun(t, ctx, config); code != done || strings.Count(said, "it fails") > 3 {
		t.Errorf("told to stop: exit %d, %s", code, said)
	}
}
