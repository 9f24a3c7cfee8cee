package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"meshc.dev/compiler/folder"
)

// Session is one process's hold on a mesh's folder: as long as it has one, no
// other gets one, so that what it read stays true until it commits.
type Session struct {
	*View
	store *Store
	hold  *flock.Flock
}

// Owner says who holds a folder, for whoever waits for it.
type Owner struct {
	PID     int       `json:"pid"`
	Command string    `json:"command"` // "meshc lock"
	Since   time.Time `json:"since"`
}

// BusyError says that another process holds the folder.
type BusyError struct {
	Dir   string
	Owner Owner // zero where the other did not say
}

func (e *BusyError) Error() string {
	if e.Owner.PID == 0 {
		return fmt.Sprintf("another meshc is at work in %s", e.Dir)
	}
	return fmt.Sprintf("another meshc is at work in %s: process %d, %s, since %s", e.Dir, e.Owner.PID, e.Owner.Command, e.Owner.Since.Format(time.TimeOnly))
}

// askEvery is how often a waiting process asks again.
const askEvery = 50 * time.Millisecond

// Begin waits for the folder until the context ends, which gives a *BusyError;
// finishes what a killed process left behind; and gives what stands there.
func (s *Store) Begin(ctx context.Context, me Owner) (*Session, error) {
	if err := s.makeStateDir(); err != nil {
		return nil, err
	}
	for _, name := range []string{busyFile, journalFile} {
		if err := folder.Plain(s.dir, name); err != nil {
			return nil, err
		}
	}
	hold := flock.New(s.path(busyFile), flock.SetFlag(os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW))
	ok, err := hold.TryLock() // however short the wait is
	if !ok && err == nil {
		ok, err = hold.TryLockContext(ctx, askEvery)
	}
	if !ok {
		if err == nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			return nil, &BusyError{s.dir, s.owner()}
		}
		return nil, fmt.Errorf("hold %s: %w", s.path(busyFile), err)
	}
	x := &Session{store: s, hold: hold}
	if err := x.begin(me); err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

func (x *Session) begin(me Owner) error {
	mark, err := json.Marshal(me)
	if err != nil {
		return err
	}
	// The file is the one that is held: written in place, so that it stays that one.
	f, err := os.OpenFile(x.store.path(busyFile), os.O_WRONLY|os.O_TRUNC|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	if err := write(f, append(mark, '\n'), false); err != nil {
		return err
	}
	if err := x.store.recover(); err != nil {
		return fmt.Errorf("finish what an interrupted run left in %s: %w", x.store.dir, err)
	}
	x.View, err = x.store.look()
	return err
}

// Close lets the folder go. Nothing that was not committed leaves a trace.
func (x *Session) Close() error { return x.hold.Unlock() }

// owner reads who holds the folder. The mark of one that ended stays, and is
// only ever read by those who found the folder held.
func (s *Store) owner() Owner {
	var o Owner
	if b, err := s.disk.ReadFile(s.path(busyFile)); err == nil && json.Unmarshal(b, &o) != nil {
		return Owner{}
	}
	return o
}

// makeStateDir makes the folder of what belongs to this machine alone, and keeps git out of it.
func (s *Store) makeStateDir() error {
	const ignoreAll = "*\n"
	have, err := s.disk.ReadFile(s.path(ignoreFile))
	if err == nil && string(have) == ignoreAll {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := s.disk.Mkdir(s.path(StateDir)); err != nil {
		return err
	}
	// As a whole: one that a full disk left empty would keep nothing out for ever.
	if err := s.replace(nextIgnore, ignoreFile, []byte(ignoreAll)); err != nil {
		return err
	}
	return s.disk.SyncDir(s.dir) // a journal is of no use in a folder that a power failure takes
}
