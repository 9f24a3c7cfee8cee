package vault

import (
	"maps"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
	"meshc.dev/render/seal"
)

// Review decides what is to happen to every secret that is wanted. It changes
// nothing. The lock is the one to go on from, as settled; the view is what stands
// in the folder. The error is about reading blobs.
func Review(d Demand, lk *lock.Lock, v *View, m Mode) (*Plan, diag.List, error) {
	if lk == nil {
		lk = lock.New()
	}
	r := &review{demand: d, lock: lk, view: v, mode: m, lost: map[string]bool{}, rotate: map[Name]bool{}}
	for _, n := range m.Rotate {
		r.rotate[n] = true
	}
	r.plan = &Plan{mesh: d.Mesh, lock: lk, prune: m.Prune, wants: map[string]Want{}}
	r.plan.keys, r.faults = readKeys(d)
	r.plan.keys.compare(lk, m.NewRecipients)

	r.look()
	r.replaced()
	r.otherMesh()
	r.newRecipients()
	r.wants()
	r.unwanted()
	r.orphans() // after the wants: a blob without an entry may be all that is left of a lost one
	if err := r.blobs(); err != nil {
		return nil, nil, err
	}
	faults := r.faults.Sorted()
	r.plan.refused = faults.HasErrors()
	return r.plan, faults, nil
}

type review struct {
	demand Demand
	lock   *lock.Lock
	view   *View
	mode   Mode

	plan   *Plan
	faults diag.List
	// loose are the blobs that the lock does not name, in order, and lost those of
	// them that a diagnostic is about already.
	loose  []string
	lost   map[string]bool
	rotate map[Name]bool
	// newRecovery and oldRecovery are secrets that a recovery key cannot open yet, and
	// those that one which is gone still can, by fingerprint.
	newRecovery, oldRecovery map[string][]string
	// forRecovery are supplied secrets of which only recovery keys have no copy.
	forRecovery []awaited
	noKey       map[addr.Node]bool // said already
	refused     map[string]bool    // names of secrets that are not what they were
	otherName   string             // of the mesh that the lock's blobs are sealed for, where it is another
	known       map[string]string  // what a blob with a digest is, for damage
	sealed      map[string]bool    // names that the lock's secrets were sealed under
}

func (r *review) fault(d diag.Diagnostic) { r.faults = append(r.faults, d) }

// look finds the blobs that the lock does not name, and those that it names twice.
func (r *review) look() {
	type use struct{ secret, end string }
	named := map[string]use{}
	for _, name := range slices.Sorted(maps.Keys(r.lock.Secrets)) {
		for _, e := range r.lock.Secrets[name].Ends {
			u := use{name, e.Role + " " + e.Holder}
			if o, ok := named[e.Blob]; ok {
				r.fault(blobShared(e.Blob, r.lock.SecretAt(name), u.secret, u.end, r.lock.SecretAt(o.secret), o.secret, o.end))
				continue
			}
			named[e.Blob] = u
		}
	}
	for _, b := range slices.Sorted(maps.Keys(r.view.blobs)) {
		if _, ok := named[b]; !ok && !r.view.pending[b] {
			r.loose = append(r.loose, b)
		}
	}
}

// newRecipients refuses the keys that changed and that nobody confirmed.
func (r *review) newRecipients() {
	for _, node := range slices.Sorted(maps.Keys(r.plan.keys.changed)) {
		c := r.plan.keys.changed[node]
		r.plan.NewRecipients = append(r.plan.NewRecipients, *c)
		if !c.Confirmed {
			r.fault(recipientChanged(*c))
		}
	}
}

func (r *review) wants() {
	r.newRecovery, r.oldRecovery, r.noKey = map[string][]string{}, map[string][]string{}, map[addr.Node]bool{}
	names := make([]string, 0, len(r.demand.Wants))
	for _, w := range r.demand.Wants {
		name := w.Name.String()
		if _, twice := r.plan.wants[name]; twice {
			panic("vault: " + name + " is wanted twice")
		}
		r.plan.wants[name] = w
		names = append(names, name)
	}
	slices.Sort(names)
	r.plan.Secrets = make([]Secret, len(names))
	for i, name := range names {
		r.plan.Secrets[i] = r.decide(name, r.plan.wants[name])
	}
	for _, key := range r.plan.keys.recovery {
		if names := r.newRecovery[key.Fingerprint()]; len(names) > 0 {
			n := NewRecipient{New: key.Fingerprint(), At: r.recoveryAt(key), Confirmed: r.confirmsRecovery(), Secrets: names}
			r.plan.NewRecipients = append(r.plan.NewRecipients, n)
			if !n.Confirmed {
				r.fault(recoveryNew(n))
			}
		}
	}
	// A recovery key is confirmed first: a value is not asked for twice because of it.
	if len(r.newRecovery) == 0 || r.confirmsRecovery() {
		for _, a := range r.forRecovery {
			r.await(a.want, a.lacking)
		}
	}
	for _, fp := range slices.Sorted(maps.Keys(r.oldRecovery)) {
		r.fault(recoveryGone(fp, len(r.oldRecovery[fp])))
	}
}

func (r *review) confirmsRecovery() bool { return slices.Contains(r.mode.NewRecipients, RecoveryName) }

func (r *review) recoveryAt(key seal.Recipient) diag.Pos {
	for _, k := range r.demand.Recovery {
		if x, err := seal.ParseRecipient(k.Recipient); err == nil && x.Fingerprint() == key.Fingerprint() {
			return k.At
		}
	}
	return diag.Pos{}
}

// decide looks at one secret. Where several things are to be said of it, it says
// the one that has to be mended first.
func (r *review) decide(name string, w Want) Secret {
	entry := r.lock.Secrets[name]
	s := Secret{Name: w.Name, Generation: entry.Generation}
	ends, ok := r.ends(w)
	switch {
	case !ok || r.refused[name]:
		s.Action = Refused
	case len(entry.Ends) == 0:
		r.absent(name, w, &s, ends)
	case r.otherName != "":
		r.ofOtherMesh(w, &s, ends)
	default:
		r.present(name, w, &s, ends, entry)
	}
	return s
}

// ends are all who are to hold a secret, with the keys of each, the recovery keys
// among them. It gives false where one has no key that can be used.
func (r *review) ends(w Want) ([]Copy, bool) {
	var out []Copy
	ok := true
	for _, e := range endsOf(w) {
		node := e.Holder.Node
		key, usable := r.plan.keys.nodes[node]
		if !usable {
			ok = false
			if n := r.plan.keys.written[node]; n.Recipient == "" && !r.noKey[node] {
				r.noKey[node] = true
				r.fault(recipientMissing(w, e, n))
			} else if n.Recipient == sample && !r.noKey[node] {
				r.noKey[node] = true
				r.fault(recipientSample(string(node), string(node), n.At))
			}
			continue
		}
		if r.plan.keys.held(node) {
			ok = false
			continue
		}
		out = append(out, Copy{Role: e.Role, Holder: e.Holder.String(), Node: node, Recipient: key.Fingerprint()})
	}
	for _, key := range r.plan.keys.recovery {
		out = append(out, Copy{Role: seal.Recovery, Holder: key.Fingerprint(), Recipient: key.Fingerprint()})
	}
	slices.SortFunc(out, func(a, b Copy) int { return a.end().Compare(b.end()) })
	return slices.CompactFunc(out, func(a, b Copy) bool { return a.end().Compare(b.end()) == 0 }), ok
}

// endsOf are the holders of a secret. A credential has the two that its name says,
// whether they place it anywhere or not: each could from the next build on.
func endsOf(w Want) []End {
	if !w.Name.IsCredential() {
		return w.Ends
	}
	ends := []End{
		{Holder: w.Name.Pair.Consumer.Instance, Role: seal.Consumer, At: w.At},
		{Holder: w.Name.Pair.Provider, Role: seal.Provider, At: w.At},
	}
	for i, e := range ends {
		for _, given := range w.Ends {
			if given.Holder == e.Holder && given.Role == e.Role {
				ends[i] = given
			}
		}
	}
	return ends
}

// end is the copy as the lock has it.
func (c Copy) end() lock.End {
	return lock.End{Role: string(c.Role), Holder: c.Holder, To: c.Recipient, Blob: c.Blob, SHA256: c.SHA256}
}

// absent decides about a secret that the lock does not have.
func (r *review) absent(name string, w Want, s *Secret, ends []Copy) {
	_, givenUp := r.lock.Secrets[name] // without ends: forgotten on purpose
	if !givenUp && !r.mode.Remake && r.isLost(w, ends) {
		s.Action = Refused
		return
	}
	s.Ends = ends
	switch {
	case w.Name.IsSupplied() && r.rotate[w.Name]:
		s.Action = Refused
		r.fault(rotateSupplied(w))
	case w.Name.IsSupplied():
		s.Action = Awaited
		r.await(w, ends)
	case r.mode.Step.makes():
		// Where the lock lost it, the value that the last commit has was its generation's.
		s.Action, s.Generation = Made, max(s.Generation, r.before(name))+1
	default:
		s.Action = Missing
		if r.mode.Step == Locked {
			r.fault(notMade(w))
		}
	}
}

// before is the generation that a secret has in the last commit's lock.
func (r *review) before(name string) int {
	if r.mode.Head == nil {
		return 0
	}
	return r.mode.Head.Secrets[name].Generation
}

// isLost refuses to make anew what was made before and has gone missing (PRT-9):
// the last commit has it, or its blobs are still there.
func (r *review) isLost(w Want, ends []Copy) bool {
	name := w.Name.String()
	var left []string
	for _, e := range ends {
		prefix := blobPrefix(name, e.end())
		i, _ := slices.BinarySearch(r.loose, prefix)
		for ; i < len(r.loose) && strings.HasPrefix(r.loose[i], prefix); i++ {
			left = append(left, r.loose[i])
		}
	}
	inHead := r.mode.Head != nil && len(r.mode.Head.Secrets[name].Ends) > 0 && !r.isElsewhere(name)
	if !inHead && len(left) == 0 {
		return false
	}
	for _, b := range left {
		r.lost[b] = true
	}
	before := ""
	if !inHead && r.mode.EntryIn != nil {
		before = r.mode.EntryIn(name)
	}
	r.fault(secretLost(w, inHead, left, before))
	return true
}

// isElsewhere says whether what the last commit's lock has under a name is what this
// lock has under another: it was moved, and a new one has the old name.
func (r *review) isElsewhere(name string) bool {
	if r.sealed == nil {
		r.sealed = map[string]bool{}
		for n, s := range r.lock.Secrets {
			r.sealed[sealedAs(n, s)] = true
		}
	}
	return r.sealed[sealedAs(name, r.mode.Head.Secrets[name])]
}

// await says that only a person can supply a secret, for these holders at least.
func (r *review) await(w Want, lacking []Copy) {
	switch r.mode.Step {
	case Locked, Build:
		r.fault(notSupplied(diag.SecretNotSupplied, w, lacking))
	case Relock:
		r.fault(notSupplied(diag.SecretAwaited, w, lacking))
	}
}

// present decides about a secret that the lock has.
func (r *review) present(name string, w Want, s *Secret, ends []Copy, entry lock.Secret) {
	was := map[string]lock.End{}
	for _, e := range entry.Ends {
		was[e.Role+" "+e.Holder] = e
	}
	var have, lacking []Copy // copies that are there and can stay, and those that are not
	var because []string
	for _, c := range ends {
		e, ok := was[string(c.Role)+" "+c.Holder]
		delete(was, string(c.Role)+" "+c.Holder)
		switch {
		case ok && e.To == c.Recipient:
			c.Blob, c.SHA256, c.Purpose = e.Blob, e.SHA256, r.purpose(name, entry, c.Role)
			have = append(have, c)
			continue
		case ok:
			c.Before = e.To
			because = append(because, string(c.Node)+" has a new key")
		case c.Role == seal.Recovery:
			because = append(because, "the recovery key "+c.Recipient+" is new")
		default:
			because = append(because, c.Holder+" is a new holder")
		}
		lacking = append(lacking, c)
	}
	s.Ends = have
	unwanted := slices.SortedFunc(maps.Values(was), lock.End.Compare)

	switch {
	case !fits(w.Name, entry, lacking, unwanted):
		s.Action = Refused
		r.fault(endsWrong(w, r.lock.SecretAt(name), entry))
	case w.Name.IsSupplied():
		r.presentSupplied(w, s, lacking)
	case r.rotate[w.Name]:
		r.anew(s, ends, "rotated")
	case len(lacking) == 0:
		s.Action = Kept
	default:
		r.lacking(w, s, ends, lacking, because)
	}
	if s.Action == Kept || s.Action == Awaited {
		s.kept = r.keep(name, unwanted)
	}
}

// fits says whether an entry's ends are those of its name: a credential has the
// two that it names, whoever else wants or does not want it.
func fits(n Name, entry lock.Secret, lacking []Copy, unwanted []lock.End) bool {
	if !n.IsCredential() {
		return true
	}
	return !slices.ContainsFunc(lacking, func(c Copy) bool { return c.Role != seal.Recovery && c.Before == "" }) &&
		!slices.ContainsFunc(unwanted, func(e lock.End) bool { return e.Role != string(seal.Recovery) })
}

func (r *review) presentSupplied(w Want, s *Secret, lacking []Copy) {
	switch {
	case r.rotate[w.Name]:
		s.Action = Refused
		r.fault(rotateSupplied(w))
	case len(lacking) > 0:
		s.Action = Awaited
		if slices.ContainsFunc(lacking, func(c Copy) bool { return c.Role != seal.Recovery }) {
			r.await(w, lacking)
		} else {
			r.forRecovery = append(r.forRecovery, awaited{w, lacking})
		}
	default:
		s.Action = Kept
	}
}

// awaited is a supplied secret that some holders have no copy of.
type awaited struct {
	want    Want
	lacking []Copy
}

// lacking decides about a secret that is made and of which somebody has no copy:
// nobody can make one, so it is made anew for all.
func (r *review) lacking(w Want, s *Secret, ends, lacking []Copy, because []string) {
	recovery := slices.ContainsFunc(lacking, func(c Copy) bool { return c.Role == seal.Recovery })
	if recovery {
		for _, c := range lacking {
			if c.Role == seal.Recovery {
				r.newRecovery[c.Holder] = append(r.newRecovery[c.Holder], w.Name.String())
			}
		}
		if !r.confirmsRecovery() {
			s.Action = Refused
			return
		}
	}
	if !r.mode.Step.makes() {
		s.Action = Missing
		if r.mode.Step == Locked {
			r.fault(noCopy(w, lacking))
		}
		return
	}
	for _, c := range lacking {
		if c.Role != seal.Recovery && c.Before == "" {
			r.fault(holderJoined(w, c))
		}
	}
	r.anew(s, ends, strings.Join(because, ", "))
}

func (r *review) anew(s *Secret, ends []Copy, because string) {
	if !r.mode.Step.makes() {
		panic("vault: a step that makes nothing was told to make " + s.Name.String() + " anew")
	}
	s.Action, s.Because, s.Ends = Remade, because, ends
	s.Generation++
}

// keep gives the ends that stay although nobody wants them now: they are what a
// holder finds when it returns (CON-8). A copy for a key that is no machine's any
// more goes, and a recovery key's copy goes with the key.
func (r *review) keep(name string, unwanted []lock.End) []lock.End {
	if !r.mode.Step.makes() {
		return unwanted
	}
	return slices.DeleteFunc(unwanted, func(e lock.End) bool {
		if e.Role == string(seal.Recovery) {
			r.oldRecovery[e.To] = append(r.oldRecovery[e.To], name)
			return true
		}
		return r.isStale(e) || slices.Contains(r.mode.Drop, e.To)
	})
}

// isStale says whether an end is sealed to a key that a person confirmed to be replaced.
func (r *review) isStale(e lock.End) bool {
	c := r.plan.keys.changed[e.Node()]
	return e.Role != string(seal.Recovery) && c != nil && c.Confirmed && e.To != c.New
}

func (r *review) purpose(name string, entry lock.Secret, role seal.Role) seal.Purpose {
	return seal.Purpose{Mesh: r.demand.Mesh, Name: sealedAs(name, entry), Role: role, Generation: entry.Generation}
}

// sealedAs is the name that a secret's blobs hold: the one that it had when it was sealed.
func sealedAs(name string, entry lock.Secret) string {
	if entry.Sealed != "" {
		return entry.Sealed
	}
	return name
}

// unwanted decides about the secrets that the lock has and nobody wants. They stay
// as they are, unless their value must not come back.
func (r *review) unwanted() {
	if !r.mode.Step.makes() {
		return
	}
	forget := map[string]bool{}
	for _, n := range r.mode.Forget {
		forget[n.String()] = true
	}
	for _, name := range slices.Sorted(maps.Keys(r.lock.Secrets)) {
		if _, wanted := r.plan.wants[name]; wanted {
			continue
		}
		entry := r.lock.Secrets[name]
		stale := slices.ContainsFunc(entry.Ends, r.isStale)
		if r.mode.Prune || len(entry.Ends) > 0 && (stale || forget[name] || r.otherName != "" && r.remakes()) {
			r.plan.Forgotten = append(r.plan.Forgotten, name)
		}
	}
}

// orphans decides about blobs that the lock does not name. Those that are ours go;
// what somebody else put there is never deleted.
func (r *review) orphans() {
	for _, b := range r.loose {
		switch {
		case r.lost[b]:
		case !isOurs(b):
			r.fault(blobForeign(b))
		case r.mode.Step.makes():
			r.plan.Removed = append(r.plan.Removed, b)
		case r.mode.Step == Locked:
			r.fault(blobUnknown(b))
		}
	}
}
