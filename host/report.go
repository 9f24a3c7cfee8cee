package host

import (
	"fmt"
	"slices"
	"strings"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

// Verb is what was done, or is to be done, to a thing.
type Verb string

// The verbs. The last three are what was not done.
const (
	Made     Verb = "made"
	Changed  Verb = "changed"
	Removed  Verb = "removed"
	Restored Verb = "gave back"
	Started  Verb = "started"
	Stopped  Verb = "stopped"
	Set      Verb = "set"
	Restart  Verb = "restarted"
	Reload   Verb = "reloaded"
	Kept     Verb = "kept"
	Skipped  Verb = "skipped"
	Failed   Verb = "failed"
)

// Event is one thing that changed, or could not, and why.
type Event struct {
	Verb Verb        `json:"did"`
	Key  machine.Key `json:"thing"`
	ID   bundle.ID   `json:"id,omitempty"`
	Why  string      `json:"why,omitempty"`
}

func (e Event) String() string { return e.with(string(e.Verb)) }

// would are the verbs of what was not done yet.
var would = map[Verb]string{
	Made: "make", Changed: "change", Removed: "remove", Restored: "give back", Started: "start", Stopped: "stop", Set: "set",
	Restart: "restart", Reload: "reload", Kept: "keep", Skipped: "skip", Failed: "fail with",
}

// Would says what Check foresees: "would make file /etc/app/conf".
func (e Event) Would() string { return e.with("would " + would[e.Verb]) }

func (e Event) with(verb string) string {
	s := verb + " " + e.Key.String()
	if e.ID != "" {
		s += " (" + string(e.ID) + ")"
	}
	if e.Why != "" {
		s += ": " + e.Why
	}
	return s
}

// Report is what a run did.
type Report struct {
	Mesh   string  `json:"mesh"`
	Node   string  `json:"node"`
	Bundle string  `json:"bundle"`
	Commit string  `json:"commit,omitempty"`
	Serial int64   `json:"serial,omitempty"`
	Signer string  `json:"signer,omitempty"`
	Events []Event `json:"events"`
	// Ended is what ended the run before it was through; empty where nothing did.
	Ended string `json:"ended,omitempty"`
	// Unchanged is how many resources were as declared already.
	Unchanged int `json:"unchanged"`
	// Contradictions are what on the machine is in the bundle's way; Check alone
	// looks for them (HST-11).
	Contradictions []string `json:"contradictions,omitempty"`
}

// Partly says whether something was left undone.
func (r Report) Partly() bool {
	return r.Ended != "" || slices.ContainsFunc(r.Events, func(e Event) bool { return e.Verb == Failed || e.Verb == Skipped })
}

// Summary in one line.
func (r Report) Summary() string {
	if len(r.Events) == 0 && r.Ended == "" {
		return fmt.Sprintf("%s: nothing to do, %d things are as declared", r.Node, r.Unchanged)
	}
	var parts []string
	for _, v := range []Verb{Made, Changed, Removed, Restored, Started, Stopped, Set, Restart, Reload, Kept, Failed, Skipped} {
		n := 0
		for _, e := range r.Events {
			if e.Verb == v {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", v, n))
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing was done"}
	}
	return fmt.Sprintf("%s: %s; %d as they were", r.Node, strings.Join(parts, ", "), r.Unchanged)
}
