package vault

import (
	"maps"
	"slices"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
)

// Age has no sender: whoever may write to the repository can seal a value of his own to
// the public keys of both ends, under the name and the generation of the one that is
// there. But a value is made once, and a new one has a new generation. So a secret that
// has other blobs than an earlier lock says, and the same generation, was not made by
// meshc; and one that has a lower generation is a value that was given up (SEC-5).

// Earlier is the lock that another is held against.
type Earlier struct {
	Lock *lock.Lock
	// Whose it is, in a sentence: "the last commit's", "main's".
	Whose string
	// Rev is the revision that has it, where help can bring it back from there.
	Rev string
	// Allowed are earlier values, whose generations are lower.
	Allowed bool
}

// Replaced refuses the secrets of a lock that are not those of an earlier one although
// they have their generation, and those whose generation is lower.
func (e Earlier) Replaced(now *lock.Lock) diag.List {
	faults, _ := e.replaced(now)
	return faults
}

// replaced gives the names of the secrets besides that the faults are about.
func (e Earlier) replaced(now *lock.Lock) (faults diag.List, names map[string]bool) {
	names = map[string]bool{}
	if e.Lock == nil || now == nil {
		return nil, names
	}
	var lower []lowered
	left := e.unmatched(now)
	for _, name := range slices.Sorted(maps.Keys(now.Secrets)) {
		was, ok := left.of(name, now.Secrets[name])
		s := now.Secrets[name]
		switch {
		case !ok || s.Generation > was.Generation:
		case s.Generation < was.Generation:
			if !e.Allowed {
				lower, names[name] = append(lower, lowered{name, s.Generation, was.Generation}), true
			}
		case !within(s, was):
			faults, names[name] = append(faults, secretReplaced(name, s, now.SecretAt(name), e)), true
		}
	}
	if len(lower) > 0 {
		faults = append(faults, secretsEarlier(lower, now, e))
	}
	return faults, names
}

// lowered is a secret whose generation is not what it was.
type lowered struct {
	name     string
	now, was int
}

// unmatched are the entries of the earlier lock, by name, that the other does not have
// as they were under another name. What it does have so was moved, and its old name may
// be that of something new.
func (e Earlier) unmatched(now *lock.Lock) entries {
	left := entries{maps.Clone(e.Lock.Secrets), map[string][]string{}}
	for _, old := range slices.Sorted(maps.Keys(e.Lock.Secrets)) {
		as := sealedAs(old, e.Lock.Secrets[old])
		left.as[as] = append(left.as[as], old)
	}
	for name, s := range now.Secrets {
		for _, old := range left.as[sealedAs(name, s)] {
			if was := e.Lock.Secrets[old]; old != name && len(s.Ends) > 0 && s.Generation == was.Generation && within(s, was) {
				delete(left.byName, old)
			}
		}
	}
	return left
}

// entries are secrets by their names, and these by the names that they were sealed under.
type entries struct {
	byName map[string]lock.Secret
	as     map[string][]string
}

// of is what a secret was: what has its name, or what was sealed under the name that its
// blobs hold.
func (left entries) of(name string, s lock.Secret) (lock.Secret, bool) {
	if was, ok := left.byName[name]; ok {
		return was, true
	}
	for _, old := range left.as[sealedAs(name, s)] {
		if was, ok := left.byName[old]; ok {
			return was, true
		}
	}
	return lock.Secret{}, false
}

// within says whether all of a secret's blobs are those that it had. It may have lost
// some, since a copy that nobody wants goes; it never gets one without a new generation.
func within(s, was lock.Secret) bool {
	return !slices.ContainsFunc(s.Ends, func(e lock.End) bool {
		return !slices.ContainsFunc(was.Ends, func(o lock.End) bool { return o.Role == e.Role && o.SHA256 == e.SHA256 })
	})
}

// replaced refuses what is not as the last commit has it. A blob does not show the key
// that it is sealed to, so a line that gives a machine's new key to an old blob would
// confirm that key without anybody having confirmed it.
func (r *review) replaced() {
	e := Earlier{Lock: r.mode.Head, Whose: "the last commit's", Rev: "HEAD", Allowed: r.mode.EarlierSecrets}
	var faults diag.List
	faults, r.refused = e.replaced(r.lock)
	r.faults = append(r.faults, faults...)
	if r.mode.Head == nil {
		return
	}
	keyOf := map[string]string{}
	for _, s := range r.mode.Head.Secrets {
		for _, e := range s.Ends {
			keyOf[e.SHA256] = e.To
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.lock.Secrets)) {
		for _, e := range r.lock.Secrets[name].Ends {
			key, ok := r.plan.keys.of(e)
			if was := keyOf[e.SHA256]; ok && was != "" && was != e.To && key.Fingerprint() == e.To && !r.refused[name] {
				r.refused[name] = true
				r.fault(keyEdited(name, e, r.lock.SecretAt(name), was))
			}
		}
	}
}

// foreign is the name of the other mesh that the lock's blobs are sealed for; empty
// where they are this one's. The lock says it; and one whose line a hand has changed
// has the blobs that the last commit's has under the name that they say.
func (r *review) foreign() string {
	if r.lock.Mesh != "" && r.lock.Mesh != r.demand.Mesh && len(unnamed(r.lock, lock.New())) > 0 {
		return r.lock.Mesh
	}
	head := r.mode.Head
	if head == nil || head.Mesh == "" || head.Mesh == r.demand.Mesh {
		return ""
	}
	for name, s := range r.lock.Secrets {
		if len(s.Ends) > 0 && within(s, head.Secrets[name]) {
			return head.Mesh
		}
	}
	return ""
}

// otherMesh refuses blobs that say they are another mesh's: this one's machines take
// none of them (SEC-5).
func (r *review) otherMesh() {
	if r.otherName = r.foreign(); r.otherName == "" || r.remakes() {
		return
	}
	made := 0
	var supplied []string
	for _, w := range r.demand.Wants {
		switch entry := r.lock.Secrets[w.Name.String()]; {
		case len(entry.Ends) == 0:
		case !w.Name.IsSupplied():
			made++
		default:
			if a := acceptArguments(w); len(a) > 0 {
				supplied = append(supplied, a[0])
			}
		}
	}
	slices.Sort(supplied)
	r.fault(meshRenamed(r.demand, r.otherName, made, supplied))
}

// remakes says whether a person confirmed that what cannot be used any more is made anew.
func (r *review) remakes() bool { return r.mode.Remake && r.mode.Step.makes() }

// ofOtherMesh decides about a secret whose blobs say that they are another mesh's.
func (r *review) ofOtherMesh(w Want, s *Secret, ends []Copy) {
	switch {
	case !r.remakes():
		s.Action = Refused // which was said once, of all of them
	case w.Name.IsSupplied():
		s.Action, s.Ends = Awaited, ends
		r.await(w, ends)
	default:
		r.anew(s, ends, "it was sealed for the mesh "+r.otherName)
	}
}
