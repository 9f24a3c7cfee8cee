package provision

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/google/renameio/v2"
)

// Standing is where everything stands after a pass, for people and programs. It is written
// to a file, replaced by rename, and holds no credential.
type Standing struct {
	Kind      string     `json:"kind"`
	Provider  string     `json:"provider"`
	Pass      time.Time  `json:"pass"`
	Receives  Receives   `json:"receives"`
	Consumers []Consumed `json:"consumers"`
}

// Receives says whether the list could be read, and since when that is so.
type Receives struct {
	Read      bool      `json:"read"`
	Since     time.Time `json:"since"`
	Error     string    `json:"error,omitempty"`
	Announced bool      `json:"announced,omitempty"`
}

// Consumed is one login's standing.
type Consumed struct {
	As        string    `json:"as"`
	Consumer  string    `json:"consumer,omitempty"`
	Label     string    `json:"label,omitempty"`
	State     State     `json:"state"`
	Class     Class     `json:"class,omitempty"`
	Error     string    `json:"error,omitempty"`
	Since     time.Time `json:"since"`
	Attempts  int       `json:"attempts,omitempty"`
	Announced bool      `json:"announced,omitempty"`
}

// Fails says whether anything is not as asked for.
func (s Standing) Fails() bool {
	return !s.Receives.Read || slices.ContainsFunc(s.Consumers, func(c Consumed) bool { return c.State != Holds && c.State != Applied })
}

// Standing is where the loop stands now.
func (l *Loop) Standing() Standing {
	s := Standing{
		Kind: l.Kind, Provider: l.Provider, Pass: l.passed.UTC(), Consumers: []Consumed{},
		Receives: Receives{Read: !l.receives.lasts(), Since: l.readSince.UTC()},
	}
	if l.receives.lasts() {
		s.Receives = Receives{Since: l.receives.since.UTC(), Error: l.receives.text, Announced: l.receives.announced}
	}
	for _, login := range slices.Sorted(maps.Keys(l.books)) {
		b := l.books[login]
		if b.state == "" {
			continue // seen, and nothing could be said of it yet
		}
		c := Consumed{As: login, Consumer: b.consumer, Label: b.label, State: b.state, Since: b.since.UTC()}
		if b.fail.lasts() {
			c.Class, c.Error, c.Since = b.fail.class, b.fail.text, b.fail.since.UTC()
			c.Attempts, c.Announced = b.fail.attempts, b.fail.announced
		}
		s.Consumers = append(s.Consumers, c)
	}
	return s
}

// MaxStanding bounds a standing file that is read, in bytes.
const MaxStanding = 1 << 20

// ReadStanding reads the file of an earlier run; that there is none is no error.
func ReadStanding(path string) (Standing, error) {
	raw, err := readPlain(path, MaxStanding)
	if errors.Is(err, fs.ErrNotExist) {
		return Standing{}, nil
	}
	if err != nil {
		return Standing{}, err
	}
	var s Standing
	if err := json.Unmarshal(raw, &s); err != nil {
		return Standing{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// WriteStanding replaces the file.
func WriteStanding(path string, s Standing) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return renameio.WriteFile(path, append(raw, '\n'), 0o644)
}
