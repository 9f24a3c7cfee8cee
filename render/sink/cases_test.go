package sink_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"meshc.dev/compiler/data"
	"meshc.dev/render/sink"
	"meshc.dev/render/sink/sinktest"
)

// O03: words that look like booleans stay the strings they are, in every format
func TestBooleanWords(t *testing.T) {
	v := object("mode", "off", "country", "NO", "answer", "yes", "empty", "", "tilde", "~", "z", "null", "old", "0123", "e", "1e5")
	for format, check := range checks {
		switch format {
		case "systemd":
			check(t, object("Service", v))
		default:
			if !check(t, v) {
				t.Errorf("%s refuses it", format)
			}
		}
	}
	for format, want := range map[string]string{"yaml": `country: "NO"`, "toml": `country = "NO"`, "ini": `country = "NO"`, "json": `"country": "NO"`} {
		if b, _ := sink.Write(format, v); !strings.Contains(string(b), want) {
			t.Errorf("%s has no %s:\n%s", format, want, b)
		}
	}
}

// O04: integers and floats are written with the digits they have
//
// SET-6: 9007199254740993, 0.1 and 1.0 come out as they went in
func TestNumbersKeepTheirDigits(t *testing.T) {
	v := object("max_map_count", data.NewInt("1048576"), "ticket", data.NewInt("356136738"), "big", data.NewInt("9007199254740993"),
		"ratio", data.NewFloat("0.1"), "one", data.NewFloat("1.0"), "neg", data.NewInt("-0"), "exp", data.NewFloat("1e3"))
	for format, want := range map[string]string{
		"json":       "{\n  \"big\": 9007199254740993,\n  \"exp\": 1e3,\n  \"max_map_count\": 1048576,\n  \"neg\": -0,\n  \"one\": 1.0,\n  \"ratio\": 0.1,\n  \"ticket\": 356136738\n}\n",
		"yaml":       "big: 9007199254740993\nexp: 1.0e+3\nmax_map_count: 1048576\nneg: -0\none: 1.0\nratio: 0.1\nticket: 356136738\n",
		"toml":       "big = 9007199254740993\nexp = 1e3\nmax_map_count = 1048576\nneg = -0\none = 1.0\nratio = 0.1\nticket = 356136738\n",
		"ini":        "big = 9007199254740993\nexp = 1e3\nmax_map_count = 1048576\nneg = -0\none = 1.0\nratio = 0.1\nticket = 356136738\n",
		"env":        "big=9007199254740993\nexp=1e3\nmax_map_count=1048576\nneg=-0\none=1.0\nratio=0.1\nticket=356136738\n",
		"properties": "big=9007199254740993\nexp=1e3\nmax_map_count=1048576\nneg=-0\none=1.0\nratio=0.1\nticket=356136738\n",
	} {
		got, err := sink.Write(format, v)
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s", format, err, got)
		}
	}
	got, err := sink.Systemd(object("Service", v))
	if err != nil || !strings.Contains(string(got), "\nbig=9007199254740993\n") {
		t.Errorf("systemd: %v\n%s", err, got)
	}
	// No integer becomes a float or the other way round, whatever its size.
	big := object("i", data.NewInt("123456789012345678901234567890"), "f", data.NewFloat("3"))
	if got, err := sink.YAML(big); err != nil || string(got) != "f: 3.0\ni: 123456789012345678901234567890\n" {
		t.Errorf("yaml: %v\n%s", err, got)
	}
}

// O07: bytes survive: CRLF, a missing last newline, a byte order mark, and what is no text at all
//
// BLD-5: no newline is added or taken, no line ending changed
func TestBytesSurvive(t *testing.T) {
	contents := []string{"a\r\nb\nc", "\x00\xff\xfe", "\ufeffx", "", "\n", "no newline", "\xed\xa0\x80"}
	for _, s := range contents {
		for _, v := range []data.Value{data.NewString(s), data.NewBytes([]byte(s))} {
			if got, err := sink.Text(v); err != nil || string(got) != s {
				t.Errorf("text: %q became %q, %v", s, got, err)
			}
		}
		for format, check := range checks {
			section := map[string]bool{"systemd": true}[format]
			for _, v := range []data.Value{object("Key", s), object("Key", data.NewBytes([]byte(s)))} {
				if section {
					v = object("Service", v)
				}
				check(t, v)
			}
		}
	}
	// What can carry line ends does, and does not change them.
	for _, format := range []string{"json", "yaml", "toml", "env", "properties"} {
		if !checks[format](t, object("A", "a\r\nb\nc")) {
			t.Errorf("%s refuses CRLF", format)
		}
	}
	for _, format := range []string{"json", "yaml"} {
		if !checks[format](t, object("A", data.NewBytes([]byte{0, 0xff, 0xfe}))) {
			t.Errorf("%s refuses bytes", format)
		}
	}
}

// O07: a string of several lines can be read by a person, and is the same string
func TestYAMLLines(t *testing.T) {
	got, err := sink.YAML(object("script", "#!/bin/sh\n  indented\n\tx \"y\"\n\nend\n", "list", data.NewList(data.NewString("a\nb"))))
	want := "list:\n  - \"a\\n\\\n    b\"\nscript: \"#!/bin/sh\\n\\\n  \\  indented\\n\\\n  \\tx \\\"y\\\"\\n\\\n  \\n\\\n  end\\n\"\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	checkYAML(t, object("a", object("b", data.NewList(object("c", "x\n  y\n\n z\n"))), "d", "\n\n"))
	checkYAML(t, data.NewString("top\n level\n"))
	checkYAML(t, data.NewList(data.NewList(data.NewList()), data.NewStruct(), data.NewList(object("a", object("b", data.NewList(data.NewInt("1"))), "c", "d"))))
}

var o08 = map[string]string{
	"A": "50%20off", "B": "--x=1 --y=2", "C": `a\.b`, "D": "$HOME", "E": `it's "q"`, "F": " lead", "G": "#x", "H": ";y", "I": "line1\nline2",
}

// O08: percent, dollar, space and backslash arrive in the process, through Environment= and
// EnvironmentFile= of a unit
func TestUnitEnvironment(t *testing.T) {
	v := fromStrings(o08)
	if !checkEnv(t, v) {
		t.Error("EnvironmentFile= is refused")
	}
	if !checkSystemd(t, object("Service", object("Environment", v))) {
		t.Error("Environment= is refused")
	}
	if _, err := sink.EnvFile(v); err == nil {
		t.Error("--env-file took a line end")
	}
	// What is written as unit syntax is left as unit syntax.
	got, err := sink.Systemd(object("Service", object("Environment", data.NewList(data.NewString(`A=%i "B=c d"`)))))
	if want := "[Service]\nEnvironment=A=%i \"B=c d\"\n"; err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}

// O09: one secret for two readers is two files, and both processes see the same bytes
func TestTwoEnvironmentFiles(t *testing.T) {
	v := object("PASSWORD", `s7@o8\p="u$0#!`, "QUOTED", `"in quotes"`, "SPACES", "  both  ", "HASH", "# no comment")
	if !checkEnv(t, v) || !checkEnvFile(t, v) {
		t.Error("one of the two refuses it")
	}
	env, _ := sink.Env(v)
	list, _ := sink.EnvFile(v)
	if bytes.Equal(env, list) {
		t.Errorf("one file cannot serve both readers:\n%s", env)
	}
	// The reason for two: each file read by the other's reader gives something else.
	if wrong, err := sinktest.EnvironmentFile(list); err == nil && fromStrings(wrong).Equal(v) {
		t.Error("systemd reads docker's file alike; the test shows nothing")
	}
	if wrong, err := sinktest.EnvList(env); err == nil && fromStrings(wrong).Equal(v) {
		t.Error("docker reads systemd's file alike; the test shows nothing")
	}
}

// O10: a dollar in a declared password arrives, alone, doubled, in braces and at the end
func TestDollars(t *testing.T) {
	for _, s := range []string{"p$a", "p${b}", "p$$", "p$", "$", "$$a$$", "${", "p${b"} {
		for _, format := range []string{"json", "yaml", "toml", "env", "envfile", "properties"} {
			if !checks[format](t, object("P", s)) {
				t.Errorf("%s refuses %q", format, s)
			}
		}
		if !checkSystemd(t, object("Service", object("Environment", object("P", s)))) {
			t.Errorf("Environment= refuses %q", s)
		}
		if arg, err := sink.SystemdArg(s); err != nil || !argv(t, arg, s) {
			t.Errorf("ExecStart= %q: %v", s, err)
		}
	}
}

func argv(t *testing.T, line string, want ...string) bool {
	t.Helper()
	got, err := sinktest.Argv(line, "unit")
	if err != nil {
		t.Errorf("%v in %s", err, line)
		return false
	}
	return strings.Join(got, "\x00") == strings.Join(want, "\x00") && len(got) == len(want)
}

const o11 = "p&|\\\"#'%${x}\n"

// O11: special characters in a value leave the document around them as it was
func TestSpecialCharacters(t *testing.T) {
	v := object("before", "a", "secret", o11, "z", "b")
	for _, format := range []string{"json", "yaml", "toml", "properties"} {
		if !checks[format](t, v) {
			t.Errorf("%s refuses it", format)
		}
	}
	if !checkEnv(t, v) {
		t.Error("env refuses it")
	}
	for _, format := range []string{"ini", "envfile"} {
		if checks[format](t, v) {
			t.Errorf("%s took a line end", format)
		}
	}
	u, err := url.Parse("postgres://" + sink.URLEncode("a b@c") + ":" + sink.URLEncode(o11) + "@[::1]:5432/" + sink.URLEncode("x/ y"))
	if err != nil {
		t.Fatal(err)
	}
	if password, _ := u.User.Password(); password != o11 || u.User.Username() != "a b@c" || u.Path != "/x/ y" || u.Hostname() != "::1" {
		t.Errorf("the URL holds %q, %q, %q", u.User.Username(), password, u.Path)
	}
}

// O11: a secret spliced in a placeholder's place is read back, in the encodings that Carries names
func TestCarries(t *testing.T) {
	const placeholder = "PLACE7f3aHOLDER"
	secret := o11 + "\b"
	for format, check := range map[string]func([]byte) (string, error){
		"json": readBack("json"), "yaml": readBack("yaml"), "toml": readBack("toml"),
		"env": func(b []byte) (string, error) {
			m, err := sinktest.EnvironmentFile(b)
			return m["a"], err
		},
		"properties": func(b []byte) (string, error) {
			m, err := sinktest.Properties(b)
			return m["a"], err
		},
	} {
		for _, around := range [][2]string{{"", ""}, {"x-", " y"}} {
			text, err := sink.Write(format, object("a", around[0]+placeholder+around[1], "b", "after"))
			if err != nil {
				t.Fatal(err)
			}
			for encoding, encoded := range map[string]string{"json": jsonInside(secret), "base64": "cCZ8XCIjJyUke3h9Cg+/==", "urlencoded": sink.URLEncode(secret), "value": secret, "shell": "'" + strings.ReplaceAll(secret, "'", `'\''`) + "'"} {
				want := encoded
				if encoding == "json" {
					want = secret
				}
				got, err := check(bytes.Replace(text, []byte(placeholder), []byte(encoded), 1))
				if arrives := err == nil && got == around[0]+want+around[1]; arrives != sink.Carries(format, encoding) {
					t.Errorf("%s in %s: arrives %v, Carries says %v (%q, %v)", encoding, format, arrives, !arrives, got, err)
				}
			}
		}
	}
	if sink.Carries("ini", "json") || sink.Carries("systemd", "value") {
		t.Error("formats without one way to quote carry everything")
	}
}

func jsonInside(s string) string {
	b, _ := json.Marshal(s)
	return string(b[1 : len(b)-1])
}

// BLD-6, T63: a name as long as a line, or longer, changes nothing of how an empty list, a list or a table is read.
func TestLongNames(t *testing.T) {
	for _, n := range []int{70, 78, 79, 80, 81, 200} {
		name := strings.Repeat("k", n)
		for _, v := range []data.Value{data.NewList(), data.NewList(data.NewList()), data.NewList(data.NewString("x")), data.NewStruct(), data.NewList(data.NewStruct()), data.NewString("")} {
			for _, format := range []string{"json", "yaml", "toml"} {
				if !checks[format](t, object(name, v)) {
					t.Errorf("%s refuses %s under a name of %d letters", format, v.Kind(), n)
				}
			}
		}
	}
}
