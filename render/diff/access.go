package diff

import (
	"path"
	"slices"
	"strings"

	"meshc.dev/render/bundle"
)

// grant is one way in which an item gives power over its machine: the kind of way, which groups
// lines where there are very many, and what exactly, where the item's title does not say it.
type grant struct{ reason, what string }

// granting are groups whose members are root, or as good as.
var granting = []string{"root", "sudo", "wheel", "admin", "adm", "docker", "podman", "lxd", "incus", "incus-admin", "libvirt", "disk", "shadow", "kmem", "kvm", "staff", "systemd-journal", "ssh", "sshd", "mesh-host"}

// sensitive are places where a file gives access to its machine, or code in it runs as root.
// A folder ends in "/".
var sensitive = []struct{ where, reason string }{
	{"/etc/sudoers", "sudo"},
	{"/etc/sudoers.d/", "sudo"},
	{"/etc/doas.conf", "sudo"},
	{"/etc/doas.d/", "sudo"},
	{"/etc/ssh/", "ssh"},
	{"/usr/lib/ssh/", "ssh"},
	{"/etc/cron", "cron"},
	{"/var/spool/cron/", "cron"},
	{"/etc/anacrontab", "cron"},
	{"/etc/at.", "cron"},
	{"/etc/pam.", "pam"},
	{"/etc/security/", "pam"},
	{"/usr/share/pam", "pam"},
	{"/etc/login", "pam"},
	{"/etc/securetty", "pam"},
	{"/etc/polkit-1/", "polkit"},
	{"/usr/share/polkit-1/", "polkit"},
	{"/var/lib/polkit-1/", "polkit"},
	{"/etc/dbus-1/", "polkit"},
	{"/usr/share/dbus-1/", "polkit"},
	{"/etc/passwd", "accounts"},
	{"/etc/shadow", "accounts"},
	{"/etc/group", "accounts"},
	{"/etc/gshadow", "accounts"},
	{"/etc/subuid", "accounts"},
	{"/etc/subgid", "accounts"},
	{"/etc/nsswitch.conf", "accounts"},
	{"/etc/krb5", "accounts"},
	{"/etc/sssd/", "accounts"},
	{"/etc/sysusers.d/", "accounts"},
	{"/usr/lib/sysusers.d/", "accounts"},
	{"/bin/", "programs in PATH"},
	{"/sbin/", "programs in PATH"},
	{"/usr/bin/", "programs in PATH"},
	{"/usr/sbin/", "programs in PATH"},
	{"/usr/local/bin/", "programs in PATH"},
	{"/usr/local/sbin/", "programs in PATH"},
	{"/usr/games/", "programs in PATH"},
	{"/etc/alternatives/", "programs in PATH"},
	{"/lib", "libraries"},
	{"/usr/lib", "libraries"},
	{"/usr/local/lib", "libraries"},
	{"/etc/ld.so", "libraries"},
	{"/etc/profile", "shells' start files"},
	{"/etc/environment", "shells' start files"},
	{"/etc/bash", "shells' start files"},
	{"/etc/zsh", "shells' start files"},
	{"/etc/skel/", "shells' start files"},
	{"/root/", "root's own files"},
	{"/boot/", "the kernel and how it starts"},
	{"/efi/", "the kernel and how it starts"},
	{"/etc/default/grub", "the kernel and how it starts"},
	{"/etc/kernel/", "the kernel and how it starts"},
	{"/etc/initramfs-tools/", "the kernel and how it starts"},
	{"/etc/modprobe.d/", "the kernel and how it starts"},
	{"/etc/modules", "the kernel and how it starts"},
	{"/etc/binfmt.d/", "the kernel and how it starts"},
	{"/etc/fstab", "the kernel and how it starts"},
	{"/etc/crypttab", "the kernel and how it starts"},
	{"/etc/systemd/", "systemd"},
	{"/run/systemd/", "systemd"},
	{"/etc/init", "systemd"},
	{"/etc/rc", "systemd"},
	{"/etc/inittab", "systemd"},
	{"/etc/udev/", "systemd"},
	{"/etc/tmpfiles.d/", "systemd"},
	{"/etc/containers/", "containers"},
	{"/usr/share/containers/", "containers"},
	{"/etc/docker/", "containers"},
	{"/etc/containerd/", "containers"},
	{"/etc/apt/", "what packages are taken from"},
	{"/etc/dpkg/", "what packages are taken from"},
	{"/usr/share/keyrings/", "what packages are taken from"},
	{"/etc/mesh-host/", "mesh-host"},
	{"/var/lib/mesh-host/", "mesh-host"},
	{"/usr/local/share/ca-certificates/", "trusted authorities"},
	{"/etc/ssl/certs/", "trusted authorities"},
	{"/etc/ca-certificates", "trusted authorities"},
	{"/etc/NetworkManager/dispatcher.d/", "scripts run as root"},
	{"/etc/network/", "scripts run as root"},
	{"/etc/networkd-dispatcher/", "scripts run as root"},
	{"/etc/dhcp", "scripts run as root"},
	{"/etc/ppp/", "scripts run as root"},
	{"/etc/logrotate", "scripts run as root"},
	{"/etc/acpi/", "scripts run as root"},
	{"/etc/resolvconf/", "scripts run as root"},
	{"/etc/update-motd.d/", "scripts run as root"},
	{"/proc/", "the kernel and how it starts"},
	{"/sys/", "the kernel and how it starts"},
	{"/dev/", "the kernel and how it starts"},
}

// sensitiveAt says what a file at a path gives access by; "" where by nothing.
func sensitiveAt(p string) string {
	p = path.Clean(p)
	for _, part := range strings.Split(p, "/") {
		if part == ".ssh" || strings.HasPrefix(part, "authorized_keys") || part == ".rhosts" || part == ".shosts" || part == "authorized_principals" {
			return "keys that log in"
		}
	}
	for _, s := range sensitive {
		if strings.HasPrefix(p+"/", s.where) && strings.HasPrefix(p, strings.TrimSuffix(s.where, "/")) {
			return s.reason
		}
	}
	return ""
}

// granted marks a change of an item as one of access where it is one. Either item may be nil.
func (s sides) granted(x *Change, a, b bundle.Item) {
	var gs []grant
	had := grantsOf(s, s.old, a)
	for _, g := range grantsOf(s, s.now, b) {
		if !slices.Contains(had, g) || g.what == "" {
			gs = append(gs, g)
		}
	}
	if b == nil { // what gave access goes: whether that closes a door or opens one, nobody can tell from here
		gs = slices.DeleteFunc(had, func(g grant) bool { return g.what != "" })
	}
	if len(gs) == 0 {
		return
	}
	x.Impact, x.Kind, x.Reason = Access, OfAccess, gs[0].reason
	var why []string
	for _, g := range gs {
		why = append(why, strings.TrimSuffix(g.reason+": "+g.what, ": "))
	}
	x.Because = append(slices.Compact(why), x.Because...)
}

// grantsOf lists how an item gives power over its machine. A grant without more words is one of the
// whole item, so that every change of it counts.
func grantsOf(s sides, of *bundle.Bundle, item bundle.Item) []grant {
	var out []grant
	add := func(reason, what string) { out = append(out, grant{reason, what}) }
	mode := func(m bundle.Mode, folder bool) {
		if m&0o6000 != 0 && !folder {
			add("runs with the rights of its owner", "mode "+m.String())
		}
		if m&0o002 != 0 && m&0o1000 == 0 {
			add("everybody may write it", "mode "+m.String())
		}
	}
	place := func(p string) {
		if reason := sensitiveAt(p); reason != "" {
			add(reason, "")
		}
	}
	switch i := item.(type) {
	case nil:
		return nil
	case *bundle.User:
		if i.Group != "" && slices.Contains(granting, i.Group) {
			add("groups", "in "+i.Group)
		}
		for _, g := range i.Groups {
			if slices.Contains(granting, g) {
				add("groups", "in "+g)
			}
		}
		if slices.Contains([]string{"root", "toor"}, i.Name) {
			add("accounts", "")
		}
		if i.Shell != "" && !slices.Contains([]string{"nologin", "false", "true", "sync"}, path.Base(i.Shell)) {
			add("an account that can log in", "shell "+i.Shell+", home "+orNone(i.Home))
		}
	case *bundle.Directory:
		mode(i.Mode, true)
		place(i.Path)
	case *bundle.Secret:
		mode(i.Mode, false)
		place(i.Path)
	case *bundle.File:
		mode(i.Mode, false)
		t := text(of, i)
		switch {
		case isUnitFile(i.Path):
			for _, g := range unitGrants(i.Path, t) {
				add(g.reason, g.what)
			}
		default:
			place(i.Path)
			for _, line := range hooks(i.Path, t) {
				add("commands run as root", line)
			}
		}
		if unit := s.runBy(i); unit != "" {
			add("code that runs as root", "")
		}
	case *bundle.Block:
		place(i.Path)
	case *bundle.Unit:
		base, _, _ := strings.Cut(strings.TrimSuffix(i.Name, path.Ext(i.Name)), "@")
		if slices.Contains(wayIns, base) {
			add("ways to log in", string(i.State))
		}
	case *bundle.Package:
		base := strings.TrimSuffix(i.Name, "-server")
		if slices.Contains(wayIns, base) || i.Name == "sudo" || i.Name == "doas" || i.Name == "policykit-1" {
			add("ways to log in", "package "+string(i.State))
		}
	default:
		// A kind that is not known here: where it names such a place, or brings others' packages.
		if item.Kind() == "repository" {
			add("what packages are taken from", "")
		}
		for _, f := range fields(item) {
			if strings.HasPrefix(f.value, "/") {
				place(f.value)
			}
		}
	}
	for _, f := range fields(item) {
		if (f.name == "validate" || f.name == "on_change") && f.value != "" {
			add("commands run as root", f.name+" "+f.value)
		}
	}
	return out
}

// wayIns are programs that let somebody in, or stand between him and the machine.
var wayIns = []string{"ssh", "sshd", "openssh", "dropbear", "tinyssh", "telnet", "telnetd", "inetutils-telnetd", "cockpit", "xrdp", "webmin", "rsh", "docker", "containerd", "getty", "serial-getty", "console-getty", "debug-shell", "apparmor", "auditd", "fail2ban"}

// hooks are lines of a configuration that its program runs as root.
func hooks(p, t string) []string {
	var words []string
	switch {
	case strings.HasPrefix(p, "/etc/wireguard/"):
		words = []string{"PreUp", "PostUp", "PreDown", "PostDown"}
	case strings.HasPrefix(p, "/etc/sysctl"):
		words = []string{"core_pattern", "kernel.modprobe", "kernel/modprobe", "hotplug"}
	}
	var out []string
	for line := range strings.Lines(t) {
		line = strings.TrimSpace(line)
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) }) && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// runBy names a unit that runs as root and runs this file.
func (s sides) runBy(f *bundle.File) string {
	script := f.Mode&0o111 != 0 || slices.Contains([]string{".sh", ".py", ".pl", ".rb", ".lua"}, path.Ext(f.Path))
	for _, b := range []*bundle.Bundle{s.now, s.old} {
		for _, item := range listed(b) {
			u, ok := item.(*bundle.File)
			if !ok || !isUnitFile(u.Path) {
				continue
			}
			for _, g := range unitGrants(u.Path, text(b, u)) {
				if g.reason != runsAsRoot {
					continue
				}
				words := strings.FieldsFunc(g.what, func(r rune) bool { return strings.ContainsRune(" \t\"'=;&|()", r) })
				for k, w := range words {
					if strings.TrimLeft(w, "-+!@:") == f.Path && (script || k <= 1) {
						return path.Base(u.Path)
					}
				}
			}
		}
	}
	return ""
}
