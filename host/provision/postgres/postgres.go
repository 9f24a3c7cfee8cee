// Package postgres makes logins and databases in a PostgreSQL server for those who
// require one: a role with its password, a database that it owns and nobody else may
// enter, extensions, a limit of connections.
//
// What is ours is a member of one group role per provider, the mark; a role that is no
// member is somebody else's and left alone, and so is a database that belongs to such a
// role. A login that is withdrawn keeps its role, without the right to log in: it owns its
// data, and owns it again when it comes back. Passwords reach the server as SCRAM verifiers
// (RFC 5803) that are computed here, so that none stands in a statement or in a log.
//
// The administrator has to be a superuser: only one may read verifiers and make extensions.
package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"meshc.dev/host/provision"
)

// options are what only this adapter reads of a configuration.
type options struct {
	// Extensions that a consumer may ask for; those of the server that need no trust, too.
	Extensions []string `json:"extensions"`
	// Database that the administrator enters; postgres where none is named.
	Database string `json:"database"`
}

// Adapter implements provision.Adapter.
type Adapter struct {
	server  provision.Server
	options options
	mark    string

	conn *pgx.Conn
	used time.Time
	turn int // whose database is looked into next
}

// insides is how many databases are looked into when the server is asked (PRV-18).
const insides = 3

// New makes an adapter for one provider. It opens no connection yet.
func New(c provision.Config) (*Adapter, error) {
	a := &Adapter{server: c.Server, mark: limited("mesh " + c.Provider)}
	if err := provision.Strict(c.Options, &a.options); err != nil {
		return nil, fmt.Errorf("options: %w", err)
	}
	if a.options.Database == "" {
		a.options.Database = "postgres"
	}
	if c.Server.User == "" {
		return nil, errors.New("server.user: who the administrator is has to be said")
	}
	return a, nil
}

// maxName is how many bytes of a name the server keeps; the rest it cuts off in silence.
const maxName = 63

// limited is a name of our own that the server keeps whole: what is too long ends in a digest.
func limited(name string) string {
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:maxName-13] + "-" + hex.EncodeToString(sum[:6])
}

// wish is what a consumer asks for, in the server's terms.
type wish struct {
	provision.Consumer
	database    string
	share       string // the group role that owns the database, where several share it
	extensions  []string
	connections int // -1 for no limit
}

func (w wish) owner() string {
	if w.share != "" {
		return w.share
	}
	return w.Login
}

func (a *Adapter) wish(c provision.Consumer) (wish, error) {
	var derived struct {
		Database string `json:"database"`
	}
	var values struct {
		Extensions  []string `json:"extensions"`
		Connections *int     `json:"connections"`
		Share       string   `json:"share"`
	}
	if err := errors.Join(unmarshal(c.Derived, &derived), unmarshal(c.Values, &values)); err != nil {
		return wish{}, &provision.Failure{Class: provision.Refused, Err: err}
	}
	w := wish{Consumer: c, database: derived.Database, extensions: values.Extensions, connections: -1}
	if w.database == "" {
		w.database = c.Login
	}
	if values.Connections != nil {
		w.connections = *values.Connections
	}
	if values.Share != "" {
		w.share = limited("mesh share " + w.database)
	}
	refuse := func(format string, args ...any) (wish, error) {
		return wish{}, &provision.Failure{Class: provision.Refused, Err: fmt.Errorf(format, args...)}
	}
	for _, name := range []string{w.Login, w.database} {
		if !plainName(name) {
			return refuse("%q cannot be a name here: 1 to %d bytes without a zero byte", name, maxName)
		}
	}
	if slices.Contains([]string{"postgres", "template0", "template1", a.options.Database}, w.database) {
		return refuse("the database %q is the server's own", w.database)
	}
	for _, e := range w.extensions {
		if !slices.Contains(a.options.Extensions, e) {
			return refuse("the extension %q is not among those that this server offers", e)
		}
	}
	if w.connections < -1 {
		return refuse("%d is no number of connections", w.connections)
	}
	return w, nil
}

func plainName(s string) bool {
	return s != "" && len(s) <= maxName && !slices.Contains([]byte(s), 0)
}

func unmarshal(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, into)
}

// role is what the server says of one of our logins.
type role struct {
	login       bool
	connections int
	verifier    string
}

// base is what the server says of a database.
type base struct {
	owner string
	open  bool // PUBLIC may do something in it
}

// Observe implements provision.Adapter: one round trip for everybody, and then a look into
// a few databases.
func (a *Adapter) Observe(ctx context.Context, want []provision.Consumer) (provision.Observed, error) {
	conn, err := a.admin(ctx)
	if err != nil {
		return provision.Observed{}, err
	}
	roles, bases, acting, err := a.survey(ctx, conn)
	if err != nil {
		return provision.Observed{}, classed(err)
	}
	out := provision.Observed{Held: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		if roles[name].login {
			out.Marked = append(out.Marked, name)
		}
	}
	var held []wish
	for _, c := range want {
		w, err := a.wish(c)
		if err != nil {
			continue // refused, which its creation will say
		}
		r, b := roles[w.Login], bases[w.database]
		if r == nil || !r.login || r.connections != w.connections || !verifies(r.verifier, c.Secret) {
			continue
		}
		if b == nil || b.owner != w.owner() || b.open || acting[w.Login+"\x00"+w.database] != w.share {
			continue
		}
		out.Held[w.Login] = true
		held = append(held, w)
	}
	for range min(insides, len(held)) {
		a.turn = (a.turn + 1) % len(held)
		w := held[a.turn]
		// That a database cannot be entered just now is no evidence of anything.
		if is, err := a.inside(ctx, w); err == nil && !is.holds(w) {
			delete(out.Held, w.Login)
		}
	}
	return out, nil
}

// survey reads our roles, all databases, and as which group a login acts in which database.
func (a *Adapter) survey(ctx context.Context, conn *pgx.Conn) (map[string]*role, map[string]*base, map[string]string, error) {
	roles, bases, acting := map[string]*role{}, map[string]*base{}, map[string]string{}
	b := &pgx.Batch{}
	b.Queue(`SELECT m.rolname, m.rolcanlogin, m.rolconnlimit, coalesce(m.rolpassword, '')
		FROM pg_auth_members a JOIN pg_authid m ON m.oid = a.member JOIN pg_authid g ON g.oid = a.roleid
		WHERE g.rolname = $1`, a.mark).Query(func(rows pgx.Rows) error {
		var name string
		var r role
		_, err := pgx.ForEachRow(rows, []any{&name, &r.login, &r.connections, &r.verifier}, func() error {
			copied := r
			roles[name] = &copied
			return nil
		})
		return err
	})
	b.Queue(`SELECT d.datname, o.rolname, d.datacl IS NULL OR EXISTS (SELECT FROM aclexplode(d.datacl) x WHERE x.grantee = 0)
		FROM pg_database d JOIN pg_authid o ON o.oid = d.datdba`).Query(func(rows pgx.Rows) error {
		var name string
		var d base
		_, err := pgx.ForEachRow(rows, []any{&name, &d.owner, &d.open}, func() error {
			copied := d
			bases[name] = &copied
			return nil
		})
		return err
	})
	b.Queue(`SELECT r.rolname, d.datname, substr(c.value, 6) FROM pg_db_role_setting s
		JOIN pg_authid r ON r.oid = s.setrole JOIN pg_database d ON d.oid = s.setdatabase, unnest(s.setconfig) AS c(value)
		WHERE c.value LIKE 'role=%'`).Query(func(rows pgx.Rows) error {
		var login, database, group string
		_, err := pgx.ForEachRow(rows, []any{&login, &database, &group}, func() error {
			acting[login+"\x00"+database] = group
			return nil
		})
		return err
	})
	return roles, bases, acting, conn.SendBatch(ctx, b).Close()
}

// Close implements provision.Adapter.
func (a *Adapter) Close() {
	if a.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = a.conn.Close(ctx)
		a.conn = nil
	}
}
