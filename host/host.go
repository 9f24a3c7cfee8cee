// Package host makes a machine agree with its bundle, again and again. Open
// verifies a bundle as this machine's own and opens every secret in it before
// anything is changed; Apply makes it true; Check says what Apply would do and what
// on the machine contradicts the bundle; Status what was applied and what drifted.
//
// What is done to a machine is package machine's. What is decided here is the
// order, and what was there before: Apply keeps, for each thing it touches, how it
// found that, so that a thing which is no longer declared is given back (HST-4).
// It writes this down before it acts, so that killed at any point, the next run
// finishes the job (HST-2).
//
// The package knows neither CUE nor the compiler. Time comes in as an argument,
// and nothing here prints.
package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"meshc.dev/host/machine"
	"meshc.dev/render/seal"
)

// The files that are the host's own.
const (
	nodeFile     = "/etc/mesh-host/node"
	signersFile  = "/etc/mesh-host/signers"
	chosenFile   = "/etc/mesh-host/identity" // is there where the SSH host key was chosen
	identityFile = machine.StateDir + "/identity"
	wireguardKey = machine.StateDir + "/wireguard.key"
	stateFile    = machine.StateDir + "/state.json"
	foundDir     = machine.StateDir + "/found"
	lockFile     = machine.StateDir + "/lock"
	sshHostKey   = "/etc/ssh/ssh_host_ed25519_key"
)

// Host is one machine that takes bundles.
type Host struct {
	Machine *machine.Machine
	Now     func() time.Time
	// Progress is told what a long step is at, line by line; it may be nil.
	Progress func(string)
}

// Node is which node of a mesh this machine is.
func (h *Host) Node() (string, error) {
	data, err := h.Machine.Root.ReadFile(nodeFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", notInitialized()
	}
	return strings.TrimSpace(string(data)), err
}

// identity is the key that this machine opens its secrets with: one of its own,
// or else its SSH host key.
func (h *Host) identity() (seal.Identity, error) {
	for _, p := range []string{identityFile, sshHostKey} {
		data, err := h.Machine.Root.ReadFile(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return seal.Identity{}, err
		}
		defer clear(data)
		c, err := h.Machine.Files.Look(context.Background(), machine.Key{Kind: machine.File, Name: p})
		if err != nil {
			return seal.Identity{}, err
		}
		if c.Mode&0o077 != 0 {
			return seal.Identity{}, openKey(p, c.Mode)
		}
		if c.UID != 0 && c.UID != os.Geteuid() {
			return seal.Identity{}, foreignKey(p, c.UID)
		}
		id, err := seal.ParseIdentity(data)
		if err != nil {
			return seal.Identity{}, fmt.Errorf("%s: %w", p, err)
		}
		return id, nil
	}
	return seal.Identity{}, errNoIdentity
}

// lockTime is as long as a lock is waited for: a program that a killed run was about to
// start holds it for a moment still.
var lockTime = time.Second

// lock keeps a second run away from the machine; it ends with the process.
func (h *Host) lock() (unlock func(), err error) {
	if err := h.Machine.Root.MkdirAll(machine.StateDir, 0o700); err != nil {
		return nil, err
	}
	f, err := h.Machine.Root.OpenLock(lockFile)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	for end := time.Now().Add(lockTime); errors.Is(err, unix.EWOULDBLOCK) && time.Now().Before(end); {
		time.Sleep(lockTime / 50)
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, alreadyRunning()
		}
		return nil, fmt.Errorf("lock %s: %w", lockFile, err)
	}
	return func() { f.Close() }, nil
}

// step is where a test ends the process.
var step = func(string) {}
