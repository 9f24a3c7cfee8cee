package main

import (
	"embed"
	"strings"
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

// text of the recipe, which has CI install this meshc, or the newest where nobody released this one.
func (r recipe) text(version string) string {
	b, err := ciFiles.ReadFile("ci/" + r.name + ".yml")
	if err != nil {
		panic(err) // it is built in
	}
	switch {
	case version == "" || version == "devel":
		version = "latest"
	case version[0] != 'v':
		version = "v" + version
	}
	return strings.ReplaceAll(string(b), "@VERSION@", version)
}
