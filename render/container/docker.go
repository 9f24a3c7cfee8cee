package container

import (
	"fmt"
	"slices"
	"strings"

	"meshc.dev/render/sink"
)

const docker = "/usr/bin/docker"

// dockerOptions are the volume options of docker run.
var dockerOptions = []string{"ro", "rw", "z", "Z", "nocopy", "shared", "rshared", "slave", "rslave", "private", "rprivate"}

// dockerUnit writes a unit that runs docker in the foreground. The daemon is what runs the
// container, not systemd: a client that was killed leaves it running, so every start and end
// removes what is left of that name.
func dockerUnit(s settled) (string, error) {
	w := &writer{}
	w.unitSection(s, "docker.service")
	for _, v := range s.volumes {
		if v.isPath() {
			text, err := sink.SystemdValue(v.source)
			w.set("RequiresMountsFor", w.carried(indexed("volumes", v.index), text, err))
		}
	}

	w.section("Service")
	w.set("Type", "exec")
	if s.joinsMTUNetwork() {
		w.set("ExecStartPre", fmt.Sprintf("-%s network create --opt=com.docker.network.driver.mtu=%d %s", docker, s.options.MTU, mtuNetwork(s.options.MTU)))
	}
	w.set("ExecStartPre", fmt.Sprintf("-%s rm --force %s", docker, s.Unit))
	run, err := w.dockerRun(s)
	if err != nil {
		return "", err
	}
	w.set("ExecStart", run)
	if len(s.ReloadOn) > 0 {
		w.set("ExecReload", fmt.Sprintf("%s kill --signal=HUP %s", docker, s.Unit))
	}
	w.set("ExecStop", fmt.Sprintf("-%s stop -t %d %s", docker, stopSeconds, s.Unit))
	w.set("ExecStopPost", fmt.Sprintf("-%s rm --force %s", docker, s.Unit))
	// 128 and SIGTERM: what the client gives when the container stopped as it was told
	w.set("SuccessExitStatus", "143")
	w.restarts()
	w.install()
	return w.finish()
}

// dockerRun writes the command, one option a line. No word begins with # or ; or ends in a
// backslash, so nothing of it is lost where lines are joined.
func (w *writer) dockerRun(s settled) (string, error) {
	var words []string
	add := func(field, word string) {
		text, err := sink.SystemdArg(word)
		words = append(words, w.carried(field, text, err))
	}
	add("name", "--name="+s.Unit)
	for _, fixed := range []string{"--rm", "--log-driver=none", "--cap-drop=ALL"} {
		add("", fixed)
	}
	for i, c := range s.Capabilities {
		add(indexed("capabilities", i), "--cap-add=CAP_"+capability(c))
	}
	add("", "--security-opt=no-new-privileges")
	if s.ReadOnly {
		add("read_only", "--read-only")
		// what podman mounts by itself over a read-only image
		for _, dir := range []string{"/tmp", "/run", "/var/tmp"} {
			if !slices.ContainsFunc(s.volumes, func(v volume) bool { return v.target == dir }) {
				add("read_only", "--tmpfs="+dir)
			}
		}
	}
	if s.User != "" {
		add("user", "--user="+s.User)
	}
	switch {
	case s.joinsMTUNetwork():
		add("network", "--network="+mtuNetwork(s.options.MTU))
	case s.Network != "":
		add("network", "--network="+s.Network)
	}
	if s.Network != "host" && s.Network != "none" {
		// podman tells its containers both names of the machine by itself
		add("hosts", "--add-host=host.docker.internal:host-gateway")
		add("hosts", "--add-host=host.containers.internal:host-gateway")
		for _, h := range s.options.Hosts {
			add("hosts", "--add-host="+h.Name+":"+h.Address.String())
		}
	}
	for i, p := range s.publishes {
		add(indexed("publishes", i), "--publish="+p)
	}
	for _, v := range s.volumes {
		mount, err := dockerMount(v)
		if err != nil {
			return "", err
		}
		add(indexed("volumes", v.index), mount)
	}
	for _, e := range s.Env {
		add(indexed("env", e.Name), "--env="+e.Name+"="+e.Value)
	}
	if len(s.Health) > 0 {
		if err := checkHealth(s.Health); err != nil {
			return "", err
		}
		text, err := shellCommand(s.Health) // docker knows checks by a shell only
		add("health", "--health-cmd="+w.carried("health", text, err))
	}
	add("", fmt.Sprintf("--stop-timeout=%d", stopSeconds))
	add("image", s.Image)
	for i, arg := range s.Command {
		add(indexed("command", i), arg)
	}
	return docker + " run \\\n    " + strings.Join(words, " \\\n    "), nil
}

// dockerMount writes a mount. A path is mounted with --mount, which fails where it does not
// exist; only z and Z, which --mount does not know, need --volume.
func dockerMount(v volume) (string, error) {
	var more []string
	plain := !v.isPath()
	for _, o := range v.options {
		switch o {
		case "rw":
		case "ro":
			more = append(more, "readonly")
		case "z", "Z", "nocopy":
			plain = true
		default:
			if !slices.Contains(dockerOptions, o) {
				return "", unknownVolumeOption(v.index, "docker", o, dockerOptions)
			}
			more = append(more, "bind-propagation="+o)
		}
	}
	if plain {
		return "--volume=" + v.String(), nil
	}
	return "--mount=" + strings.Join(append([]string{"type=bind", "source=" + v.source, "target=" + v.target}, more...), ","), nil
}
