package provision

import "time"

// State is where one login stands.
type State string

// The states, as the standing file says them.
const (
	Holds       State = "holds"       // the server was asked, and has it exactly so
	Applied     State = "applied"     // it was made, and the server was not asked since
	Failing     State = "failing"     // it could not be made, or is not what was made
	Frozen      State = "frozen"      // what the list says of it cannot be meant
	Withdrawing State = "withdrawing" // nobody asks for it, and it could not be withdrawn
)

// memory is what the loop keeps of one login between passes. Durations are of the
// monotonic clock, since the loop began.
type memory struct {
	state State
	made  bool  // it was made, or found held, as `as` says
	as    print // what was made
	// repaired counts how often it was made again since the server last held it; the
	// next time is not before patience.
	repaired int
	patience time.Duration
	// absent counts the passes in which its credential was not there.
	absent int
	fail   trouble
}

// trouble is a failure that lasts.
type trouble struct {
	fault
	began     time.Duration
	since     time.Time // the wall's time of the beginning, to be shown
	attempts  int
	announced bool
	again     time.Duration // when it is announced again
}

func (t trouble) lasts() bool { return t.attempts > 0 }

// sight is one login as this pass sees it.
type sight struct {
	wanted bool
	frozen bool
	print  print // where wanted and the credential could be read
	broken bool  // the credential could not be read
	// asked says whether the server answered in this pass; held and marked are its answer.
	asked, held, marked bool
}

// verb is what is to be done about one login.
type verb int

const (
	leave  verb = iota
	freeze      // leave it, and say so
	adopt       // the server holds it: nothing to do but to know it
	create      // what is asked for is new or changed
	repair      // it was made, and the server does not hold it any more
	doubt       // it was made again and again, and the server does not hold it: wait
	blame       // its credential cannot be read
	remove      // nobody asks for it
	forget      // nobody asks for it, and the server has nothing of it
)

// decide says what to do about one login, from what is remembered and what is seen.
func decide(m memory, s sight, now time.Duration) verb {
	switch {
	case s.frozen:
		return freeze
	case !s.wanted && !s.asked:
		return leave
	case !s.wanted && s.marked:
		return remove
	case !s.wanted:
		return forget
	case s.broken:
		return blame
	case s.asked && s.held:
		return adopt
	case !m.made || m.as != s.print:
		return create
	case !s.asked:
		return leave
	case m.repaired == 0:
		return repair
	case now < m.patience:
		return doubt
	}
	return repair
}

// patience is how long to wait before something is made again that was made so often
// already and is not held: twice as long each time, at most an hour (PRV-4).
func patience(recheck time.Duration, repaired int) time.Duration {
	wait := recheck
	for range repaired {
		if wait *= 2; wait >= time.Hour {
			return time.Hour
		}
	}
	return wait
}
