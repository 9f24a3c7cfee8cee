package compiler_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"meshc.dev/compiler"
	"meshc.dev/compiler/evaluate"
	"meshc.dev/compiler/load"
	"meshc.dev/render"
)

// BLD-1, T70: nodes are asked side by side, each with settings of its own for one module and each a consumer of one
// provider. It shows little without -race, with which `make race` runs it.
func TestManyNodesAtOnce(t *testing.T) {
	var mesh strings.Builder
	mesh.WriteString(meshHead + "nodes: a0: assign: store: {}\nassign: overlay: {}\n")
	for k := range 24 {
		fmt.Fprintf(&mesh, "nodes: a%d: assign: app: settings: {size: %d, deep: one: {word: \"w%d\", list: [%d, 2]}, either: %s}\n", k, k+1, k, k, []string{"\"x\"", "{n: 5}"}[k%2])
	}
	fsys := fstest.MapFS{
		"mesh.cue": {Data: []byte(mesh.String())},
		"modules/app/app.cue": {Data: []byte(`package app

import "meshc.dev/schema"

schema.#Module

in: _

name: "app"
summary: "app"
settings: {
	size: *1 | (int & >=1 & <=100)
	deep: [schema.#Name]: {word?: string, list: [...int], more: *false | bool}
	either: *"x" | string | {n: int, m: *2 | int}
}
requires: storage: contributes: {name: in.instance, n: settings.size, words: [for k, v in settings.deep {v.word}]}
resources: file: own: {path: "/etc/app/own", content: "\(settings.size) \(in.bindings.storage.path)"}
`)},
		"modules/overlay/overlay.cue": {Data: []byte(`package overlay

import "meshc.dev/schema"

schema.#Module

in: _

name: "overlay"
summary: "overlay"
provides: "private-network": serves: {network: "overlay", name: "\(in.node.name).overlay", address: "192.0.2.1", interface: "eth0"}
`)},
		"modules/store/store.cue": {Data: []byte(`package store

import "meshc.dev/schema"

schema.#Module

in: _

name: "store"
summary: "store"
listens: store: {port: 7000, reach: "network"}
provides: storage: {
	scope: "mesh"
	accepts: {name: schema.#Name, n?: int, words: [...string]}
	serves: port: in.ports.store
	consumer: _
	derives: path: "/srv/\(consumer.node)/\(consumer.values.n)"
	unique: ["path"]
}
`)},
	}
	// Two compilations that share what they know ask side by side too.
	var cache evaluate.Cache
	for range 2 {
		r, ds := compiler.Compile(compiler.Input{FS: fsys, Cache: &cache})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		if _, ds := render.New(r.Plan, render.Origin{}).All(); ds.HasErrors() {
			t.Fatal(ds)
		}
	}
}

// BLD-1, T70: so are those of a household and of a fleet, which run the catalogue's modules.
func TestMeshesAtOnce(t *testing.T) {
	for mesh, tags := range map[string][]string{"home": nil, "fleet": {"nodes=24"}} {
		r, ds := compiler.Compile(compiler.Input{FS: os.DirFS("../meshes/" + mesh), Options: load.Options{Tags: tags}})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		if _, ds := render.New(r.Plan, render.Origin{}).All(); ds.HasErrors() {
			t.Fatal(ds)
		}
	}
}
