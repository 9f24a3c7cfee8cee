package load

import (
	"sync"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"

	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/work"
)

// Module is a module that this mesh can run. What it declares depends on its
// settings and the machine, so it is evaluated for each instance: package evaluate
// does that with Value.
type Module struct {
	Name    string
	Summary string
	Builtin bool
	At      diag.Pos
	Files   []*ast.File
	// Digest is of the module's sources, for keys of kept results.
	Digest [32]byte
	// Provides are the provisions that the source names, whatever the settings.
	Provides map[string]diag.Pos

	// Unmanaged says that what the mesh, a site or a group assigns of it is also for nodes that
	// no bundle is applied to.
	Unmanaged bool
	// Containers says whether the source declares containers, from which a machine is reached by another name.
	Containers bool
	// Shields says whether the source keeps ports from the kernel's outgoing connections.
	Shields bool

	replaces bool // a built-in one of this name
	build    func() (cue.Value, diag.List)
	log      *work.Log
	once     sync.Once
	value    cue.Value
	ds       diag.List
}

// Value is the module without the schema's constraints, ready to be filled. It is
// built when first asked for, since most meshes use few of the modules there are;
// the diagnostics are what is wrong with the module itself.
func (m *Module) Value() (cue.Value, diag.List) {
	m.once.Do(func() {
		failed := m.log.Do("module "+m.Name, m.At, func() { m.value, m.ds = m.build() })
		m.ds = append(m.ds, failed...)
	})
	return m.value, m.ds
}

// Source is everything that was read of a mesh.
type Source struct {
	Mesh    *Mesh
	Modules map[string]*Module
	Context *cue.Context
	// Tree holds the text of each file, for messages to show.
	Tree map[string][]byte
}
