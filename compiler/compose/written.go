package compose

import (
	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/exchange"
	"meshc.dev/compiler/plan"
	"meshc.dev/compiler/vault"
	"meshc.dev/render/seal"
)

// written are the resources that the compiler writes for an instance: what it is
// bound to, its credentials and secrets, and whom it answers.
func (b *builder) written(i *exchange.Instance) []plan.Resource {
	var out []plan.Resource
	id := func(kind, name string) addr.Resource {
		return addr.Resource{Instance: i.Addr.Name, Kind: kind, Name: name}
	}
	for _, t := range i.Taken {
		q := i.Told.Requirement(t.Answer.Label)
		if q.Binds != nil && tells(t) {
			out = append(out, b.file(id("file", "binds."+q.Label), q.At, q.Binds, "0644", bindingFile(t, q)))
		}
		if t.Secret {
			role := seal.Consumer
			if t.Answer.Licence != "" {
				role = seal.Holder
			}
			out = append(out, b.secret(id("secret", "requires."+q.Label), q.At, q.Secret, secretName(t), role))
		}
	}
	for _, n := range i.Told.Needs {
		target := n.Target
		out = append(out, b.secret(id("secret", "needs."+n.Name), n.At, &target, needName(i, n, b.node.Spec.Site.Value), seal.Holder))
	}
	for k := range i.Told.Provides {
		out = append(out, b.provided(i, &i.Told.Provides[k])...)
	}
	return out
}

// provided are a provision's list of consumers and their credentials (CON-3, SEC-3).
func (b *builder) provided(i *exchange.Instance, p *evaluate.Provide) []plan.Resource {
	var out []plan.Resource
	id := func(kind, name string) addr.Resource {
		return addr.Resource{Instance: i.Addr.Name, Kind: kind, Name: name}
	}
	given := i.Given[p.Name]
	if p.Receives != nil {
		list := data.NewStruct(
			data.Field{Name: "requirement", Value: data.NewString(p.Name)},
			data.Field{Name: "note", Value: data.NewString("written by meshc; who asks for " + p.Name + " of " + i.Addr.String() + ", and for what; each credential is alone in the file that secret names")},
			data.Field{Name: "given", Value: exchange.Entries(given, true)},
		)
		out = append(out, b.file(id("file", "receives."+p.Name), p.At, p.Receives, "0644", list))
	}
	if !p.Credential {
		return out
	}
	if p.Secrets == nil {
		if len(given) > 0 {
			b.refuse(noCredentialPlace(i, p))
		}
		return out
	}
	b.checkTarget(id("directory", "provides."+p.Name), p.At, p.Secrets)
	mode := p.Secrets.Mode
	if mode == "" {
		mode = "0700"
	}
	out = append(out, plan.Resource{
		ID: id("directory", "provides."+p.Name), At: p.At,
		Directory: &plan.Directory{Path: p.Secrets.Path, Owner: p.Secrets.Owner, Group: p.Secrets.Group, Mode: fourDigits(mode)},
	})
	for _, g := range given {
		target := &evaluate.Target{Path: g.Secret, Owner: p.Secrets.Owner, Group: p.Secrets.Group}
		out = append(out, b.secret(id("secret", "provides."+p.Name+"."+g.As), p.At, target, vault.Credential(g.Pair), seal.Provider))
	}
	return out
}

// tells says whether a binding says anything: one to a provider of the same
// machine that serves, derives and grants nothing does not (CON-5).
func tells(t exchange.Taken) bool {
	p := t.Answer.Provider
	if p == nil || p.Addr.Node != t.Pair.Consumer.Instance.Node || t.Secret {
		return true
	}
	for _, f := range t.Binding.Fields() {
		switch f.Name {
		case "provision", "node", "instance", "at":
		default:
			return true
		}
	}
	return false
}

// bindingFile is a binding with a note of where the credential is (CON-5).
func bindingFile(t exchange.Taken, q *evaluate.Require) data.Value {
	note := "written by meshc; it carries no credential"
	switch {
	case t.Secret && q.Secret != nil:
		note += ": that is in " + q.Secret.Path
	case t.Secret:
		note += ": that is filled in where the module placed it"
	default:
		note += ", and none is needed"
	}
	return t.Binding.With("note", data.NewString(note))
}

func (b *builder) file(id addr.Resource, at diag.Pos, t *evaluate.Target, mode string, content data.Value) plan.Resource {
	b.checkTarget(id, at, t)
	if t.Mode != "" {
		mode = t.Mode
	}
	return plan.Resource{ID: id, At: at, File: &plan.File{Path: t.Path, Format: "json", Data: content, Owner: t.Owner, Group: t.Group, Mode: fourDigits(mode)}}
}

// secret is the place of one secret; without a target the machine keeps it only to fill it in.
func (b *builder) secret(id addr.Resource, at diag.Pos, t *evaluate.Target, name vault.Name, role seal.Role) plan.Resource {
	s := &plan.Secret{Key: name.String(), Role: string(role), Mode: "0600", Supplied: name.IsSupplied()}
	if t != nil {
		b.checkTarget(id, at, t)
		s.Path, s.Owner, s.Group = t.Path, t.Owner, t.Group
		if t.Mode != "" {
			s.Mode = fourDigits(t.Mode)
		}
		if s.Mode[3] != '0' {
			b.refuse(secretReadable(id, t.ModeAt, s.Mode))
		}
	}
	return plan.Resource{ID: id, At: at, Secret: s}
}

func (b *builder) checkTarget(id addr.Resource, at diag.Pos, t *evaluate.Target) {
	if t.At.IsValid() {
		at = t.At
	}
	if why := evaluate.BadPath(t.Path); why != "" {
		b.refuse(badTarget(id, at, t.Path+" "+why))
	} else if under := evaluate.EmptiedAtBoot(t.Path); under != "" {
		b.refuse(goneAfterBoot(id, at, t.Path, under))
	}
	if why := evaluate.BadMode(t.Mode); t.Mode != "" && why != "" {
		b.refuse(badTarget(id, at, why))
	}
	for _, u := range []string{t.Owner, t.Group} {
		if why := evaluate.BadOwner(u); u != "" && why != "" {
			b.refuse(badTarget(id, at, u+" "+why))
		}
	}
}

func fourDigits(mode string) string {
	if len(mode) == 3 {
		return "0" + mode
	}
	return mode
}
