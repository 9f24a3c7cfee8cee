package vault

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/lock"
	"meshc.dev/render/seal"
)

// blobs reads the blobs that are carried over, and holds each against the lock:
// bytes that changed without a new generation are refused (SEC-5). Of secrets that
// nobody wants it only looks whether the files are there.
func (r *review) blobs() error {
	var names []string
	for i := range r.plan.Secrets {
		s := &r.plan.Secrets[i]
		if s.Action != Kept && s.Action != Awaited {
			continue
		}
		for _, c := range s.Ends {
			if c.Blob != "" {
				names = append(names, c.Blob)
			}
		}
	}
	var err error
	if r.plan.data, err = r.view.load(names); err != nil {
		return err
	}
	digests := make([]string, len(names))
	_ = parallel(len(names), func(i int) error {
		sum := sha256.Sum256(r.plan.data[names[i]])
		digests[i] = hex.EncodeToString(sum[:])
		return nil
	})
	n := 0
	for i := range r.plan.Secrets {
		s := &r.plan.Secrets[i]
		if s.Action != Kept && s.Action != Awaited {
			continue
		}
		var broken []Copy
		var faults diag.List
		for _, c := range s.Ends {
			if c.Blob == "" {
				continue
			}
			if d, ok := r.check(s.Name, c, digests[n]); !ok {
				broken, faults = append(broken, c), append(faults, d)
			}
			n++
		}
		if len(broken) > 0 {
			r.broken(s, broken, faults)
		}
	}
	r.absentBlobs()
	r.storeGone()
	return nil
}

// storeGone says once that nothing is left of the store, where one command brings all of it back.
func (r *review) storeGone() {
	help, missing := "", 0
	for _, d := range r.faults {
		if d.Code != diag.BlobMissing {
			continue
		}
		// Each names its own file; what stands before that is the same for those of one folder.
		how := d.Help
		if before, _, git := strings.Cut(d.Help, sealedDir+"/"); git {
			how = before + sealedDir
		}
		if missing++; missing == 1 {
			help = how
		} else if how != help {
			return
		}
	}
	if len(r.view.blobs) > 0 || missing < 2 {
		return
	}
	gone := storeMissing(missing, help)
	r.faults = append(slices.DeleteFunc(r.faults, func(d diag.Diagnostic) bool { return d.Code == diag.BlobMissing }), gone)
}

// broken decides about a secret of which blobs are missing or damaged: what cannot
// be brought back is made anew once a person said so.
func (r *review) broken(s *Secret, broken []Copy, faults diag.List) {
	switch {
	case !r.mode.Remake || !r.mode.Step.makes():
		s.Action = Refused
		r.faults = append(r.faults, faults...)
	case s.Name.IsSupplied():
		s.Action = Awaited
		s.Ends = slices.DeleteFunc(s.Ends, func(c Copy) bool { return slices.Contains(broken, c) })
		r.await(r.plan.wants[s.Name.String()], broken)
	default:
		r.anew(s, s.Ends, sealedDir+"/"+broken[0].Blob+" was missing or damaged")
		s.kept = nil
	}
}

// check looks at one blob that is carried over.
func (r *review) check(n Name, c Copy, digest string) (diag.Diagnostic, bool) {
	at := r.lock.SecretAt(n.String())
	data, ok := r.plan.data[c.Blob]
	if !ok {
		return blobMissing(n, c.end(), at, r.restore(c.end())), false
	}
	key, _ := r.plan.keys.of(c.end())
	if digest != c.SHA256 {
		return blobDamaged(n, c.end(), at, r.damage(data, digest, key), r.restore(c.end())), false
	}
	// The lock and the blob agree; that says nothing of a line whose key was edited by hand.
	if err := key.Check(data); err != nil {
		return blobForKey(n, c.end(), at, err), false
	}
	return diag.Diagnostic{}, true
}

// damage says what happened to a blob, as far as it shows.
func (r *review) damage(data []byte, digest string, key seal.Recipient) string {
	if r.known == nil {
		r.known = map[string]string{}
		for _, l := range []*lock.Lock{r.mode.Head, r.lock} {
			if l == nil {
				continue
			}
			for name, s := range l.Secrets {
				for _, e := range s.Ends {
					r.known[e.SHA256] = "it is the blob of " + name + " for its " + e.Role + " " + e.Holder + ", generation " + itoa(s.Generation)
				}
			}
		}
	}
	if what, ok := r.known[digest]; ok {
		return what
	}
	var fault *seal.BlobError
	if err := key.Check(data); errors.As(err, &fault) {
		return fault.Reason
	}
	return "it was altered or cut short"
}

// absentBlobs finds the entries of secrets that nobody wants whose blobs are gone.
func (r *review) absentBlobs() {
	forgotten := map[string]bool{}
	for _, name := range r.plan.Forgotten {
		forgotten[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(r.lock.Secrets)) {
		if _, wanted := r.plan.wants[name]; wanted || forgotten[name] {
			continue
		}
		n, err := ParseName(name)
		for _, e := range r.lock.Secrets[name].Ends {
			if err == nil && !r.view.blobs[e.Blob] {
				r.fault(blobMissingUnwanted(n, e, r.lock.SecretAt(name), r.restore(e)))
			}
		}
	}
}

// restore is the command that brings this very blob back from git, empty where that is none.
func (r *review) restore(e lock.End) string {
	if r.mode.Restore == nil {
		return ""
	}
	return r.mode.Restore(sealedDir+"/"+e.Blob, e.SHA256)
}
