// Package lab boots real machines on this one, for a test that is an operator's day:
// Debian 13 with its own systemd, network, packet filter, PostgreSQL and Podman, joined
// by a bridge, one of them behind a router that translates addresses. The test, which
// only `make lab` builds, makes a mesh's bundles, applies them with the real
// mesh-host, and looks whether what they say is true.
//
// Enter puts the whole run into namespaces of its own: of processes, so that nothing
// that was started outlives it; of mounts, so that nothing stays mounted; and of the
// network, which has no way out. New starts machines in there from the base that
// base.sh makes; Lab.Sh runs a command as the operator, Machine.Sh on a machine, and
// both write down what they do as a person would see it. LetIn looks at ports
// from another machine's network.
package lab

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Lab is a run of several machines.
type Lab struct {
	// Dir is the run's folder: the operator's, and the machines' file systems. Enter
	// makes and removes it.
	Dir string
	*Transcript

	base     string
	machines []*Machine
}

// New is a lab in a folder, with machines made from a base; what is done is written
// down in t.
func New(dir, base string, t *Transcript) *Lab {
	return &Lab{Dir: dir, Transcript: t, base: base}
}

// root makes a machine's file system.
func (l *Lab) root(name string) (string, error) {
	root, err := l.overlay(name)
	if errors.Is(err, unix.EINVAL) && len(l.machines) == 0 {
		// The run's folder lies on an overlay itself, as in a container. Then the machines
		// are kept in memory.
		machines := filepath.Join(l.Dir, "machines")
		if err := unix.Mount("tmpfs", machines, "tmpfs", 0, ""); err != nil {
			return "", fmt.Errorf("mount %s: %w", machines, err)
		}
		root, err = l.overlay(name)
	}
	if err != nil {
		return "", err
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id)
	for _, f := range []struct{ path, content string }{
		{"etc/hostname", name + "\n"},
		{"etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"},
		{"etc/machine-id", hex.EncodeToString(id) + "\n"},
	} {
		if err := os.WriteFile(filepath.Join(root, f.path), []byte(f.content), 0o644); err != nil {
			return "", err
		}
	}
	return root, nil
}

// overlay mounts the base, with what a machine changes in a folder of its own.
func (l *Lab) overlay(name string) (root string, err error) {
	at := filepath.Join(l.Dir, "machines", name)
	upper, work, root := filepath.Join(at, "upper"), filepath.Join(at, "work"), filepath.Join(at, "root")
	if err := errors.Join(os.MkdirAll(upper, 0o755), os.MkdirAll(work, 0o755), os.MkdirAll(root, 0o755)); err != nil {
		return "", err
	}
	err = unix.Mount("overlay", root, "overlay", 0, fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", l.base, upper, work))
	if err != nil {
		return "", fmt.Errorf("mount an overlay at %s: %w", root, err)
	}
	return root, nil
}

// Install puts a program of this machine's onto all of the lab's.
func (l *Lab) Install(program, at string) error {
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	for _, m := range l.machines {
		if err := os.WriteFile(m.Path(at), data, 0o755); err != nil {
			return fmt.Errorf("install %s on %s: %w", at, m.Name, err)
		}
	}
	return nil
}

// Close stops the machines.
func (l *Lab) Close() {
	for _, m := range l.machines {
		m.stop()
	}
}
