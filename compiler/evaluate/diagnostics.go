package evaluate

import (
	"fmt"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/unit"
)

func unknownSetting(module string) func(at diag.Pos, path, near []string) diag.Diagnostic {
	return func(at diag.Pos, path, near []string) diag.Diagnostic {
		d := diag.Diagnostic{Code: diag.UnknownSetting, At: at, Message: fmt.Sprintf("module %s has no setting %s", module, strings.Join(path, "."))}
		if len(near) > 0 {
			d.Message += "; the nearest is " + near[0]
			d.Help = quoteKey(near[0])
		}
		return d
	}
}

func missingSetting(in Inputs) func(at diag.Pos, path []string) diag.Diagnostic {
	return func(at diag.Pos, path []string) diag.Diagnostic {
		if !at.IsValid() {
			at = in.At
		}
		return diag.Diagnostic{
			Code: diag.MissingSetting, At: at, Message: fmt.Sprintf("%s on %s needs the setting %s", in.Instance, diag.Nodes, strings.Join(path, ".")), On: []string{in.Node.Name},
		}
	}
}

// missingSettingOf says where the setting would stand; its value nobody but a person knows.
func missingSettingOf(in Inputs, module string, path []string, declared diag.Pos, kind string) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: diag.MissingSetting, At: in.At, On: []string{in.Node.Name},
		Message: fmt.Sprintf("%s on %s needs %s as settings: %s: %s, which has no default", in.Instance, diag.Nodes, kind, quoteKey(module), strings.Join(path, ": ")),
	}
	if declared.IsValid() {
		d.Also = []diag.Note{{At: declared, Text: "declared here"}}
	}
	return d
}

func moduleRefuses(in Inputs, said string, at diag.Pos) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: diag.SettingKept, At: in.At, On: []string{in.Node.Name},
		Message: fmt.Sprintf("%s on %s does not take what it is given: %s", in.Instance, diag.Nodes, said),
	}
	if at.IsValid() && !strings.HasPrefix(at.File, "catalog/") { // what is built in is not for its user to change
		d.Also = []diag.Note{{At: at, Text: "the module computes this with it"}}
	}
	return d
}

func speltPlaceholder(at diag.Pos, what string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.SpeltPlaceholder, At: at, Message: what + " spells a placeholder for a secret; only a module can place a secret, and only its own"}
}

func reservedName(at diag.Pos, provision, field, name string, all []string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.ReservedName, At: at,
		Message: fmt.Sprintf("%s of %s has the name %s, which a binding says of itself; reserved are %s", field, provision, name, strings.Join(all, ", ")),
	}
}

func quoteKey(s string) string {
	if strings.ContainsAny(s, "-") || s != "" && s[0] >= '0' && s[0] <= '9' {
		return fmt.Sprintf("%q", s)
	}
	return s
}

func resourceName(at diag.Pos, id fmt.Stringer) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.BadResource, At: at, Message: fmt.Sprintf("%s: a resource's name is lower-case letters, digits and inner hyphens, at most 63", id)}
}

func unknownKind(at diag.Pos, id fmt.Stringer, near []string) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.BadResource, At: at, Message: fmt.Sprintf("%s: there is no such kind of resource; there are %s", id, strings.Join(Kinds, ", "))}
	if len(near) > 0 {
		d.Help = near[0]
	}
	return d
}

func unknownResourceField(at diag.Pos, id fmt.Stringer, field string, near []string) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.UnknownField, At: at, Message: fmt.Sprintf("%s has no field %s", id, field)}
	if len(near) > 0 {
		d.Message += "; did you mean " + near[0] + "?"
		d.Help = near[0]
	}
	return d
}

func badResource(at diag.Pos, id fmt.Stringer, field, why string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.BadResource, At: at, Message: fmt.Sprintf("%s of %s: %s", field, id, why)}
}

func unitText(at diag.Pos, id fmt.Stringer, f unit.Fault) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.UnitText, At: at, Message: fmt.Sprintf("%s of %s: %s", strings.Join(f.Path, "."), id, f.Why), Help: f.Near}
	if len(f.Path) == 0 {
		d.Message = fmt.Sprintf("%s: %s", id, f.Why)
	}
	if f.Near != "" {
		d.Message += "; did you mean " + f.Near + "?"
	}
	return d
}

func templateUnit(at diag.Pos, id fmt.Stringer, name string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.UnitName, At: at,
		Message: fmt.Sprintf("%s is %s, a template, of which no unit runs by that name; its text is declared as a file at /etc/systemd/system/%s, and a unit that is made of it by its own name", id, name, name),
	}
}

func unitOfTheSystem(at diag.Pos, id fmt.Stringer, name, help string) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.UnitName, At: at, Help: help, Message: fmt.Sprintf("%s would stand in the place of %s, a unit that the machine itself has and needs; give it another name", id, name)}
	if help != "" {
		d.Message += ", or say that this is meant"
	} else {
		d.Message += ", by that of the instance or of the container"
	}
	return d
}

func badImage(at diag.Pos, id fmt.Stringer, image, why string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.BadImage, At: at, Message: fmt.Sprintf("image of %s is %q, which %s", id, image, why)}
}

// imageMoves speaks of the module, so that several instances of it say it once.
func imageMoves(at diag.Pos, id addr.Resource, module, image string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.ImageMoves, At: at,
		Message: fmt.Sprintf("image of %s of module %s is %q with neither tag nor digest: each machine runs what the registry gave on the day that it asked", id.Local(), module, image),
	}
}

// goneAfterBoot speaks of the module, as imageMoves does.
func goneAfterBoot(at diag.Pos, id addr.Resource, module, path, under string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.GoneAfterBoot, At: at,
		Message: fmt.Sprintf("%s of module %s is %s, and what is below %s is gone after each boot, until the next apply", id.Local(), module, path, under),
	}
}

func secretShows(at diag.Pos, id fmt.Stringer, where string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.SecretShows, At: at,
		Message: fmt.Sprintf("%s places a secret in %s, where others could see it; a secret can stand only in a file's content or data", id, where),
	}
}

func secretComputed(at diag.Pos, module, where string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.SecretComputed, At: at,
		Message: fmt.Sprintf("module %s computes with a secret in %s; the machine fills it in, so it can only be placed as it is, in one of the encodings %s", module, where, strings.Join(Encodings, ", ")),
	}
}

func notAccepted(at diag.Pos, path, near []string) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.NotAccepted, At: at, Message: fmt.Sprintf("%s is not something it accepts", strings.Join(path, "."))}
	if len(near) > 0 {
		d.Message += "; the nearest is " + near[0]
	}
	return d
}

func notContributed(at diag.Pos, path []string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.NotAccepted, At: at, Message: fmt.Sprintf("%s is missing", strings.Join(path, "."))}
}
