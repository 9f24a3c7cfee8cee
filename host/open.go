package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

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
	AllowOlder bool // a serial before the last applied one (HST-7)
	OtherMesh  bool // another mesh than the last applied one's
}

// Open reads a bundle from a folder or a tar, and verifies everything before
// anything can be changed: that it is whole, signed where that is asked for, for
// this node, not older than what was applied, and that every secret opens (HST-1).
func (h *Host) Open(name string, p Policy) (*Opened, error) {
	b, err := bundle.Open(name)
	if err != nil {
		return nil, fmt.Errorf("bundle %s: %w", name, err)
	}
	o := &Opened{Bundle: b, policy: p}
	if o.Signer, err = h.verifySignature(b); err != nil {
		return nil, err
	}
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
	if err := st.takes(b, p); err != nil {
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

// takes says why a bundle is not to follow what was applied last: it is of another mesh,
// or older (HST-7).
func (st *state) takes(b *bundle.Bundle, p Policy) error {
	if st.Mesh != "" && st.Mesh != b.Mesh && !p.OtherMesh {
		return otherMesh(b.Mesh, st.Mesh)
	}
	if serial := b.Provenance.Serial; serial != 0 && serial < st.Serial && !p.AllowOlder {
		return olderSerial(serial, st.Serial, st.Commit)
	}
	return nil
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
func (h *Host) verifySignature(b *bundle.Bundle) (string, error) {
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
	if len(b.Signature) == 0 {
		return "", unsigned()
	}
	signer, err := signers.Verify(b.ProvenanceBytes(), b.Signature, h.Now())
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
