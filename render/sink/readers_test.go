package sink_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	yaml3 "go.yaml.in/yaml/v3"
	"gopkg.in/ini.v1"
	yaml2 "gopkg.in/yaml.v2"

	"meshc.dev/compiler/data"
	"meshc.dev/render/sink"
	"meshc.dev/render/sink/sinktest"
)

// written gives what a writer made of a value, or false where it refused it with an error of
// the package.
func written(t *testing.T, b []byte, err error) bool {
	t.Helper()
	if err == nil {
		return true
	}
	if _, ok := err.(*sink.Error); !ok {
		t.Fatalf("the error is %T, not *sink.Error: %v", err, err)
	}
	if b != nil {
		t.Fatalf("refused, and still %q", b)
	}
	return false
}

func same(t *testing.T, reader string, text []byte, got, want data.Value) {
	t.Helper()
	if !got.Equal(want) {
		t.Fatalf("%s reads\n  %s\nwant\n  %s\nfrom\n%s", reader, got, want, text)
	}
}

// Each check writes a value, reads it back with every reader there is, and says whether it was
// accepted.
var checks = map[string]func(*testing.T, data.Value) bool{
	"json": checkJSON, "yaml": checkYAML, "toml": checkTOML, "ini": checkINI,
	"env": checkEnv, "envfile": checkEnvFile, "systemd": checkSystemd, "properties": checkProperties,
}

func checkJSON(t *testing.T, v data.Value) bool {
	text, err := sink.JSON(v)
	if !written(t, text, err) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var got any
	if err := d.Decode(&got); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	// JSON has one kind of number.
	oneKind := func(x data.Value) data.Value {
		if x.IsNumber() {
			return data.NewFloat(x.Text())
		}
		return base64Bytes(x)
	}
	same(t, "encoding/json", text, mapped(fromGo(got), false, oneKind), mapped(v, false, oneKind))
	return true
}

func checkYAML(t *testing.T, v data.Value) bool {
	text, err := sink.YAML(v)
	if !written(t, text, err) {
		return false
	}
	// Go's readers give bytes as a string.
	plain := func(x data.Value) data.Value {
		if x.Kind() == data.Bytes {
			return data.NewString(x.Text())
		}
		return x
	}
	var node yaml3.Node
	if err := yaml3.Unmarshal(text, &node); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	same(t, "YAML 1.2", text, mapped(fromNode(t, node.Content[0]), false, exact), mapped(v, false, func(x data.Value) data.Value { return exact(plain(x)) }))

	var old any
	if err := yaml2.UnmarshalStrict(text, &old); err != nil {
		t.Fatalf("YAML 1.1: %v in\n%s", err, text)
	}
	// The reader of 1.1 keeps integers beyond 64 bits as floats; digits are all there for those who read them.
	doubles := func(x data.Value) data.Value {
		if _, err := strconv.ParseInt(x.Text(), 10, 64); x.Kind() == data.Int && err != nil {
			x = data.NewFloat(x.Text())
		}
		return double(plain(x))
	}
	same(t, "YAML 1.1", text, mapped(fromGo(old), false, double), mapped(v, false, doubles))
	return true
}

func checkTOML(t *testing.T, v data.Value) bool {
	text, err := sink.TOML(v)
	if !written(t, text, err) {
		return false
	}
	var got map[string]any
	if err := toml.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	same(t, "go-toml", text, mapped(fromGo(got), false, double), mapped(v, true, double))
	return true
}

// textOf is what a format without types makes of a value.
func textOf(v data.Value) data.Value {
	if v.Kind() == data.Bool || v.IsNumber() {
		return data.NewString(v.Text())
	}
	return v
}

func checkINI(t *testing.T, v data.Value) bool {
	text, err := sink.INI(v)
	if !written(t, text, err) {
		return false
	}
	want := mapped(v, true, textOf)
	for name, options := range map[string]ini.LoadOptions{"gitea": {IgnoreContinuation: true}, "grafana": {}} {
		file, err := ini.LoadSources(options, text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		same(t, name, text, fromINI(file), want)
	}
	return true
}

func fromINI(file *ini.File) data.Value {
	var top []data.Field
	for _, s := range file.Sections() {
		var fields []data.Field
		for _, k := range s.Keys() {
			fields = append(fields, data.Field{Name: k.Name(), Value: data.NewString(k.String())})
		}
		if s.Name() == ini.DefaultSection {
			top = append(top, fields...)
			continue
		}
		top = append(top, data.Field{Name: s.Name(), Value: data.NewStruct(fields...)})
	}
	return data.NewStruct(top...)
}

func checkEnv(t *testing.T, v data.Value) bool {
	text, err := sink.Env(v)
	if !written(t, text, err) {
		return false
	}
	got, err := sinktest.EnvironmentFile(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	same(t, "systemd", text, fromStrings(got), mapped(v, true, textOf))
	return true
}

func checkEnvFile(t *testing.T, v data.Value) bool {
	text, err := sink.EnvFile(v)
	if !written(t, text, err) {
		return false
	}
	got, err := sinktest.EnvList(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	same(t, "--env-file", text, fromStrings(got), mapped(v, true, textOf))
	return true
}

func checkProperties(t *testing.T, v data.Value) bool {
	text, err := sink.Properties(v)
	if !written(t, text, err) {
		return false
	}
	got, err := sinktest.Properties(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	want := map[string]string{}
	flatten(want, "", mapped(v, true, textOf))
	same(t, "java", text, fromStrings(got), fromStrings(want))
	return true
}

func flatten(into map[string]string, prefix string, v data.Value) {
	for _, f := range v.Fields() {
		if f.Value.Kind() == data.Struct {
			flatten(into, prefix+f.Name+".", f.Value)
			continue
		}
		into[prefix+f.Name] = f.Value.Text()
	}
}

func checkSystemd(t *testing.T, v data.Value) bool {
	text, err := sink.Systemd(v)
	if !written(t, text, err) {
		return false
	}
	unit, err := sinktest.ParseUnit(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	got := map[string][]string{}
	for _, l := range unit {
		if l.Key != "Environment" || !v.Lookup(l.Section, "Environment").Equal(data.Value{}) && v.Lookup(l.Section, "Environment").Kind() != data.Struct {
			got[l.Section+"/"+l.Key] = append(got[l.Section+"/"+l.Key], l.Value)
		}
	}
	want := map[string][]string{}
	for _, s := range mapped(v, true, textOf).Fields() {
		for _, f := range s.Value.Fields() {
			switch f.Value.Kind() {
			case data.Struct:
				env, err := sinktest.Environment(unit.Values(s.Name, f.Name))
				if err != nil {
					t.Fatalf("%v in\n%s", err, text)
				}
				same(t, "systemd", text, fromStrings(env), f.Value)
			case data.List:
				for _, x := range f.Value.Items() {
					want[s.Name+"/"+f.Name] = append(want[s.Name+"/"+f.Name], x.Text())
				}
			default:
				want[s.Name+"/"+f.Name] = append(want[s.Name+"/"+f.Name], f.Value.Text())
			}
		}
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Fatalf("systemd reads\n  %q\nwant\n  %q\nfrom\n%s", got, want, text)
	}
	return true
}

func fromStrings(m map[string]string) data.Value {
	var fields []data.Field
	for k, v := range m {
		fields = append(fields, data.Field{Name: k, Value: data.NewString(v)})
	}
	return data.NewStruct(fields...)
}

// fromGo makes a value of what a Go decoder gave.
func fromGo(x any) data.Value {
	switch x := x.(type) {
	case nil:
		return data.NewNull()
	case bool:
		return data.NewBool(x)
	case string:
		return data.NewString(x)
	case int:
		return data.NewInt(strconv.Itoa(x))
	case int64:
		return data.NewInt(strconv.FormatInt(x, 10))
	case uint64:
		return data.NewFloat(strconv.FormatUint(x, 10))
	case float64:
		return data.NewFloat(strconv.FormatFloat(x, 'g', -1, 64))
	case json.Number:
		return data.NewFloat(x.String())
	case []any:
		items := make([]data.Value, len(x))
		for i := range x {
			items[i] = fromGo(x[i])
		}
		return data.NewList(items...)
	case map[string]any:
		var fields []data.Field
		for k, v := range x {
			fields = append(fields, data.Field{Name: k, Value: fromGo(v)})
		}
		return data.NewStruct(fields...)
	case map[any]any:
		var fields []data.Field
		for k, v := range x {
			name, ok := k.(string)
			if !ok {
				name = fmt.Sprintf("a key that is %T", k)
			}
			fields = append(fields, data.Field{Name: name, Value: fromGo(v)})
		}
		return data.NewStruct(fields...)
	}
	panic(fmt.Sprintf("%T", x))
}

// fromNode makes a value of a YAML node, numbers with the digits that are in the file.
func fromNode(t *testing.T, n *yaml3.Node) data.Value {
	switch n.Kind {
	case yaml3.SequenceNode:
		items := make([]data.Value, len(n.Content))
		for i, x := range n.Content {
			items[i] = fromNode(t, x)
		}
		return data.NewList(items...)
	case yaml3.MappingNode:
		var fields []data.Field
		for i := 0; i < len(n.Content); i += 2 {
			if tag := n.Content[i].ShortTag(); tag != "!!str" {
				t.Fatalf("the key %q is %s", n.Content[i].Value, tag)
			}
			fields = append(fields, data.Field{Name: n.Content[i].Value, Value: fromNode(t, n.Content[i+1])})
		}
		return data.NewStruct(fields...)
	}
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return data.NewNull()
	case "!!bool":
		return data.NewBool(n.Value == "true")
	case "!!int":
		return data.NewInt(n.Value)
	case "!!float":
		if !strings.ContainsAny(n.Value, ".eE") {
			return data.NewInt(n.Value) // an integer beyond 64 bits; its digits are all there
		}
		return data.NewFloat(n.Value)
	case "!!str":
		return data.NewString(n.Value)
	case "!!binary":
		var s string
		if err := n.Decode(&s); err != nil {
			t.Fatal(err)
		}
		return data.NewString(s)
	default:
		t.Fatalf("%q is %s", n.Value, tag)
		return data.Value{}
	}
}

// readBack reads the key a of a document.
func readBack(format string) func([]byte) (string, error) {
	return func(b []byte) (string, error) {
		var doc map[string]any
		var err error
		switch format {
		case "json":
			err = json.Unmarshal(b, &doc)
		case "yaml":
			err = yaml3.Unmarshal(b, &doc)
		case "toml":
			err = toml.Unmarshal(b, &doc)
		}
		s, _ := doc["a"].(string)
		return s, err
	}
}
