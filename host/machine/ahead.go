package machine

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"
)

// What a look ahead asks: how a machine will be once something else was changed that
// has not been changed yet.

// Unknown stands for the number of a user or group that is yet to be made. No file
// belongs to it, and it is not Nobody, whose files are gone.
const Unknown = -2

// OwnerAhead is Owner where some users will be as given, by name.
func (a *Accounts) OwnerAhead(owner, group string, users map[string]Condition) (Owner, error) {
	var o Owner
	var err error
	switch c, ok := users[owner]; {
	case !ok:
		o, err = a.Owner(owner, "")
	case c.Absent:
		err = noAccount("user", owner)
	default:
		o.UID = c.UID
		o.GID, err = a.groupAhead(c.Group, users)
	}
	if err == nil && group != "" {
		o.GID, err = a.groupAhead(group, users)
	}
	return o, err
}

// groupAhead is the number of a group. A user comes and goes with the group of its name.
func (a *Accounts) groupAhead(group string, users map[string]Condition) (int, error) {
	next, changes := users[group]
	o, err := a.Owner("", group)
	if err != nil {
		if changes && !next.Absent && next.Group == group {
			return Unknown, nil
		}
		return 0, err
	}
	if changes && next.Absent && next.OwnGroup == "" {
		stays, err := a.staysAhead(group, users)
		if err == nil && !stays {
			err = noAccount("group", group)
		}
		return o.GID, err
	}
	return o.GID, nil
}

// staysAhead says whether the group of a user that goes stays, because it is another
// one than his own, or somebody else is in it.
func (a *Accounts) staysAhead(name string, users map[string]Condition) (bool, error) {
	is, err := a.look(name)
	if err != nil || !is.groupGoes(name) {
		return true, err
	}
	passwd, err := a.table(passwdFile)
	if err != nil {
		return false, err
	}
	groups, err := a.table(groupFile)
	if err != nil {
		return false, err
	}
	others := func(t table) table {
		return slices.DeleteFunc(t, func(r []string) bool { return users[r[0]].Absent })
	}
	group := groups.row(name, 3)
	if len(group) >= 4 {
		group[3] = strings.Join(slices.DeleteFunc(splitList(group[3]), func(m string) bool { return users[m].Absent }), ",")
	}
	return groups.inUse(group, others(passwd)), nil
}

// UserAhead is how a user that is so will be once it was made as wanted, or why it
// cannot be made so.
func (a *Accounts) UserAhead(name string, is, want Condition, users map[string]Condition) (Condition, error) {
	if want.Absent {
		return Condition{Absent: true, OwnGroup: want.OwnGroup}, nil
	}
	groups := want.Groups
	want.Groups = ""
	var other []string // a group that the user does not come with
	if want.Group != "" && want.Group != name && want.Group != is.Group {
		other = append(other, want.Group)
	}
	passwd, err := a.table(passwdFile)
	if err != nil {
		return Condition{}, err
	}
	number := Condition{UID: want.UID}
	if r := passwd.numbered(want.UID); r != nil && users[r[0]].Absent {
		number.UID = 0 // who has it now goes first
	}
	if err := a.check(name, is, number); err != nil {
		return Condition{}, err
	}
	for _, other := range slices.Sorted(maps.Keys(users)) {
		if c := users[other]; is.Absent && want.UID != 0 && other != name && !c.Absent && c.UID == want.UID {
			return Condition{}, takenUID(name, want.UID, other)
		}
	}
	for _, g := range append(splitList(groups), other...) {
		if _, err := a.groupAhead(g, users); err != nil {
			return Condition{}, err
		}
	}
	if is.Absent {
		is = Condition{UID: want.UID, Group: name}
		if want.UID == 0 {
			is.UID = Unknown
		}
	}
	is.Groups = groups
	for _, f := range []struct {
		is   *string
		want string
	}{{&is.Group, want.Group}, {&is.Home, want.Home}, {&is.Shell, want.Shell}} {
		if f.want != "" {
			*f.is = f.want
		}
	}
	return is, nil
}

// IsLeftover says whether a file is what a run that was killed has left, which the next
// one clears away.
func IsLeftover(name string) bool {
	base, ok := strings.CutSuffix(strings.TrimPrefix(name, "."), ".mesh-host-next")
	return ok && name == place{base: base}.next()
}

// Ahead is how a unit that is so will be enabled, once files have the content given;
// nil stands for one that is gone.
func (b *treeUnits) Ahead(_ context.Context, name string, is Condition, files map[string][]byte) (Condition, error) {
	if !makes(name, files) && !addsTo(name, files) {
		return is, nil
	}
	t, err := unitText(b.root, name, files)
	if err != nil {
		return is, err
	}
	links, err := linksOf(b.root, name)
	if err != nil {
		return is, err
	}
	r, err := b.record.read()
	is.Generated = t.generated
	is.Enabled = len(links) > 0 || r.Enabled[name]
	is.Stale = is.Enabled && stale(name, t.all, links)
	return is, err
}

// Ahead is how a unit that is so will be enabled, once files have the content given;
// nil stands for one that is gone. What an instance of a template, or a word that
// systemd replaces, asks for is not known.
func (s systemd) Ahead(_ context.Context, name string, is Condition, files map[string][]byte) (Condition, error) {
	isMade := makes(name, files)
	if !isMade && !addsTo(name, files) {
		return is, nil
	}
	t, err := unitText(s.root, name, files)
	if err != nil || t.at == "" && !isMade { // it is made from what others generate
		return is, err
	}
	is.Absent = t.at == "" && !t.generated
	if t.generated || is.Absent {
		is.Generated = t.generated
		return is, nil
	}
	links, err := linksOf(s.root, name)
	if len(links) > 0 || isMade && isPlain(name, t) { // others may enable what is not ours in other places
		is.Enabled = len(links) > 0
	}
	is.Stale = knownStale(name, t, links)
	is.Generated = !is.Enabled && len(installLinks(name, t.all)) == 0
	return is, err
}

// makes says whether one of the files is a unit's own text, or what that is generated from.
func makes(name string, files map[string][]byte) bool {
	for p := range files {
		if path.Base(p) == template(name) || IsQuadlet(p) && QuadletUnit(p) == name {
			return true
		}
	}
	return false
}

// addsTo says whether one of the files adds to a unit's text.
func addsTo(name string, files map[string][]byte) bool {
	dirs := dropInDirs(name)
	for p := range files {
		if path.Ext(p) == ".conf" && slices.Contains(dirs, path.Dir(p)) {
			return true
		}
	}
	return false
}
