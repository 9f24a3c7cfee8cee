package postgres

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"meshc.dev/host/provision"
)

// idle is after how long a connection that is used again is tried first.
const idle = time.Second

// admin is the administrator's session, one for the whole of a loop's life.
func (a *Adapter) admin(ctx context.Context) (*pgx.Conn, error) {
	if a.conn != nil && !a.conn.IsClosed() && time.Since(a.used) > idle {
		if err := a.conn.Ping(ctx); err != nil {
			a.Close()
		}
	}
	if a.conn == nil || a.conn.IsClosed() {
		conn, err := a.connect(ctx, a.options.Database)
		if err != nil {
			return nil, classed(err)
		}
		a.conn = conn
	}
	a.used = time.Now()
	return a.conn, nil
}

// enter does something inside a database, with a session of its own that ends with it.
func (a *Adapter) enter(ctx context.Context, database string, f func(*pgx.Conn) error) error {
	conn, err := a.connect(ctx, database)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	return f(conn)
}

func (a *Adapter) connect(ctx context.Context, database string) (*pgx.Conn, error) {
	// Everything is said here, so that nothing of it comes from the environment (PRV-15).
	c, err := pgx.ParseConfig("host=/nowhere sslmode=disable passfile=/nonexistent")
	if err != nil {
		return nil, err
	}
	c.Host, c.Port = a.server.Address, 5432
	if c.Host == "" {
		c.Host = "/run/postgresql"
	}
	if !a.server.Socket() && a.server.Address != "" {
		host, port, err := net.SplitHostPort(a.server.Address)
		if err != nil {
			return nil, err
		}
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return nil, err
		}
		c.Host, c.Port = host, uint16(n)
	}
	if a.server.Port != 0 {
		c.Port = uint16(a.server.Port)
	}
	secret, err := a.server.Credential()
	if err != nil {
		return nil, err
	}
	if !secret.IsZero() {
		secret.Use(func(b []byte) { c.Password = string(b) })
		secret.Wipe()
	}
	c.User, c.Database, c.Fallbacks, c.TLSConfig = a.server.User, database, nil, nil
	c.RuntimeParams = map[string]string{
		"application_name": "mesh-host",
		// What a consumer may have put into a schema of its database must not be called by us.
		"search_path": "pg_catalog",
	}
	// Statements are few and each is another: what is prepared would only be in the way.
	c.DefaultQueryExecMode = pgx.QueryExecModeExec
	return pgx.ConnectConfig(ctx, c)
}

// do sends statements one after the other.
func do(ctx context.Context, on interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}, statements ...string,
) error {
	for _, s := range statements {
		if _, err := on.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// classed gives a server's error its class.
func classed(err error) error {
	var known *provision.Failure
	if err == nil || errors.As(err, &known) {
		return err
	}
	var said *pgconn.PgError
	var connecting *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.As(err, &said) && (strings.HasPrefix(said.Code, "28") || said.Code == "42501"):
		return &provision.Failure{Class: provision.Rejected, Err: err}
	case errors.As(err, &said) && (strings.HasPrefix(said.Code, "57P0") || said.Code == "53300"): // shut down, starting, out of connections
		return &provision.Failure{Class: provision.Unreachable, Err: err}
	case errors.As(err, &said):
		return err
	case errors.As(err, &connecting), errors.As(err, &network), errors.Is(err, context.DeadlineExceeded), pgconn.SafeToRetry(err):
		return &provision.Failure{Class: provision.Unreachable, Err: err}
	}
	return err
}
