package host

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

const appText = "/etc/systemd/system/app.service"

// HST-3: a text that systemctl link has put in its place is no link that enables the unit:
// it stays, whether the unit is enabled or not.
func TestUnitWithALinkedText(t *testing.T) {
	for _, on := range []bool{true, false} {
		dir := newTree(t)
		put(t, dir, "/opt/app.service", "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n", 0o644)
		link(t, dir, "/opt/app.service", appText)
		b := write(t, []bundle.Item{&bundle.Unit{ID: "a/unit.u", Name: "app.service", State: bundle.Running, Enabled: on}}, nil)
		foretold(t, "once", dir, b)
		if to, err := os.Readlink(dir + appText); err != nil || to != "/opt/app.service" {
			t.Errorf("enabled %v: the text is a link to %q (%v)", on, to, err)
		}
		if _, err := os.Lstat(dir + "/etc/systemd/system/multi-user.target.wants/app.service"); (err == nil) != on {
			t.Errorf("enabled %v: the link below the target: %v", on, err)
		}
		if r := foretold(t, "again", dir, b); len(r.Events) > 0 {
			t.Errorf("enabled %v: a second apply: %v", on, r.Events)
		}
	}
}

// HST-3: a unit that gives itself its own name keeps its text.
func TestUnitWithItsOwnNameAsAlias(t *testing.T) {
	dir := newTree(t)
	text := "[Service]\nExecStart=/bin/true\n[Install]\nAlias=app.service other.service\n"
	b := write(t, []bundle.Item{
		plain("a/file.u", appText), &bundle.Unit{ID: "a/unit.u", Name: "app.service", State: bundle.Running, Enabled: true},
	}, map[bundle.ID]string{"a/file.u": text})
	foretold(t, "once", dir, b)
	if got := read(t, dir+appText); got != text {
		t.Errorf("the text is %q", got)
	}
	if to, err := os.Readlink(dir + "/etc/systemd/system/other.service"); err != nil || to != appText {
		t.Errorf("the other name leads to %q (%v)", to, err)
	}
	if r := foretold(t, "again", dir, b); len(r.Events) > 0 {
		t.Errorf("a second apply: %v", r.Events)
	}
}

func link(t *testing.T, dir, to, at string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(dir+at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, dir+at); err != nil {
		t.Fatal(err)
	}
}

// HST-2, HST-4: what other files add to a unit's text counts for check as for apply, be
// they there already or come, change and go with the bundle.
func TestUnitWithDropIns(t *testing.T) {
	const install = "[Install]\nWantedBy=multi-user.target\n"
	unit := []bundle.Item{
		plain("a/file.u", appText), &bundle.Unit{ID: "a/unit.u", Name: "app.service", State: bundle.Stopped, Enabled: true},
	}
	more := append([]bundle.Item{plain("a/file.d", appText+".d/y.conf")}, unit...)
	dir := newTree(t)
	put(t, dir, appText+".d/x.conf", "[Install]\nWantedBy=graphical.target\n", 0o644)
	link(t, dir, "/dev/null", appText+".d/z.conf")
	for _, c := range []struct {
		what  string
		items []bundle.Item
		text  string
		more  string
		sets  bool
	}{
		{"new", unit, "[Service]\n" + install, "", true},
		{"another text", unit, "[Service]\n#\n" + install, "", false},
		{"with one that adds a link", more, "[Service]\n#\n" + install, "[Install]\nWantedBy=foo.target\n", true},
		{"with one that adds none", more, "[Service]\n#\n" + install, "[Service]\nNice=5\n", true},
		{"with one that takes back", more, "[Service]\n#\n" + install, "[Install]\nWantedBy=\nWantedBy=bar.target\n", true},
		{"without one", unit, "[Service]\n#\n" + install, "", true},
	} {
		r := foretold(t, c.what, dir, write(t, c.items, map[bundle.ID]string{"a/file.u": c.text, "a/file.d": c.more}))
		set := false
		for _, e := range r.Events {
			set = set || e.Key.Kind == machine.Unit
		}
		if set != c.sets {
			t.Errorf("%s: the unit is set: %v", c.what, set)
		}
	}
}

// HST-2: a text that is a link again says what the file says that it leads to.
func TestUnitWithALinkGivenBack(t *testing.T) {
	const text = "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"
	for _, to := range []string{"/opt/app.service", "../../../opt/app.service", "/nowhere"} {
		dir := newTree(t)
		put(t, dir, "/opt/app.service", text, 0o644)
		link(t, dir, to, appText)
		unit := &bundle.Unit{ID: "a/unit.u", Name: "app.service", State: bundle.Stopped, Enabled: true}
		foretold(t, "a file", dir, write(t, []bundle.Item{plain("a/file.u", appText), unit}, map[bundle.ID]string{"a/file.u": text + "#\n"}))
		foretold(t, "the link to "+to, dir, write(t, []bundle.Item{unit}, nil))
	}
}

// HST-2, T07: what filters packets runs before any other unit, wherever it is declared,
// and where it cannot, nothing is started that does not run yet.
func TestFilterBeforeUnits(t *testing.T) {
	items := []bundle.Item{
		running("a/unit.app", "app.service"), running("a/unit.other", "other.service"),
		plain("z/file.table", "/etc/nftables.d/mesh.nft"), running("z/unit.filter", "filter.service", "z/file.table"),
	}
	content := map[bundle.ID]string{"z/file.table": "table inet mesh {\n\tchain input {\n\t\ttype filter hook input priority 0; policy drop;\n\t}\n}\n"}
	h, u := faulty(t, newTree(t))
	b := write(t, items, content)
	u.bad = map[string]error{"filter.service": errors.New("nft: syntax error")}
	r := apply(t, h, b)
	if got := strings.Join(u.made, " "); got != "filter.service" {
		t.Errorf("without a filter, made %s:\n%s", got, lines(r))
	}
	if want := "skipped unit app.service (a/unit.app): because z/unit.filter failed"; !strings.Contains(lines(r), want) {
		t.Errorf("it says\n%s", lines(r))
	}
	u.bad, u.made = nil, nil
	noFailures(t, apply(t, h, b))
	if got := strings.Join(u.made, " "); got != "filter.service app.service other.service" {
		t.Errorf("made %s", got)
	}
	// What runs goes on and is restarted, with a filter that cannot be loaded anew.
	items[0] = running("a/unit.app", "app.service", "a/file.c")
	content["a/file.c"], content["z/file.table"] = "new", content["z/file.table"]+"# more\n"
	noFailures(t, apply(t, h, write(t, append(items, plain("a/file.c", "/etc/c")), content)))
	if !slices.Contains(u.restarted, "filter.service") {
		t.Errorf("restarted %v", u.restarted)
	}
}

// HST-2, T33: whatever one unit answers, the rest goes on: a template cannot be asked about.
func TestOneUnitOfMany(t *testing.T) {
	dir := newTree(t)
	h := onTree(t, dir)
	b := write(t, []bundle.Item{
		running("a/unit.first", "first.service"), running("b/unit.backup", "backup@.service"), running("c/unit.last", "last.service"),
	}, nil)
	r := foretold(t, "units", dir, b)
	for _, want := range []string{
		"started unit first.service", "started unit last.service",
		"failed unit backup@.service (b/unit.backup): backup@.service is a template, which neither runs nor can be asked about: its instances are units",
	} {
		if !strings.Contains(lines(r), want) {
			t.Errorf("%q is not in\n%s", want, lines(r))
		}
	}
	if _, err := h.Status(t.Context()); err != nil {
		t.Error(err)
	}
	noFailures(t, apply(t, h, write(t, nil, nil)))
}

// HST-2, HST-3, T37: a unit that something else starts is neither started nor stopped,
// whether it runs or has failed, and has not drifted when it does otherwise.
func TestTriggered(t *testing.T) {
	dir := newTree(t)
	h, u := faulty(t, dir)
	triggered := func(name string) *bundle.Unit {
		return &bundle.Unit{ID: bundle.ID("a/unit." + name), Name: name + ".service", State: bundle.Triggered, RestartOn: []bundle.ID{"a/file.c"}}
	}
	items := func() []bundle.Item {
		return []bundle.Item{plain("a/file.c", "/etc/c"), triggered("old"), triggered("new")}
	}
	runs := func(name string) bool {
		is, err := h.Machine.Units.Look(t.Context(), machine.Key{Kind: machine.Unit, Name: name + ".service"})
		if err != nil {
			t.Fatal(err)
		}
		return is.Running
	}
	for i, content := range []string{"1", "1", "2"} {
		r := apply(t, h, write(t, items(), map[bundle.ID]string{"a/file.c": content}))
		noFailures(t, r)
		if !runs("old") || runs("new") || len(u.restarted) > 0 {
			t.Errorf("apply %d: old runs: %v, new runs: %v, restarted %v", i, runs("old"), runs("new"), u.restarted)
		}
		if i == 1 && len(r.Events) > 0 {
			t.Errorf("the second apply does\n%s", lines(r))
		}
		if i == 1 { // what starts it does
			if err := u.Units.Make(t.Context(), machine.Key{Kind: machine.Unit, Name: "new.service"}, machine.Want{Condition: machine.Condition{Running: true}}); err != nil {
				t.Fatal(err)
			}
			if s, err := h.Status(t.Context()); err != nil || len(s.Drifted) > 0 {
				t.Errorf("status is %+v, %v", s, err)
			}
			u.fallOver = true
			if r := apply(t, h, write(t, items(), map[bundle.ID]string{"a/file.c": content})); len(r.Events) > 0 {
				t.Errorf("where they failed it does\n%s", lines(r))
			}
			u.fallOver = false
			if err := u.Units.Make(t.Context(), machine.Key{Kind: machine.Unit, Name: "new.service"}, machine.Want{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// HST-2, T34: mounts, sockets and timers of an instance are started before its services,
// whatever they are called, and no instance's before those of one declared before it.
func TestStartOrder(t *testing.T) {
	h, u := faulty(t, newTree(t))
	noFailures(t, apply(t, h, write(t, []bundle.Item{
		running("z/unit.first", "first.service"),
		running("a/unit.app", "app.service"), running("a/unit.deep", "srv-data-deep.mount"), running("a/unit.data", "srv-data.mount"),
		running("a/unit.listen", "app.socket"), running("a/unit.when", "app.timer"),
	}, nil)))
	if got, want := strings.Join(u.made, " "), "first.service srv-data.mount srv-data-deep.mount app.socket app.timer app.service"; got != want {
		t.Errorf("made %s, want %s", got, want)
	}
}

// HST-10, T09: a text that systemd does not accept never takes the place of one that it
// does, and everything else goes on.
func TestRefusedText(t *testing.T) {
	dir := newTree(t)
	h, u := faulty(t, dir)
	items := []bundle.Item{plain("a/file.u", appText), plain("b/file.c", "/etc/c"), running("a/unit.u", "app.service", "a/file.u")}
	noFailures(t, apply(t, h, write(t, items, map[bundle.ID]string{"a/file.u": "[Service]\nExecStart=/bin/a\n", "b/file.c": "1"})))
	u.refused = map[string]error{appText: errors.New("systemd does not accept it")}
	r := apply(t, h, write(t, items, map[bundle.ID]string{"a/file.u": "[Service]\nUsr=a\n", "b/file.c": "2"}))
	for _, want := range []string{"failed file " + appText, "skipped unit app.service", "changed file /etc/c"} {
		if !strings.Contains(lines(r), want) {
			t.Errorf("%q is not in\n%s", want, lines(r))
		}
	}
	if data, _ := os.ReadFile(filepath.Join(dir, appText)); string(data) != "[Service]\nExecStart=/bin/a\n" {
		t.Errorf("the text is %q", data)
	}
}
