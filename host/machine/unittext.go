package machine

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// text is what a unit is made from: its own text with what other files add to it, or a
// file that it is generated from instead.
type text struct {
	at        string // path of its own text, empty where there is none
	all       string
	generated bool
}

// unitText finds what a unit is made from, once files have the content given, by path;
// nil stands for one that is gone.
func unitText(root *Root, name string, files map[string][]byte) (text, error) {
	for _, dir := range unitDirs {
		p := dir + "/" + template(name)
		content, known := files[p]
		if !known {
			var err error
			if content, err = root.ReadFile(p); err != nil {
				continue
			}
		} else if content == nil {
			continue
		}
		more, err := dropIns(root, name, files)
		return text{at: p, all: string(content) + more}, err
	}
	quadlets, err := namesIn(root, QuadletDir, files)
	isOf := func(f string) bool { return IsQuadlet(QuadletDir+"/"+f) && QuadletUnit(f) == name }
	return text{generated: slices.ContainsFunc(quadlets, isOf)}, err
}

// template is the name of the text of a unit: of an instance, that of its template.
func template(name string) string {
	if prefix, rest, ok := strings.Cut(name, "@"); ok {
		return prefix + "@" + path.Ext(rest)
	}
	return name
}

// dropInDirs are the folders of what other files add to a unit's text, strongest first.
func dropInDirs(name string) []string {
	var dirs []string
	for _, n := range slices.Compact([]string{name, template(name)}) {
		for _, dir := range unitDirs {
			dirs = append(dirs, dir+"/"+n+".d")
		}
	}
	return dirs
}

// dropIns are what other files add to a unit's text, of each name the strongest, in the
// order of their names.
func dropIns(root *Root, name string, files map[string][]byte) (string, error) {
	at := map[string]string{}
	for _, dir := range dropInDirs(name) {
		names, err := namesIn(root, dir, files)
		if err != nil {
			return "", err
		}
		for _, n := range names {
			if _, stronger := at[n]; !stronger && strings.HasSuffix(n, ".conf") {
				at[n] = dir + "/" + n
			}
		}
	}
	var all strings.Builder
	for _, n := range slices.Sorted(maps.Keys(at)) {
		content, known := files[at[n]]
		if !known {
			var err error
			if content, err = root.ReadFile(at[n]); err != nil && !takesAway(root, at[n], err) {
				return "", err
			}
		}
		all.WriteString("\n")
		all.Write(content)
	}
	return all.String(), nil
}

// takesAway says whether a file that cannot be read takes away a weaker one of its name,
// as a link to nowhere does.
func takesAway(root *Root, p string, err error) bool {
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	is, err := (&Files{root: root}).Look(context.Background(), Key{Kind: File, Name: p})
	return err == nil && is.Target == "/dev/null"
}

// namesIn are the files in a folder, once files have the content given.
func namesIn(root *Root, dir string, files map[string][]byte) ([]string, error) {
	names, err := root.ReadDir(dir)
	names = slices.DeleteFunc(names, func(n string) bool { _, known := files[dir+"/"+n]; return known })
	for p, content := range files {
		if content != nil && path.Dir(p) == dir {
			names = append(names, path.Base(p))
		}
	}
	return names, err
}

// knowable says whether the words of a text's [Install] sections stand for themselves:
// systemd replaces others, with what is not known here.
func knowable(text string) bool {
	for _, words := range install(text) {
		if strings.ContainsAny(strings.Join(words, ""), "%\"'\\") {
			return false
		}
	}
	return true
}

// install reads the [Install] sections of a unit's text (systemd.syntax(7)): a line that
// ends in a backslash goes on in the next that is no comment, and an empty value takes
// back those before it.
func install(text string) map[string][]string {
	asked := map[string][]string{}
	section, begun := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		if rest, ok := strings.CutSuffix(line, "\\"); ok {
			begun += rest + " "
			continue
		}
		line, begun = begun+line, ""
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if section != "[Install]" || !ok {
			continue
		}
		key = strings.TrimSpace(key)
		if words := strings.Fields(value); len(words) > 0 {
			asked[key] = append(asked[key], words...)
		} else {
			delete(asked, key)
		}
	}
	return asked
}

// Aliases are the names that a text gives its unit besides.
func Aliases(text string) []string { return install(text)["Alias"] }

// UnitPlaces are the files by which a machine has a unit of a name, or would make it, other
// than a text in the place of ours, and links to the unit itself.
func UnitPlaces(root *Root, name, itself string) ([]string, error) {
	var out []string
	names := slices.Compact([]string{name, template(name)})
	for _, dir := range unitDirs {
		links, err := linksIn(root, dir)
		if err != nil {
			continue // no folder, or one that is out of place
		}
		there, err := root.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			to, isLink := links[n]
			switch {
			case !slices.Contains(there, n):
			case isLink && (path.Base(to) == itself || to == "/dev/null"):
			case isLink && path.Base(to) == n && dir == unitDirs[0]: // its text lies elsewhere, and the link is replaced and given back
			case !isLink && dir == unitDirs[0] && n == name && name == itself: // so is a text
			case dir == "/lib/systemd/system": // which is /usr/lib's
			default:
				out = append(out, dir+"/"+n)
			}
		}
	}
	if stem, ok := strings.CutSuffix(name, ".service"); ok {
		scripts, err := root.ReadDir("/etc/init.d")
		if err != nil {
			return nil, err
		}
		if slices.Contains(scripts, stem) {
			out = append(out, "/etc/init.d/"+stem)
		}
	}
	return out, nil
}
