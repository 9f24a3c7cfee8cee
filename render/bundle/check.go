package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Check says everything that keeps a declaration from being one: identities,
// paths and names that are not well formed, two items that are in each other's
// way, and references to what is not there.
func (d *Declaration) Check() error {
	c := checker{
		items:  make(map[ID]Item, len(d.Items)),
		places: make(map[string]Item, len(d.Items)),
		names:  make(map[string]Item),
	}
	switch {
	case d.Format < 1 || d.Format > Format:
		c.add(unknownFormat(d.Format))
	case d.Format < d.FormatNeeded():
		c.add(olderFormat(d.Format, d.FormatNeeded()))
	}
	c.add(CheckLabel("mesh", d.Mesh))
	c.add(CheckLabel("node", d.Node))
	for _, item := range d.Items {
		c.identity(item)
		c.item(item)
	}
	for _, item := range d.Items {
		c.references(item)
		c.parents(item)
	}
	return errors.Join(c.errs...)
}

type checker struct {
	items  map[ID]Item
	places map[string]Item // what holds a path
	names  map[string]Item // what holds a package, user, unit or marker
	errs   []error
}

func (c *checker) add(err error) {
	if err != nil {
		c.errs = append(c.errs, err)
	}
}

func (c *checker) addTo(item Item, err error) {
	if err != nil {
		c.errs = append(c.errs, &ItemError{item.Identity(), err})
	}
}

func (c *checker) identity(item Item) {
	id := item.Identity()
	if !id.valid() {
		c.add(badIdentity(id))
	}
	if _, ok := c.items[id]; ok {
		c.add(identityTwice(id))
	}
	c.items[id] = item
}

func (c *checker) item(item Item) {
	switch item := item.(type) {
	case *Package:
		c.addTo(item, checkPackageName(item.Name))
		if item.State != Present && item.State != Absent {
			c.addTo(item, unknownWord("state", string(item.State), "present", "absent"))
		}
		c.shared("package "+item.Name, item)
	case *User:
		c.user(item)
	case *Directory:
		c.place(item, item.Path)
		c.ownership(item, item.Owner, item.Group, item.Mode)
		c.addTo(item, checkAbove(item.Path, item.Owner, item.Mode))
	case *File:
		c.place(item, item.Path)
		c.ownership(item, item.Owner, item.Group, item.Mode)
		if item.Source != FileSource(item.Path) {
			c.addTo(item, wrongSource(item.Source, FileSource(item.Path)))
		}
		c.validate(item)
		c.fills(item)
	case *Block:
		c.addTo(item, CheckPath(item.Path))
		c.addTo(item, checkMarker(item.Marker))
		if item.Source != BlockSource(item.Path, item.Marker) {
			c.addTo(item, wrongSource(item.Source, BlockSource(item.Path, item.Marker)))
		}
		c.alone("block "+item.Path+" "+item.Marker, item)
	case *Secret:
		if item.Path != "" {
			c.place(item, item.Path)
		}
		c.ownership(item, item.Owner, item.Group, item.Mode)
		c.secret(item)
	case *Unit:
		c.addTo(item, checkUnitName(item.Name))
		if item.State != Running && item.State != Stopped && item.State != Triggered {
			c.addTo(item, unknownWord("state", string(item.State), "running", "stopped", "triggered"))
		}
		c.alone("unit "+item.Name, item)
	}
}

func (c *checker) user(u *User) {
	c.addTo(u, checkAccount("user", u.Name))
	if u.Group != "" {
		c.addTo(u, checkAccount("group", u.Group))
	}
	for _, g := range u.Groups {
		c.addTo(u, checkAccount("group", g))
	}
	if u.UID < 0 || u.UID > 1<<31-1 {
		c.addTo(u, fmt.Errorf("uid %d is out of range", u.UID))
	}
	for _, p := range []string{u.Home, u.Shell} {
		if p != "" && (!path.IsAbs(p) || path.Clean(p) != p || strings.Contains(p, ":")) {
			c.addTo(u, fmt.Errorf("%q is not an absolute, clean path without colons", p))
		}
		c.addTo(u, checkText("path", p))
	}
	c.shared("user "+u.Name, u)
	if number := "uid " + strconv.Itoa(u.UID); u.UID != 0 {
		if other, ok := c.names[number].(*User); !ok || other.Name != u.Name {
			c.alone(number, u)
		}
	}
}

func (c *checker) secret(s *Secret) {
	if s.Sealed != "" {
		if !strings.HasPrefix(s.Sealed, "sealed/") || !strings.HasSuffix(s.Sealed, ".age") || strings.Count(s.Sealed, "/") != 1 {
			c.addTo(s, fmt.Errorf("sealed %q is not of the form sealed/NAME.age", s.Sealed))
		}
		c.addTo(s, checkEntryName(s.Sealed))
		c.alone("blob "+s.Sealed, s)
	}
	if s.Generation < 0 || s.Generation == 0 && s.Sealed != "" {
		c.addTo(s, fmt.Errorf("generation %d of a sealed secret is not 1 or more", s.Generation))
	}
	c.addTo(s, checkText("key", s.Key))
	c.addTo(s, checkText("role", s.Role))
	if s.Mode&0o007 != 0 {
		c.addTo(s, secretReadableByOthers(s.Mode))
	}
}

func (c *checker) validate(f *File) {
	if len(f.Validate) == 0 {
		return
	}
	names := false
	for _, arg := range f.Validate {
		c.addTo(f, checkString("validate", arg))
		if strings.Contains(arg, "\x00") {
			c.addTo(f, fmt.Errorf("validate has an argument with a zero byte"))
		}
		names = names || strings.Contains(strings.ReplaceAll(arg, "%%", ""), "%")
	}
	if f.Validate[0] == "" || !names {
		c.addTo(f, validateWithoutPath())
	}
}

func (c *checker) fills(f *File) {
	for i, fill := range f.Fills {
		if fill.Offset < 0 || i > 0 && fill.Offset < f.Fills[i-1].Offset {
			c.addTo(f, fmt.Errorf("fills are not in the order of their offsets"))
		}
		if !fill.Encoding.Valid() {
			c.addTo(f, unknownWord("encoding", string(fill.Encoding), "value", "urlencoded", "json", "base64", "shell"))
		}
	}
	if len(f.Fills) > 0 && f.Mode&0o007 != 0 {
		c.addTo(f, secretReadableByOthers(f.Mode))
	}
}

func (c *checker) references(item Item) {
	switch item := item.(type) {
	case *Unit:
		for _, id := range slices.Concat(item.RestartOn, item.ReloadOn) {
			if other, ok := c.items[id]; !ok || other == Item(item) {
				c.addTo(item, unknownReference(id))
			}
		}
	case *File:
		for _, fill := range item.Fills {
			s, ok := c.items[fill.Secret].(*Secret)
			switch {
			case !ok:
				c.addTo(item, unknownReference(fill.Secret))
			case s.Generation != fill.Generation:
				c.addTo(item, fmt.Errorf("fill has generation %d of %s, which is at %d", fill.Generation, s.ID, s.Generation))
			}
		}
	case *Block:
		if other, ok := c.places[item.Path]; ok {
			c.addTo(item, pathTwice(item.Path, other.Identity()))
		}
	}
}

// parents refuses what lies below something that is no directory.
func (c *checker) parents(item Item) {
	p := pathOf(item)
	for dir := path.Dir(p); dir != "/" && dir != "."; dir = path.Dir(dir) {
		if other, ok := c.places[dir]; ok && other.Kind() != "directory" {
			c.addTo(item, fmt.Errorf("path %q lies below %s, which %s makes a file", p, dir, other.Identity()))
		}
	}
}

// place claims a path; equal directories are shared (CLM-3).
func (c *checker) place(item Item, p string) {
	c.addTo(item, CheckPath(p))
	other, ok := c.places[p]
	switch {
	case !ok:
		c.places[p] = item
	case !alike(item, other):
		c.addTo(item, pathTwice(p, other.Identity()))
	}
}

// shared claims a name that items which say the same of it share.
func (c *checker) shared(name string, item Item) {
	if other, ok := c.names[name]; ok && !alike(item, other) {
		c.addTo(item, nameTwice(name, other.Identity()))
		return
	}
	c.names[name] = item
}

// alone claims a name that only one item may hold.
func (c *checker) alone(name string, item Item) {
	if other, ok := c.names[name]; ok {
		c.addTo(item, nameTwice(name, other.Identity()))
		return
	}
	c.names[name] = item
}

func (c *checker) ownership(item Item, owner, group string, m Mode) {
	if owner != "" {
		c.addTo(item, checkOwner("owner", owner))
	}
	if group != "" {
		c.addTo(item, checkOwner("group", group))
	}
	if m == 0 || m > 0o7777 {
		c.addTo(item, fmt.Errorf("mode %s is not one of 0001 to 7777", m))
	}
}

// alike says whether two items ask for the same thing under two identities. Files
// never do: two instances that write one file would each take it from the other.
func alike(a, b Item) bool {
	switch a := a.(type) {
	case *Directory:
		if b, ok := b.(*Directory); ok {
			return a.Owner == b.Owner && a.Group == b.Group && a.Mode == b.Mode
		}
	case *Package:
		if b, ok := b.(*Package); ok {
			return a.State == b.State
		}
	case *User:
		if b, ok := b.(*User); ok {
			x, y := *a, *b
			x.ID, y.ID = "", ""
			return reflect.DeepEqual(x, y)
		}
	}
	return false
}

func pathOf(item Item) string {
	switch item := item.(type) {
	case *Directory:
		return item.Path
	case *File:
		return item.Path
	case *Block:
		return item.Path
	case *Secret:
		return item.Path
	}
	return ""
}

// valid holds an identity to instance/kind.name.
func (id ID) valid() bool {
	instance, local, ok := strings.Cut(string(id), "/")
	kind, name, dotted := strings.Cut(local, ".")
	return ok && dotted && CheckLabel("instance", instance) == nil && CheckLabel("kind", kind) == nil &&
		name != "" && len(id) <= 512 && onlyOf(name, "-._@/+:")
}

// CheckLabel holds a name to a lower-case host name label.
func CheckLabel(what, s string) error {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c != '-' || i == 0 || i == len(s)-1) {
			return notLabel(what, s)
		}
	}
	if s == "" || len(s) > 63 {
		return notLabel(what, s)
	}
	return nil
}

// checkAccount allows a name of a user or group, and never a number: programs take
// that for an account's number, whoever has the name.
func checkAccount(what, s string) error {
	if s == "" || len(s) > 32 || !onlyOf(s, "-_.") || strings.IndexByte("-.0123456789", s[0]) >= 0 {
		return notAccount(what, s)
	}
	return nil
}

// checkOwner allows an account by name, or by a number as programs write it.
func checkOwner(what, s string) error {
	if n, err := strconv.ParseUint(s, 10, 31); err == nil && strconv.FormatUint(n, 10) == s {
		return nil
	}
	return checkAccount(what, s)
}

// checkPackageName keeps to Debian's names, so that none reads as an option or a path.
// packageName is a name as Debian has them (deb-control(5)), with the machine's kind where it has to be told. No
// package's name ends in - or .; apt would take the one for a removal and the other for a pattern.
var packageName = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]*[a-z0-9+](:[a-z0-9-]*[a-z0-9])?$`)

func checkPackageName(s string) error {
	if len(s) > 128 || !packageName.MatchString(s) {
		return fmt.Errorf("package %q is no package's name: lower-case letters, digits, + - and ., two at least, beginning with a letter or digit and not ending in - or ., which apt would read as something else", s)
	}
	return nil
}

var unitSuffixes = []string{
	".service", ".socket", ".timer", ".mount", ".automount", ".path", ".target", ".slice", ".swap",
}

func checkUnitName(s string) error {
	if len(s) > 255 || !onlyOf(s, `:-_.\@`) || s == "" || s[0] == '-' || s[0] == '.' || !slices.Contains(unitSuffixes, path.Ext(s)) {
		return fmt.Errorf("unit %q is no unit's name", s)
	}
	return nil
}

func checkMarker(s string) error {
	if s == "" || len(s) > 128 || strings.TrimSpace(s) != s {
		return fmt.Errorf("marker %q is empty, too long, or has spaces around it", s)
	}
	return checkText("marker", s)
}

// checkBlockContent refuses lines that would be read as the markers of a block, be it
// this one or another: the machine's file could not be told apart from what is in it.
func checkBlockContent(content []byte) error {
	for line := range bytes.Lines(content) {
		if IsMarkerLine(line) {
			return markerInside(strings.TrimSpace(string(line)))
		}
	}
	return nil
}

// The beginning of the line before a marked block on a machine, and of the one after
// it; the marker follows.
const (
	BeginMarker = "# BEGIN "
	EndMarker   = "# END "
)

// IsMarkerLine says whether a line of a file is one that a marked block begins or ends with.
func IsMarkerLine(line []byte) bool {
	line = bytes.TrimRight(line, " \t\r\n")
	return bytes.HasPrefix(line, []byte(BeginMarker)) || bytes.HasPrefix(line, []byte(EndMarker))
}

// onlyOf says whether s holds letters, digits and the bytes of more, and no others.
func onlyOf(s, more string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte(more, c) < 0 {
			return false
		}
	}
	return true
}
