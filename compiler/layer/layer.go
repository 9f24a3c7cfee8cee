// Package layer merges the settings that the layers of a mesh give to one
// instance, and keeps of every key which layer said what, so that the winner can
// be explained (SET-5). It knows nothing of modules: whether a key exists and a
// value fits is for package evaluate to say.
package layer

import (
	"cmp"
	"maps"
	"slices"

	"cuelang.org/go/cue/ast"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/cuedata"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/load"
)

// Rank orders layers, the weakest first (SET-1).
type Rank int

// The layers of a mesh. The module's own defaults are weaker than all of them.
const (
	Mesh Rank = iota
	Group
	Site
	Node
	Instance
)

// Layer is one place that sets something for an instance.
type Layer struct {
	Rank    Rank
	Name    string // "mesh", "group server", "node anchor"
	Setting *load.Setting
}

// Merged is what an instance's layers came to: a leaf, or fields.
type Merged struct {
	Leaf   data.Value
	Fields map[string]*Merged // nil for a leaf
	Won    Spoken
	// Spoke lists every layer that set this key, the strongest first.
	Spoke []Spoken
}

// Spoken is a value that one layer set.
type Spoken struct {
	Layer   string
	Rank    Rank
	Setting *load.Setting
}

// Merge unites layers: structs by key, everything else replaced whole by the
// strongest that speaks. Two groups that disagree are refused unless something
// stronger decides (SET-4). Nil where no layer sets anything.
func Merge(instance addr.Instance, module string, layers []Layer) (*Merged, diag.List) {
	m := merger{instance: instance, module: module}
	var spoke []Spoken
	for _, l := range layers {
		if l.Setting != nil {
			spoke = append(spoke, Spoken{l.Name, l.Rank, l.Setting})
		}
	}
	if len(spoke) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(spoke, func(a, b Spoken) int { return cmp.Or(-cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Layer, b.Layer)) })
	return m.merge(nil, spoke), m.ds
}

type merger struct {
	instance addr.Instance
	module   string
	ds       diag.List
}

// merge unites what was said of one key, the strongest first.
func (m *merger) merge(path []string, spoke []Spoken) *Merged {
	out := &Merged{Won: spoke[0], Spoke: spoke}
	strongest := spoke[0].Setting
	for _, s := range spoke[1:] {
		if s.Rank == spoke[0].Rank && !agree(strongest, s.Setting) {
			m.ds = append(m.ds, groupsDisagree(m.instance, m.module, path, spoke[0], s))
			break
		}
	}
	if strongest.Fields == nil {
		out.Leaf = strongest.Leaf
		return out
	}
	// A leaf hides what weaker layers say below this key.
	end := len(spoke)
	for i, s := range spoke {
		if s.Setting.Fields == nil {
			end = i
			break
		}
	}
	below := map[string][]Spoken{}
	for _, s := range spoke[:end] {
		for name, f := range s.Setting.Fields {
			below[name] = append(below[name], Spoken{s.Layer, s.Rank, f})
		}
	}
	out.Fields = map[string]*Merged{}
	for _, name := range slices.Sorted(maps.Keys(below)) {
		out.Fields[name] = m.merge(append(path[:len(path):len(path)], name), below[name])
	}
	return out
}

// agree says whether two settings of one rank can stand beside each other: two
// structs, whose keys are compared each on its own, or equal leaves.
func agree(a, b *load.Setting) bool {
	if a.Fields != nil && b.Fields != nil {
		return true
	}
	return a.Fields == nil && b.Fields == nil && a.Leaf.Equal(b.Leaf)
}

// Data is the merged value; an empty struct where nothing was set.
func (m *Merged) Data() data.Value {
	if m == nil {
		return data.NewStruct()
	}
	if m.Fields == nil {
		return m.Leaf
	}
	fields := make([]data.Field, 0, len(m.Fields))
	for name, f := range m.Fields {
		fields = append(fields, data.Field{Name: name, Value: f.Data()})
	}
	return data.NewStruct(fields...)
}

// Expr is the merged value as CUE syntax in which every value keeps the place
// where a person wrote it, so that what CUE says of it points there.
func (m *Merged) Expr() ast.Expr {
	if m == nil {
		return &ast.StructLit{}
	}
	if m.Fields == nil {
		x := cuedata.Expr(m.Leaf)
		// What is inside a list has no place of its own, and stands where the list does.
		ast.Walk(x, func(n ast.Node) bool {
			ast.SetPos(n, m.Won.Setting.Pos)
			return true
		}, nil)
		return x
	}
	s := &ast.StructLit{}
	for _, name := range slices.Sorted(maps.Keys(m.Fields)) {
		f := cuedata.Field(name, m.Fields[name].Expr())
		ast.SetPos(f.Label, m.Fields[name].Won.Setting.Pos)
		s.Elts = append(s.Elts, f)
	}
	return s
}

// Find gives the setting that CUE speaks of at a place in Expr, or nil.
func (m *Merged) Find(at diag.Pos) *load.Setting {
	if m == nil {
		return nil
	}
	if p := load.PosOf(m.Won.Setting.Pos); p.IsValid() && p.Compare(at) == 0 {
		return m.Won.Setting
	}
	for _, name := range slices.Sorted(maps.Keys(m.Fields)) {
		if s := m.Fields[name].Find(at); s != nil {
			return s
		}
	}
	return nil
}

// At finds a key by path, or gives nil.
func (m *Merged) At(path ...string) *Merged {
	for _, p := range path {
		if m == nil {
			return nil
		}
		m = m.Fields[p]
	}
	return m
}
