package bundle

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// forbidden are places of a machine that no bundle writes to: the kernel's, and
// what mesh-host itself is told apart and trusted by.
var forbidden = []string{
	"/proc", "/sys", "/dev",
	"/var/lib/mesh-host", "/etc/mesh-host/node", "/etc/mesh-host/signers", "/etc/mesh-host/identity",
}

// checkAbove refuses to give away a folder above those that mesh-host trusts: whoever can
// write there could put others in their place.
func checkAbove(p, owner string, m Mode) error {
	for _, f := range forbidden {
		if strings.HasPrefix(f, p+"/") && (m&0o022 != 0 || owner != "" && owner != "root" && owner != "0") {
			return fmt.Errorf("%s lies above %s, and only root may write to it", p, f)
		}
	}
	return nil
}

// CheckPath says why a path cannot be written to by a bundle (BLD-4). It must be
// absolute, clean, not the root itself, and outside /proc, /sys, /dev and the
// host's own state.
func CheckPath(p string) error {
	switch {
	case !strings.HasPrefix(p, "/"):
		return fmt.Errorf("path %q is not absolute", p)
	case p == "/":
		return fmt.Errorf("path %q is the whole machine", p)
	case path.Clean(p) != p:
		return fmt.Errorf("path %q is not clean: write %q", p, path.Clean(p))
	}
	for _, f := range forbidden {
		if p == f || strings.HasPrefix(p, f+"/") {
			return fmt.Errorf("path %q lies under %s, which no bundle may write to", p, f)
		}
	}
	return checkName("path", p)
}

// checkName holds a slash-separated name to what every file system, tar and HCL
// carry unchanged.
func checkName(what, p string) error {
	if len(p) > 1024 {
		return fmt.Errorf("%s %q… is longer than 1024 bytes", what, p[:64])
	}
	if err := checkText(what, p); err != nil {
		return err
	}
	for part := range strings.SplitSeq(p, "/") {
		if len(part) > 255 {
			return fmt.Errorf("%s %q… has a part longer than 255 bytes", what, p[:64])
		}
	}
	return nil
}

// checkText refuses what HCL would not give back as it went in (it normalizes
// strings), and control characters, which have no place in a name.
func checkText(what, s string) error {
	for _, r := range s {
		if r < ' ' || r == 0x7f {
			return fmt.Errorf("%s %q has a control character", what, s)
		}
	}
	return checkString(what, s)
}

// checkString refuses what HCL would not give back as it went in.
func checkString(what, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%s %q is not UTF-8", what, s)
	}
	if !norm.NFC.IsNormalString(s) {
		return fmt.Errorf("%s %q is not in Unicode normal form C", what, s)
	}
	return nil
}

// FileSource is the entry that holds a file's bytes: at its path under files/,
// where a reviewer looks for it.
func FileSource(path string) string { return "files" + path }

// BlockSource is the entry that holds a block's lines: beside its file's place,
// in a folder of the file's name with ".block" added, named after the marker.
// Two markers never share one.
func BlockSource(path, marker string) string {
	var b strings.Builder
	b.WriteString("files" + path + ".block/")
	for i := range len(marker) {
		switch c := marker[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '.' && i > 0:
			b.WriteByte(c)
		case c == ' ':
			b.WriteByte('_')
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// SealedSource is the entry that holds a sealed secret.
func SealedSource(name string) string { return "sealed/" + name + ".age" }

// checkEntryName allows a clean relative name under files/ or sealed/.
func checkEntryName(name string) error {
	if !fs.ValidPath(name) || !strings.HasPrefix(name, "files/") && !strings.HasPrefix(name, "sealed/") {
		return fmt.Errorf("entry %q is not a clean name under files/ or sealed/", name)
	}
	return checkName("entry", name)
}

// checkTree refuses entries of which one is a folder that another is a file of;
// they are sorted by name.
func checkTree(entries []Entry) error {
	names := make(map[string]bool, len(entries))
	for _, e := range entries {
		names[e.Name] = true
	}
	for _, e := range entries {
		for dir := path.Dir(e.Name); dir != "." && dir != "files" && dir != "sealed"; dir = path.Dir(dir) {
			if names[dir] {
				return fmt.Errorf("entry %q is a file, and %q wants it to be a folder", dir, e.Name)
			}
		}
	}
	return nil
}
