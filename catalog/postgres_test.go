package catalog_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A server on the rendered files knows every line of pg_hba.conf, has the superuser's
// password set from its file, and lets a consumer into its own database and no other.
func TestPostgresRunsOnItsFiles(t *testing.T) {
	const programs = "/usr/lib/postgresql/15/bin/"
	need(t, programs+"initdb")
	need(t, "setpriv")
	if os.Getuid() != 0 {
		t.Skip("only root can become the user postgres")
	}
	lib := open(t)
	r := lib.render(t, "postgres", "full")
	dir, err := os.MkdirTemp("", "postgres")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })

	as := func(args ...string) *exec.Cmd {
		c := exec.Command("setpriv", append([]string{"--reuid=postgres", "--regid=postgres", "--init-groups"}, args...)...)
		c.Dir = dir
		return c
	}
	run := func(c *exec.Cmd) (string, error) {
		out, err := c.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}

	port := freePort(t)
	move := strings.NewReplacer(
		"/etc/postgresql/15/main", dir+"/etc", "/etc/postgresql/mesh", dir+"/mesh",
		"/var/lib/postgresql/15/main", dir+"/data", "/run/postgresql", dir,
		"port = 20432", "port = "+port,
		"pg_stat_statements.track", "x.track", // the library is not loaded
	)
	for _, f := range r.files(t) {
		p := move.Replace(f.path)
		if strings.HasPrefix(p, dir) {
			write(t, dir, strings.TrimPrefix(p, dir), []byte(move.Replace(string(f.content))))
		}
	}
	write(t, dir, "mesh/superuser", []byte("it's \\ a 'secret'"))
	write(t, dir, "etc/pg_ident.conf", nil)
	if out, err := run(exec.Command("chown", "-R", "postgres:postgres", dir)); err != nil {
		t.Fatal(err, out)
	}
	if out, err := run(as(programs+"initdb", "--no-sync", "--locale=C.UTF-8", "-D", dir+"/data")); err != nil {
		t.Fatal(err, out)
	}

	server := as(programs+"postgres", "--config-file="+dir+"/etc/postgresql.conf")
	var log strings.Builder
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Signal(os.Interrupt); _ = server.Wait() })

	psql := func(args ...string) (string, error) {
		return run(as(append([]string{programs + "psql", "--no-psqlrc", "-qAt", "-v", "ON_ERROR_STOP=1", "-h", dir, "-p", port, "-d", "postgres"}, args...)...))
	}
	for i := 0; ; i++ {
		if _, err := psql("-c", "SELECT 1"); err == nil {
			break
		}
		if i == 100 {
			t.Fatalf("the server does not come up:\n%s", log.String())
		}
		time.Sleep(100 * time.Millisecond)
	}

	if out, err := psql("-c", "SELECT error FROM pg_hba_file_rules WHERE error IS NOT NULL"); err != nil || out != "" {
		t.Errorf("pg_hba.conf: %v %s", err, out)
	}
	for setting, want := range map[string]string{
		"max_connections": "300", "shared_buffers": "1GB", "log_line_prefix": `it's \ %m `, "statement_timeout": "30s",
		"log_min_duration_statement": "250ms", "checkpoint_completion_target": "0.9", "ssl": "off",
	} {
		if out, err := psql("-c", "SELECT '[' || current_setting('"+setting+"') || ']'"); err != nil || out != "["+want+"]" {
			t.Errorf("%s is %s (%v), want %s", setting, out, err, want)
		}
	}

	if out, err := psql("-f", filepath.Join(dir, "mesh/superuser.sql")); err != nil {
		t.Fatal(err, out)
	}
	over := func(user, password, database string) (string, error) {
		c := as(programs+"psql", "--no-psqlrc", "-qAt", "-h", "127.0.0.1", "-p", port, "-U", user, "-d", database, "-c", "SELECT current_user")
		c.Env = []string{"PGPASSWORD=" + password}
		return run(c)
	}
	if out, err := over("postgres", `it's \ a 'secret'`, "postgres"); err != nil || out != "postgres" {
		t.Errorf("the superuser with the password of the file: %v %s", err, out)
	}
	if out, err := over("postgres", "wrong", "postgres"); err == nil {
		t.Errorf("the superuser with a wrong password: %s", out)
	}
	if strings.Contains(log.String(), "secret") {
		t.Errorf("the password is in the log:\n%s", log.String())
	}

	if out, err := psql("-c", "CREATE ROLE gitea_board LOGIN PASSWORD 'x'", "-c", "CREATE DATABASE gitea OWNER gitea_board", "-c", "CREATE DATABASE notes_anchor"); err != nil {
		t.Fatal(err, out)
	}
	if out, err := over("gitea_board", "x", "gitea"); err != nil || out != "gitea_board" {
		t.Errorf("a consumer in its own database: %v %s", err, out)
	}
	for _, other := range []string{"notes_anchor", "postgres"} {
		if out, err := over("gitea_board", "x", other); err == nil || !strings.Contains(out, "no pg_hba.conf entry") {
			t.Errorf("a consumer in database %s: %v %s", other, err, out)
		}
	}
}
