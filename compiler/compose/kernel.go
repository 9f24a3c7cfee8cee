package compose

import (
	"path"
	"slices"
	"strings"

	"meshc.dev/compiler/plan"
)

// kernelKeys are the kernel's parameters that a file of sysctl.d(5) sets: of two files the last by name would win, in silence.
func kernelKeys(f *plan.File) []thing {
	dir := path.Dir(f.Path)
	if dir != "/etc/sysctl.d" && dir != "/usr/lib/sysctl.d" && f.Path != "/etc/sysctl.conf" {
		return nil
	}
	values := map[string]string{}
	for line := range strings.Lines(string(f.Content)) {
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		values[kernelKey(key)] = strings.Join(strings.Fields(value), " ")
	}
	for _, field := range f.Data.Fields() {
		values[kernelKey(field.Name)] = strings.Join(strings.Fields(field.Value.Text()), " ")
	}
	var out []thing
	for key, value := range values {
		out = append(out, thing{what: "the kernel's " + key, value: value, share: true})
	}
	slices.SortFunc(out, func(a, b thing) int { return strings.Compare(a.what, b.what) })
	return out
}

// kernelKey spells a key in one way: with slashes where its first separator is one, dots mean themselves.
func kernelKey(s string) string {
	s = strings.TrimPrefix(strings.TrimSpace(s), "-")
	if at := strings.IndexAny(s, "./"); at >= 0 && s[at] == '/' {
		return strings.NewReplacer("/", ".", ".", "/").Replace(s)
	}
	return s
}
