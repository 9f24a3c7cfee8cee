package machine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os/user"
	"slices"
	"strconv"
	"strings"
)

// Accounts are the users and groups of a machine, as its own files have them.
type Accounts struct {
	root  *Root
	known map[string]known // by path
}

// known is a table that was read, and the file's identity then.
type known struct {
	was   string
	table table
}

const (
	passwdFile = "/etc/passwd"
	groupFile  = "/etc/group"
	shadowFile = "/etc/shadow"
)

// table is a file of lines with fields between colons.
type table [][]string

func (a *Accounts) table(p string) (table, error) {
	at, err := a.root.target(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer at.close()
	st, err := at.stat()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	is := fmt.Sprint(st.Ino, st.Size, st.Mtim)
	if k := a.known[p]; k.was == is {
		return k.table.clone(), nil
	}
	data, err := a.root.ReadFile(p)
	if err != nil {
		return nil, err
	}
	t := table{}
	for line := range strings.Lines(string(data)) {
		t = append(t, strings.Split(strings.TrimSuffix(line, "\n"), ":"))
	}
	if a.known == nil {
		a.known = map[string]known{}
	}
	a.known[p] = known{is, t}
	return t.clone(), nil
}

// clone copies a table, whose rows are written to.
func (t table) clone() table {
	out := make(table, len(t))
	for i, r := range t {
		out[i] = slices.Clone(r)
	}
	return out
}

// row finds the line of a name with at least n fields.
func (t table) row(name string, n int) []string {
	for _, r := range t {
		if len(r) >= n && r[0] == name {
			return r
		}
	}
	return nil
}

// Owner gives the numbers of a user and a group; root's, and the user's own group,
// where they are not named.
func (a *Accounts) Owner(owner, group string) (Owner, error) {
	var o Owner
	passwd, err := a.table(passwdFile)
	if err != nil {
		return o, err
	}
	if owner == "" {
		owner = "root"
	}
	if n, err := strconv.Atoi(owner); err == nil {
		o = Owner{n, n}
		for _, r := range passwd {
			if len(r) >= 4 && r[2] == owner {
				o.GID, _ = strconv.Atoi(r[3])
			}
		}
	} else if r := passwd.row(owner, 4); r != nil {
		uid, err1 := strconv.Atoi(r[2])
		gid, err2 := strconv.Atoi(r[3])
		if err1 != nil || err2 != nil {
			return o, fmt.Errorf("the line of %s in %s is damaged", owner, passwdFile)
		}
		o = Owner{uid, gid}
	} else if owner != "root" { // of which every machine has one, also a tree that has no users yet
		return o, noAccount("user", owner)
	}
	if group == "" {
		return o, nil
	}
	if n, err := strconv.Atoi(group); err == nil {
		o.GID = n
		return o, nil
	}
	groups, err := a.table(groupFile)
	if err != nil {
		return o, err
	}
	r := groups.row(group, 3)
	if r == nil && group == "root" {
		o.GID = 0
		return o, nil
	}
	if r == nil {
		return o, noAccount("group", group)
	}
	o.GID, err = strconv.Atoi(r[2])
	return o, err
}

// look says how a user is.
func (a *Accounts) look(name string) (Condition, error) {
	passwd, err := a.table(passwdFile)
	if err != nil {
		return Condition{}, err
	}
	groups, err := a.table(groupFile)
	if err != nil {
		return Condition{}, err
	}
	r := passwd.row(name, 7)
	if r == nil {
		return Condition{Absent: true, OwnGroup: groups.number(name)}, nil
	}
	uid, err := strconv.Atoi(r[2])
	if err != nil {
		return Condition{}, fmt.Errorf("the line of %s in %s is damaged", name, passwdFile)
	}
	c := Condition{UID: uid, Group: r[3], Home: r[5], Shell: r[6]}
	var others []string
	for _, g := range groups {
		switch {
		case len(g) < 4:
		case g[2] == r[3]:
			c.Group = g[0]
		case slices.Contains(strings.Split(g[3], ","), name):
			others = append(others, g[0])
		}
	}
	slices.Sort(others)
	c.Groups = strings.Join(others, ",")
	return c, nil
}

// check says what keeps a user from being as wanted.
func (a *Accounts) check(name string, is, want Condition) error {
	if !is.Absent && !want.Absent && want.UID != 0 && is.UID != want.UID {
		return otherUID(name, is.UID, want.UID)
	}
	if is.Absent && want.UID != 0 {
		passwd, err := a.table(passwdFile)
		if err != nil {
			return err
		}
		if r := passwd.numbered(want.UID); r != nil {
			return takenUID(name, want.UID, r[0])
		}
	}
	groups, err := a.table(groupFile)
	if err != nil {
		return err
	}
	for _, g := range splitList(want.Groups) {
		if groups.row(g, 3) == nil {
			return noAccount("group", g)
		}
	}
	if want.Group != "" && want.Group != name && want.Group != is.Group && groups.row(want.Group, 3) == nil {
		return noAccount("group", want.Group)
	}
	return nil
}

func splitList(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// treeUsers writes users to a tree's own files: there is nobody logged in whom
// useradd's locks would have to protect.
type treeUsers struct{ accounts *Accounts }

// Look says how a user is.
func (b *treeUsers) Look(_ context.Context, key Key) (Condition, error) {
	return b.accounts.look(key.Name)
}

// Make makes, changes or removes a user and the group of its name. Of one that is not
// there it removes what a run that was killed has left: its group and shadow line.
func (b *treeUsers) Make(_ context.Context, key Key, want Want) error {
	name, a := key.Name, b.accounts
	is, err := a.look(name)
	if err == nil {
		err = a.check(name, is, want.Condition)
	}
	if err != nil || is.Meets(User, want.Condition) && !want.Absent {
		return err
	}
	passwd, err := a.table(passwdFile)
	if err != nil {
		return err
	}
	groups, err := a.table(groupFile)
	if err != nil {
		return err
	}
	shadow, err := a.table(shadowFile)
	if err != nil {
		return err
	}
	if want.Absent {
		groups.setMember(name, nil, "")
		passwd, shadow = passwd.drop(name), shadow.drop(name)
		switch own := groups.row(name, 3); {
		case want.OwnGroup != "" && own == nil:
			groups = append(groups, []string{name, "x", want.OwnGroup, ""})
		case want.OwnGroup == "" && own != nil && is.groupGoes(name) && !groups.inUse(own, passwd):
			groups = groups.drop(name)
		}
	} else {
		row := passwd.row(name, 7)
		if row == nil {
			uid := want.UID
			if uid == 0 {
				// A group of its name may be there from a run that was cut short.
				uid = freeNumber(name, want.System, passwd, groups.drop(name))
			}
			row = []string{name, "x", strconv.Itoa(uid), strconv.Itoa(uid), "", "/nonexistent", "/usr/sbin/nologin"}
			passwd = append(passwd, row)
			if shadow != nil {
				shadow = append(shadow.drop(name), []string{name, "!*", "", "", "", "", "", "", ""})
			}
		}
		own := want.Group
		if is.Absent {
			own = cmp.Or(own, name)
		}
		if own == name && groups.row(name, 3) == nil {
			number := cmp.Or(is.unnamedGroup(groups), row[2])
			if groups.has(number) {
				number = strconv.Itoa(freeNumber(name, want.System, passwd, groups))
			}
			groups = append(groups, []string{name, "x", number, ""})
		}
		if g := groups.row(own, 3); g != nil {
			row[3] = g[2]
		}
		if want.Home != "" {
			row[5] = want.Home
		}
		if want.Shell != "" {
			row[6] = want.Shell
		}
		in := row[3] // in the line of its own group a user may stand or not, if that does not change
		if is.Absent || own != "" && own != is.Group {
			in = ""
		}
		groups.setMember(name, splitList(want.Groups), in)
		if g := groups.row(name, 3); want.dropsGroup(name) && g != nil && !groups.inUse(g, passwd) {
			groups = groups.drop(name)
		}
	}
	// A user that is there has all that belongs to it, whenever this is cut short.
	files := []struct {
		name  string
		table table
		mode  uint32
	}{{groupFile, groups, 0o644}, {shadowFile, shadow, 0o640}, {passwdFile, passwd, 0o644}}
	if want.Absent {
		slices.Reverse(files)
	}
	for _, f := range files {
		if err := a.write(f.name, f.table, f.mode); err != nil {
			return err
		}
	}
	return nil
}

// Clear removes what a run that was killed has left beside the files of accounts.
func (a *Accounts) Clear() {
	for _, p := range []string{groupFile, shadowFile, passwdFile} {
		(&Files{root: a.root}).Clear(p)
	}
}

// number of the group of a name, or nothing.
func (t table) number(name string) string {
	if r := t.row(name, 3); r != nil {
		return r[2]
	}
	return ""
}

// numbered finds the line of a user or group by its number.
func (t table) numbered(n int) []string {
	for _, r := range t {
		if len(r) >= 3 && r[2] == strconv.Itoa(n) {
			return r
		}
	}
	return nil
}

// has says whether a user or group has a number, as the table writes it.
func (t table) has(number string) bool {
	return slices.ContainsFunc(t, func(r []string) bool { return len(r) >= 3 && r[2] == number })
}

// groupGoes says whether the group of a user's name goes with it: it is its own, or what
// was left of it.
func (c Condition) groupGoes(name string) bool { return c.Absent || c.Group == name }

// dropsGroup says whether the group of a user's name, which was made with it, is not its
// own any more.
func (want Condition) dropsGroup(name string) bool {
	return want.Group != "" && want.Group != name && want.OwnGroup == ""
}

// unnamedGroup is the number of a user's own group, where no group has it: a run was
// killed before it made one.
func (c Condition) unnamedGroup(groups table) string {
	if _, err := strconv.Atoi(c.Group); err != nil || groups.row(c.Group, 3) != nil {
		return ""
	}
	return c.Group
}

// inUse says whether a group has members, or is somebody's own: userdel leaves such a
// group there, and so do we.
func (t table) inUse(group []string, passwd table) bool {
	return len(group) >= 4 && group[3] != "" ||
		slices.ContainsFunc(passwd, func(r []string) bool { return len(r) >= 4 && r[3] == group[2] })
}

func (t table) drop(name string) table {
	return slices.DeleteFunc(slices.Clone(t), func(r []string) bool { return r[0] == name })
}

// setMember makes a user a member of exactly these groups. In the line of its own
// group, where that is given by number, a user may stand or not: that stays as it is.
func (t table) setMember(name string, of []string, own string) {
	for _, g := range t {
		if len(g) < 4 || g[2] == own {
			continue
		}
		members, is := splitList(g[3]), slices.Contains(of, g[0])
		if is && slices.Contains(members, name) {
			continue
		}
		members = slices.DeleteFunc(members, func(m string) bool { return m == name })
		if is {
			members = append(members, name)
		}
		g[3] = strings.Join(members, ",")
	}
}

// freeNumber is a number for a new user and its group. The first choice is a hash of
// the name, so that one user has one number on nearly every machine.
func freeNumber(name string, system bool, passwd, groups table) int {
	from, count := 200, 800
	if !system {
		from, count = 1000, 9000
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	for i := range count {
		n := from + (int(h.Sum32()%uint32(count))+i)%count
		if passwd.numbered(n) == nil && groups.numbered(n) == nil {
			return n
		}
	}
	return from + count
}

func (a *Accounts) write(p string, t table, mode uint32) error {
	was, err := a.table(p)
	if err != nil || t == nil || was != nil && slices.EqualFunc(was, t, slices.Equal) {
		return err
	}
	var b bytes.Buffer
	for _, r := range t {
		b.WriteString(strings.Join(r, ":") + "\n")
	}
	o := Owner{}
	if c, err := (&Files{root: a.root}).Look(context.Background(), Key{Kind: File, Name: p}); err == nil && !c.Absent {
		o, mode = Owner{c.UID, c.GID}, c.Mode
	}
	if err := a.root.MkdirAll("/etc", 0o755); err != nil {
		return err
	}
	return a.root.WriteFile(p, b.Bytes(), o, mode)
}

// liveUsers changes users through the programs that do, with their locks.
type liveUsers struct{ accounts *Accounts }

// Look says how a user is.
func (b *liveUsers) Look(_ context.Context, key Key) (Condition, error) {
	return b.accounts.look(key.Name)
}

// Make makes, changes or removes a user and the group of its name. A home directory
// is a resource of its own, and never made or removed here.
func (b *liveUsers) Make(ctx context.Context, key Key, want Want) error {
	name := key.Name
	is, err := b.accounts.look(name)
	if err == nil {
		err = b.accounts.check(name, is, want.Condition)
	}
	if err != nil || is.Meets(User, want.Condition) && !want.Absent {
		return err
	}
	if is.Absent {
		if _, err := user.Lookup(name); err == nil {
			if want.Absent { // so it was never made here
				return nil
			}
			return fmt.Errorf("user %s comes from somewhere else than %s, and is left alone", name, passwdFile)
		}
	}
	if want.Absent {
		return b.remove(ctx, name, is, want.OwnGroup)
	}
	groups, err := b.accounts.table(groupFile)
	if err != nil {
		return err
	}
	command, home := "usermod", "--home"
	var args []string
	others := splitList(want.Groups)
	newGroup := want.Group != "" && want.Group != is.Group
	switch {
	case !is.Absent:
		if newGroup && want.Group == name && groups.row(name, 3) == nil {
			number := is.unnamedGroup(groups)
			if err := addGroup(ctx, name, number, want.System); err != nil {
				return err
			}
			newGroup = number == ""
		}
		if newGroup {
			args = append(args, "--gid", want.Group)
		}
		// usermod would take the user out of the line of its own group too.
		own := cmp.Or(want.Group, is.Group)
		if r := groups.row(own, 4); r != nil && !newGroup && slices.Contains(splitList(r[3]), name) {
			others = append(others, own)
		}
	default:
		command, home, args = "useradd", "--home-dir", []string{"--no-create-home"}
		if want.System {
			args = append(args, "--system")
		}
		if want.UID != 0 {
			args = append(args, "--uid", strconv.Itoa(want.UID))
		}
		own := cmp.Or(want.Group, name)
		if own == name && groups.row(name, 3) == nil {
			args = append(args, "--user-group")
		} else {
			args = append(args, "--gid", own)
		}
	}
	if want.Home != "" {
		args = append(args, home, want.Home)
	}
	if want.Shell != "" {
		args = append(args, "--shell", want.Shell)
	}
	if want.Groups != is.Groups || newGroup && !is.Absent {
		args = append(args, "--groups", strings.Join(others, ","))
	}
	if len(args) > 0 {
		if out, err := run(ctx, command, append(args, "--", name)...); err != nil {
			return failed(ctx, command, out, err)
		}
	}
	if want.dropsGroup(name) {
		return b.dropGroup(ctx, name)
	}
	return nil
}

// addGroup makes a group; one of no particular number where that is empty.
func addGroup(ctx context.Context, name, number string, system bool) error {
	var args []string
	if number != "" {
		args = append(args, "--gid", number)
	}
	if system {
		args = append(args, "--system")
	}
	out, err := run(ctx, "groupadd", append(args, "--", name)...)
	if err != nil {
		return failed(ctx, "groupadd", out, err)
	}
	return nil
}

// dropGroup removes the group of a user's name, unless somebody else is in it.
func (b *liveUsers) dropGroup(ctx context.Context, name string) error {
	passwd, err := b.accounts.table(passwdFile)
	if err != nil {
		return err
	}
	groups, err := b.accounts.table(groupFile)
	if err != nil {
		return err
	}
	groups.setMember(name, nil, "")
	own := groups.row(name, 3)
	if own == nil || groups.inUse(own, passwd) {
		return nil
	}
	out, err := run(ctx, "groupdel", "--", name)
	if err != nil {
		return failed(ctx, "groupdel", out, err)
	}
	return nil
}

// remove removes a user and the group of its name, where that was its own and nobody
// else is in it; a group that was there before is made again. userdel takes the group
// away too, unless it was killed in the middle, or login.defs says otherwise.
func (b *liveUsers) remove(ctx context.Context, name string, is Condition, group string) error {
	if !is.Absent {
		if out, err := run(ctx, "userdel", "--", name); err != nil {
			return failed(ctx, "userdel", out, err)
		}
	}
	groups, err := b.accounts.table(groupFile)
	switch {
	case err != nil:
		return err
	case group != "" && groups.row(name, 3) == nil:
		return addGroup(ctx, name, group, false)
	case group == "" && is.groupGoes(name):
		return b.dropGroup(ctx, name)
	}
	return nil
}
