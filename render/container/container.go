// Package container lowers a container to the file that its runtime's machine needs: a
// Quadlet for Podman, of which Podman's generator makes a systemd unit, or a systemd unit that
// runs docker in the foreground. Either way the result is UNIT.service, so the machine needs to
// know only units. What an author wrote, each value of the environment and each argument,
// arrives in the process as written, or is refused (BLD-6).
//
// Both runtimes are given the same container:
//
//   - every capability is dropped but those listed, nothing in it can gain privileges, and
//     the image is read-only where that is asked for, with /tmp, /run and /var/tmp writable;
//   - it is made anew at each start and removed when it stops; what is to last is in volumes;
//   - it is started again 5 seconds after it ended, for ever: a service that raced another at boot
//     must not give up for good;
//   - its output goes to the journal of its unit; docker's own log, a second copy
//     that only grows, is off;
//   - a volume is mounted as it is written. Nothing is relabelled for SELinux unless z
//     or Z is among its options, since a relabel changes files that others may use; nothing is
//     chowned unless U is. A source that is a path has to exist: the unit waits for its
//     file system and the container does not start on a misspelt one, where docker's --volume would
//     have made an empty folder;
//   - inside, the machine is host.containers.internal and host.docker.internal.
//
// The entry points are Lower and Options.Lower.
package container

import (
	"net/netip"

	"meshc.dev/compiler/plan"
)

// File is what is put on the machine.
type File struct {
	Path    string
	Content []byte
	Unit    string // the systemd unit that it becomes, with .service
}

// Options are what a machine adds to its containers.
type Options struct {
	// MTU of the network that a container without a network of its own joins; 0 is the
	// runtime's default, 1500. The runtimes set it per network, so such a container is in a
	// network of that size, which its unit makes where it is missing (O26).
	MTU int
	// Hosts are names that a docker container is told, since docker gives it no copy of the
	// machine's hosts file. Podman does, so they change nothing there.
	Hosts []Host
}

// Host is a name and its address.
type Host struct {
	Name    string
	Address netip.Addr
}

// Lower gives the file for a container under podman or docker. The units in after are started
// before it, with it where they do not run yet. The error is an *Error where something in the container cannot be carried.
func Lower(c plan.Container, runtime, description string, after []string) (File, error) {
	return Options{}.Lower(c, runtime, description, after)
}

// Lower is the function Lower with options.
func (o Options) Lower(c plan.Container, runtime, description string, after []string) (File, error) {
	s, err := settle(c, o, description, after)
	if err != nil {
		return File{}, err
	}
	f := File{Unit: c.Unit + ".service"}
	var content string
	switch runtime {
	case "podman":
		f.Path = "/etc/containers/systemd/" + c.Unit + ".container"
		content, err = quadlet(s)
	case "docker":
		f.Path = "/etc/systemd/system/" + f.Unit
		content, err = dockerUnit(s)
	default:
		return File{}, unknownRuntime(runtime)
	}
	if err != nil {
		return File{}, err
	}
	if len(content) > maxUnit {
		return File{}, tooLarge()
	}
	f.Content = []byte(content)
	return f, nil
}

// maxUnit is how much a unit may be. systemd reads lines of 1 MB, everything here can
// be in one, and a generator writes some bytes in four.
const maxUnit = 256 << 10
