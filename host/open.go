package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
	"meshc.dev/render/seal"
	"meshc.dev/render/sshsig"
)

// Opened is a bundle that was verified to be for this machine, with its secrets.
type Opened struct {
	*bundle.Bundle
	// Signer is who signed it; empty where this machine does not ask for that.
	Signer  string
	secrets map[bundle.ID]seal.Secret
	policy  Policy
}

// Close wipes the secrets.
func (o *Opened) Close() {
	for _, s := range o.secrets {
		s.Wipe()
	}
}

// Policy says what Open lets pass.
type Policy struct {
	AllowOlder bool // what may be older than the last applied one (HST-7)
	OtherMesh  bool // another mesh than the last applied one's
}

// Open reads a bundle from a folder or a tar, and verifies everything before
// anything can be changed: that it is whole, signed where that is asked for, for
// this node, not older than what was applied, and that every secret opens (HST-1).
func (h *Host) Open(name string, p Policy) (*Opened, error) {
	o := &Opened{policy: p}
	var distrust error
	b, err := bundle.OpenVouched(name, func(provenance, signature []byte) error {
		o.Signer, distrust = h.verifySignature(provenance, signature)
		return distrust
	})
	switch {
	case distrust != nil:
		return nil, distrust
	case err != nil:
		return nil, fmt.Errorf("bundle %s: %w", name, err)
	}
	o.Bundle = b
	node, err := h.Node()
	if err != nil {
		return nil, err
	}
	if b.Node != node {
		return nil, otherNode(b.Node, node)
	}
	st, err := h.state()
	if err != nil {
		return nil, err
	}
	if err := st.takes(b, p, h.Now()); err != nil {
		return nil, err
	}
	if err := o.openSecrets(h); err != nil {
		return nil, err
	}
	if err := o.checkFills(); err != nil {
		o.Close()
		return nil, err
	}
	return o, nil
}

// aheadTime is how far ahead of this machine's clock a serial may be, which is a commit's
// time in seconds.
const aheadTime = 24 * time.Hour

// takes says why a bundle is not to follow what was applied last: it is of another mesh,
// or older, or not to be told from an older one (HST-7).
func (st *state) takes(b *bundle.Bundle, p Policy, now time.Time) error {
	if st.Mesh != "" && st.Mesh != b.Mesh && !p.OtherMesh {
		return otherMesh(b.Mesh, st.Mesh)
	}
	if p.AllowOlder {
		return nil
	}
	limit := now.Add(aheadTime).Unix()
	last := st.Serial
	if last > limit {
		last = 0 // nobody could follow it
	}
	switch serial := b.Provenance.Serial; {
	case serial < 0:
		return fmt.Errorf("the bundle's serial %d is none", serial)
	case serial > limit:
		return serialAhead(serial, now)
	case serial == 0 && st.Serial != 0:
		return noSerial(st.Serial, st.Commit)
	case serial != 0 && serial < last:
		return olderSerial(serial, st.Serial, st.Commit)
	case serial != 0 && serial == last && st.SerialOf != "" && st.SerialOf != b.Digest().String():
		return sameSerial(serial, b.Provenance.Commit, st.Commit)
	}
	return st.takesSecrets(b)
}

// takesSecrets says which secrets are not those that this machine was given under their
// generation, or were given before a later one: age has no sender, so whoever can write
// to the mesh could have sealed values of his own.
func (st *state) takesSecrets(b *bundle.Bundle) error {
	var errs []error
	for _, item := range b.Declaration.Items {
		s, ok := item.(*bundle.Secret)
		if !ok || s.Sealed == "" {
			continue
		}
		last, ok := st.Secrets[takenName(s)]
		if !ok || st.Mesh != b.Mesh {
			continue
		}
		blob, _ := b.Entry(s.Sealed)
		switch {
		case s.Generation < last.Generation:
			errs = append(errs, olderSecret(s.ID, s.Generation, last.Generation))
		case s.Generation == last.Generation && blob.Sum != last.Sum:
			errs = append(errs, otherSecret(s.ID, s.Generation))
		}
	}
	if len(errs) > 0 {
		errs = append(errs, errSecretsChanged)
	}
	return errors.Join(errs...)
}

// takeSecrets remembers which secrets the bundle has, and forgets those that it has not.
func (r *run) takeSecrets() {
	r.state.Secrets = map[string]taken{}
	for _, item := range r.opened.Declaration.Items {
		if s, ok := item.(*bundle.Secret); ok && s.Sealed != "" {
			blob, _ := r.opened.Entry(s.Sealed)
			r.state.Secrets[takenName(s)] = taken{s.Generation, blob.Sum}
		}
	}
}

// checkFills says which secrets cannot stand where a file has a place for them.
func (o *Opened) checkFills() error {
	var errs []error
	for _, item := range o.Declaration.Items {
		if f, ok := item.(*bundle.File); ok && len(f.Fills) > 0 {
			content, err := o.content(f)
			clear(content)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// verifySignature says who signed the bundle, where signers are pinned.
func (h *Host) verifySignature(provenance, signature []byte) (string, error) {
	data, err := h.Machine.Root.ReadFile(signersFile)
	if errors.Is(err, fs.ErrNotExist) {
		// A link to nowhere is not the same as nobody asking for signatures.
		if is, err := h.Machine.Files.Look(context.Background(), machine.Key{Kind: machine.File, Name: signersFile}); err != nil || !is.Absent {
			return "", badSigners(errors.Join(errors.New("it leads nowhere"), err))
		}
		return "", nil
	}
	if err != nil {
		return "", err
	}
	signers, err := sshsig.ParseSigners(data)
	if err != nil {
		return "", badSigners(err)
	}
	if len(signature) == 0 {
		return "", unsigned()
	}
	signer, err := signers.Verify(provenance, signature, h.Now())
	if err != nil {
		return "", badSignature(err)
	}
	return signer.Principals, nil
}

// openSecrets opens every blob, and says all that cannot be opened.
func (o *Opened) openSecrets(h *Host) error {
	var missing []string
	var sealed []*bundle.Secret
	for _, item := range o.Declaration.Items {
		if s, ok := item.(*bundle.Secret); ok && s.Sealed == "" {
			missing = append(missing, string(s.ID))
		} else if ok {
			sealed = append(sealed, s)
		}
	}
	if len(missing) > 0 || !o.Manifest.Complete {
		return incomplete(missing)
	}
	if len(sealed) == 0 {
		return nil
	}
	id, err := h.identity()
	if err != nil {
		return err
	}
	o.secrets = make(map[bundle.ID]seal.Secret, len(sealed))
	var errs []error
	for _, s := range sealed {
		blob, _ := o.Entry(s.Sealed)
		if s.Key == "" || s.Role == "" {
			errs = append(errs, withoutKey(s.ID))
			continue
		}
		secret, err := seal.Open(id, blob.Data, o.purpose(s), o.Manifest.Recipient)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.ID, err))
			continue
		}
		o.secrets[s.ID] = secret
	}
	if len(errs) > 0 {
		o.Close()
		if slices.ContainsFunc(errs, isOtherKey) {
			errs = append(errs, otherKey(o.Node))
		}
		return errors.Join(errs...)
	}
	return nil
}

func isOtherKey(err error) bool {
	open := (*seal.OpenError)(nil)
	return errors.As(err, &open) && open.Fault == seal.OtherKey
}

// purpose is what the blob of a secret has to say that it is for (SEC-5).
func (o *Opened) purpose(s *bundle.Secret) seal.Purpose {
	return seal.Purpose{Mesh: o.Mesh, Name: s.Key, Role: seal.Role(s.Role), Generation: s.Generation}
}
