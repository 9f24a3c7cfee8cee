package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/folder"
	"meshc.dev/compiler/load"
	"meshc.dev/schema"
)

func initCommand(g *globals) *cobra.Command {
	var ci string
	c := &cobra.Command{
		Use:   "init [DIR]",
		Short: "a mesh that builds",
		Long: `init writes a mesh that builds into a folder: mesh.cue, a cue.mod with the schema, so
that plain CUE tools and editors understand the mesh, a .gitignore and a CI file.
Files that are there already are left as they are; the copy of the schema is
brought up to date. It says where the folder is a part of another git repository.

  meshc init my-mesh && cd my-mesh && git init && meshc build
  meshc init --ci gitlab`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := g.dir
			switch {
			case len(args) == 1 && filepath.IsAbs(args[0]):
				dir = args[0]
			case len(args) == 1:
				dir = filepath.Join(g.dir, args[0])
			}
			return g.init(dir, ci)
		},
	}
	c.Flags().StringVar(&ci, "ci", "github", "the `forge` to write a CI file for: github, forgejo, gitlab or none")
	return c
}

func (g *globals) init(dir, ci string) error {
	forge := slices.IndexFunc(recipes(), func(r recipe) bool { return r.name == ci })
	if forge < 0 && ci != "none" {
		return usageError{fmt.Errorf("--ci %s: there are %s and none", ci, strings.Join(ciNames(), ", "))}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	name := strings.ToLower(filepath.Base(abs))
	if !addr.IsName(name) {
		name = "mesh"
	}
	files := map[string]string{
		"mesh.cue":           fmt.Sprintf(scaffold, name),
		"cue.mod/module.cue": fmt.Sprintf("module: \"%s.mesh\"\nlanguage: {\n\tversion: \"v0.17.0\"\n}\n", name),
		".gitignore":         "/dist/\n",
	}
	paths := []string{"mesh.cue", "cue.mod/module.cue", ".gitignore"}
	if forge >= 0 {
		r := recipes()[forge]
		files[r.path] = r.text(versionText())
		paths = append(paths, r.path)
	}
	for _, path := range paths {
		to := filepath.Join(dir, path)
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if err := put(to, []byte(files[path])); err != nil {
			return err
		}
		fmt.Fprintln(g.stdout, "wrote "+path)
		if strings.HasSuffix(path, ".yml") && !isPinned(versionText()) {
			fmt.Fprintf(g.stdout, "this meshc is of no release: write the version that CI is to run into %s, at MESHC\n", path)
		}
	}
	changed, err := vendor(dir)
	if err != nil {
		return err
	}
	if changed {
		fmt.Fprintln(g.stdout, "wrote cue.mod/pkg/"+schema.ImportPath)
	}
	fmt.Fprint(g.stdout, nextSteps(dir))
	return nil
}

// nextSteps says in which repository the mesh lies, as the lock and the sealed secrets belong into one.
func nextSteps(dir string) string {
	next := fmt.Sprintf("next: meshc build -C %s\n", dir)
	real, err := filepath.Abs(dir)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return next
	}
	switch top := folder.Top(real); top {
	case real:
		return next
	case "":
		return fmt.Sprintf("next: git init %s\n", dir) + next
	default:
		return fmt.Sprintf("%s is a part of the git repository %s, and its lock and sealed secrets would be committed there; for a repository of its own: git init %s\n", dir, top, dir) + next
	}
}

// vendor writes the schema into a mesh for plain CUE tools and editors. The
// compiler reads none of it.
func vendor(dir string) (changed bool, err error) {
	into := filepath.Join(dir, "cue.mod", "pkg", filepath.FromSlash(schema.ImportPath))
	want := map[string]bool{}
	entries, err := fs.ReadDir(schema.Files, ".")
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		want[e.Name()] = true
		b, err := fs.ReadFile(schema.Files, e.Name())
		if err != nil {
			return false, err
		}
		b = append([]byte(load.VendoredBy), b...)
		to := filepath.Join(into, e.Name())
		if have, err := os.ReadFile(to); err == nil && string(have) == string(b) {
			continue
		}
		if err := put(to, b); err != nil {
			return false, err
		}
		changed = true
	}
	old, _ := filepath.Glob(filepath.Join(into, "*.cue"))
	for _, o := range old {
		if !want[filepath.Base(o)] {
			if err := os.Remove(o); err != nil {
				return false, err
			}
			changed = true
		}
	}
	return changed, nil
}

func put(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return writeFile(path, b)
}

const scaffold = `package mesh

import "meshc.dev/schema"

schema.#Mesh

name: "%s"

network: cidr: "10.86.0.0/16"

// Every node is on one private network and knows the others by name.
assign: {
	networking:       {}
	"mesh-wireguard": {}
	"mesh-names":     {}
	firewall:         {}
}

// On each machine ` + "`mesh-host init NODE`" + ` prints two lines for its node here: its recipient, to which
// its secrets are sealed, and its WireGuard key. This key is a sample, which no machine has.
nodes: first: {
	endpoint: "203.0.113.7"
	assign: hub: {}
	wireguard: "sDNqpdgUyH6G7eSjj1kLIVKaEFQcxL8fpfS3biTaGRo="
}
`
