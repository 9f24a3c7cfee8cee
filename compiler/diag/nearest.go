package diag

import (
	"cmp"
	"slices"

	"github.com/agext/levenshtein"
)

// Nearest gives the known names that one may have meant by name, the nearest
// first, at most three (DIA-4).
func Nearest(name string, known []string) []string {
	type near struct {
		name     string
		distance int
	}
	var found []near
	for _, k := range known {
		d := levenshtein.Distance(name, k, nil)
		if d <= max(1, (len(name)+1)/3) || len(name) > 2 && (hasPrefix(k, name) || hasPrefix(name, k) && len(k) > 2) {
			found = append(found, near{k, d})
		}
	}
	slices.SortFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	var out []string
	for _, f := range found[:min(3, len(found))] {
		out = append(out, f.name)
	}
	return out
}

func hasPrefix(s, p string) bool { return len(s) >= len(p) && s[:len(p)] == p }
