// Package graphviz lays graphs out with Graphviz's dot, as a WebAssembly module that is
// built in and runs without any access to the machine: no files, clock or environment.
// What it is given is text in the dot language, what it gives are places (Layout); drawing
// them is package graph's.
//
// The module is the one of github.com/goccy/go-graphviz. Its Go package cannot be
// imported here: it compiles the module when a program starts, whether or not anything is
// drawn (0.4 s and more of each `meshc check`), and keeps machine code in a folder under
// /tmp that others may have made. See NOTICE for the module's origin and licences.
package graphviz

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

//go:embed graphviz.wasm
var module []byte

// mostMemory is how much a layout may take, in pages of 64 kB: 1 GB.
const mostMemory = 16384

// run gives what Graphviz writes of graphs after laying each out with dot.
func run(ctx context.Context, sources []string) ([][]byte, error) {
	// Making machine code of the module takes 1.2 s of a processor; interpreting it, a
	// picture of sixty boxes takes less than that.
	config := wazero.NewRuntimeConfigInterpreter().WithMemoryLimitPages(mostMemory).WithCloseOnContextDone(true)
	r := wazero.NewRuntimeWithConfig(ctx, config)
	defer r.Close(context.Background())
	m, err := instantiate(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("graphviz: %w", err)
	}
	out, err := m.draw(sources)
	if err != nil {
		return nil, fmt.Errorf("graphviz: %w", err)
	}
	return out, nil
}

func instantiate(ctx context.Context, r wazero.Runtime) (*machine, error) {
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return nil, err
	}
	compiled, err := r.CompileModule(ctx, module)
	if err != nil {
		return nil, err
	}
	// The module can call back into Go plugins; there are none, so none is called.
	env := r.NewHostModuleBuilder("env")
	for _, f := range compiled.ImportedFunctions() {
		if from, name, _ := f.Import(); from == "env" {
			missing := api.GoModuleFunc(func(context.Context, api.Module, []uint64) { panic("no plugin for " + name) })
			env.NewFunctionBuilder().WithGoModuleFunction(missing, f.ParamTypes(), f.ResultTypes()).Export(name)
		}
	}
	if _, err := env.Instantiate(ctx); err != nil {
		return nil, err
	}
	m, err := r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName("graphviz"))
	if err != nil {
		return nil, err
	}
	return &machine{ctx: ctx, module: m}, nil
}

// machine is one instance. It is used once, so nothing in it is given back. The first
// thing that goes wrong stays in err, and what comes after does nothing.
type machine struct {
	ctx    context.Context
	module api.Module
	err    error
}

// draw is what a C program would do: gvContext, and of each graph agmemread, gvLayout, gvRenderData.
func (m *machine) draw(sources []string) ([][]byte, error) {
	m.quiet()
	gvc := m.call("getContextWithPlugins", m.plugins(), 1)
	dot, format := m.text("dot"), m.text("json0")
	var out [][]byte
	for _, source := range sources {
		graph := m.call("memRead", m.text(source))
		if graph == 0 {
			return nil, m.said("the graph cannot be read")
		}
		if m.call("Context_layout", gvc, graph, dot) != 0 {
			return nil, m.said("the graph cannot be laid out")
		}
		text, length := m.alloc(4), m.alloc(4)
		if m.call("Context_renderData", gvc, graph, format, text, length) != 0 {
			return nil, m.said("the graph cannot be written")
		}
		out = append(out, m.goString(m.word(text)))
		if m.err != nil {
			return nil, m.err
		}
	}
	return out, nil
}

// quiet keeps Graphviz's warnings, which are kept for said, off standard error.
func (m *machine) quiet() {
	const agMax = 3 // of agerrlevel_t
	m.call("setError", agMax)
}

// plugins lists what the module has built in, dot among it, and the end of the list.
func (m *machine) plugins() uint64 {
	const entry = 8 // bytes for each pointer of a list
	built := m.call("SymList_default")
	end := m.call("SymList_zero")
	n, data := m.word(built), m.word(built+4)
	list, items := m.alloc(8), m.alloc(entry*(n+1))
	for k := range n {
		m.setWord(items+entry*k, m.word(data+entry*k))
	}
	m.setWord(items+entry*n, end)
	m.setWord(list, n+1)
	m.setWord(list+4, items)
	return list
}

func (m *machine) said(what string) error {
	text := m.goString(m.call("lastError"))
	if m.err != nil {
		return fmt.Errorf("%s: %w", what, m.err)
	}
	return fmt.Errorf("%s: %s", what, text)
}

// call calls a function of the module's bridge, which puts its result where its last argument points.
func (m *machine) call(name string, args ...uint64) uint64 {
	result := m.alloc(4)
	m.callVoid(name, append(args, result)...)
	return m.word(result)
}

func (m *machine) callVoid(name string, args ...uint64) { m.export("wasm_bridge_"+name, args...) }

func (m *machine) export(name string, args ...uint64) (results []uint64) {
	if m.err != nil {
		return nil
	}
	f := m.module.ExportedFunction(name)
	if f == nil {
		m.err = fmt.Errorf("the module has no %s", name)
		return nil
	}
	results, m.err = f.Call(m.ctx, args...)
	return results
}

var errMemory = errors.New("outside the module's memory")

func (m *machine) alloc(n uint64) uint64 {
	r := m.export("malloc", n)
	if m.err != nil {
		return 0
	}
	if r[0] == 0 || !m.module.Memory().Write(uint32(r[0]), make([]byte, n)) {
		m.err = errMemory
		return 0
	}
	return r[0]
}

func (m *machine) text(s string) uint64 {
	at := m.alloc(uint64(len(s)) + 1)
	if m.err == nil && !m.module.Memory().WriteString(uint32(at), s) {
		m.err = errMemory
	}
	return at
}

func (m *machine) word(at uint64) uint64 {
	if m.err != nil {
		return 0
	}
	v, ok := m.module.Memory().ReadUint32Le(uint32(at))
	if !ok {
		m.err = errMemory
	}
	return uint64(v)
}

func (m *machine) setWord(at, v uint64) {
	if m.err == nil && !m.module.Memory().Write(uint32(at), binary.LittleEndian.AppendUint32(nil, uint32(v))) {
		m.err = errMemory
	}
}

// goString reads what the bridge calls a GoString: where the bytes are, and how many.
func (m *machine) goString(at uint64) []byte {
	p, n := m.word(at), m.word(at+4)
	if m.err != nil {
		return nil
	}
	b, ok := m.module.Memory().Read(uint32(p), uint32(n))
	if !ok {
		m.err = errMemory
	}
	return append([]byte(nil), b...)
}
