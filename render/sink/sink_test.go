package sink_test

import (
	"errors"
	"strings"
	"testing"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
	"meshc.dev/render/sink"
)

var sample = object(
	"name", "board", "on", data.NewBool(true), "ratio", data.NewFloat("0.10"), "left", data.NewNull(),
	"server", object("HTTP_PORT", data.NewInt("3000"), "PROTOCOL", "http", "motd", "hello # there"),
)

// BLD-6: one writer per sink, chosen by the name a module gives
func TestWrite(t *testing.T) {
	for format, want := range map[string]string{
		"json": `{
  "left": null,
  "name": "board",
  "on": true,
  "ratio": 0.10,
  "server": {
    "HTTP_PORT": 3000,
    "PROTOCOL": "http",
    "motd": "hello # there"
  }
}
`,
		"yaml": `left: null
name: "board"
"on": true
ratio: 0.10
server:
  HTTP_PORT: 3000
  PROTOCOL: "http"
  motd: "hello # there"
`,
		"toml": `name = "board"
on = true
ratio = 0.10

[server]
HTTP_PORT = 3000
PROTOCOL = "http"
motd = "hello # there"
`,
		"ini": `name = board
on = true
ratio = 0.10

[server]
HTTP_PORT = 3000
PROTOCOL = http
motd = """hello # there"""
`,
		"properties": `name=board
on=true
ratio=0.10
server.HTTP_PORT=3000
server.PROTOCOL=http
server.motd=hello # there
`,
	} {
		got, err := sink.Write(format, sample)
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s", format, err, got)
		}
	}
	for format, want := range map[string]string{
		"env":     "A=plain\nB=\"two words\"\n",
		"systemd": "[Unit]\nDescription=x\n\n[Service]\nExecStart=\nExecStart=/bin/a %i \"b\"\n\n[Install]\nWantedBy=multi-user.target\n",
	} {
		v := object("A", "plain", "B", "two words", "C", data.NewNull())
		if format == "systemd" {
			v = object("Install", object("WantedBy", "multi-user.target"), "Unit", object("Description", "x", "After", data.NewNull()),
				"Service", object("ExecStart", data.NewList(data.NewString(""), data.NewString(`/bin/a %i "b"`))))
		}
		got, err := sink.Write(format, v)
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s", format, err, got)
		}
	}
	if b, err := sink.Write("xml", sample); err == nil {
		t.Errorf("an unknown format wrote %q", b)
	}
}

// SET-1: key-value formats leave a null key out, JSON and YAML say null
func TestNull(t *testing.T) {
	v := object("a", data.NewNull(), "s", object("b", data.NewNull(), "c", "x"))
	for format, want := range map[string]string{
		"json": "{\n  \"a\": null,\n  \"s\": {\n    \"b\": null,\n    \"c\": \"x\"\n  }\n}\n",
		"yaml": "a: null\ns:\n  b: null\n  c: \"x\"\n",
		"toml": "[s]\nc = \"x\"\n", "ini": "[s]\nc = x\n", "properties": "s.c=x\n", "systemd": "[s]\nc=x\n",
	} {
		got, err := sink.Write(format, v)
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s", format, err, got)
		}
	}
	if got, err := sink.Write("env", object("A", data.NewNull(), "B", "x")); err != nil || string(got) != "B=x\n" {
		t.Errorf("env: %v\n%s", err, got)
	}
	for format, inList := range map[string]data.Value{"toml": object("l", data.NewList(data.NewInt("1"), data.NewNull())), "systemd": object("Unit", object("After", data.NewList(data.NewNull())))} {
		if _, err := sink.Write(format, inList); err == nil || !strings.Contains(err.Error(), "move what follows") {
			t.Errorf("%s: a null in a list: %v", format, err)
		}
	}
}

// BLD-6: a refusal names the path inside the value and why, and never the value
func TestErrorNamesThePath(t *testing.T) {
	bad := "sec\x00ret\n\xff"
	for name, c := range map[string]struct {
		write func(data.Value) ([]byte, error)
		value data.Value
		path  string
	}{
		"json":       {sink.JSON, object("a", data.NewList(data.NewString("x"), object("b c", bad))), `a.1."b c"`},
		"yaml":       {sink.YAML, object("a", object("b", bad)), "a.b"},
		"toml":       {sink.TOML, object("a", object("b", data.NewList(data.NewInt("9223372036854775808")))), "a.b.0"},
		"ini":        {sink.INI, object("a", object("b", bad)), "a.b"},
		"ini list":   {sink.INI, object("a", object("b", data.NewList(data.NewString("x")))), "a.b"},
		"ini nested": {sink.INI, object("a", object("b", object("c", "x"))), "a.b"},
		"env":        {sink.Env, object("A", bad), "A"},
		"env list":   {sink.Env, object("A", data.NewList()), "A"},
		"env file":   {sink.EnvFile, object("A", bad), "A"},
		"systemd":    {sink.Systemd, object("Service", object("Environment", object("A", bad))), "Service.Environment.A"},
		"properties": {sink.Properties, object("a", object("b", bad)), "a.b"},
	} {
		b, err := c.write(c.value)
		var e *sink.Error
		if !errors.As(err, &e) || b != nil {
			t.Errorf("%s: %v, %q", name, err, b)
			continue
		}
		if got := sink.PathString(e.Path); got != c.path || e.Reason == "" || !strings.HasPrefix(e.Error(), c.path+": ") {
			t.Errorf("%s: path %s, want %s; %v", name, got, c.path, e)
		}
		if strings.Contains(e.Error(), "ret") && strings.Contains(e.Error(), "sec") {
			t.Errorf("%s prints the value: %v", name, e)
		}
	}
}

// BLD-6: lists that one reader would cut and another keep are refused, not guessed
func TestRefusals(t *testing.T) {
	str := func(s string) data.Value { return object("k", s) }
	for name, err := range map[string]error{
		"ini backslash":      second(sink.INI(str(`a\b`))),
		"ini quote":          second(sink.INI(str(`a"b`))),
		"ini php variable":   second(sink.INI(str("${x}"))),
		"ini go-ini":         second(sink.INI(str("%(x)s"))),
		"ini DEFAULT":        second(sink.INI(object("a", "x", "DEFAULT", object("a", "y")))),
		"ini top":            second(sink.INI(data.NewList())),
		"toml top":           second(sink.TOML(data.NewString("x"))),
		"toml bytes":         second(sink.TOML(object("k", data.NewBytes([]byte{0xff})))),
		"toml infinite":      second(sink.TOML(object("k", data.NewFloat("1e400")))),
		"yaml infinite":      second(sink.YAML(object("k", data.NewFloat("1e400")))),
		"yaml long key":      second(sink.YAML(object(strings.Repeat("k ", 600), "x"))),
		"env name":           second(sink.Env(object("a.b", "x"))),
		"env bom":            second(sink.Env(str("\ufeff"))),
		"env too long":       second(sink.Env(str(strings.Repeat("x", 131072)))),
		"envfile newline":    second(sink.EnvFile(str("a\nb"))),
		"envfile cr":         second(sink.EnvFile(str("a\r"))),
		"envfile long line":  second(sink.EnvFile(str(strings.Repeat("x", 65536)))),
		"systemd newline":    second(sink.Systemd(object("Service", object("ExecStart", "/bin/a\nUser=root")))),
		"systemd backslash":  second(sink.Systemd(object("Service", object("ExecStart", `/bin/a \`)))),
		"systemd spaces":     second(sink.Systemd(object("Service", object("ExecStart", "/bin/a ")))),
		"systemd struct":     second(sink.Systemd(object("Service", object("ExecStart", object("a", "b"))))),
		"systemd section":    second(sink.Systemd(object("a]b", object("ExecStart", "x")))),
		"systemd key":        second(sink.Systemd(object("Service", object("a=b", "x")))),
		"properties list":    second(sink.Properties(object("k", data.NewList()))),
		"properties twice":   second(sink.Properties(object("a", object("b", "x"), "a.b", "y"))),
		"text number":        second(sink.Text(data.NewInt("1"))),
		"json absent":        second(sink.JSON(data.Value{})),
		"json not a number":  second(sink.JSON(data.NewInt("0123"))),
		"shell zero":         second(sink.ShellQuote("a\x00")),
		"quadlet U+0080":     second(sink.QuadletEnv("A", "\u0080")),
		"quadlet name":       second(sink.QuadletEnv("A B", "x")),
		"quadlet end quotes": second(sink.QuadletValue(`say "hi"`)),
		"systemd name":       second(sink.SystemdEnv("a.b", "x")),
		"systemd zero":       second(sink.SystemdArg("\x00")),
	} {
		var e *sink.Error
		if !errors.As(err, &e) {
			t.Errorf("%s is not refused: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// BLD-6: a refusal is said with the resource, the path in its data and the format
func TestDiagnostic(t *testing.T) {
	_, err := sink.INI(object("server", object("hosts", data.NewList())))
	var e *sink.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	d := e.Diagnostic(diag.Pos{File: "app.cue", Line: 3}, addr.Resource{Instance: "app", Kind: "file", Name: "config"}, "ini")
	want := "server.hosts of app/file.config, written as ini, is a list, which INI readers do not agree on; join the items into one string"
	if d.Message != want || d.Code != diag.FormatValue || d.At.Line != 3 {
		t.Errorf("%+v", d)
	}
	if _, known := diag.Lookup(d.Code); !known {
		t.Errorf("%s is not explained", d.Code)
	}
}
