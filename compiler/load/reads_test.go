package load

import (
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"
)

// SEC-10, T01, T02, T46, T76: what a field can depend on is found by what identifiers mean, however the source spells it.
func TestReads(t *testing.T) {
	const all = "everything"
	for name, c := range map[string]struct {
		source string // files, divided by lines of ---
		field  string
		want   string
	}{
		"a chain":                      {`resources: x: in.node.name`, "resources", "node.name"},
		"an index":                     {`resources: x: in["node"]["name"]`, "resources", "node.name"},
		"half an index":                {`resources: x: in["node"].name`, "resources", "node.name"},
		"parentheses":                  {`resources: x: ((in).node).name`, "resources", "node.name"},
		"a quoted selector":            {`resources: x: in.ports."http-alt"`, "resources", "ports.http-alt"},
		"an index that is computed":    {"_w: \"http\"\nresources: x: in.ports[_w]", "resources", "ports"},
		"an input that is computed":    {"_w: \"node\"\nresources: x: in[_w].name", "resources", all},
		"all of it":                    {`resources: x: in`, "resources", all},
		"all of it, to a definition":   {"#F: {i: _, out: \"\\(i.node.name)\"}\nresources: x: (#F & {i: in}).out", "resources", all},
		"a copy":                       {"_i: in\nresources: x: _i.node.name", "resources", "node.name"},
		"a copy of a copy":             {"_i: in\n_n: _i.node\nresources: x: _n.name", "resources", "node.name"},
		"a copy over two files":        {"resources: x: _n.name\n---\n_n: _i.node\n---\n_i: in", "resources", "node.name"},
		"a copy inside":                {"_a: {deep: in.node, other: in.ports.x}\nresources: x: _a.deep.name", "resources", "node.name"},
		"an alias of the field":        {"I=in: _\nresources: x: I.node.name", "resources", "node.name"},
		"an alias behind the field":    {"@experiment(aliasv2)\nin~I: _\nresources: x: I.node.name", "resources", "node.name"},
		"an alias of the value":        {"in: I={...}\nresources: x: \"a\"", "resources", ""},
		"an alias of another field":    {"P=_p: \"\\(in.node.name)\"\nresources: x: P", "resources", "node.name"},
		"a let":                        {"let i = in\nresources: x: i.node.name", "resources", "node.name"},
		"a let inside":                 {"resources: {let n = in.node\nx: n.name}", "resources", "node.name"},
		"a let that nobody uses":       {"resources: {let n = in.node.name\nx: 1}", "resources", ""},
		"self":                         {"@experiment(aliasv2)\nlet s = self\nresources: x: s.in.node.name", "resources", all},
		"a sibling":                    {"_a: {foo: in.node.name, bar: foo}\nresources: x: _a.bar", "resources", "node.name"},
		"a sibling that stands twice":  {"_a: {bar: foo, foo: string}\n_a: foo: in.node.name\nresources: x: _a.bar", "resources", "node.name"},
		"a sibling in a list":          {"_a: [{foo: in.node.name, bar: foo}]\nresources: x: _a[0].bar", "resources", "node.name"},
		"embedded":                     {"_b: n: in.node.name\n_a: {_b}\nresources: x: _a.n", "resources", "node.name"},
		"under a pattern":              {"_a: {[string]: in.node.name, x: _}\nresources: x: _a.x", "resources", "node.name"},
		"under a condition":            {"if in.node.site == \"s\" {resources: x: 1}", "resources", "node.site"},
		"under a condition of another": {"if in.node.site == \"s\" {_a: 1}\nresources: x: _a", "resources", "node.site"},
		"under a condition inside":     {"resources: {if in.node.site != _|_ {x: 1}}", "resources", "node.site"},
		"a comprehension":              {"resources: x: [for k, v in in.bindings {v.name}]", "resources", "bindings"},
		"a comprehension of a copy":    {"_b: in.bindings\nresources: x: [for k, v in _b {v.name}]", "resources", "bindings"},
		"a name that is computed":      {"resources: \"\\(in.node.name)\": 1", "resources", "node.name"},
		"a name of the top, computed":  {"(in.node.name): 1\nresources: x: 1", "resources", all}, // the name may be "in"
		"a shadow":                     {"_f: {in: {node: name: \"x\"}, y: in.node.name}\nresources: x: _f.y", "resources", ""},
		"another package's":            {"import p \"x.test/p\"\nresources: x: p.in", "resources", ""},
		"one input by another":         {"in: {node: {name: _, site: name}, ...}\nresources: x: in.node.site", "resources", all},
		"one input, embedded":          {"_b: {in: node: {name: _, site: name}}\n_b\nresources: x: in.node.site", "resources", all},
		"a word that is not known":     {"resources: x: whatever", "resources", all},
		"a field through itself":       {"_a: _a.b\nresources: x: _a.c", "resources", all},
		"an interpolation":             {`resources: x: "a\("b\(in.node.name)")"`, "resources", "node.name"},
		"an argument":                  {`resources: x: len(in.node.facts)`, "resources", "node.facts"},
		"a default":                    {`resources: x: *in.node.endpoint | "none"`, "resources", "node.endpoint"},
		"a slice":                      {`resources: x: in.node.facts.l[in.ports.a:]`, "resources", "node.facts.l ports.a"},
		"an attribute is no reference": {`resources: x: string @tag(in)`, "resources", ""},
		"what only another one reads":  {"resources: x: 1\nprovides: y: in.node.name", "resources", ""},
		"a typed in":                   {"import \"meshc.dev/schema\"\nin: schema.#Inputs\nresources: x: in.node.name", "resources", "node.name"},
		"a serves, by a copy":          {"_p: in.ports\nprovides: d: serves: port: _p[\"http-alt\"]", "provides.d.serves", "ports.http-alt"},
	} {
		var files []*ast.File
		for _, text := range strings.Split(c.source, "---\n") {
			f, err := parser.ParseFile(root+"/modules/m/m.cue", text, parser.ParseComments)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			files = append(files, f)
		}
		r := NewReads(files)
		var got []string
		for _, read := range r.at(strings.Split(c.field, ".")...) {
			if read.Path == "" {
				got = append(got, all)
			} else {
				got = append(got, read.Path)
			}
		}
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: reads %v, want %q\n%s", name, got, c.want, c.source)
		}
	}
}
