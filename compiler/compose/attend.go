package compose

import (
	"path"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/plan"
)

// sensitive is a file of an instance that holds a secret.
type sensitive struct {
	id                       addr.Resource
	path, owner, group, mode string
	secrets                  []addr.Resource // that stand in it
}

func sensitives(i *plan.Instance) []sensitive {
	var out []sensitive
	for _, r := range i.Resources {
		switch {
		case r.Secret != nil && r.Secret.Path != "" && r.Secret.Role != "provider": // a provider's logins are looked at all the time
			out = append(out, sensitive{r.ID, r.Secret.Path, r.Secret.Owner, r.Secret.Group, r.Secret.Mode, []addr.Resource{r.ID}})
		case r.File != nil && len(r.File.Fills) > 0:
			var in []addr.Resource
			for _, f := range r.File.Fills {
				in = append(in, f.Secret)
			}
			out = append(out, sensitive{r.ID, r.File.Path, r.File.Owner, r.File.Group, r.File.Mode, in})
		}
	}
	return out
}

// attend warns of what reads a secret's file and is not started again when that changes, of what
// runs as somebody who cannot read it, and of what a timer starts and the machine too.
func (b *builder) attend() {
	for _, i := range b.out.plan.Instances {
		secrets := sensitives(i)
		for _, r := range i.Resources {
			switch {
			case r.Container != nil:
				for _, s := range secrets {
					if slices.ContainsFunc(r.Container.Volumes, func(v string) bool { return mounts(v, s.path) }) {
						b.unnoticed(i, r, s, r.Container.RestartOn, r.Container.ReloadOn)
					}
				}
			case r.Unit != nil:
				b.attendUnit(i, r, secrets)
			}
		}
	}
}

// mounts says whether a volume brings a file of the machine into a container.
func mounts(volume, file string) bool {
	source, _, _ := strings.Cut(volume, ":")
	return strings.HasPrefix(source, "/") && (file == source || strings.HasPrefix(file, source+"/"))
}

func (b *builder) attendUnit(i *plan.Instance, r plan.Resource, secrets []sensitive) {
	service := r.Unit.Content.Get("Service")
	isOneshot := service.Get("Type").Text() == "oneshot"
	if timer := timerOf(i, r.Unit.Name); timer != "" && r.Unit.State != "triggered" && (isOneshot || r.Unit.State == "stopped") {
		b.refuse(timerStarts(r, i.Module, timer))
	}
	for _, s := range secrets {
		direct, bySystemd := false, false
		for _, f := range service.Fields() {
			for _, text := range texts(f.Value) {
				switch {
				case !reads(text, s.path):
				case f.Name == "EnvironmentFile" || strings.HasPrefix(f.Name, "LoadCredential"):
					bySystemd = true
				case strings.HasPrefix(f.Name, "Exec"):
					bySystemd = bySystemd || strings.ContainsAny(text[:1+strings.IndexAny(text+"/", "/")], "+!")
					direct = direct || !strings.ContainsAny(text[:1+strings.IndexAny(text+"/", "/")], "+!")
				}
			}
		}
		if (direct || bySystemd) && !isOneshot && r.Unit.State == "running" {
			b.unnoticed(i, r, s, r.Unit.RestartOn, r.Unit.ReloadOn)
		}
		user := service.Get("User").Text()
		if direct && user != "" && user != "root" && user != "0" && !s.readableBy(user, service.Get("Group").Text(), texts(service.Get("SupplementaryGroups"))) {
			b.refuse(secretUnreadable(r, i.Module, s, user))
		}
	}
}

// readableBy says whether a user could read the file; a group that is not told may be any that is not root's.
func (s sensitive) readableBy(user, group string, more []string) bool {
	owner := s.owner
	if owner == "" {
		owner = "root"
	}
	if user == owner {
		return true
	}
	g := s.group
	if g == "" {
		g = owner
	}
	in := g != "root" || group == g || slices.Contains(more, g)
	return s.mode != "" && strings.ContainsAny(s.mode[len(s.mode)-2:len(s.mode)-1], "4567") && in
}

// timerOf is the timer of the instance that starts a unit.
func timerOf(i *plan.Instance, unit string) string {
	for _, r := range i.Resources {
		if r.Unit == nil || path.Ext(r.Unit.Name) != ".timer" || r.Unit.Content.Kind() != data.Struct {
			continue
		}
		starts := r.Unit.Content.Get("Timer").Get("Unit").Text()
		if starts == "" {
			starts = strings.TrimSuffix(r.Unit.Name, ".timer") + ".service"
		}
		if starts == unit {
			return r.Unit.Name
		}
	}
	return ""
}

// texts are the values of a key, which may stand several times.
func texts(v data.Value) []string {
	if v.Kind() == data.List {
		var out []string
		for _, i := range v.Items() {
			out = append(out, i.Text())
		}
		return out
	}
	if v.Kind() == data.String {
		return []string{v.Text()}
	}
	return nil
}

// reads says whether a text names the path, and not one that it is only the beginning or end of.
func reads(text, file string) bool {
	for rest := text; ; {
		at := strings.Index(rest, file)
		if at < 0 {
			return false
		}
		after := rest[at+len(file):]
		if (after == "" || !isPathByte(after[0])) && (at == 0 || !isPathByte(rest[at-1]) || rest[at-1] == '-') {
			return true
		}
		rest = after
	}
}

func isPathByte(c byte) bool {
	return c == '/' || c == '.' || c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// unnoticed warns unless a restart or reload follows from each secret in the file: on the file, on the
// secret, or on another file that holds it.
func (b *builder) unnoticed(i *plan.Instance, r plan.Resource, s sensitive, restart, reload []addr.Resource) {
	named := slices.Concat(restart, reload)
	if slices.Contains(named, s.id) {
		return
	}
	for _, other := range i.Resources {
		if other.File != nil && slices.Contains(named, other.ID) {
			for _, f := range other.File.Fills {
				named = append(named, f.Secret)
			}
		}
	}
	for _, secret := range s.secrets {
		if !slices.Contains(named, secret) {
			b.refuse(secretUnnoticed(r, i.Module, s, restart))
			return
		}
	}
}
