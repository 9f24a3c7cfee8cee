// Package provisiontest is the suite that every adapter of package provision passes, each
// against a real server that the test starts itself. What is checked is checked in the
// server, by logging in, and never in our own report.
package provisiontest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"meshc.dev/host/provision"
	"meshc.dev/render/seal"
)

// Server is a running server of one kind, as a test sees it.
type Server interface {
	// Adapter is a new one for a provider of this server.
	Adapter(t *testing.T, provider string) provision.Adapter
	// Login says whether somebody can log in so, and use what he asked for.
	Login(login, password, thing string) error
	// Foreign makes a login that is not ours, with a password of its own.
	Foreign(t *testing.T, login, password string)
	// Put leaves something in what belongs to a login, and Has looks for it there.
	Put(t *testing.T, login, password, thing string)
	Has(t *testing.T, login, password, thing string) bool
	// Forget takes a login away behind our back, as a server does that restarts without it.
	Forget(t *testing.T, login string)
	// Changes counts the statements that changed something since the server was started.
	Changes(t *testing.T) int
	// Stop and Start are the server's.
	Stop(t *testing.T)
	Start(t *testing.T)
	// Log is all that the server wrote of what it was asked.
	Log(t *testing.T) string
}

// Consumer is one that asks for a thing, as the mesh lists it; thing is the name of a
// database, or a prefix of keys.
func Consumer(login, password, thing string) provision.Consumer {
	derived, _ := json.Marshal(map[string]string{"database": thing, "prefix": thing + ":", "user": login})
	entry, _ := json.Marshal(map[string]any{"as": login, "derived": json.RawMessage(derived)})
	return provision.Consumer{
		Login: login, Instance: "forge", Node: "board", Label: "x", Values: json.RawMessage("{}"), Derived: derived, Entry: entry,
		Secret: seal.NewSecret([]byte(password)),
	}
}

// Names are logins that a mesh can come to, and things of the same names.
var Names = []string{
	"gitea_board", "a", "1st", "select", "user", "table", strings.Repeat("n", 63), "x_" + strings.Repeat("0", 61), "all", "replication", "sameuser",
}

// Hostile are names that no mesh makes: they arrive as they are, or are refused, and do nothing else.
var Hostile = []string{
	`a"b`, `a'b`, `a;drop role postgres`, "a\nb", `a\b`, "a b", "ä", `%s`, "$1", "x\x00y", strings.Repeat("é", 40), "a' OR '1'='1", "~*", ">x", "+@all",
}

// Run is the suite.
func Run(t *testing.T, start func(t *testing.T) Server) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	s := start(t)
	a := s.Adapter(t, "server@anchor")
	t.Cleanup(a.Close)

	create := func(t *testing.T, c provision.Consumer) {
		t.Helper()
		if err := a.Create(ctx, c); err != nil {
			t.Fatalf("create %s: %v", c.Login, err)
		}
	}
	observe := func(t *testing.T, a provision.Adapter, c ...provision.Consumer) provision.Observed {
		t.Helper()
		o, err := a.Observe(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	can := func(t *testing.T, login, password, thing string, want bool) {
		t.Helper()
		if err := s.Login(login, password, thing); (err == nil) != want {
			t.Errorf("log in as %s to %s: %v, want %v", login, thing, err, want)
		}
	}

	t.Run("create, hold, change, remove, return", func(t *testing.T) {
		c := Consumer("gitea_board", "first", "gitea")
		if o := observe(t, a, c); o.Held[c.Login] || len(o.Marked) > 0 {
			t.Fatalf("before it was made: %v", o)
		}
		create(t, c)
		if o := observe(t, a, c); !o.Held[c.Login] || !slices.Equal(o.Marked, []string{c.Login}) {
			t.Fatalf("after it was made: %v", o)
		}
		can(t, c.Login, "first", "gitea", true)
		can(t, c.Login, "second", "gitea", false)
		s.Put(t, c.Login, "first", "gitea")

		// PRV-16: asking changes nothing.
		before := s.Changes(t)
		for range 5 {
			observe(t, a, c)
		}
		if n := s.Changes(t) - before; n != 0 {
			t.Errorf("asking changed the server %d times:\n%s", n, s.Log(t))
		}

		// PRV-5, PRV-20: another credential, and the old one is worth nothing.
		c2 := Consumer("gitea_board", "second", "gitea")
		if o := observe(t, a, c2); o.Held[c.Login] {
			t.Error("the server is said to hold a credential that it does not have")
		}
		create(t, c2)
		can(t, c.Login, "second", "gitea", true)
		can(t, c.Login, "first", "gitea", false)
		if !s.Has(t, c.Login, "second", "gitea") {
			t.Error("the data went with the credential")
		}

		// PRV-14: gone, and back with what it had.
		for range 2 {
			if err := a.Remove(ctx, c.Login); err != nil {
				t.Fatal(err)
			}
			can(t, c.Login, "second", "gitea", false)
		}
		if o := observe(t, a); len(o.Marked) > 0 {
			t.Errorf("withdrawn, and still to be withdrawn: %v", o.Marked)
		}
		if o := observe(t, a, c2); o.Held[c.Login] {
			t.Error("withdrawn, and held")
		}
		create(t, Consumer("gitea_board", "third", "gitea"))
		can(t, c.Login, "third", "gitea", true)
		can(t, c.Login, "second", "gitea", false)
		if !s.Has(t, c.Login, "third", "gitea") {
			t.Error("it came back, and its data is not there")
		}
	})

	t.Run("what is lost is seen", func(t *testing.T) {
		c := Consumer("lost_board", "pw", "lost")
		create(t, c)
		s.Forget(t, c.Login)
		if o := observe(t, a, c); o.Held[c.Login] {
			t.Fatal("it is said to be held")
		}
		create(t, c)
		can(t, c.Login, "pw", "lost", true)
	})

	t.Run("nobody enters what is somebody else's", func(t *testing.T) {
		create(t, Consumer("one_board", "pw1", "one"))
		create(t, Consumer("two_board", "pw2", "two"))
		can(t, "one_board", "pw1", "one", true)
		can(t, "one_board", "pw1", "two", false)
		can(t, "two_board", "pw2", "one", false)
	})

	t.Run("what we did not make is left alone", func(t *testing.T) {
		s.Foreign(t, "theirs", "their own")
		var f *provision.Failure
		if err := a.Create(ctx, Consumer("theirs", "ours", "theirs")); !errors.As(err, &f) || f.Class != provision.Refused {
			t.Errorf("create: %v, want a refusal", err)
		}
		if err := a.Remove(ctx, "theirs"); err != nil {
			t.Errorf("remove: %v", err)
		}
		if o := observe(t, a); slices.Contains(o.Marked, "theirs") {
			t.Error("it is said to be ours")
		}
		can(t, "theirs", "their own", "", true)
		if err := a.Remove(ctx, "nobody of this name"); err != nil {
			t.Errorf("what is not there cannot be removed: %v", err)
		}
	})

	t.Run("two providers on one server", func(t *testing.T) {
		b := s.Adapter(t, "other@anchor")
		defer b.Close()
		c := Consumer("other_board", "pw", "other")
		if err := b.Create(ctx, c); err != nil {
			t.Fatal(err)
		}
		if o := observe(t, a); slices.Contains(o.Marked, c.Login) {
			t.Error("one provider takes the other's login for its own")
		}
		if err := a.Remove(ctx, c.Login); err != nil {
			t.Error(err)
		}
		can(t, c.Login, "pw", "other", true)
		if err := a.Create(ctx, c); err == nil {
			t.Error("one provider takes the other's login over")
		}
	})

	t.Run("names", func(t *testing.T) {
		for _, name := range Names {
			c := Consumer(name, "pw-"+name, "d_"+name[:min(len(name), 60)])
			create(t, c)
			if o := observe(t, a, c); !o.Held[name] {
				t.Errorf("%s is not held after it was made", name)
			}
			can(t, name, "pw-"+name, "d_"+name[:min(len(name), 60)], true)
			if err := a.Remove(ctx, name); err != nil {
				t.Errorf("remove %s: %v", name, err)
			}
			can(t, name, "pw-"+name, "d_"+name[:min(len(name), 60)], false)
		}
	})

	t.Run("hostile names", func(t *testing.T) {
		before := observe(t, a).Marked
		for _, name := range Hostile {
			for _, c := range []provision.Consumer{Consumer(name, "pw", "hostile"), Consumer("hostile_board", "pw", name)} {
				if err := a.Create(ctx, c); err != nil {
					if o := observe(t, a, c); !slices.Equal(before, o.Marked) {
						t.Errorf("%q and %s were refused (%v), and something is left of them: %v", c.Login, c.Derived, err, o.Marked)
					}
					continue
				}
				if o := observe(t, a, c); !o.Held[c.Login] {
					t.Errorf("%q and %s were taken, and are not held", c.Login, c.Derived)
				}
				if err := a.Remove(ctx, c.Login); err != nil {
					t.Errorf("remove %q: %v", c.Login, err)
				}
			}
		}
		if after := observe(t, a).Marked; !slices.Equal(before, after) {
			t.Errorf("before %v, after %v", before, after)
		}
		can(t, "one_board", "pw1", "one", true)
		can(t, "theirs", "their own", "", true)
	})

	t.Run("the server stops and comes back", func(t *testing.T) {
		c := Consumer("one_board", "pw1", "one")
		s.Stop(t)
		var f *provision.Failure
		if _, err := a.Observe(ctx, []provision.Consumer{c}); !errors.As(err, &f) || f.Class != provision.Unreachable {
			t.Errorf("asking: %v, want that it is unreachable", err)
		}
		if err := a.Create(ctx, c); !errors.As(err, &f) || f.Class != provision.Unreachable {
			t.Errorf("create: %v, want that it is unreachable", err)
		}
		s.Start(t)
		if o := observe(t, a, c); !o.Held[c.Login] {
			t.Error("it is not held after a restart")
		}
		can(t, "one_board", "pw1", "one", true)
	})

	t.Run("no credential in what the server wrote", func(t *testing.T) {
		create(t, Consumer("canary_board", "pa55-canary-word", "canary"))
		if strings.Contains(s.Log(t), "pa55-canary-word") {
			t.Error("the password stands in the server's log")
		}
	})
}
