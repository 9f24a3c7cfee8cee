package machine

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// Debian's packages start their programs while they are installed, configured as the
// package has it and before a firewall of ours is there. What they start by asks a
// program first (invoke-rc.d(8), deb-systemd-invoke(1p)), and that is ours meanwhile.
const (
	policyFile  = "/usr/sbin/policy-rc.d"
	policyFound = "/usr/sbin/policy-rc.d.mesh-host-found" // the machine's own, meanwhile
	ranBefore   = "/run/mesh-host/ran-before"             // the units that ran when we began
)

// quietly is set for programs that install packages, and only for them does the policy
// say no: one that was left behind says nothing to anybody else.
const quietly = "MESH_HOST_INSTALLS"

// policy lets nothing start but what ran before, which the new version of a package may
// have stopped; it is called with a unit or script, and with what is to be done to it.
const policy = `#!/bin/sh
# mesh-host is installing packages: none starts anything of its own. It takes this away.
if [ -n "${` + quietly + `:-}" ]; then
	case " $2 " in
	*start*|*reload*)
		unit=$1
		case $unit in *.*) ;; *) unit=$unit.service ;; esac
		grep -qxF -- "$unit" ` + ranBefore + ` || exit 101 ;;
	esac
fi
[ ! -x ` + policyFound + ` ] || exec ` + policyFound + ` "$@"
exit 0
`

// beQuiet keeps packages from starting programs until it is taken back.
func beQuiet(ctx context.Context, root *Root) (undo func() error, err error) {
	units, err := Ask(ctx, "systemctl", "list-units", "--plain", "--no-legend", "--full", "--state=active,activating,reloading")
	if err != nil {
		return nil, err
	}
	var names strings.Builder
	for line := range strings.Lines(string(units)) {
		if f := strings.Fields(line); len(f) > 0 {
			names.WriteString(f[0] + "\n")
		}
	}
	if err := root.MkdirAll("/run/mesh-host", 0o755); err != nil {
		return nil, err
	}
	if err := root.WriteFile(ranBefore, []byte(names.String()), Owner{}, 0o644); err != nil {
		return nil, err
	}
	if err := endQuiet(root); err != nil { // of a run that was killed
		return nil, err
	}
	if err := keepFound(root); err != nil {
		return nil, err
	}
	step("policy is kept")
	if err := root.WriteFile(policyFile, []byte(policy), Owner{}, 0o755); err != nil {
		return nil, errors.Join(err, endQuiet(root))
	}
	step("packages start nothing")
	return func() error { return errors.Join(endQuiet(root), root.Remove(ranBefore)) }, nil
}

// keepFound keeps the machine's own policy under another name too, whatever it is, so
// that it is never gone.
func keepFound(root *Root) error {
	at, err := root.place(policyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return root.MkdirAll("/usr/sbin", 0o755)
	}
	if err != nil {
		return err
	}
	defer at.close()
	err = unix.Linkat(at.fd, at.base, at.fd, lastPart(policyFound), 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return at.err("keep", err)
}

// endQuiet takes the policy away and gives back the machine's own, whatever a run that
// was killed has left of either.
func endQuiet(root *Root) error {
	at, err := root.place(policyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer at.close()
	is, err := at.stat()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := root.ReadFile(policyFile)
	ours := err == nil && string(text) == policy
	found, err := place{at.fd, lastPart(policyFound), policyFound}.stat()
	switch {
	case errors.Is(err, fs.ErrNotExist) && ours:
		return root.Remove(policyFile)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case found.Ino == is.Ino:
		return root.Remove(policyFound)
	case !ours && is.Ino != 0:
		return twoPolicies()
	}
	if err := unix.Renameat(at.fd, lastPart(policyFound), at.fd, at.base); err != nil {
		return at.err("give back", err)
	}
	return at.err("give back", unix.Fsync(at.fd))
}
