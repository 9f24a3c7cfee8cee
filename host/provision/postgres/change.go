package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"meshc.dev/host/provision"
)

// Create implements provision.Adapter. Roles come in one transaction; a database cannot be
// made in one, and what is in it is made from inside.
func (a *Adapter) Create(ctx context.Context, c provision.Consumer) error {
	w, err := a.wish(c)
	if err != nil {
		return err
	}
	conn, err := a.admin(ctx)
	if err != nil {
		return err
	}
	// What is refused leaves nothing behind.
	of, err := a.holder(ctx, conn, w)
	if err != nil {
		return classed(err)
	}
	if err := a.roles(ctx, conn, w); err != nil {
		return classed(err)
	}
	if err := a.database(ctx, conn, w, of); err != nil {
		return classed(err)
	}
	return classed(a.furnish(ctx, w))
}

// roles makes the mark, the login, and the group that a shared database belongs to.
func (a *Adapter) roles(ctx context.Context, conn *pgx.Conn, w wish) error {
	verifier, err := verifierOf(w.Secret)
	if err != nil {
		return &provision.Failure{Class: provision.Refused, Err: err}
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if there, _, err := a.known(ctx, tx, a.mark); err != nil {
			return err
		} else if !there {
			if err := do(ctx, tx, "CREATE ROLE "+name(a.mark)+" NOLOGIN"); err != nil {
				return err
			}
		}
		if w.share != "" {
			if err := a.marked(ctx, tx, w.share, "NOLOGIN"); err != nil {
				return err
			}
		}
		err := a.marked(ctx, tx, w.Login, "LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS INHERIT CONNECTION LIMIT "+
			strconv.Itoa(w.connections)+" PASSWORD "+literal(verifier)+" VALID UNTIL 'infinity'")
		if err == nil && w.share != "" {
			err = do(ctx, tx, "GRANT "+name(w.share)+" TO "+name(w.Login))
		}
		return err
	})
}

// marked makes or alters a role of ours.
func (a *Adapter) marked(ctx context.Context, tx pgx.Tx, role, options string) error {
	there, ours, err := a.known(ctx, tx, role)
	switch {
	case err != nil:
		return err
	case there && !ours:
		return refused("the role %q is there already, and the mesh did not make it", role)
	case there:
		return do(ctx, tx, "ALTER ROLE "+name(role)+" "+options)
	}
	return do(ctx, tx, "CREATE ROLE "+name(role)+" "+options, "GRANT "+name(a.mark)+" TO "+name(role))
}

// known says whether a role is there, and whether it is one of ours.
func (a *Adapter) known(ctx context.Context, q querier, role string) (there, ours bool, err error) {
	err = q.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_auth_members m JOIN pg_authid g ON g.oid = m.roleid WHERE m.member = r.oid AND g.rolname = $2)
		FROM pg_authid r WHERE r.rolname = $1`, role, a.mark).Scan(&ours)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, false, nil
	}
	return err == nil, ours, err
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// holder says to whom the database belongs that is asked for; to nobody where it is not
// there. One of somebody else's is refused.
func (a *Adapter) holder(ctx context.Context, conn *pgx.Conn, w wish) (string, error) {
	var of string
	err := conn.QueryRow(ctx, `SELECT o.rolname FROM pg_database d JOIN pg_authid o ON o.oid = d.datdba WHERE d.datname = $1`, w.database).Scan(&of)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", nil
	case err == nil && of != w.owner() && of != w.Login:
		err = refused("the database %q is there already, and belongs to %q", w.database, of)
	}
	return of, err
}

func (a *Adapter) database(ctx context.Context, conn *pgx.Conn, w wish, of string) error {
	var err error
	switch of {
	case "":
		err = do(ctx, conn, "CREATE DATABASE "+name(w.database)+" OWNER "+name(w.owner()))
	case w.owner():
	default:
		// It had the database alone, and shares it from now on.
		err = a.hand(ctx, w)
	}
	if err != nil {
		return err
	}
	statements := []string{"REVOKE ALL ON DATABASE " + name(w.database) + " FROM PUBLIC"}
	in := "ALTER ROLE " + name(w.Login) + " IN DATABASE " + name(w.database)
	if w.share != "" {
		statements = append(statements, in+" SET role = "+literal(w.share))
	} else {
		statements = append(statements, in+" RESET role")
	}
	return do(ctx, conn, statements...)
}

// hand gives a database and all that its owner has in it to the group.
func (a *Adapter) hand(ctx context.Context, w wish) error {
	return a.enter(ctx, w.database, func(conn *pgx.Conn) error {
		return do(ctx, conn,
			"REASSIGN OWNED BY "+name(w.Login)+" TO "+name(w.share),
			"ALTER DATABASE "+name(w.database)+" OWNER TO "+name(w.share),
		)
	})
}

// interior is what lies in a database.
type interior struct {
	public     string // who owns the schema public; empty where there is none
	open       bool   // everybody may make things in it
	extensions []string
}

// owner of the schema public: whoever owns the database (PostgreSQL 14 and newer).
const owner = "pg_database_owner"

func (i interior) holds(w wish) bool {
	if i.public != "" && (i.public != owner || i.open) {
		return false
	}
	return !slices.ContainsFunc(w.extensions, func(e string) bool { return !slices.Contains(i.extensions, e) })
}

func (a *Adapter) inside(ctx context.Context, w wish) (interior, error) {
	var i interior
	err := a.enter(ctx, w.database, func(conn *pgx.Conn) error { return look(ctx, conn, &i) })
	return i, err
}

func look(ctx context.Context, conn *pgx.Conn, i *interior) error {
	return conn.QueryRow(ctx, `SELECT coalesce((SELECT o.rolname FROM pg_namespace n JOIN pg_roles o ON o.oid = n.nspowner WHERE n.nspname = 'public'), ''),
		EXISTS (SELECT FROM pg_namespace n, aclexplode(n.nspacl) x WHERE n.nspname = 'public' AND x.grantee = 0 AND x.privilege_type = 'CREATE'),
		ARRAY(SELECT extname::text FROM pg_extension)`).Scan(&i.public, &i.open, &i.extensions)
}

// furnish makes what lies in a database.
func (a *Adapter) furnish(ctx context.Context, w wish) error {
	return a.enter(ctx, w.database, func(conn *pgx.Conn) error {
		var i interior
		if err := look(ctx, conn, &i); err != nil {
			return err
		}
		var statements []string
		if i.public != "" && i.public != owner {
			statements = append(statements, "ALTER SCHEMA public OWNER TO "+owner)
		}
		if i.open {
			statements = append(statements, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
		}
		for _, e := range w.extensions {
			if slices.Contains(i.extensions, e) {
				continue
			}
			in := ""
			if i.public != "" {
				in = " SCHEMA public"
			}
			statements = append(statements, "CREATE EXTENSION IF NOT EXISTS "+name(e)+in)
		}
		return do(ctx, conn, statements...)
	})
}

// Remove implements provision.Adapter. The role stays, since it owns what it made.
func (a *Adapter) Remove(ctx context.Context, login string) error {
	conn, err := a.admin(ctx)
	if err != nil {
		return err
	}
	if _, ours, err := a.known(ctx, conn, login); err != nil || !ours {
		return classed(err)
	}
	if err := do(ctx, conn, "ALTER ROLE "+name(login)+" NOLOGIN PASSWORD NULL"); err != nil {
		return classed(err)
	}
	_, err = conn.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1`, login)
	return classed(err)
}

func refused(format string, args ...any) error {
	return &provision.Failure{Class: provision.Refused, Err: fmt.Errorf(format, args...)}
}
