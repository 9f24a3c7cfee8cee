package settle

import (
	"fmt"
	"strings"
	"testing"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
)

// asking is a demand of logins.
func asking(pairs ...string) Demand {
	d := want()
	for i, s := range pairs {
		p := pairOf(s)
		d.Logins = append(d.Logins, Login{p, at(200 + i)})
		d = d.running(p.Consumer.Instance).running(p.Provider)
	}
	return d
}

func logins(m map[string]string) *lock.Lock {
	l := lock.New()
	for k, v := range m {
		l.Logins[pairOf(k)] = v
	}
	return l
}

// one is the login that a single consumer has.
func one(t *testing.T, pair string) string {
	t.Helper()
	s, _ := accept(t, asking(pair), nil, History{})
	login := s.Logins[pairOf(pair)]
	if !lock.IsLogin(login) || isReservedLogin(login) {
		t.Errorf("%s has the login %q", pair, login)
	}
	return login
}

// CON-7: a login is made of instance, label and node, and fits every server.
// O13: it is lower case. O14: it needs no quotes, whatever the consumer is called.
func TestLogins(t *testing.T) {
	for pair, want := range map[string]string{
		"postgres@anchor database gitea@board":           "gitea_board",
		"postgres@anchor database gitea@board reporting": "gitea_reporting_board",
		"postgres@anchor database my-app@my-node":        "my_app_my_node",
		"postgres@anchor database 1st@board":             "app_1st_board",
		"postgres@anchor database select@board":          "select_board",
		"postgres@anchor database pg@board":              "app_pg_board",
		"postgres@anchor database current@user":          "app_current_user",
		"postgres@anchor database session-user@x":        "session_user_x",
		"postgres@anchor database pg-read@all-data":      "app_pg_read_all_data",
	} {
		if got := one(t, pair); got != want {
			t.Errorf("%s has %s, wanted %s", pair, got, want)
		}
	}
}

// O12: 63 bytes are kept as they are, 64 are cut and told apart by a digest of the whole.
func TestLongLogins(t *testing.T) {
	name := func(n int) string {
		return "postgres@anchor database " + strings.Repeat("a", n-len("_board")) + "@board"
	}
	if got := one(t, name(63)); got != strings.Repeat("a", 57)+"_board" {
		t.Errorf("63 bytes became %s", got)
	}
	long := strings.Repeat("n", 63)
	first := one(t, "p@q database "+strings.Repeat("a", 63)+"@"+long+" "+long)
	second := one(t, "p@q database "+strings.Repeat("a", 63)+"@"+strings.Repeat("n", 62)+"m "+long)
	if len(first) != 63 || len(second) != 63 || first == second || !strings.HasPrefix(first, strings.Repeat("a", 54)+"_") {
		t.Errorf("%s and %s", first, second)
	}
}

// CON-7: two consumers never share a login, for any names; who came first keeps the plain one.
func TestLoginsThatWouldBeTheSame(t *testing.T) {
	a, b, c := "postgres@anchor database a-b@c", "postgres@anchor database a@b-c", "postgres@anchor database a@c b"
	d := asking(a, b, c)
	s, _ := accept(t, d, nil, History{})
	got := map[string]bool{}
	for p, login := range s.Logins {
		got[login] = true
		if !strings.HasPrefix(login, "a_b_c") || !lock.IsLogin(login) {
			t.Errorf("%s has %s", p, login)
		}
	}
	if len(got) != 3 {
		t.Errorf("got %v", s.Logins)
	}
	// T44: another provider is another world, be it on the same machine; but not where both answer one
	// provision there, nor where one answers two.
	for other, same := range map[string]bool{
		"redis@anchor cache a@b-c":      true,
		"postgres@cabin database a@b-c": true,
		"mariadb@anchor database a@b-c": false,
		"postgres@anchor replica a@b-c": false,
		"postgres@cabin database a-b@c": true, // the same consumer
		"mariadb@anchor database a-b@c": true,
	} {
		s, _ := accept(t, asking(a, other), nil, History{})
		if (s.Logins[pairOf(a)] == s.Logins[pairOf(other)]) != same {
			t.Errorf("%s: got %v", other, s.Logins)
		}
	}
	for _, first := range []string{a, b, c} {
		_, lk := accept(t, asking(first), nil, History{})
		s, _ := accept(t, d, lk, History{})
		if got := s.Logins[pairOf(first)]; got != "a_b_c" {
			t.Errorf("%s came first and has %s", first, got)
		}
	}
}

// CON-7: a digest that is taken too is no login of two.
func TestLoginsWithTheSameDigest(t *testing.T) {
	pair := pairOf("postgres@anchor database a@b-c")
	k := requirement{pair.Consumer, pair.Provision}
	lk := logins(map[string]string{
		"postgres@anchor database x@y": loginFor(k, 0),
		"postgres@anchor database y@y": loginFor(k, 1),
		"postgres@anchor database z@y": loginFor(k, 2),
	})
	d := asking("postgres@anchor database a@b-c")
	s, _ := accept(t, d, lk, History{})
	if got := s.Logins[pair]; got != loginFor(k, 3) {
		t.Errorf("got %s", got)
	}
}

// CON-7: neither another consumer nor another provider changes a login; CON-8: who returns has what it had.
func TestLoginsAreKept(t *testing.T) {
	pair := "postgres@anchor database gitea@board"
	lk := logins(map[string]string{pair: "whatever_it_was"})
	d := asking(pair, "postgres@anchor database whatever-it@was")
	s, lk := accept(t, d, lk, History{})
	if s.Logins[pairOf(pair)] != "whatever_it_was" || s.Logins[d.Logins[1].Pair] == "whatever_it_was" {
		t.Errorf("got %v", s.Logins)
	}
	// Its data may come along to another provider, and names its owner.
	s, lk = accept(t, asking("postgres@cabin database gitea@board"), lk, History{})
	if s.Logins[pairOf("postgres@cabin database gitea@board")] != "whatever_it_was" {
		t.Errorf("got %v", s.Logins)
	}
	s, _ = accept(t, d, lk, History{})
	if s.Logins[pairOf(pair)] != "whatever_it_was" {
		t.Errorf("got %v", s.Logins)
	}
}

// CON-7: a login of which two came by a merge is refused; `lock` gives one of them another.
func TestLoginShared(t *testing.T) {
	a, b := "postgres@anchor database a@b-c", "postgres@anchor database a-b@c"
	lk, _ := lock.Read(lock.File, logins(map[string]string{a: "a_b_c", b: "a_b_c"}).Bytes())
	d := asking(a, b)
	f := refuse(t, d, lk, History{}, diag.LoginShared, a, b, "both hold the login a_b_c")
	if f.Help != "meshc lock" || f.At.File != lock.File || f.At.Line == 0 || f.Also[0].At.Line == 0 {
		t.Errorf("got %+v", f)
	}
	s, _ := relocked(t, d, lk, History{})
	if s.Logins[pairOf(a)] != "a_b_c" || s.Logins[pairOf(b)] == "a_b_c" {
		t.Errorf("the smaller name moved: %v", s.Logins)
	}
	s, _ = relocked(t, d, lk, History{FirstParent: logins(map[string]string{b: "a_b_c"})})
	if s.Logins[pairOf(b)] != "a_b_c" || s.Logins[pairOf(a)] == "a_b_c" {
		t.Errorf("the first parent's moved: %v", s.Logins)
	}
}

// CON-7: a reserved name that came into the lock by hand is refused.
func TestLoginReserved(t *testing.T) {
	pair := "postgres@anchor database gitea@board"
	for _, login := range []string{"postgres", "root", "admin", "default", "pg_monitor", "pg_", "select", "current_user", "public", "none"} {
		lk := logins(map[string]string{pair: login})
		refuse(t, asking(pair), lk, History{}, diag.LoginReserved, fmt.Sprintf("%q", login), pair)
		s, _ := relocked(t, asking(pair), lk, History{})
		if s.Logins[pairOf(pair)] != "gitea_board" {
			t.Errorf("got %v", s.Logins)
		}
	}
	for _, login := range []string{"postgres_1", "pgx", "gitea", "selects"} {
		accept(t, asking(pair), logins(map[string]string{pair: login}), History{})
	}
}

// CON-7: a login that was pruned is nobody else's in the same step.
func TestLoginGivenUp(t *testing.T) {
	lk := logins(map[string]string{"postgres@anchor database a@b-c": "a_b_c"})
	d := asking("postgres@anchor database a-b@c")
	d.Mode = Mode{Step: Relock, Prune: true}
	s, out, faults := Settle(d, lk, History{Head: lk})
	if len(faults) > 0 || len(out.Logins) != 1 || s.Logins[d.Logins[0].Pair] == "a_b_c" {
		t.Errorf("got %v, %v", s.Logins, faults)
	}
	if s, _ := accept(t, d, lock.New(), History{Head: lk}); s.Logins[d.Logins[0].Pair] == "a_b_c" {
		t.Errorf("got %v", s.Logins)
	}
}

// CON-7: whatever names there are, no two consumers share a login, and all of them fit.
func FuzzLogins(f *testing.F) {
	f.Add("a-b", "c", "", "a", "b-c", "")
	f.Add("a", "c", "b", "a-b", "c", "")
	f.Add("pg", "x", "", "app-pg", "x", "")
	f.Add("1st", "x", "", "app-1st", "x", "")
	f.Add(strings.Repeat("a", 63), "x", "", strings.Repeat("a", 63), "y", "")
	f.Fuzz(func(t *testing.T, i1, n1, l1, i2, n2, l2 string) {
		p := addr.Instance{Name: "postgres", Node: "anchor"}
		of := func(i, n, l string) (addr.Pair, bool) {
			if l == "" {
				l = "database"
			}
			ok := addr.IsName(i) && addr.IsName(n) && addr.IsName(l)
			return addr.Pair{Provider: p, Provision: "database", Consumer: addr.Consumer{Instance: addr.Instance{Name: i, Node: addr.Node(n)}, Label: l}}, ok
		}
		a, ok1 := of(i1, n1, l1)
		b, ok2 := of(i2, n2, l2)
		if !ok1 || !ok2 || a == b {
			t.Skip()
		}
		d := want()
		d.Logins = []Login{{Pair: a}, {Pair: b}}
		s, _ := accept(t, d, nil, History{})
		if s.Logins[a] == s.Logins[b] {
			t.Fatalf("%s and %s share %s", a, b, s.Logins[a])
		}
		for _, login := range s.Logins {
			if !lock.IsLogin(login) || isReservedLogin(login) || login[0] >= '0' && login[0] <= '9' {
				t.Fatalf("%q", login)
			}
		}
	})
}
