package provision

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"meshc.dev/render/seal"
)

// Clock is where the loop has time from. Elapsed is monotonic, and every duration is
// measured by it, so that a wall clock that jumps loses nothing (PRV-17); Now is only shown.
type Clock interface {
	Now() time.Time
	Elapsed() time.Duration
}

// The times of PRV-3, PRV-4, PRV-9, PRV-10 and PRV-11 that a person does not set.
const (
	announceAfter = 5 * time.Minute
	announceAgain = 15 * time.Minute
	racePasses    = 12  // how often a credential may be not there yet
	sayEvery      = 240 // the same failure is said again so often
	// unanswered is after how many calls in a row that found no server the rest of a pass is not tried.
	unanswered = 3
)

// Options say what one loop is for.
type Options struct {
	Kind      string // postgres, redis, …
	Receives  string // the path of the list
	Provision string // whose list it has to be; empty for any
	Provider  string // instance@node

	Interval, Recheck, Limit time.Duration
}

// Loop is one provider's half of the mesh, made true again and again.
type Loop struct {
	Options
	Adapter  Adapter
	Clock    Clock
	Log      *slog.Logger
	Announce func(Announcement)

	digests digester
	begun   bool
	books   map[string]*book
	// server and receives are the standings of what is no consumer's: asking, and the list.
	server, receives trouble
	readSince        time.Time
	listed           [32]byte
	nextAsk          time.Duration
	passed           time.Time
}

// book is one login's memory, with what people call it.
type book struct {
	memory
	consumer, label string
	since           time.Time // of the state, to be shown
}

// Outcome is what a pass came to.
type Outcome struct {
	Unread      error // the list could not be read, and nothing was done
	Unreachable bool  // nothing could be asked or done
	Failing     int   // logins that are not as asked
	Changed     int   // calls that changed the server
}

// Resume takes over what an earlier run of the loop had said of itself, so that whoever was
// told of a failure is told of its end.
func (l *Loop) Resume(s Standing) {
	l.begin()
	for _, c := range s.Consumers {
		if !c.Announced {
			continue
		}
		b := l.book(c.As)
		b.consumer, b.label, b.state, b.since = c.Consumer, c.Label, c.State, c.Since
		b.fail = trouble{
			fault: fault{c.Class, c.Error}, began: l.Clock.Elapsed(), since: c.Since, attempts: max(1, c.Attempts),
			announced: true, again: l.Clock.Elapsed() + announceAgain,
		}
	}
	if s.Receives.Announced {
		l.receives = trouble{
			fault: fault{text: s.Receives.Error}, began: l.Clock.Elapsed(), since: s.Receives.Since, attempts: 1,
			announced: true, again: l.Clock.Elapsed() + announceAgain,
		}
	}
}

func (l *Loop) begin() {
	if l.books == nil {
		l.books, l.digests = map[string]*book{}, newDigester()
	}
}

func (l *Loop) book(login string) *book {
	b := l.books[login]
	if b == nil {
		b = &book{since: l.Clock.Now()}
		l.books[login] = b
	}
	return b
}

// Pass looks once and does what is to be done. It ends early only with its context.
func (l *Loop) Pass(ctx context.Context) Outcome {
	l.begin()
	defer func() { l.passed = l.Clock.Now() }()
	asked, err := readList(l.Receives, l.Provision, l.Provider)
	if err != nil {
		l.failed(&l.receives, subject{what: "the list of consumers"}, faultOf(err, seal.Secret{}), slog.LevelWarn)
		return Outcome{Unread: err}
	}
	l.ended(&l.receives, subject{what: "the list of consumers"})
	if l.readSince.IsZero() {
		l.readSince = l.Clock.Now()
	}

	sights, want := l.look(asked)
	defer func() {
		for _, e := range want {
			e.Secret.Wipe()
		}
	}()
	out, quiet := Outcome{}, 0
	if l.due(asked, sights) {
		quiet = l.ask(ctx, sights, want)
		out.Unreachable = quiet > 0
	}
	l.begun, l.listed = true, asked.sum
	for _, login := range slices.Sorted(maps.Keys(sights)) {
		if ctx.Err() != nil {
			break
		}
		changed, unanswering := l.settle(ctx, login, sights[login], want[login], asked.frozen[login], quiet >= unanswered)
		if changed {
			out.Changed++
		}
		if unanswering {
			quiet++
		} else if changed {
			quiet = 0
		}
	}
	for _, b := range l.books {
		if b.fail.lasts() || b.state == Frozen {
			out.Failing++
		}
	}
	return out
}

// look reads every credential. The secrets live until the pass ends.
func (l *Loop) look(asked list) (map[string]*sight, map[string]Consumer) {
	sights, want := map[string]*sight{}, map[string]Consumer{}
	for _, e := range asked.entries {
		s := &sight{wanted: true}
		sights[e.Login] = s
		b := l.book(e.Login)
		b.consumer, b.label = e.Name(), e.Label
		secret, err := readCredential(e.path)
		if err != nil {
			s.broken = true
			b.absent++
			if !missing(err) {
				b.absent = racePasses + 1
			}
			l.failed(&b.fail, l.consumer(e.Login), faultOf(err, seal.Secret{}), levelOf(b.absent))
			l.turn(b, Failing)
			continue
		}
		b.absent = 0
		e.Secret = secret
		s.print = l.digests.consumer(e.Consumer)
		want[e.Login] = e.Consumer
	}
	for login := range asked.frozen {
		sights[login] = &sight{wanted: true, frozen: true}
	}
	for login := range l.books {
		if sights[login] == nil {
			sights[login] = &sight{}
		}
	}
	return sights, want
}

// levelOf says how loudly a credential that is not there is told: it may only be late.
func levelOf(absent int) slog.Level {
	if absent <= racePasses {
		return slog.LevelInfo
	}
	return slog.LevelWarn
}

// due says whether the server is to be asked: at first, when it is time, when the list is
// another, and while somebody is still to be withdrawn.
func (l *Loop) due(asked list, sights map[string]*sight) bool {
	if !l.begun || l.Clock.Elapsed() >= l.nextAsk || asked.sum != l.listed {
		return true
	}
	for _, s := range sights {
		if !s.wanted {
			return true
		}
	}
	return false
}

// ask asks the server of everybody. Where it cannot be asked, nothing is lost by that; how
// many calls found no server is the result.
func (l *Loop) ask(ctx context.Context, sights map[string]*sight, want map[string]Consumer) int {
	ctx, cancel := context.WithTimeout(ctx, l.Limit)
	defer cancel()
	who := slices.SortedFunc(maps.Values(want), func(a, b Consumer) int { return cmp.Compare(a.Login, b.Login) })
	seen, err := l.Adapter.Observe(ctx, who)
	l.nextAsk = l.Clock.Elapsed() + l.Recheck
	if err != nil {
		f := faultOf(err, seal.Secret{})
		l.failed(&l.server, subject{what: "asking the server"}, f, slog.LevelWarn)
		return 1
	}
	l.ended(&l.server, subject{what: "asking the server"})
	for _, login := range seen.Marked {
		if sights[login] == nil {
			sights[login] = &sight{}
		}
		sights[login].marked = true
	}
	for login, s := range sights {
		s.asked, s.held = true, seen.Held[login]
	}
	return 0
}

// settle does what is to be done about one login. It says whether the server was
// changed, and whether it was not there to be changed.
func (l *Loop) settle(ctx context.Context, login string, s *sight, c Consumer, frozen string, stop bool) (changed, unanswering bool) {
	b := l.book(login)
	now := l.Clock.Elapsed()
	do := decide(b.memory, *s, now)
	act := func(do func(context.Context) error) error {
		if stop {
			return &Failure{Unreachable, errors.New("the server does not answer")}
		}
		ctx, cancel := context.WithTimeout(ctx, l.Limit)
		defer cancel()
		return do(ctx)
	}
	failed := func(err error) {
		f := faultOf(err, c.Secret)
		unanswering = f.class == Unreachable || f.class == Rejected
		l.failed(&b.fail, l.consumer(login), f, slog.LevelWarn)
	}
	switch do {
	case leave, blame:
	case freeze:
		if b.state != Frozen {
			l.Log.Warn("a login is left as it is: what the list says of it cannot be meant", "login", login, "why", frozen)
		}
		l.turn(b, Frozen)
	case adopt:
		b.made, b.as, b.repaired = true, s.print, 0
		l.good(login, b, Holds)
	case create, repair:
		if do == repair {
			l.Log.Warn("the server does not have it any more; it is made again", "login", login, "consumer", b.consumer, "label", b.label)
		}
		if err := act(func(ctx context.Context) error { return l.Adapter.Create(ctx, c) }); err != nil {
			b.made = false
			failed(err)
			l.turn(b, Failing)
			return false, unanswering
		}
		if b.made && b.as.secret != s.print.secret {
			l.Log.Info("the new credential is in force, and the old one no more", "login", login, "consumer", b.consumer, "label", b.label)
		} else if do == create {
			l.Log.Info("made as asked for", "login", login, "consumer", b.consumer, "label", b.label)
		}
		if do == repair {
			b.repaired++
			b.patience = now + patience(l.Recheck, b.repaired)
		} else {
			b.repaired = 0
		}
		b.made, b.as = true, s.print
		if b.repaired < 2 {
			l.good(login, b, Applied)
		}
		return true, false
	case doubt:
		l.failed(&b.fail, l.consumer(login), fault{text: "what create makes is not what holds checks; it is made again, each time after twice the wait"}, slog.LevelWarn)
		l.turn(b, Failing)
	case remove:
		if err := act(func(ctx context.Context) error { return l.Adapter.Remove(ctx, login) }); err != nil {
			failed(err)
			l.turn(b, Withdrawing)
			return false, unanswering
		}
		l.Log.Info("withdrawn: nobody asks for it any more, and its data stays", "login", login, "consumer", b.consumer, "label", b.label)
		l.ended(&b.fail, l.consumer(login))
		delete(l.books, login)
		return true, false
	case forget:
		l.ended(&b.fail, l.consumer(login))
		delete(l.books, login)
	}
	return false, false
}

// good is a login as it should be.
func (l *Loop) good(login string, b *book, s State) {
	l.ended(&b.fail, l.consumer(login))
	l.turn(b, s)
}

func (l *Loop) turn(b *book, s State) {
	if b.state != s {
		b.state, b.since = s, l.Clock.Now()
	}
}

// Run passes until its context ends.
func (l *Loop) Run(ctx context.Context, each func(Outcome)) {
	for ctx.Err() == nil {
		each(l.Pass(ctx))
		select {
		case <-ctx.Done():
		case <-time.After(l.Interval):
		}
	}
}
