package diag

import "slices"

// Code names a kind of problem: E… refuses, W… warns.
type Code string

// Info is what is known of a code: the rule it holds, its title, which is the
// same whatever the values, and the text of `meshc explain`.
type Info struct {
	Code  Code
	Rule  string
	Title string
	// Explain says at length what the problem is and why it is refused.
	Explain string
	// Wrong is a few lines that are refused so, and Right the same mended.
	Wrong, Right string
}

// All lists every code there is, in order. Each stage's codes stand in a file of
// their own: E01 loading, E02 resolving, E03 settling, E04 exchange, E05 resources and
// rendering, E06 secrets, E07 the world around a build.
func All() []Info {
	return slices.Concat(loadCodes, resolveCodes, settleCodes, exchangeCodes, machineCodes, renderCodes, secretCodes, worldCodes, openCodes)
}

// Lookup finds what is known of a code.
func Lookup(c Code) (Info, bool) {
	for _, i := range All() {
		if i.Code == c {
			return i, true
		}
	}
	return Info{}, false
}
