package lock

import (
	"bytes"
	"strings"
	"testing"

	"meshc.dev/compiler/diag"
)

// DIA-5: whatever the file holds, it is a lock or a diagnostic with a place in it.
func TestRefused(t *testing.T) {
	secret := func(s string) string { return "format = 1\nsecrets = {\n  \"need a/b/c\" = " + s + "\n}\n" }
	const good = `to = ["SHA256:x"], blobs = ["a.age"], sha256 = ["` + sum + `"]`
	for _, c := range []struct {
		name, src string
		code      diag.Code
		at, says  string
	}{
		{"nothing", "", diag.LockFormat, "mesh.lock.hcl", "does not say which format"},
		{"no format", "ports = {\n}\n", diag.LockFormat, "mesh.lock.hcl", "does not say which format"},
		{"format is text", "format = \"1\"\n", diag.LockFormat, "mesh.lock.hcl:1:10", "is a number"},
		{"format 0", "format = 0\n", diag.LockFormat, "mesh.lock.hcl", "count from 1"},
		{"newer format", "format = 3\nports = {\n}\nwhatever = {\n}\n", diag.LockFormat, "mesh.lock.hcl", "format 3, which a newer meshc wrote"},
		{"newer, by hand", "format=3", diag.LockFormat, "mesh.lock.hcl", "newer meshc"},

		{"mesh is a number", "format = 2\nmesh = 3\n", diag.LockEntry, "mesh.lock.hcl:2:8", "name of the mesh"},
		{"mesh is no name", "format = 2\nmesh = \"Two Words\"\n", diag.LockEntry, "mesh.lock.hcl:2:1", "name of the mesh"},
		{"cut short", "format = 1\nports = {\n  \"a/b/c\" = 1\n", diag.LockSyntax, "mesh.lock.hcl:4:1", "missing expression"},
		{"binary", "\x00\xff\xfe", diag.LockSyntax, "mesh.lock.hcl:1:1", "cannot be read"},
		{"expression", "format = 1\nports = {\n  \"a/b/c\" = 1 + 2\n}\n", diag.LockSyntax, "mesh.lock.hcl:3:15", `no "+"`},
		{"template", "format = 1\nlogins = {\n  \"${x}\" = \"y\"\n}\n", diag.LockSyntax, "mesh.lock.hcl:3:4", `no "${"`},
		{"wide character before", "format = 1\nports = { /* äöü */ \"a/b/c\" = (1) }\n", diag.LockSyntax, "mesh.lock.hcl:2:34", `no "("`},
		{"nesting", "format = 1\nports = [[[[1]]]]\n", diag.LockSyntax, "mesh.lock.hcl:2:12", "nest deeper"},
		{"section twice", "format = 1\nports = {\n}\nports = {\n}\n", diag.LockSyntax, "mesh.lock.hcl:4:1", "attribute redefined"},

		{"unknown section", "format = 1\nsizes = {\n  \"a\" = 1\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", `no section "sizes"`},
		{"block", "format = 1\nports {\n}\n", diag.LockEntry, "mesh.lock.hcl:2:1", `no section "ports"`},
		{"no section", "format = 1\nports = 3\n", diag.LockEntry, "mesh.lock.hcl:2:1", "no section of entries"},
		{"key is a list", "format = 1\nports = {\n  [\"a\"] = 3\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "named by a string"},
		{"listen", "format = 1\nports = {\n  \"a/b\" = 3\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "node/instance/listen"},
		{"port 0", "format = 1\nports = {\n  \"a/b/c\" = 0\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "1 to 65535"},
		{"port 65536", "format = 1\nports = {\n  \"a/b/c\" = 65536\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "1 to 65535"},
		{"port as text", "format = 1\nports = {\n  \"a/b/c\" = \"80\"\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "1 to 65535"},
		{"port with a zero before", "format = 1\nports = {\n  \"a/b/c\" = 0080\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "1 to 65535"},
		{"port without end", "format = 1\nports = {\n  \"a/b/c\" = 1e999999999\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "1 to 65535"},
		{"port true", "format = 1\nports = {\n  \"a/b/c\" = true\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "1 to 65535"},
		{"node", "format = 1\naddresses = {\n  \"A\" = \"10.0.0.1\"\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "belongs to a node"},
		{"address", "format = 1\naddresses = {\n  \"a\" = \"10.0.0\"\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "not an IPv4 or IPv6 address"},
		{"address with zone", "format = 1\naddresses = {\n  \"a\" = \"fe80::1%eth0\"\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "not an IPv4 or IPv6 address"},
		{"pair", "format = 1\nlogins = {\n  \"a@b c\" = \"x\"\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "provider@node provision consumer@node"},
		{"login upper case", "format = 1\nlogins = {\n  \"a@b c d@e\" = \"X\"\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "a-z, 0-9 and _"},
		{"login empty", "format = 1\nlogins = {\n  \"a@b c d@e\" = \"\"\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "a-z, 0-9 and _"},
		{"login of 64", "format = 1\nlogins = {\n  \"a@b c d@e\" = \"" + strings.Repeat("a", 64) + "\"\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "1 to 63"},
		{"move", "format = 1\nmoved = {\n  \"site a\" = \"b\"\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "a move is"},
		{"moved to no name", "format = 1\nmoved = {\n  \"node a\" = \"b@c\"\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "a move is"},

		{"secret's name", "format = 1\nsecrets = {\n  \"need\" = { generation = 1 }\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "a secret's name"},
		{"credential's pair", "format = 1\nsecrets = {\n  \"credential x\" = { generation = 1 }\n}\n", diag.LockEntry, "mesh.lock.hcl:3:3", "a credential belongs to"},
		{"secret is a number", secret(`1`), diag.LockEntry, "mesh.lock.hcl:3:3", "a secret is {"},
		{"generation 0", secret(`{ generation = 0, ends = ["holder b@a"], ` + good + ` }`), diag.LockEntry, "mesh.lock.hcl:3:3", "number from 1"},
		{"no generation", secret(`{ ends = ["holder b@a"], ` + good + ` }`), diag.LockEntry, "mesh.lock.hcl:3:3", "no generation"},
		{"unknown field", secret(`{ generation = 1, value = "x" }`), diag.LockEntry, "mesh.lock.hcl:3:3", "has no value"},
		{"field twice", secret(`{ generation = 1, generation = 1 }`), diag.LockEntry, "mesh.lock.hcl:3:3", "twice"},
		{"list too short", secret(`{ generation = 1, ends = ["holder b@a", "holder c@a"], ` + good + ` }`), diag.LockEntry, "mesh.lock.hcl:3:3", "2 ends and 1 value of to"},
		{"list of numbers", secret(`{ generation = 1, ends = [1], ` + good + ` }`), diag.LockEntry, "mesh.lock.hcl:3:3", "list of strings"},
		{"end without holder", secret(`{ generation = 1, ends = ["holder"], ` + good + ` }`), diag.LockEntry, "mesh.lock.hcl:3:3", "a role and who holds it"},
		{"blob elsewhere", secret(`{ generation = 1, ends = ["holder b@a"], to = ["SHA256:x"], blobs = ["../a.age"], sha256 = ["` + sum + `"] }`), diag.LockEntry, "mesh.lock.hcl:3:3", "below sealed/"},
		{"blob at the root", secret(`{ generation = 1, ends = ["holder b@a"], to = ["SHA256:x"], blobs = ["/a.age"], sha256 = ["` + sum + `"] }`), diag.LockEntry, "mesh.lock.hcl:3:3", "below sealed/"},
		{"digest", secret(`{ generation = 1, ends = ["holder b@a"], to = ["SHA256:x"], blobs = ["a.age"], sha256 = ["ABC"] }`), diag.LockEntry, "mesh.lock.hcl:3:3", "64 lower-case hex"},

		{"two values", "format = 1\nports = {\n  \"a/b/c\" = 1\n  \"a/b/c\" = 2\n}\n", diag.LockTwice, "mesh.lock.hcl:4:3", `"a/b/c" stands in the lock twice`},
		{"marker", "format = 1\nports = {\n=======\n  \"a/b/c\" = 1\n}\n", diag.LockUnmerged, "mesh.lock.hcl:3:1", "could not merge"},
	} {
		l, faults := Read(File, []byte(c.src))
		if l != nil || len(faults) != 1 {
			t.Errorf("%s: got %v, %v", c.name, l, faults)
			continue
		}
		if d := faults[0]; d.Code != c.code || d.At.String() != c.at || !strings.Contains(d.Message, c.says) {
			t.Errorf("%s: got %s at %s: %s", c.name, d.Code, d.At, d.Message)
		}
	}
}

// The key of an entry that stands twice is told with both places.
func TestTwiceNamesBoth(t *testing.T) {
	_, faults := Read(File, []byte("format = 1\nports = {\n  \"a/b/c\" = 1\n  \"a/b/c\" = 2\n}\n"))
	if len(faults) != 1 || len(faults[0].Also) != 1 || faults[0].Also[0].At.Line != 3 {
		t.Errorf("got %v", faults)
	}
}

// DIA-1: every malformed entry is told in one run.
func TestAllAreTold(t *testing.T) {
	_, faults := Read(File, []byte("format = 1\nports = {\n  \"a/b\" = 1\n  \"a/b/c\" = 0\n}\nlogins = {\n  \"x\" = \"y\"\n}\n"))
	if len(faults) != 3 {
		t.Errorf("got %v", faults)
	}
}

// DIA-5: brackets and operators without end are refused before a parser could recurse into them.
func TestDeepNesting(t *testing.T) {
	const deep, other = "brackets nest deeper", "a lock holds names"
	for s, says := range map[string]string{
		"[": deep, "{": deep, "x={": deep, "[for x in ": deep, "a {\n": deep,
		"(": other, "!": other, "-": other, "a?": other, "\"${": other,
	} {
		src := append([]byte("format = 1\nports = "), bytes.Repeat([]byte(s), 1<<16/len(s))...)
		if _, faults := Read(File, src); len(faults) != 1 || !strings.Contains(faults[0].Message, says) {
			t.Errorf("%q without end gave %v", s, faults)
		}
	}
}

// PRT-1: an older lock is upgraded when it is read, and nothing behind that knows of it.
func TestUpgrade(t *testing.T) {
	if len(upgrades) != Format-1 {
		t.Fatalf("%d steps lead to format %d", len(upgrades), Format)
	}
	if l, faults := Read(File, []byte("format = 1\nports = {\n}\n")); len(faults) > 0 || l.Mesh != "" || l.Format != 1 {
		t.Errorf("format 1 is read as %+v, %v", l, faults)
	}
	// As if the next format had numbered nodes' ports from 1000 on.
	next := append(upgrades[:len(upgrades):len(upgrades)], func(d document) (document, diag.List) {
		for i, e := range d.entries {
			if e.section == ports {
				d.entries[i].value.text = "1" + e.value.text
			}
		}
		d.format++
		return d, nil
	})
	for src, want := range map[string]int{
		"format = 1\nports = {\n  \"a/b/c\" = 234\n}\n": 1234,
		"format = 3\nports = {\n  \"a/b/c\" = 234\n}\n": 234,
	} {
		l, faults := read(File, []byte(src), next)
		if len(faults) > 0 || l.Ports[listen("a/b/c")] != want {
			t.Errorf("read %v, %v from\n%s", l, faults, src)
		}
	}
	if _, faults := read(File, []byte("format = 4\n"), next); len(faults) != 1 || faults[0].Code != diag.LockFormat {
		t.Errorf("format 3 gave %v", faults)
	}
	if l, _ := read(File, []byte("format = 1\nports = {\n}\n"), next); l == nil || l.Format != 1 {
		t.Errorf("the format that the file had is not told: %v", l)
	}
}
