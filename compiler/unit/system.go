package unit

import (
	_ "embed" // of the list
	"strings"
)

//go:embed system.txt
var systemUnits string

// OfTheSystem says whether a unit of this name is one that the machine's own system comes with.
func OfTheSystem(name string) bool {
	return strings.HasPrefix(name, "systemd-") || strings.Contains("\n"+systemUnits, "\n"+name+"\n")
}

// IsTemplate says whether a name is that of a template, of which no unit runs by that name.
func IsTemplate(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	return strings.HasSuffix(stem, "@")
}
