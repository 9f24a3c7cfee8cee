package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"

	"meshc.dev/compiler/data"
)

// A module's name is its folder's, and its summary one line.
func TestModulesSayWhatTheyAre(t *testing.T) {
	lib := open(t)
	for name, m := range lib.modules {
		if got := text(m, "name", ""); got != name {
			t.Errorf("the module in folder %s is named %q", name, got)
		}
		if s := text(m, "summary", ""); s == "" || strings.ContainsAny(s, "\n") || strings.HasSuffix(s, ".") {
			t.Errorf("module %s has no summary of one line: %q", name, s)
		}
	}
}

// The comments of settings are the page that `meshc catalog NAME` shows.
func TestEverySettingIsDocumented(t *testing.T) {
	lib := open(t)
	for name, m := range lib.modules {
		undocumented(t, name+" settings", m.LookupPath(cue.ParsePath("settings")))
		for _, p := range fields(m, "provides") {
			undocumented(t, name+" provides "+p.name+" accepts", p.value.LookupPath(cue.ParsePath("accepts")))
		}
	}
}

func undocumented(t *testing.T, where string, v cue.Value) {
	it, err := v.Fields(cue.Optional(true))
	if err != nil {
		return
	}
	for it.Next() {
		f := it.Value()
		// What a module keeps for itself is not for anybody to set: a value, or an error that says why.
		kept := f.Err() != nil || f.IsConcrete() && f.IncompleteKind() != cue.StructKind
		if len(f.Doc()) == 0 && !kept {
			t.Errorf("%s.%s has no comment that says what it is", where, it.Selector())
		}
		undocumented(t, where+"."+it.Selector().String(), f)
	}
}

// What a module declares has values throughout once its inputs have.
func TestInterfacesAreConcrete(t *testing.T) {
	lib := open(t)
	lib.each(t, func(t *testing.T, r rendered) {
		for _, path := range []string{"listens", "claims", "needs"} {
			concrete(t, r.value, path)
		}
		for _, q := range fields(r.value, "requires") {
			for _, f := range []string{"optional", "contributes", "binds", "secret"} {
				concrete(t, q.value, f)
			}
		}
		for _, p := range fields(r.value, "provides") {
			for _, f := range []string{"scope", "credential", "serves", "receives", "secrets", "unique"} {
				concrete(t, p.value, f)
			}
		}
	})
}

// CLM-3: what a machine has once is claimed once within a module
func TestPathsAndUnitsAreUnique(t *testing.T) {
	lib := open(t)
	lib.each(t, func(t *testing.T, r rendered) {
		seen := map[string]string{}
		claim := func(what, by string) {
			if other, twice := seen[what]; twice {
				t.Errorf("%s and %s are both %s", other, by, what)
			}
			seen[what] = by
		}
		for _, f := range r.resources.Get("file").Fields() {
			claim("path "+f.Value.Get("path").Text(), "file."+f.Name)
		}
		for _, q := range fields(r.value, "requires") {
			for _, target := range []string{"binds", "secret"} {
				if p := text(q.value, target+".path", ""); p != "" {
					claim("path "+p, target+".requires."+q.name)
				}
			}
		}
		for _, n := range fields(r.value, "needs") {
			claim("path "+text(n.value, "path", ""), "secret.needs."+n.name)
		}
		for _, p := range fields(r.value, "provides") {
			for _, target := range []string{"receives", "secrets"} {
				if path := text(p.value, target+".path", ""); path != "" {
					claim("path "+path, target+"."+p.name)
				}
			}
		}
		for _, u := range r.resources.Get("unit").Fields() {
			claim("unit "+u.Value.Get("name").Text(), "unit."+u.Name)
		}
		for _, b := range r.resources.Get("block").Fields() {
			claim("block "+b.Value.Get("path").Text()+" "+b.Value.Get("marker").Text(), "block."+b.Name)
		}
	})
}

// SEL-7: what restarts a unit is a resource of the module
func TestRestartsNameResources(t *testing.T) {
	lib := open(t)
	lib.each(t, func(t *testing.T, r rendered) {
		there := map[string]bool{}
		for _, kind := range r.resources.Fields() {
			for _, x := range kind.Value.Fields() {
				there[kind.Name+"."+x.Name] = true
			}
		}
		for _, q := range fields(r.value, "requires") {
			there["secret.requires."+q.name] = q.value.LookupPath(cue.ParsePath("secret")).Exists()
			there["file.binds."+q.name] = q.value.LookupPath(cue.ParsePath("binds")).Exists()
		}
		for _, n := range fields(r.value, "needs") {
			there["secret.needs."+n.name] = true
		}
		for _, kind := range []string{"unit", "container"} {
			for _, u := range r.resources.Get(kind).Fields() {
				for _, on := range append(u.Value.Get("restart_on").Strings(), u.Value.Get("reload_on").Strings()...) {
					if !there[on] {
						t.Errorf("%s.%s names %s, which there is not", kind, u.Name, on)
					}
				}
			}
		}
		// A file that nothing takes up again after a change is one that its program reads each time it starts.
	})
}

// SEC-10: a secret stands only in files that others cannot read
func TestSecretsStayInPrivateFiles(t *testing.T) {
	lib := open(t)
	lib.each(t, func(t *testing.T, r rendered) {
		for _, kind := range r.resources.Fields() {
			for _, x := range kind.Value.Fields() {
				x.Value.Walk(func(path []string, v data.Value) {
					if v.Kind() != data.String || !strings.Contains(v.Text(), placeholder) {
						return
					}
					if kind.Name != "file" {
						t.Errorf("%s.%s shows a secret in %s", kind.Name, x.Name, strings.Join(path, "."))
					}
					if mode := x.Value.Get("mode").Text(); mode != "" && !strings.HasSuffix(mode, "0") {
						t.Errorf("file.%s holds a secret and has mode %s", x.Name, mode)
					}
				})
			}
		}
		for _, n := range fields(r.value, "needs") {
			if mode := text(n.value, "mode", "0600"); !strings.HasSuffix(mode, "0") {
				t.Errorf("secret.needs.%s has mode %s", n.name, mode)
			}
		}
	})
}

// What the modules ask for and give is fixed by what people were told of them.
func TestWhoRequiresWhom(t *testing.T) {
	lib := open(t)
	provides := map[string][]string{}
	for _, name := range names() {
		for _, p := range fields(lib.modules[name], "provides") {
			provides[p.name] = append(provides[p.name], name)
		}
	}
	for provision, want := range map[string][]string{
		"shell":           {"bash", "fish", "zsh"},
		"display-server":  {"wayland", "xorg"},
		"private-network": {"lan", "mesh-wireguard", "tailscale"},
		"name-resolution": {"mesh-names"},
		"firewall":        {"firewall"},
		"database":        {"postgres"},
		"cache":           {"redis"},
		"reverse-proxy":   {"reverse-proxy"},
		"forge":           {"gitea"},
		"node-metrics":    {"node-exporter"},
		"model-access":    nil, // a licence's alone
	} {
		if got := provides[provision]; !slices.Equal(got, want) {
			t.Errorf("%s is provided by %v, want %v", provision, got, want)
		}
	}

	scope := func(module, kind, name string) string {
		return text(lib.modules[module], kind+`."`+name+`".scope`, "absent")
	}
	for _, c := range []struct{ module, kind, name, scope string }{
		{"xorg", "claims", "the-seat", "node"},
		{"wayland", "claims", "the-seat", "node"},
		{"mesh-addressing", "claims", "the-mesh-network", "node"},
		{"dhcp", "claims", "the-dhcp", "site"},
		{"hub", "claims", "the-hub", "mesh"},
		{"postgres", "provides", "database", "mesh"},
		{"redis", "provides", "cache", "mesh"},
		{"reverse-proxy", "provides", "reverse-proxy", "mesh"},
		{"gitea", "provides", "forge", "mesh"},
		{"bash", "provides", "shell", "node"},
		{"lan", "provides", "private-network", "node"},
		{"firewall", "provides", "firewall", "node"},
	} {
		if got := scope(c.module, c.kind, c.name); got != c.scope {
			t.Errorf("%s %s %s in scope %s, want %s", c.module, c.kind, c.name, got, c.scope)
		}
	}
}

// CON-10: what modules of the catalogue contribute to each other is accepted
func TestContributionsAreAccepted(t *testing.T) {
	lib := open(t)
	lib.each(t, func(t *testing.T, r rendered) {
		for _, q := range fields(r.value, "requires") {
			provision := text(q.value, "provision", q.name)
			contributes := q.value.LookupPath(cue.ParsePath("contributes"))
			if !contributes.Exists() {
				continue
			}
			for name, m := range lib.modules {
				p := m.LookupPath(cue.MakePath(cue.Str("provides"), cue.Str(provision)))
				if !p.Exists() {
					continue
				}
				accepts := p.LookupPath(cue.ParsePath("accepts"))
				closed := lib.ctx.CompileString("#S: _").FillPath(cue.ParsePath("#S"), accepts).LookupPath(cue.ParsePath("#S"))
				if err := closed.Unify(contributes).Validate(cue.Concrete(true)); err != nil {
					t.Errorf("%s does not accept what %s contributes to %s: %v", name, r, provision, err)
				}
			}
		}
	})
}
