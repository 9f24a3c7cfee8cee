package compiler_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"meshc.dev/compiler"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
)

const mappingMesh = "package mesh\n\nimport \"meshc.dev/schema\"\n\nschema.#Mesh\n\nname: \"m\"\nnodes: a: assign: web: {}\n"

func mappingModule(publishes string) fstest.MapFS {
	module := `package web

import "meshc.dev/schema"

schema.#Module

in: _
name: "web"
summary: "x"
listens: http: port: 80
resources: container: server: {image: "x:1", publishes: ["` + publishes + `"]}
`
	return fstest.MapFS{"mesh.cue": {Data: []byte(mappingMesh)}, "modules/web/web.cue": {Data: []byte(module)}}
}

// PRT-4: a mapping that an author computes from an assigned port is settled with it where
// it can be, and refused where it would chase its own tail.
func TestComputedMapping(t *testing.T) {
	r, ds := compiler.Compile(compiler.Input{FS: mappingModule(`\(in.ports.http + 1):80`)})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	web := r.Plan.Nodes[0].Instances[0].Resources
	k := slices.IndexFunc(web, func(r plan.Resource) bool { return r.Container != nil })
	if p := web[k].Container.Publishes[0]; p.Whole == "" {
		t.Errorf("got %+v", p)
	}
	_, ds = compiler.Compile(compiler.Input{FS: mappingModule(`\(in.ports.http):80`)})
	if len(ds) != 1 || ds[0].Code != diag.BadResource || !strings.Contains(ds[0].Message, "web/container.server on a writes a port mapping that moves") {
		t.Errorf("got %v", ds)
	}
}
