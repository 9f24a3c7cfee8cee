package evaluate

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// BadPath says why a path cannot be one on a machine (BLD-4), or gives nothing.
func BadPath(p string) string {
	switch {
	case !strings.HasPrefix(p, "/"):
		return "is not absolute"
	case strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "holds a control character"
	case path.Clean(p) != p:
		return "is not clean; write " + path.Clean(p)
	case p == "/":
		return "is the root of the machine"
	case len(p) > 4000:
		return "is longer than a path can be"
	}
	for _, under := range []string{"/proc", "/sys", "/dev", "/run/systemd", "/var/lib/mesh-host", "/etc/mesh-host"} {
		if p == under || strings.HasPrefix(p, under+"/") {
			return "is under " + under + ", which is not for modules"
		}
	}
	return ""
}

// EmptiedAtBoot is the folder that a path is below and that is empty after each boot: in memory,
// or cleared by systemd-tmpfiles; nothing where it is kept.
func EmptiedAtBoot(p string) string {
	for _, under := range []string{"/run", "/var/run", "/var/lock", "/tmp"} {
		if strings.HasPrefix(p, under+"/") {
			return under
		}
	}
	return ""
}

// BadMode says why a text is no file mode (BLD-5), showing how it would be read.
func BadMode(m string) string {
	if len(m) == 3 || len(m) == 4 {
		if strings.Trim(m, "0") == "" {
			return fmt.Sprintf("%q lets nobody read or write it, not even its owner; \"0600\" is for the owner alone", m)
		}
		if n, err := strconv.ParseUint(m, 8, 16); err == nil && n <= 0o7777 {
			return ""
		}
	}
	if n, err := strconv.Atoi(m); err == nil && !strings.ContainsAny(m, "89") {
		return fmt.Sprintf("%q is not three or four octal digits; as a number, %d would be read as %04o", m, n, n)
	}
	return fmt.Sprintf("%q is not three or four octal digits, for example \"0640\"", m)
}

var userName = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,30}$`)

const userRule = "is no name of a user or group: lower-case letters, digits, _ and -, at most 31, beginning with a letter or _"

// BadUser says why a text is no name of a user or group. A number is none: programs
// take it for an account's number, whoever has the name.
func BadUser(u string) string {
	if userName.MatchString(u) {
		return ""
	}
	return userRule
}

// BadOwner says why a file cannot belong to a user or group: one by name, or by the
// number that a container's image knows it by.
func BadOwner(o string) string {
	if n, err := strconv.ParseUint(o, 10, 31); userName.MatchString(o) || err == nil && strconv.FormatUint(n, 10) == o {
		return ""
	}
	return userRule + ", nor a number"
}

// badBlock says why lines cannot stand between the markers of a block (HST-5).
func badBlock(content string) string {
	for line := range strings.Lines(content) {
		line = strings.TrimRight(line, " \t\r\n")
		if strings.HasPrefix(line, "# BEGIN ") || strings.HasPrefix(line, "# END ") {
			return "has the line " + strconv.Quote(line) + ", which is how a marked block begins or ends; write that line otherwise"
		}
	}
	return ""
}

var unitName = regexp.MustCompile(`^[A-Za-z0-9:_.\\@-]+\.(service|socket|timer|mount|automount|path|target|slice|swap)$`)

func badUnit(u string) string {
	switch {
	case len(u) > 255:
		return "is longer than a unit's name can be"
	case !unitName.MatchString(u):
		return "is no unit's name, for example app.service"
	}
	return ""
}
