package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"meshc.dev/host/provision"
	"meshc.dev/host/provision/postgres"
	"meshc.dev/host/provision/redis"
)

// adapters are the kinds of server that there is a loop for.
func adapters() map[string]func(provision.Config) (provision.Adapter, error) {
	return map[string]func(provision.Config) (provision.Adapter, error){
		"redis":    func(c provision.Config) (provision.Adapter, error) { return redis.New(c) },
		"postgres": func(c provision.Config) (provision.Adapter, error) { return postgres.New(c) },
	}
}

// provisionLoop is `mesh-host provision KIND --config FILE [--once]`.
func provisionLoop(ctx context.Context, args []string, out, errOut io.Writer) int {
	fail := func(code int, err error) int {
		fmt.Fprintf(errOut, "mesh-host provision: %v\n", err)
		return code
	}
	f := flag.NewFlagSet("provision", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	path, once := f.String("config", "", ""), f.Bool("once", false, "")
	var words []string
	for {
		if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(out, help["provision"])
			return done
		} else if err != nil {
			return fail(usage, fmt.Errorf("%w; `mesh-host help provision` says how", err))
		}
		if f.NArg() == 0 {
			break
		}
		words, args = append(words, f.Arg(0)), f.Args()[1:]
	}
	if len(words) != 1 || *path == "" {
		return fail(usage, errors.New("it takes one KIND and --config FILE; `mesh-host help provision` says how"))
	}
	kind := words[0]
	open, ok := adapters()[kind]
	if !ok {
		return fail(usage, fmt.Errorf("no kind %q; there is %s", kind, strings.Join(slices.Sorted(maps.Keys(adapters())), ", ")))
	}
	// A client library would take a user or a password from here; what counts is the file (PRV-15).
	os.Clearenv()
	c, err := provision.ReadConfig(*path)
	if err != nil {
		return fail(usage, err)
	}
	if c.Bus != nil {
		return fail(usage, fmt.Errorf("%s: bus: announcements on a bus are not built yet; leave it out, and read the standing file", *path))
	}
	adapter, err := open(c)
	if err != nil {
		return fail(usage, fmt.Errorf("%s: %w", *path, err))
	}
	defer adapter.Close()
	l := &loop{config: c, log: slog.New(slog.NewTextHandler(errOut, nil)), clock: provision.NewSystemClock(), meters: provision.NewMeters(kind, c.Provider)}
	l.Loop = &provision.Loop{
		Options: provision.Options{
			Kind: kind, Receives: c.Receives, Provision: c.Provision, Provider: c.Provider,
			Interval: time.Duration(c.Interval), Recheck: time.Duration(c.Recheck), Limit: time.Duration(c.Limit),
		},
		Adapter: adapter, Clock: l.clock, Log: l.log, Announce: l.announce,
	}
	code, err := l.run(ctx, *once)
	if err != nil {
		return fail(code, err)
	}
	return code
}

// loop is a provision.Loop with its surroundings.
type loop struct {
	*provision.Loop
	config provision.Config
	log    *slog.Logger
	clock  provision.SystemClock
	meters *provision.Meters

	wrote   provision.Standing
	writing bool // the standing file could be written
	written time.Duration
}

// standingAge is after how long the standing file is written anew though nothing changed
// but the time of the pass.
const standingAge = 30 * time.Second

func (l *loop) run(ctx context.Context, once bool) (int, error) {
	if l.config.Standing != "" {
		lock := flock.New(l.config.Standing + ".lock")
		got, err := lock.TryLock()
		if err != nil {
			return refused, fmt.Errorf("standing: %w", err)
		}
		if !got {
			return refused, fmt.Errorf("another loop writes %s; two on one file are one too many", l.config.Standing)
		}
		defer func() { _ = lock.Unlock() }()
		if s, err := provision.ReadStanding(l.config.Standing); err != nil {
			l.log.Warn("what an earlier run said of itself cannot be read, and counts for nothing", "error", err.Error())
		} else {
			l.Resume(s)
		}
	}
	if l.config.Listen != "" && !once {
		late := 3*l.Interval + 2*l.Limit
		if err := l.meters.Serve(ctx, l.config.Listen, l.clock, late); err != nil {
			return refused, fmt.Errorf("listen: %w", err)
		}
	}
	l.writing = true
	if once {
		o := l.Pass(ctx)
		l.passed(o)
		switch {
		case o.Unread != nil:
			return refused, o.Unread
		case o.Unreachable:
			return refused, errors.New("the server could not be asked")
		case o.Failing > 0:
			return partly, nil // each was said
		}
		return done, nil
	}
	l.Run(ctx, l.passed)
	return done, nil
}

func (l *loop) announce(a provision.Announcement) {
	l.meters.Announced(a)
	level := slog.LevelWarn
	if a.Event == provision.Recovered {
		level = slog.LevelInfo
	}
	l.log.Log(context.Background(), level, string(a.Event), "provider", a.Provider, "provider_node", a.ProviderNode, "as", a.Login, "consumer", a.Consumer,
		"consumer_node", a.ConsumerNode, "label", a.Label, "subject", a.Subject, "class", string(a.Class), "error", a.Error, "since", a.Since, "attempts", a.Attempts)
}

// passed writes down where everything stands.
func (l *loop) passed(o provision.Outcome) {
	s := l.Standing()
	l.meters.Passed(o, s, l.clock.Elapsed())
	if l.config.Standing == "" {
		return
	}
	was := l.wrote
	was.Pass = s.Pass
	if same(was, s) && l.clock.Elapsed()-l.written < standingAge {
		return
	}
	err := provision.WriteStanding(l.config.Standing, s)
	if err == nil {
		l.wrote, l.written = s, l.clock.Elapsed()
	}
	if (err == nil) != l.writing { // said when it begins and when it ends
		l.writing = err == nil
		if err != nil {
			l.log.Warn("the standing file cannot be written", "error", err.Error())
		} else {
			l.log.Info("the standing file can be written again")
		}
	}
}

func same(a, b provision.Standing) bool {
	return a.Kind == b.Kind && a.Receives == b.Receives && slices.Equal(a.Consumers, b.Consumers)
}
