package render_test

import (
	"strings"
	"testing"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
	"meshc.dev/render"
)

// SEC-10, T03: where bytes are final, no piece of a placeholder passes, whatever kind of
// resource it is in, and whether a machine applies it or a person takes it.
func TestNoRemainsReachAMachine(t *testing.T) {
	const whole = plan.PlaceholderBegin + "6e656564732e6b2076616c7565" + plan.PlaceholderEnd // needs.k value
	secret := addr.Resource{Instance: "app", Kind: "secret", Name: "needs.k"}
	placed := []plan.Placeholder{{Text: whole, Secret: secret, Encoding: "value"}}
	changed := strings.ToUpper(whole)
	text := func(s string) data.Value {
		return data.NewStruct(data.Field{Name: "Service", Value: data.NewStruct(data.Field{Name: "ExecStart", Value: data.NewString("/bin/" + s)})})
	}
	resources := func(s string) map[string]plan.Resource {
		return map[string]plan.Resource{
			"a file's content": {File: &plan.File{Path: "/etc/x", Content: []byte("k=" + whole + " " + s), Fills: placed, Mode: "0600"}},
			"a file's data":    {File: &plan.File{Path: "/etc/x", Format: "json", Data: data.NewStruct(data.Field{Name: "k", Value: data.NewString(s)}), Mode: "0600"}},
			"a file's key":     {File: &plan.File{Path: "/etc/x", Format: "json", Data: data.NewStruct(data.Field{Name: s, Value: data.NewString("x")}), Mode: "0600"}},
			"a file's path":    {File: &plan.File{Path: "/etc/" + s, Mode: "0600"}},
			"its program":      {File: &plan.File{Path: "/etc/x", Mode: "0600", Validate: []string{"/bin/" + s, "%"}}},
			"a block":          {Block: &plan.Block{Path: "/etc/x", Marker: "m", Content: []byte(s + "\n")}},
			"a unit's text":    {Unit: &plan.Unit{Name: "x.service", Content: text(s)}},
			"a unit's name":    {Unit: &plan.Unit{Name: strings.ToLower(s) + ".service"}},
			"a container":      {Container: &plan.Container{Unit: "app", Image: "docker.io/library/x:1", Env: []plan.EnvVar{{Name: "K", Value: s}}}},
			"a user's home":    {User: &plan.User{Name: "x", Home: "/" + s, Shell: "/bin/sh"}},
			"a directory":      {Directory: &plan.Directory{Path: "/" + s, Mode: "0755"}},
		}
	}
	codes := func(r plan.Resource, managed bool) (out []diag.Code) {
		r.ID = addr.Resource{Instance: "app", Kind: "x", Name: "x"}
		n := &plan.Node{Name: "a", Managed: managed, Runtime: "podman", Instances: []*plan.Instance{{Name: "app", Module: "app", Resources: []plan.Resource{
			{ID: secret, Secret: &plan.Secret{Path: "/etc/k", Generation: 1, Mode: "0600", Key: "k"}}, r,
		}}}}
		_, ds := render.New(&plan.Plan{Mesh: "home", Complete: true, Nodes: []*plan.Node{n}}, render.Origin{}).All()
		for _, d := range ds {
			out = append(out, d.Code)
		}
		return out
	}
	for what, r := range resources(changed) {
		for _, managed := range []bool{true, false} {
			if !managed && (r.User != nil || r.Directory != nil || what == "its program" || what == "a unit's name") {
				continue // a person is given files only
			}
			if got := codes(r, managed); len(got) != 1 || got[0] != diag.SecretComputed {
				t.Errorf("%s (managed %v) with a changed placeholder is refused with %v", what, managed, got)
			}
		}
	}
	for what, r := range resources("plain") {
		for _, c := range codes(r, true) {
			if c == diag.SecretComputed {
				t.Errorf("%s without one is refused", what)
			}
		}
	}
}
