package diff

import (
	"path"
	"slices"
	"strings"
)

const runsAsRoot = "runs as root"

// isUnitFile says whether systemd, or Quadlet, reads a file as a unit or a drop-in of one.
func isUnitFile(p string) bool {
	folders := []string{"/etc/systemd/system/", "/run/systemd/system/", "/usr/lib/systemd/system/", "/lib/systemd/system/", "/usr/local/lib/systemd/system/", "/etc/containers/systemd/", "/usr/share/containers/systemd/", "/run/containers/systemd/"}
	if !slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(p, f) }) {
		return false
	}
	return slices.Contains([]string{".service", ".timer", ".socket", ".mount", ".automount", ".path", ".target", ".slice", ".swap", ".device", ".scope", ".conf", ".container", ".network", ".volume", ".pod", ".kube", ".build", ".image"}, path.Ext(p))
}

// unitGrants lists what of a unit's text is power over its machine: what runs as root outside of a
// container, and what takes a container's walls down. Keys that are not known give none; sections
// do not matter, since each key is in one only.
func unitGrants(p, t string) []grant {
	var out []grant
	add := func(reason, what string) {
		if g := (grant{reason, what}); !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	var exec []string
	user, dynamic := "", false
	container := slices.Contains([]string{".container", ".pod", ".kube", ".build", ".image"}, path.Ext(p))
	for _, line := range joinedLines(t) {
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok || value == "" {
			continue
		}
		switch key {
		case "User":
			user = value
		case "DynamicUser":
			dynamic = value == "yes" || value == "true" || value == "1" || value == "on"
		case "SupplementaryGroups", "Group", "GroupAdd":
			for _, g := range strings.Fields(value) {
				if slices.Contains(granting, g) {
					add("groups", g)
				}
			}
		case "AmbientCapabilities":
			add("capabilities", value)
		case "AddCapability":
			for _, c := range strings.Fields(value) {
				capability(c, add)
			}
		case "Environment", "EnvironmentFile", "PassEnvironment":
			if strings.Contains(value, "LD_PRELOAD") || strings.Contains(value, "LD_LIBRARY_PATH") {
				add("libraries", value)
			}
		case "Volume", "Mount":
			mounted(value, add)
		case "Network", "Pid", "Ipc", "Userns", "UserNS":
			if value == "host" {
				add("a container without walls", key+"=host")
			}
		case "AddDevice":
			add("a container without walls", "device "+value)
		case "PodmanArgs", "GlobalArgs":
			add("a container without walls", line)
		case "SecurityLabelDisable", "SeccompProfile", "Unmask", "AppArmor", "RunInit":
			if key != "RunInit" {
				add("a container without walls", line)
			}
		case "SocketUser", "SocketGroup", "SocketMode":
			if key == "SocketMode" && strings.HasSuffix(value, "6") {
				add("everybody may write it", line)
			}
		}
		if strings.HasPrefix(key, "Exec") {
			exec = append(exec, line)
		}
	}
	root := user == "" && !dynamic || user == "root" || user == "0"
	for _, line := range exec {
		_, command, _ := strings.Cut(line, "=")
		command = strings.TrimSpace(command)
		words := strings.Fields(command)
		if len(words) > 1 && (strings.HasSuffix(words[0], "/docker") || strings.HasSuffix(words[0], "/podman")) {
			dockerGrants(words, add)
			if slices.Contains([]string{"run", "rm", "stop", "kill", "network", "pull", "create", "start"}, words[1]) {
				continue // the container's own rights are what counts
			}
		}
		prefix := command[:len(command)-len(strings.TrimLeft(command, "-@:+!|"))]
		if !container && (root || strings.ContainsAny(prefix, "+!")) {
			add(runsAsRoot, line)
		}
	}
	return out
}

// joinedLines are the lines of a unit without comments, continued ones in one.
func joinedLines(t string) []string {
	var out []string
	open := false
	for line := range strings.Lines(t) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		more := strings.HasSuffix(line, `\`)
		line = strings.TrimSpace(strings.TrimSuffix(line, `\`))
		if open {
			out[len(out)-1] += " " + line
		} else {
			out = append(out, line)
		}
		open = more
	}
	return out
}

// dockerGrants reads docker's arguments.
func dockerGrants(words []string, add func(reason, what string)) {
	for k, w := range words {
		w = strings.Trim(w, `"'`)
		flag, value, ok := strings.Cut(w, "=")
		if !ok && k+1 < len(words) {
			value = strings.Trim(words[k+1], `"'`)
		}
		switch flag {
		case "--privileged":
			add("a container without walls", w)
		case "--cap-add":
			capability(value, add)
		case "-v", "--volume", "--mount":
			mounted(value, add)
		case "--device", "--device-cgroup-rule":
			add("a container without walls", "device "+value)
		case "--network", "--net", "--pid", "--ipc", "--userns", "--uts", "--cgroupns":
			if value == "host" {
				add("a container without walls", flag+"=host")
			}
		case "--security-opt":
			if value != "no-new-privileges" && value != "no-new-privileges:true" {
				add("a container without walls", flag+"="+value)
			}
		case "--group-add":
			if slices.Contains(granting, value) || value == "0" {
				add("groups", value)
			}
		}
	}
}

// usual are the capabilities that runtimes give every container.
var usual = []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "SETFCAP", "NET_BIND_SERVICE", "SYS_CHROOT"}

func capability(c string, add func(reason, what string)) {
	if name := strings.TrimPrefix(strings.ToUpper(c), "CAP_"); !slices.Contains(usual, name) {
		add("capabilities", name)
	}
}

// whole are folders that no container needs as a whole, besides those that are sensitive.
var whole = []string{"/", "/etc", "/root", "/home", "/var", "/var/lib", "/var/run", "/run", "/usr", "/opt", "/srv", "/mnt", "/media", "/proc", "/sys", "/dev", "/boot", "/bin", "/sbin", "/lib", "/usr/local", "/var/lib/docker", "/var/lib/containers", "/var/log"}

// mounted says whether a mount of the machine's gives a container the machine.
func mounted(spec string, add func(reason, what string)) {
	source, _, _ := strings.Cut(spec, ":")
	if strings.Contains(spec, "=") {
		for _, part := range strings.Split(spec, ",") {
			if k, v, _ := strings.Cut(part, "="); k == "source" || k == "src" {
				source = v
			}
		}
	}
	source = strings.Trim(source, `"'`)
	if !strings.HasPrefix(source, "/") {
		return
	}
	source = path.Clean(source)
	base := path.Base(source)
	switch {
	case slices.Contains(whole, source), strings.HasPrefix(source, "/var/lib/docker/"), strings.HasPrefix(source, "/var/lib/containers/"):
		add("a mount of the machine", spec)
	case strings.HasSuffix(base, ".sock") && (strings.Contains(source, "docker") || strings.Contains(source, "podman") || strings.Contains(source, "containerd") || strings.Contains(source, "systemd") || strings.Contains(source, "dbus") || strings.Contains(source, "crio")),
		strings.HasPrefix(source, "/run/podman"), strings.HasPrefix(source, "/run/dbus"), strings.HasPrefix(source, "/run/docker"), strings.HasPrefix(source, "/run/containerd"), strings.HasPrefix(source, "/run/systemd"):
		add("the runtime's socket", spec)
	case strings.HasPrefix(source, "/usr/lib"), strings.HasPrefix(source, "/usr/share/"), strings.HasPrefix(source, "/etc/ssl/"), strings.HasPrefix(source, "/lib"):
	case sensitiveAt(source) != "":
		add("a mount of the machine", spec)
	}
}
