package main

import (
	"embed"
	"strings"

	"github.com/Masterminds/semver/v3"
)

//go:embed ci/*.yml
var ciFiles embed.FS

// recipe is what `meshc init` writes for a forge's CI; docs/ci.md shows the same.
type recipe struct {
	name string // of the forge, as --ci has it
	path string // in the mesh's folder
}

func recipes() []recipe {
	return []recipe{
		{"github", ".github/workflows/mesh.yml"},
		{"forgejo", ".forgejo/workflows/mesh.yml"},
		{"gitlab", ".gitlab-ci.yml"},
	}
}

func ciNames() []string {
	var out []string
	for _, r := range recipes() {
		out = append(out, r.name)
	}
	return out
}

// unpinned stands in a recipe where no version can: CI then fails until a person writes one, and
// never runs what somebody published a minute ago.
const unpinned = "write-a-version-here"

// isPinned says whether others can install what says that it is of a version.
func isPinned(version string) bool {
	v, err := semver.NewVersion(version)
	return err == nil && v.Metadata() == ""
}

// text of the recipe, which has CI install this meshc and no other.
func (r recipe) text(version string) string {
	b, err := ciFiles.ReadFile("ci/" + r.name + ".yml")
	if err != nil {
		panic(err) // it is built in
	}
	switch {
	case !isPinned(version):
		version = unpinned
	case version[0] != 'v':
		version = "v" + version
	}
	return strings.ReplaceAll(string(b), "@VERSION@", version)
}
