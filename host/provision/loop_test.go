package provision

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"meshc.dev/render/seal"
)

// clock is one that stands still until it is told to go.
type clock struct {
	wall    time.Time
	elapsed time.Duration
}

func (c *clock) Now() time.Time         { return c.wall }
func (c *clock) Elapsed() time.Duration { return c.elapsed }
func (c *clock) pass(d time.Duration)   { c.wall, c.elapsed = c.wall.Add(d), c.elapsed+d }

// memoryServer is a server that is a map, with everything that can go wrong.
type memoryServer struct {
	logins map[string]string // ours, with password and what was asked for
	foreign,
	deaf map[string]bool // creation succeeds, and nothing is held
	down    error
	refuse  map[string]error
	calls   []string
	observe int
}

func (s *memoryServer) Observe(_ context.Context, want []Consumer) (Observed, error) {
	s.observe++
	if s.down != nil {
		return Observed{}, s.down
	}
	o := Observed{Held: map[string]bool{}}
	for login := range s.logins {
		o.Marked = append(o.Marked, login)
	}
	for _, c := range want {
		o.Held[c.Login] = s.logins[c.Login] == of(c)
	}
	return o, nil
}

func of(c Consumer) string {
	out := ""
	c.Secret.Use(func(b []byte) { out = string(b) + " " + string(c.Entry) })
	return out
}

func (s *memoryServer) Create(_ context.Context, c Consumer) error {
	s.calls = append(s.calls, "create "+c.Login)
	switch {
	case s.down != nil:
		return s.down
	case s.refuse[c.Login] != nil:
		return s.refuse[c.Login]
	case s.foreign[c.Login]:
		return &Failure{Refused, errors.New("somebody else has it")}
	case !s.deaf[c.Login]:
		s.logins[c.Login] = of(c)
	}
	return nil
}

func (s *memoryServer) Remove(_ context.Context, login string) error {
	s.calls = append(s.calls, "remove "+login)
	if s.down != nil {
		return s.down
	}
	if err := s.refuse[login]; err != nil {
		return err
	}
	delete(s.logins, login)
	return nil
}

func (s *memoryServer) Close() {}

// bench is a loop on a server that is a map, with its files.
type bench struct {
	t    *testing.T
	dir  string
	loop *Loop
	*clock
	*memoryServer
	log       bytes.Buffer
	announced []Announcement
}

func newBench(t *testing.T) *bench {
	b := &bench{
		t: t, dir: t.TempDir(),
		clock:        &clock{wall: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)},
		memoryServer: &memoryServer{logins: map[string]string{}, foreign: map[string]bool{}, deaf: map[string]bool{}, refuse: map[string]error{}},
	}
	b.restart()
	return b
}

// restart begins a new run of the loop on the same server.
func (b *bench) restart() {
	b.loop = &Loop{
		Options: Options{
			Kind: "postgres", Receives: filepath.Join(b.dir, "consumers.json"), Provision: "database", Provider: "postgres@anchor",
			Interval: 5 * time.Second, Recheck: time.Minute, Limit: 30 * time.Second,
		},
		Adapter: b.memoryServer, Clock: b.clock, Log: slog.New(slog.NewTextHandler(&b.log, nil)),
		Announce: func(a Announcement) { b.announced = append(b.announced, a) },
	}
}

func (b *bench) write(name, content string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(content), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// list writes the list of consumers, each with a credential in a file of its name.
func (b *bench) list(logins ...string) {
	b.t.Helper()
	var entries []string
	for _, l := range logins {
		entries = append(entries, fmt.Sprintf(`{"as": %q, "instance": %q, "node": "board", "label": "database", "secret": %q, "values": {}, "derived": {"database": %q}}`,
			l, l, filepath.Join(b.dir, l), l))
	}
	b.write("consumers.json", `{"requirement": "database", "provider": "postgres@anchor", "given": [`+strings.Join(entries, ",")+`]}`)
}

func (b *bench) pass() Outcome { return b.loop.Pass(context.Background()) }

// passes makes n passes, each after the interval.
func (b *bench) passes(n int) {
	for range n {
		b.pass()
		b.clock.pass(5 * time.Second)
	}
}

func (b *bench) said(text string) int { return strings.Count(b.log.String(), text) }

func (b *bench) state(login string) State {
	for _, c := range b.loop.Standing().Consumers {
		if c.As == login {
			return c.State
		}
	}
	return ""
}

func (b *bench) want(what string, got, want any) {
	b.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.t.Errorf("%s: %v, want %v\n%s", what, got, want, b.log.String())
	}
}

// PRV-1: only a list that was read withdraws; an empty one withdraws everybody.
func TestOnlyAListThatWasReadWithdraws(t *testing.T) {
	b := newBench(t)
	b.write("one", "pw1")
	b.list("one")
	b.pass()
	good, _ := os.ReadFile(filepath.Join(b.dir, "consumers.json"))
	for name, content := range map[string]string{
		"not JSON":                   "garbage",
		"half written":               string(good[:len(good)/2]),
		"something follows":          string(good) + "{}",
		"empty file":                 "",
		"another provision's":        strings.Replace(string(good), `"database"`, `"cache"`, 1),
		"another provider's":         strings.Replace(string(good), "postgres@anchor", "postgres@nas", 1),
		"no list":                    `{"requirement": "database", "provider": "postgres@anchor"}`,
		"a list that is null":        `{"requirement": "database", "given": null}`,
		"an entry that is no object": `{"requirement": "database", "given": [7]}`,
		"a login that is no string":  `{"requirement": "database", "given": [{"as": 7}]}`,
		"a login without a name":     `{"requirement": "database", "given": [{"as": ""}]}`,
	} {
		b.write("consumers.json", content)
		b.clock.pass(2 * time.Minute)
		if out := b.pass(); out.Unread == nil {
			t.Errorf("%s: it was taken", name)
		}
		b.want(name+": logins", len(b.logins), 1)
		b.want(name+": read", b.loop.Standing().Receives.Read, false)
	}
	if err := os.Remove(filepath.Join(b.dir, "consumers.json")); err != nil {
		t.Fatal(err)
	}
	b.pass()
	if err := os.Symlink("/proc/self/environ", filepath.Join(b.dir, "consumers.json")); err != nil {
		t.Fatal(err)
	}
	b.pass()
	b.want("the file is gone, or a link: logins", len(b.logins), 1)
	_ = os.Remove(filepath.Join(b.dir, "consumers.json"))
	b.write("consumers.json", string(good))
	b.pass()
	b.want("said when it ended", b.said("it goes again"), 1)
	b.list()
	b.pass()
	b.want("an empty list: logins", len(b.logins), 0)
}

// PRV-2: an entry without a login is passed over; one without a credential, or whose login stands there twice, is left as it is.
func TestMalformedEntriesAreFrozen(t *testing.T) {
	b := newBench(t)
	for _, l := range []string{"one", "two", "three"} {
		b.write(l, "pw")
	}
	b.list("one", "two", "three")
	b.pass()
	before := maps.Clone(b.logins)
	entry := func(as, secret string) string { return fmt.Sprintf(`{"as": %q, "secret": %q}`, as, secret) }
	b.write("consumers.json", `{"requirement": "database", "given": [{"instance": "asks for none"}, {"as": "one"}, `+
		entry("two", filepath.Join(b.dir, "two"))+","+entry("two", filepath.Join(b.dir, "one"))+"]}")
	b.calls = nil
	out := b.pass()
	b.want("calls", b.calls, "[remove three]")
	b.want("states", []State{b.state("one"), b.state("two")}, []State{Frozen, Frozen})
	b.want("failing", out.Failing, 2)
	delete(before, "three")
	b.want("what they have", b.logins, before)
	b.want("said", b.said("left as it is"), 2)
	b.passes(30)
	b.want("said again", b.said("left as it is"), 2)
	b.list("one", "two")
	b.pass()
	b.want("and they go on", []State{b.state("one"), b.state("two")}, "[holds holds]")
}

// PRV-3, PRV-5, PRV-20: a credential that changed is set by the next pass, whole, and said; between passes only a keyed digest is kept.
func TestAChangedCredentialIsSet(t *testing.T) {
	b := newBench(t)
	b.write("one", "pw1")
	b.list("one")
	b.pass()
	b.clock.pass(5 * time.Second)
	b.write("one", "pw2")
	b.pass()
	b.want("calls", b.calls, "[create one create one]")
	b.want("password", strings.HasPrefix(b.logins["one"], "pw2 "), true)
	b.want("said", b.said("the new credential is in force"), 1)
	if s := fmt.Sprintf("%+v %#v", b.loop, *b.loop.books["one"]); strings.Contains(s, "pw2") {
		t.Error("the loop still holds the credential")
	}
	if one, other := newDigester(), newDigester(); one.of([]byte("x")) == other.of([]byte("x")) {
		t.Error("two runs have the same key")
	}
}

// PRV-4, PRV-16: what did not change is not touched; once a minute the server is asked; what is lost is made again.
func TestWhatIsLostIsMadeAgain(t *testing.T) {
	b := newBench(t)
	b.write("one", "pw")
	b.list("one")
	b.passes(12)
	b.want("creations", len(b.calls), 1)
	b.want("questions in a minute", b.observe, 1)
	b.passes(1)
	b.want("questions in more than a minute", b.observe, 2)
	b.want("state", b.state("one"), Holds)
	delete(b.logins, "one")
	b.passes(12)
	b.want("creations", len(b.calls), 2)
	b.want("said", b.said("does not have it any more"), 1)
	b.passes(12)
	b.want("state", b.state("one"), Holds)

	// Not being able to ask is no evidence of loss.
	b.down = context.DeadlineExceeded
	b.passes(60)
	b.want("creations while nobody answers", len(b.calls), 2)
	b.want("state", b.state("one"), Holds)
}

// PRV-4: what create does not produce is made again ever more seldom, and said.
func TestWhatCreateDoesNotProduce(t *testing.T) {
	b := newBench(t)
	b.write("one", "pw")
	b.deaf["one"] = true
	b.list("one")
	b.passes(12 * 60 * 10) // ten hours
	if n := len(b.calls); n < 12 || n > 20 {
		t.Errorf("%d creations in ten hours", n)
	}
	b.want("state", b.state("one"), Failing)
	if b.said("what create makes is not what holds checks") == 0 {
		t.Error("it is not said")
	}
	b.deaf["one"] = false
	b.passes(12 * 61)
	b.want("state", b.state("one"), Holds)
}

// PRV-6: what was made is withdrawn, also when nobody asked for it any more while the loop was down; a withdrawal that fails is tried again.
func TestWithdrawal(t *testing.T) {
	b := newBench(t)
	b.write("one", "pw")
	b.write("two", "pw")
	b.list("one", "two")
	b.pass()
	b.list("two")
	b.restart()
	b.refuse["one"] = errors.New("not now")
	b.passes(3)
	b.want("state", b.state("one"), Withdrawing)
	b.want("said", b.said("not now"), 1)
	b.refuse = map[string]error{}
	b.passes(1)
	b.want("logins", len(b.logins), 1)
	b.want("standing", b.state("one"), "")
	b.want("two was touched", slices.Contains(b.calls[2:], "create two"), false)
}

// PRV-7, PRV-8: one consumer's failure stops nobody else.
func TestOneFailureStopsNobodyElse(t *testing.T) {
	b := newBench(t)
	for _, l := range []string{"a", "b", "c"} {
		b.write(l, "pw")
	}
	b.foreign["a"] = true
	b.refuse["b"] = errors.New("no")
	b.list("a", "b", "c")
	out := b.pass()
	b.want("states", []State{b.state("a"), b.state("b"), b.state("c")}, "[failing failing applied]")
	b.want("failing", out.Failing, 2)
	b.want("class", b.loop.Standing().Consumers[0].Class, Refused)
}

// PRV-8: a server that does not answer is not tried once for each consumer.
func TestAServerThatIsNotThere(t *testing.T) {
	b := newBench(t)
	var logins []string
	for k := range 50 {
		logins = append(logins, fmt.Sprintf("l%02d", k))
		b.write(logins[k], "pw")
	}
	b.list(logins...)
	b.down = &Failure{Unreachable, errors.New("connection refused")}
	out := b.pass()
	b.want("calls", len(b.calls), 2)
	b.want("failing", out.Failing, 50)
	b.want("unreachable", out.Unreachable, true)
	b.down = nil
	b.pass()
	b.want("logins", len(b.logins), 50)
}

// PRV-9: a credential that is not there is a race for twelve passes, then a person's to look at; an empty one is unreadable.
func TestACredentialThatIsNotThere(t *testing.T) {
	b := newBench(t)
	b.list("one")
	b.passes(12)
	b.want("said", b.said("level=INFO msg=\"it fails\""), 1)
	b.want("loudly", b.said("level=WARN"), 0)
	b.passes(1)
	b.want("loudly", b.said("level=WARN msg=\"it is still not there"), 1)
	b.passes(226)
	b.want("again", b.said("it still fails"), 0)
	b.passes(1)
	b.want("again", b.said("it still fails"), 1)
	b.want("class", b.loop.Standing().Consumers[0].Class, Unreadable)
	b.write("one", "")
	b.pass()
	b.want("empty", b.said("the file is empty"), 1)
	b.want("nothing was made", len(b.calls), 0)
	b.write("one", "pw")
	b.pass()
	b.want("state", b.state("one"), Applied)
	b.want("its end, with the count", b.said("it goes again\" login=one consumer=one@board label=database attempts=241"), 1)
}

// PRV-10: the same failure is said when it begins, when it changes, and every 240th time; times and numbers are no change.
func TestTheSameFailureIsSaidOnce(t *testing.T) {
	b := newBench(t)
	b.write("one", "pw")
	b.list("one")
	for k := range 300 {
		b.refuse["one"] = fmt.Errorf("no at 12:%02d:05 for the %dth time", k%60, k)
		b.passes(1)
	}
	b.want("said", b.said("it fails")+b.said("it still fails"), 2)
	b.refuse["one"] = errors.New("quite another")
	b.passes(1)
	b.want("changed", b.said("it fails in another way"), 1)
	b.refuse["one"] = &Failure{Refused, errors.New("quite another")}
	b.passes(1)
	b.want("changed in class", b.said("it fails in another way"), 2)
	b.refuse = map[string]error{}
	b.passes(1)
	b.want("its end", b.said("it goes again"), 1)
}

// PRV-11, PRV-17: a failure of five minutes is announced, again every fifteen, and its end; a wall clock that jumps changes nothing.
func TestAnnouncements(t *testing.T) {
	b := newBench(t)
	b.write("one", "pw")
	b.list("one")
	b.refuse["one"] = errors.New("no")
	b.passes(60)
	b.want("before five minutes", len(b.announced), 0)
	b.wall = b.wall.Add(-30 * 24 * time.Hour)
	b.passes(1)
	b.want("after five minutes", len(b.announced), 1)
	b.wall = b.wall.Add(90 * 24 * time.Hour)
	b.passes(179)
	b.want("before twenty minutes", len(b.announced), 1)
	b.passes(1)
	b.want("after twenty minutes", len(b.announced), 2)
	a := b.announced[1]
	b.want("what", []any{a.Event, a.Provider, a.ProviderNode, a.Consumer, a.ConsumerNode, a.Label, a.Error}, "[provisioner.failing postgres anchor one board database no]")

	// A restart forgets nothing that was announced.
	s := b.loop.Standing()
	b.restart()
	b.loop.Resume(s)
	b.refuse = map[string]error{}
	b.passes(1)
	b.want("its end", b.announced[len(b.announced)-1].Event, Recovered)
	b.want("announcements", len(b.announced), 3)
	b.passes(400)
	b.want("and no more", len(b.announced), 3)
}

// PRV-11: a withdrawal that fails, and a list that cannot be read, are on the same clock.
func TestAnnouncementsOfWhatIsNoConsumers(t *testing.T) {
	b := newBench(t)
	b.write("one", "pw")
	b.list("one")
	b.pass()
	b.list()
	b.refuse["one"] = errors.New("no")
	b.passes(62)
	b.want("withdrawal", len(b.announced), 1)
	b.refuse = map[string]error{}
	b.passes(1)
	b.want("withdrawn", b.announced[1].Event, Recovered)
	b.write("consumers.json", "garbage")
	b.passes(62)
	b.want("list", b.announced[2].Subject, "the list of consumers")
	b.list()
	b.passes(1)
	b.want("read", b.announced[3].Event, Recovered)
}

// PRV-12: an error is cut on a character, and no form of the credential stands in it.
func TestErrorsSpellNoCredential(t *testing.T) {
	b := newBench(t)
	secret := `p&s/w"ö+?`
	b.write("one", secret)
	b.list("one")
	forms := hide(strings.Join([]string{secret, "p%26s%2Fw%22%C3%B6%2B%3F", "p&s%2Fw%22%C3%B6+%3F", "cCZzL3ciw7YrPw==", "cCZzL3ciw7YrPw", `p\u0026s/w\"ö+?`}, " "), seal.NewSecret([]byte(secret)))
	if strings.Contains(forms, "p&s") || strings.Contains(forms, "p%26") || strings.Contains(forms, "cCZz") || strings.Contains(forms, "p\\u0026s") {
		t.Error(forms)
	}
	b.refuse["one"] = errors.New("password is " + secret + strings.Repeat(" ö", 300))
	b.pass()
	text := b.loop.Standing().Consumers[0].Error
	if len(text) > 300 || !strings.HasSuffix(text, "…") || strings.Contains(text, secret) || strings.ContainsRune(text, '�') {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

// PRV-13: the standing says of each login how it stands, and is read back.
func TestStandingIsReadBack(t *testing.T) {
	b := newBench(t)
	b.write("one", "pw")
	b.list("one", "two")
	b.pass()
	path := filepath.Join(b.dir, "standing.json")
	if err := WriteStanding(path, b.loop.Standing()); err != nil {
		t.Fatal(err)
	}
	s, err := ReadStanding(path)
	b.want("error", err, nil)
	b.want("states", []State{s.Consumers[0].State, s.Consumers[1].State}, "[applied failing]")
	b.want("fails", s.Fails(), true)
	b.want("of whom", s.Consumers[0].Consumer, "one@board")
	raw, _ := os.ReadFile(path)
	b.want("the credential", bytes.Contains(raw, []byte("pw")), false)
	if _, err := ReadStanding(filepath.Join(b.dir, "none")); err != nil {
		t.Error(err)
	}
}
