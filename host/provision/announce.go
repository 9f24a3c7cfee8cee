package provision

import (
	"context"
	"log/slog"
	"strings"
	"time"
)

// Event is what an announcement says.
type Event string

// The events.
const (
	IsFailing Event = "provisioner.failing"
	Recovered Event = "provisioner.recovered"
)

// Announcement tells other programs of a failure that lasts, or of its end. It never
// holds a credential.
type Announcement struct {
	Event        Event     `json:"event"`
	Provider     string    `json:"provider"`
	ProviderNode string    `json:"provider_node"`
	Login        string    `json:"as,omitempty"`
	Consumer     string    `json:"consumer,omitempty"` // the instance
	ConsumerNode string    `json:"consumer_node,omitempty"`
	Label        string    `json:"label,omitempty"`
	Subject      string    `json:"subject,omitempty"` // where it is no consumer's
	Class        Class     `json:"class,omitempty"`
	Error        string    `json:"error,omitempty"`
	Since        time.Time `json:"since"`
	Attempts     int       `json:"attempts"`
}

// subject is what a trouble is about.
type subject struct {
	what                   string // where it is no login
	login, consumer, label string
}

func (l *Loop) consumer(login string) subject {
	b := l.book(login)
	return subject{login: login, consumer: b.consumer, label: b.label}
}

func (s subject) args() []any {
	if s.what != "" {
		return []any{"subject", s.what}
	}
	return []any{"login", s.login, "consumer", s.consumer, "label", s.label}
}

// failed counts a failure. It is said when it begins, when it changes and now and then
// (PRV-10), and announced when it has lasted (PRV-11).
func (l *Loop) failed(t *trouble, s subject, f fault, level slog.Level) {
	now := l.Clock.Elapsed()
	say, begins := "", !t.lasts()
	switch {
	case begins:
		*t = trouble{began: now, since: l.Clock.Now(), again: now + announceAfter}
		say = "it fails"
	case !t.same(f):
		say = "it fails in another way"
	}
	t.fault = f
	t.attempts++
	switch {
	case say != "":
	case t.attempts == racePasses+1 && level > slog.LevelInfo && f.class == Unreadable:
		say = "it is still not there, which is no race any more: look at it"
	case t.attempts%sayEvery == 0:
		say = "it still fails"
	}
	if say != "" {
		l.Log.Log(context.Background(), level, say, append(s.args(), "class", string(f.class), "error", f.text, "attempts", t.attempts)...)
	}
	if now >= t.again {
		t.announced, t.again = true, now+announceAgain
		l.announce(IsFailing, s, *t)
	}
}

// ended says and announces that something goes again, if it did not.
func (l *Loop) ended(t *trouble, s subject) {
	if !t.lasts() {
		return
	}
	l.Log.Info("it goes again", append(s.args(), "attempts", t.attempts, "error", t.text)...)
	if t.announced {
		l.announce(Recovered, s, *t)
	}
	*t = trouble{}
}

func (l *Loop) announce(e Event, s subject, t trouble) {
	if l.Announce == nil {
		return
	}
	provider, node, _ := strings.Cut(l.Provider, "@")
	consumer, on, _ := strings.Cut(s.consumer, "@")
	l.Announce(Announcement{
		Event: e, Provider: provider, ProviderNode: node, Login: s.login, Consumer: consumer, ConsumerNode: on, Label: s.label,
		Subject: s.what, Class: t.class, Error: t.text, Since: t.since, Attempts: t.attempts,
	})
}
