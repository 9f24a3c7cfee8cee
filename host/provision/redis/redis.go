// Package redis makes logins in a Redis or Valkey server for those who require one: an ACL
// user that may do what works on the keys below its prefix, and nothing that administers
// the server or concerns others.
//
// What is ours may read one key that nobody can write, named after the provider: the
// mark. A user without it is somebody else's and left alone. A server says of a user's
// commands something else than it was told, and every version something of its own; so
// there is a user that nobody can log in as with the same commands, and what holds is
// compared with what the server says of that one. Passwords reach the server as their
// SHA-256. Users are kept in the server's ACL file, which it has to have.
package redis

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"meshc.dev/host/provision"
)

// Adapter implements provision.Adapter.
type Adapter struct {
	server provision.Server
	mark   string
	client *redis.Client
	// consumers is how many there were when the server was asked last.
	consumers int
}

// New makes an adapter for one provider. It opens no connection yet.
func New(c provision.Config) (*Adapter, error) {
	if err := provision.Strict(c.Options, &struct{}{}); err != nil {
		return nil, fmt.Errorf("options: %w", err)
	}
	redis.SetLogger(quiet{}) // what it says of connections is said by the loop, once
	return &Adapter{server: c.Server, mark: "%R~mesh-provider:" + c.Provider}, nil
}

type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// rules are what a consumer may do: everything but what administers the server, lists the
// keys of others, or takes away what all share.
var rules = []string{
	"+@all", "-@admin", "-@dangerous", "+info", "+sort", "+restore", "-randomkey", "-pubsub|channels", "-pubsub|numpat", "-pubsub|numsub",
	"-function", "-script", "+script|load", "+script|exists", "-memory", "+memory|usage",
}

// alone are what it may do besides where nobody else is there.
var alone = []string{"+keys", "+randomkey", "+flushdb", "+script|flush"}

// wish is what a consumer asks for, in the server's terms.
type wish struct {
	provision.Consumer
	keys, channels []string // as the server lists them
	rules          []string
	exclusive      bool
}

func (w wish) hash() string {
	var sum [sha256.Size]byte
	w.Secret.Use(func(b []byte) { sum = sha256.Sum256(b) })
	return "#" + hex.EncodeToString(sum[:])
}

var (
	plainWord   = regexp.MustCompile(`^[!-~]{1,255}$`)
	plainPrefix = regexp.MustCompile(`^[A-Za-z0-9_.:{}@/-]{1,255}$`)
)

func (a *Adapter) wish(c provision.Consumer) (wish, error) {
	var derived struct {
		Prefix string `json:"prefix"`
	}
	var values struct {
		Channels  []string `json:"channels"`
		Exclusive bool     `json:"exclusive"`
	}
	refuse := func(format string, args ...any) (wish, error) {
		return wish{}, &provision.Failure{Class: provision.Refused, Err: fmt.Errorf(format, args...)}
	}
	if err := errors.Join(unmarshal(c.Derived, &derived), unmarshal(c.Values, &values)); err != nil {
		return refuse("%w", err)
	}
	if derived.Prefix == "" {
		derived.Prefix = c.Login + ":"
	}
	w := wish{Consumer: c, exclusive: values.Exclusive, rules: rules}
	switch {
	case !plainWord.MatchString(c.Login) || c.Login == "default":
		return refuse("%q cannot be a login here", c.Login)
	case !plainPrefix.MatchString(derived.Prefix):
		return refuse("%q cannot be a prefix of keys: it has letters, digits and _ . : { } @ / - only", derived.Prefix)
	case strings.HasPrefix("mesh-provider:", derived.Prefix) || strings.HasPrefix(derived.Prefix, "mesh-provider:"):
		return refuse("the keys below mesh-provider: are the mesh's own")
	}
	w.keys, w.channels = []string{"~" + derived.Prefix + "*"}, []string{"&" + derived.Prefix + "*"}
	for _, ch := range values.Channels {
		if !plainWord.MatchString(ch) {
			return refuse("%q cannot be a pattern of channels", ch)
		}
		w.channels = append(w.channels, "&"+ch)
	}
	if w.exclusive {
		// "~*" would be more than a pattern: the server forgets the mark beside it.
		w.keys, w.channels, w.rules = []string{"~?*"}, []string{"&?*"}, slices.Concat(rules, alone)
	}
	w.keys = append(w.keys, a.mark)
	slices.Sort(w.keys)
	slices.Sort(w.channels)
	w.channels = slices.Compact(w.channels)
	return w, nil
}

func unmarshal(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, into)
}

// model is the user that has a set of commands and nothing else, and that nobody can log in as.
func model(rules []string) string {
	sum := sha256.Sum256([]byte(strings.Join(rules, " ")))
	return "mesh-rules:" + hex.EncodeToString(sum[:8])
}

// user is one line of what the server lists.
type user struct {
	on                     bool
	hashes, keys, channels []string
	commands               string
	odd                    bool // it has what we never give
}

// users reads all of them in one round trip.
func (a *Adapter) users(ctx context.Context) (map[string]user, error) {
	lines, err := a.admin().Do(ctx, "ACL", "LIST").StringSlice()
	if err != nil {
		return nil, a.classed(err)
	}
	out := map[string]user{}
	for _, line := range lines {
		words := strings.Split(line, " ")
		if len(words) < 2 || words[0] != "user" {
			continue
		}
		var u user
		var commands []string
		for _, w := range words[2:] {
			switch {
			case w == "":
			case w == "on":
				u.on = true
			case w == "nopass" || strings.HasPrefix(w, "("):
				u.odd = true
			case w[0] == '#':
				u.hashes = append(u.hashes, w)
			case w[0] == '~' || w[0] == '%':
				u.keys = append(u.keys, w)
			case w[0] == '&':
				u.channels = append(u.channels, w)
			case w[0] == '+' || w[0] == '-':
				commands = append(commands, w)
			}
		}
		slices.Sort(u.keys)
		slices.Sort(u.channels)
		u.commands = strings.Join(commands, " ")
		out[words[1]] = u
	}
	return out, nil
}

// Observe implements provision.Adapter.
func (a *Adapter) Observe(ctx context.Context, want []provision.Consumer) (provision.Observed, error) {
	a.consumers = len(want)
	is, err := a.users(ctx)
	if err != nil {
		return provision.Observed{}, err
	}
	out := provision.Observed{Held: map[string]bool{}}
	for name, u := range is {
		if slices.Contains(u.keys, a.mark) {
			out.Marked = append(out.Marked, name)
		}
	}
	slices.Sort(out.Marked)
	for _, c := range want {
		w, err := a.wish(c)
		if err != nil {
			continue // refused, which its creation will say
		}
		u, m := is[w.Login], is[model(w.rules)]
		if u.on && !u.odd && slices.Equal(u.hashes, []string{w.hash()}) && slices.Equal(u.keys, w.keys) && slices.Equal(u.channels, w.channels) &&
			m.commands != "" && u.commands == m.commands && !(w.exclusive && len(want) > 1) {
			out.Held[w.Login] = true
		}
	}
	return out, nil
}

// Create implements provision.Adapter. Everything is said at once, so that nobody is ever half made.
func (a *Adapter) Create(ctx context.Context, c provision.Consumer) error {
	w, err := a.wish(c)
	if err != nil {
		return err
	}
	if w.exclusive && a.consumers > 1 {
		return &provision.Failure{Class: provision.Refused, Err: fmt.Errorf("%s wants all keys for itself, and there are %d consumers: assign a second instance of the server and pin it to that one", c.Name(), a.consumers)}
	}
	is, err := a.users(ctx)
	if err != nil {
		return err
	}
	if u, there := is[w.Login]; there && !slices.Contains(u.keys, a.mark) {
		return &provision.Failure{Class: provision.Refused, Err: fmt.Errorf("the user %q is there already, and the mesh did not make it for this provider", w.Login)}
	}
	args := []any{"ACL", "SETUSER", w.Login, "reset", "on", w.hash()}
	for _, x := range slices.Concat(w.keys, w.channels, w.rules) {
		args = append(args, x)
	}
	like := []any{"ACL", "SETUSER", model(w.rules), "reset", "off"}
	for _, x := range w.rules {
		like = append(like, x)
	}
	for _, args := range [][]any{like, args, {"ACL", "SAVE"}} {
		if err := a.admin().Do(ctx, args...).Err(); err != nil {
			return a.classed(err)
		}
	}
	return nil
}

// Remove implements provision.Adapter: the server ends the user's connections itself. Keys stay.
func (a *Adapter) Remove(ctx context.Context, login string) error {
	is, err := a.users(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(is[login].keys, a.mark) {
		return nil
	}
	for _, args := range [][]any{{"ACL", "DELUSER", login}, {"ACL", "SAVE"}} {
		if err := a.admin().Do(ctx, args...).Err(); err != nil {
			return a.classed(err)
		}
	}
	return nil
}

// Close implements provision.Adapter.
func (a *Adapter) Close() {
	if a.client != nil {
		_ = a.client.Close()
		a.client = nil
	}
}

// admin is the administrator's one connection. Its secret is read each time it is made.
func (a *Adapter) admin() *redis.Client {
	if a.client != nil {
		return a.client
	}
	o := &redis.Options{
		Network: "tcp", Addr: a.server.Address, Protocol: 2, DisableIdentity: true, MaxRetries: -1, PoolSize: 1, MinIdleConns: 0,
		ContextTimeoutEnabled: true, DialTimeout: 10 * time.Second, ClientName: "mesh-host", DialerRetries: 1,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		CredentialsProviderContext: func(context.Context) (string, string, error) {
			secret, err := a.server.Credential()
			if err != nil || secret.IsZero() {
				return a.server.User, "", err
			}
			defer secret.Wipe()
			password := ""
			secret.Use(func(b []byte) { password = string(b) })
			return a.server.User, password, nil
		},
	}
	switch host, _, err := net.SplitHostPort(a.server.Address); {
	case a.server.Socket():
		o.Network = "unix"
	case a.server.Address == "":
		o.Addr = "127.0.0.1:6379"
	case err == nil && a.server.Port != 0:
		o.Addr = net.JoinHostPort(host, strconv.Itoa(a.server.Port))
	}
	a.client = redis.NewClient(o)
	return a.client
}

// classed gives an error its class.
func (a *Adapter) classed(err error) error {
	var known *provision.Failure
	if errors.As(err, &known) {
		return err
	}
	said := err.Error()
	class := provision.Class("")
	var network net.Error
	switch {
	case strings.HasPrefix(said, "WRONGPASS"), strings.HasPrefix(said, "NOAUTH"), strings.HasPrefix(said, "NOPERM"):
		class = provision.Rejected
	case strings.HasPrefix(said, "LOADING"), strings.HasPrefix(said, "MASTERDOWN"), strings.HasPrefix(said, "ERR max number of clients"):
		class = provision.Unreachable
	case errors.As(err, &network), errors.Is(err, context.DeadlineExceeded), errors.Is(err, net.ErrClosed), strings.Contains(said, "EOF"), strings.Contains(said, "connection"):
		class = provision.Unreachable
		a.Close() // the client would say the same for a while after the server is back
	}
	return &provision.Failure{Class: class, Err: err}
}
