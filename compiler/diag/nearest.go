package diag

import (
	"cmp"
	"slices"
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
		d := distance(name, k)
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

// distance counts the characters to put in, take out, replace or swap with their
// neighbour to make b of a. Swapping is the commonest slip of all, and counts once.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	before, last, row := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := range from {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range to {
			replaced := 1
			if from[i] == to[j] {
				replaced = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+replaced)
			if i > 0 && j > 0 && from[i] == to[j-1] && from[i-1] == to[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(to)]
}

func hasPrefix(s, p string) bool { return len(s) >= len(p) && s[:len(p)] == p }
