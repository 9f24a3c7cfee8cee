package container

import (
	"fmt"
	"slices"
	"strings"

	"meshc.dev/render/sink"
)

// podmanOptions are the volume options of podman run(1).
var podmanOptions = []string{
	"ro", "rw", "z", "Z", "U", "O", "copy", "nocopy", "dev", "nodev", "exec", "noexec", "suid", "nosuid", "bind", "rbind", "idmap",
	"shared", "rshared", "slave", "rslave", "private", "rprivate", "unbindable", "runbindable",
}

// quadlet writes the container for Podman's generator (podman-systemd.unit(5), of Podman 5.4, which
// Debian 13 has). It drops a file with a key that it does not know, and some values that it cannot
// read, and exits 0; so only keys of that version are here, and each value is written for the way
// in which the generator reads that key.
func quadlet(s settled) (string, error) {
	w := &writer{}
	w.unitSection(s)

	w.section("Container")
	if strings.HasSuffix(s.Image, ".image") || strings.HasSuffix(s.Image, ".build") {
		return "", quadletImage()
	}
	w.value("Image", "image", s.Image)
	w.set("ContainerName", s.Unit)
	if len(s.Command) > 0 {
		words := make([]string, len(s.Command))
		for i, arg := range s.Command {
			text, err := sink.QuadletArg(arg)
			words[i] = w.carried(indexed("command", i), text, err)
		}
		w.set("Exec", strings.Join(words, " "))
	}
	for _, e := range s.Env {
		text, err := sink.QuadletEnv(e.Name, e.Value)
		w.set("Environment", w.carried(indexed("env", e.Name), text, err))
	}
	if user, group, both := strings.Cut(s.User, ":"); user != "" {
		w.set("User", user)
		if both {
			w.set("Group", group)
		}
	}
	w.set("DropCapability", "all")
	for _, c := range s.Capabilities {
		w.set("AddCapability", "CAP_"+capability(c))
	}
	w.set("NoNewPrivileges", "true")
	if s.ReadOnly {
		w.set("ReadOnly", "true")
	}
	if s.joinsMTUNetwork() {
		w.set("Network", mtuNetwork(s.options.MTU))
	} else if s.Network != "" {
		w.value("Network", "network", s.Network)
	}
	for i, p := range s.publishes {
		w.value("PublishPort", indexed("publishes", i), p)
	}
	for _, v := range s.volumes {
		for _, o := range v.options {
			if !slices.Contains(podmanOptions, o) {
				return "", unknownVolumeOption(v.index, "podman", o, podmanOptions)
			}
		}
		w.value("Volume", indexed("volumes", v.index), v.String())
	}
	if len(s.Health) > 0 {
		if err := checkHealth(s.Health); err != nil {
			return "", err
		}
		text, err := podmanHealth(s.Health)
		w.value("HealthCmd", "health", w.carried("health", text, err))
	}
	w.setInt("StopTimeout", stopSeconds)

	w.section("Service")
	if s.joinsMTUNetwork() {
		w.set("ExecStartPre", fmt.Sprintf("/usr/bin/podman network create --ignore --disable-dns --opt=mtu=%d %s", s.options.MTU, mtuNetwork(s.options.MTU)))
	}
	if len(s.ReloadOn) > 0 {
		w.set("ExecReload", "/usr/bin/podman kill --signal=HUP "+s.Unit)
	}
	w.restarts()
	w.install()
	return w.finish()
}

// value writes a key that the generator takes as it stands.
func (w *writer) value(key, field, value string) {
	if w.err != nil {
		return
	}
	text, err := sink.QuadletValue(value)
	w.set(key, w.carried(field, text, err))
}
