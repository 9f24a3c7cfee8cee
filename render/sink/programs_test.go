package sink_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"meshc.dev/compiler/data"
	"meshc.dev/render/sink"
	"meshc.dev/render/sink/sinktest"
)

// accepted are those of the nasty strings that a writer takes as a value, by name.
func accepted(write func(data.Value) ([]byte, error)) data.Value {
	var fields []data.Field
	for i, s := range nasty {
		f := data.Field{Name: fmt.Sprintf("k%d", i), Value: data.NewString(s)}
		if _, err := write(data.NewStruct(f)); err == nil {
			fields = append(fields, f)
		}
	}
	return data.NewStruct(fields...)
}

func file(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func run(t *testing.T, env []string, program string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"}, env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, stderr.Bytes())
	}
	return out
}

// pairs reads NAME, separator, VALUE, zero byte.
func pairs(out []byte, separator string) data.Value {
	m := map[string]string{}
	for p := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		name, value, _ := strings.Cut(p, separator)
		m[name] = value
	}
	return fromStrings(m)
}

// O03: git and PHP read an INI file's words as the same strings
//
// BLD-6: the INI writer by two more programs that read such files
func TestINIPrograms(t *testing.T) {
	section := func(v data.Value) ([]byte, error) { return sink.INI(object("s", v)) }
	v := accepted(section)
	if len(v.Fields()) < 40 {
		t.Errorf("only %d strings are taken", len(v.Fields()))
	}
	text, err := section(v)
	if err != nil {
		t.Fatal(err)
	}
	path := file(t, "x.ini", text)
	t.Run("git", func(t *testing.T) {
		out := run(t, nil, sinktest.Tool(t, "git"), "config", "--file", path, "--list", "--null")
		same(t, "git", text, pairs(bytes.ReplaceAll(out, []byte("s.k"), []byte("k")), "\n"), v)
	})
	t.Run("php", func(t *testing.T) {
		php := sinktest.Tool(t, "php")
		out := run(t, nil, php, "-r", `foreach (parse_ini_file($argv[1], true)["s"] as $k => $v) { echo $k, "=", $v, "\0"; }`, path)
		same(t, "php", text, pairs(out, "="), v)
	})
}

// O09: systemd's own reader of environment files, and a shell that sources one
//
// BLD-6: the env writer by the programs that read it
func TestEnvPrograms(t *testing.T) {
	v := accepted(sink.Env)
	text, err := sink.Env(v)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("sh", func(t *testing.T) {
		out := run(t, nil, sinktest.Tool(t, "sh"), "-c", `set -a; . "$1"; exec env -0`, "sh", file(t, "env", text))
		got := map[string]string{}
		for _, f := range pairs(out, "=").Fields() {
			if strings.HasPrefix(f.Name, "k") {
				got[f.Name] = f.Value.Text()
			}
		}
		same(t, "sh", text, fromStrings(got), v)
	})
	t.Run("systemd", func(t *testing.T) {
		// This generator reads files of the same grammar with the same function and prints them
		// in that grammar, but it also expands variables and wants no empty values.
		generator := sinktest.Tool(t, "/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator")
		var fields []data.Field
		for _, f := range v.Fields() {
			if s := f.Value.Text(); s != "" && !strings.Contains(s, "$") {
				fields = append(fields, f)
			}
		}
		v := data.NewStruct(fields...)
		text, _ := sink.Env(v)
		path := filepath.Join(t.TempDir(), "environment.d", "x.conf")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for line := range strings.Lines(string(run(t, []string{"XDG_CONFIG_HOME=" + filepath.Dir(filepath.Dir(path))}, generator))) {
			// It prints values in double quotes with C escapes, which Words reads.
			words, err := sinktest.Words(strings.ReplaceAll(line, "\\`", "`"))
			if err != nil || len(words) != 1 {
				t.Fatalf("%q: %v", line, err)
			}
			if name, value, _ := strings.Cut(words[0], "="); strings.HasPrefix(name, "k") {
				got[name] = value
			}
		}
		same(t, "systemd", text, fromStrings(got), v)
	})
}

// O09: docker's own client reads --env-file as EnvList does
//
// BLD-6: the env file writer by the program that reads it
func TestEnvFileProgram(t *testing.T) {
	v := accepted(sink.EnvFile)
	text, err := sink.EnvFile(v)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, assignment := range sinktest.DockerCreates(t, []string{"docker", "run", "--env-file=" + file(t, "env", text), "localhost/probe"}).Env {
		name, value, _ := strings.Cut(assignment, "=")
		got[name] = value
	}
	same(t, "docker", text, fromStrings(got), v)
}

// O03: PyYAML, the reader of YAML 1.1 that Ansible and Home Assistant use, re-types nothing
//
// BLD-6: the YAML writer by another program than Go's libraries
func TestYAMLProgram(t *testing.T) {
	python := ""
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(p, "-c", "import yaml").Run() == nil {
			python = p
		}
	}
	if python == "" {
		sinktest.Missing(t, "there is no python3 with yaml (Debian's python3-yaml)")
	}
	v := accepted(sink.YAML)
	for _, n := range numbers {
		if _, err := sink.YAML(n); err == nil {
			v = v.With("n"+n.Text(), n)
		}
	}
	text, err := sink.YAML(v)
	if err != nil {
		t.Fatal(err)
	}
	out := run(t, nil, python, "-c", "import sys, json, yaml; json.dump(yaml.safe_load(open(sys.argv[1], 'rb')), sys.stdout)", file(t, "x.yaml", text))
	d := json.NewDecoder(bytes.NewReader(out))
	d.UseNumber()
	var got map[string]any
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	number := func(v data.Value) data.Value {
		if v.IsNumber() && strings.ContainsAny(v.Text(), ".eE") || v.Kind() == data.Float {
			return double(data.NewFloat(v.Text()))
		}
		return exact(v)
	}
	kinds := func(v data.Value) data.Value {
		if v.IsNumber() && !strings.ContainsAny(v.Text(), ".eE") {
			return exact(data.NewInt(v.Text()))
		}
		return number(v)
	}
	same(t, "PyYAML", text, mapped(fromGo(got), false, kinds), mapped(v, false, number))
}

// O08: systemd's own reading of a unit's Environment= and ExecStart=
//
// BLD-6: the unit writer and its words by the program that reads them
func TestSystemdProgram(t *testing.T) {
	dir := t.TempDir()
	env := accepted(func(v data.Value) ([]byte, error) {
		return sink.Systemd(object("Service", object("Environment", v)))
	})
	exe, args := "/bin/true", []string{}
	for _, s := range nasty {
		// It prints arguments with quotes for a shell, but control characters as escapes, and
		// leaves ~ and # bare.
		if w, err := sink.SystemdArg(s); err == nil && !strings.Contains(w, `\x`) && !strings.HasPrefix(s, "~") && !strings.HasPrefix(s, "#") && !strings.ContainsAny(s, "\a\b\t\n\v\f\r\u0080\u0085") {
			exe += " " + w
			args = append(args, s)
		}
	}
	unit, err := sink.Systemd(object("Service", object("Environment", env, "ExecStart", exe)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "probe.service"), unit, 0o644); err != nil {
		t.Fatal(err)
	}
	dump := sinktest.Loaded(t, dir, "probe.service")
	var names []string
	for _, f := range env.Fields() {
		names = append(names, f.Name)
	}
	for i, name := range names {
		value := env.Get(name).Text()
		end := "\n\t\t"
		if i+1 < len(names) {
			end += "Environment: " + names[i+1] + "="
		}
		if !strings.Contains(dump, "Environment: "+name+"="+value+end) {
			t.Errorf("systemd does not read %q from %s", value, must(sink.SystemdEnv(name, value)))
		}
	}
	_, line, _ := strings.Cut(dump, "Command Line: ")
	line, _, _ = strings.Cut(line, "\n")
	out := run(t, nil, sinktest.Tool(t, "sh"), "-c", "printf '%s\\0' "+line)
	got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(got) != len(args)+1 {
		t.Fatalf("systemd reads %d arguments, want %d: %s", len(got)-1, len(args), line)
	}
	for i, want := range args {
		// Variables are expanded when the process starts, so what is printed still has $$.
		if want = strings.ReplaceAll(want, "$", "$$"); got[i+1] != want {
			t.Errorf("argument %d is %q, want %q", i, got[i+1], want)
		}
	}
}

// O08: Java reads properties as the reader of sinktest does; a JDK is too large to be required
func TestPropertiesProgram(t *testing.T) {
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("java is not installed")
	}
	v := withoutZero(accepted(sink.Properties))
	text, err := sink.Properties(v)
	if err != nil {
		t.Fatal(err)
	}
	program := file(t, "Props.java", []byte(`import java.io.*; import java.util.*; import java.nio.charset.*;
class Props { public static void main(String[] a) throws Exception { Properties p = new Properties(); p.load(new FileInputStream(a[0]));
  for (String k : p.stringPropertyNames()) System.out.write((k + "=" + p.getProperty(k) + "\0").getBytes(StandardCharsets.UTF_8)); System.out.flush(); } }`))
	cmd := exec.Command(java, "-Xshare:auto", "-XX:TieredStopAtLevel=1", program, file(t, "x.properties", text))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Skipf("no program can be compiled here: %s", out)
	}
	same(t, "java", text, pairs(out, "="), v)
}

// A value with a zero byte is no pair for pairs.
func withoutZero(v data.Value) data.Value {
	var fields []data.Field
	for _, f := range v.Fields() {
		if !strings.Contains(f.Value.Text(), "\x00") {
			fields = append(fields, f)
		}
	}
	return data.NewStruct(fields...)
}
