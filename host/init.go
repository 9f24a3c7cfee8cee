package host

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
	"meshc.dev/render/seal"
	"meshc.dev/render/sshsig"
)

// Keys are this machine's public halves, which go into mesh.cue.
type Keys struct {
	Node      string `json:"node"`
	Recipient string `json:"recipient"`
	WireGuard string `json:"wireguard"`
}

// InitOptions are what an Init is asked for besides the name.
type InitOptions struct {
	// SSH takes the machine's SSH host key, in place of a key of its own.
	SSH bool
	// Signers is an allowed signers file whose signers are pinned; nil leaves them.
	Signers []byte
}

// Init makes this machine a node: it writes which one, makes the keys it has not,
// and pins signers. A machine that is the node already keeps its keys.
func (h *Host) Init(ctx context.Context, node string, o InitOptions) (Keys, error) {
	if err := bundle.CheckLabel("node", node); err != nil {
		return Keys{}, err
	}
	if o.Signers != nil {
		signers, err := sshsig.ParseSigners(o.Signers)
		if err == nil && len(signers) == 0 {
			err = errors.New("it has no signers")
		}
		if err != nil {
			return Keys{}, fmt.Errorf("signers: %w", err)
		}
	}
	unlock, err := h.lock()
	if err != nil {
		return Keys{}, err
	}
	defer unlock()
	if is, err := h.Node(); err == nil && is != node {
		return Keys{}, alreadyInitialized(is, node)
	}
	if err := h.Machine.Root.MkdirAll("/etc/mesh-host", 0o755); err != nil {
		return Keys{}, err
	}
	id, err := h.makeIdentity(ctx, o.SSH)
	if err != nil {
		return Keys{}, err
	}
	wireguard, err := h.makeWireGuard()
	if err != nil {
		return Keys{}, err
	}
	if o.Signers != nil {
		if err := h.Machine.Root.WriteFile(signersFile, o.Signers, machine.Owner{}, 0o644); err != nil {
			return Keys{}, err
		}
	}
	err = h.Machine.Root.WriteFile(nodeFile, []byte(node+"\n"), machine.Owner{}, 0o644)
	return Keys{Node: node, Recipient: id.Recipient().String(), WireGuard: wireguard}, err
}

// makeIdentity gives the machine's key, and makes one where there is none. With the
// SSH host key in use there must be no other, or secrets would be sealed to it; that it
// was chosen is written down, so that no later Init makes another.
func (h *Host) makeIdentity(ctx context.Context, ssh bool) (seal.Identity, error) {
	own, err := h.Machine.Files.Look(ctx, machine.Key{Kind: machine.File, Name: identityFile})
	if err != nil {
		return seal.Identity{}, err
	}
	switch {
	case ssh && !own.Absent:
		return seal.Identity{}, fmt.Errorf("%s is there already, and secrets are sealed to it; move it away, and keep it until everything is sealed anew, if the SSH host key is to take its place", identityFile)
	case ssh:
		id, err := h.identity()
		if err == nil {
			err = h.Machine.Root.WriteFile(chosenFile, []byte(sshHostKey+"\n"), machine.Owner{}, 0o644)
		}
		return id, err
	case !own.Absent:
		return h.identity()
	}
	if _, err := h.Machine.Root.ReadFile(chosenFile); err == nil {
		id, err := h.identity()
		if err != nil {
			err = chosenKeyFails(err)
		}
		return id, err
	}
	id, file, err := seal.GenerateIdentity(seal.X25519)
	if err != nil {
		return id, err
	}
	defer file.Wipe()
	file.Use(func(b []byte) { err = h.Machine.Root.WriteFile(identityFile, b, machine.Owner{}, 0o600) })
	return id, err
}

// makeWireGuard gives the public half of the machine's WireGuard key, and makes the
// key where there is none: 32 bytes of Curve25519 in base64 (wg(8), genkey).
func (h *Host) makeWireGuard() (string, error) {
	var private *ecdh.PrivateKey
	data, err := h.Machine.Root.ReadFile(wireguardKey)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if private, err = ecdh.X25519().GenerateKey(rand.Reader); err != nil {
			return "", err
		}
		text := base64.StdEncoding.EncodeToString(clamp(private.Bytes())) + "\n"
		if err := h.Machine.Root.WriteFile(wireguardKey, []byte(text), machine.Owner{}, 0o600); err != nil {
			return "", err
		}
	case err != nil:
		return "", err
	default:
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(data)))
		if err == nil {
			private, err = ecdh.X25519().NewPrivateKey(raw)
		}
		if err != nil {
			return "", fmt.Errorf("%s holds no WireGuard key", wireguardKey)
		}
	}
	return base64.StdEncoding.EncodeToString(private.PublicKey().Bytes()), nil
}

// clamp sets the bits that Curve25519 sets itself, so that the key reads as one that
// wg made.
func clamp(key []byte) []byte {
	key[0] &= 248
	key[31] = key[31]&127 | 64
	return key
}

// CUE is the text for mesh.cue.
func (k Keys) CUE() string {
	return fmt.Sprintf("nodes: %q: {\n\trecipient: %q\n\twireguard: %q\n}\n", k.Node, k.Recipient, k.WireGuard)
}
