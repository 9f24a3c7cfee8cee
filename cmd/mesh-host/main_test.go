package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"meshc.dev/host/hosttest"
	"meshc.dev/render/bundle"
	"meshc.dev/render/seal"
	"meshc.dev/render/sshsig"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mesh-host": main})
}

// TestScripts runs what a user sees, on the real main. The scripts have two commands
// more: `tree DIR` makes a machine's files, and `bundle SPEC OUT [key=value…]` makes a
// bundle of SPEC/declaration.hcl, in which "@" stands for a sum to be computed, of
// SPEC/files and of the secrets in SPEC/plain; keys are to=IDENTITY, serial, commit,
// sign=KEY, and as=ID:NAME for a blob that says it is another secret.
func TestScripts(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil && os.Getenv("MESHC_TEST_TOOLS") == "required" {
		t.Fatal("ssh-keygen is missing")
	}
	testscript.Run(t, testscript.Params{
		Dir: "../../host/testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"tree":   tree,
			"bundle": makeBundle,
			"mode":   mode,
			"swap":   swap,
		},
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("there is no condition %q", cond)
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("TMPDIR", e.WorkDir)
			return nil
		},
	})
}

func tree(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(hosttest.Tree(ts.MkAbs(args[0])))
}

// mode MODE FILE asserts a file's mode.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	info, err := os.Lstat(ts.MkAbs(args[1]))
	ts.Check(err)
	want, err := strconv.ParseUint(args[0], 8, 32)
	ts.Check(err)
	if (uint64(info.Mode().Perm()) == want) == neg {
		ts.Fatalf("%s has mode %04o", args[1], info.Mode().Perm())
	}
}

// swap A B makes two files change places.
func swap(ts *testscript.TestScript, _ bool, args []string) {
	a, b := ts.MkAbs(args[0]), ts.MkAbs(args[1])
	ts.Check(os.Rename(a, a+".swap"))
	ts.Check(os.Rename(b, a))
	ts.Check(os.Rename(a+".swap", b))
}

var sumPattern = regexp.MustCompile(`source\s*=\s*"([^"]*)"\n\s*sha256\s*=\s*"@"`)

func makeBundle(ts *testscript.TestScript, _ bool, args []string) {
	spec, out := ts.MkAbs(args[0]), ts.MkAbs(args[1])
	src := []byte(ts.ReadFile(filepath.Join(spec, "declaration.hcl")))
	src = sumPattern.ReplaceAllFunc(src, func(m []byte) []byte {
		name := sumPattern.FindSubmatch(m)[1]
		data, err := os.ReadFile(filepath.Join(spec, string(name)))
		ts.Check(err)
		return bytes.Replace(m, []byte(`"@"`), []byte(`"`+bundle.SumOf(data).String()+`"`), 1)
	})
	d, err := bundle.ParseDeclaration(src)
	ts.Check(err)
	s := hosttest.Spec{Mesh: d.Mesh, Node: d.Node, Items: d.Items, Content: map[bundle.ID]string{}}
	for _, arg := range args[2:] {
		option(ts, &s, arg)
	}
	for _, item := range d.Items {
		switch i := item.(type) {
		case *bundle.File:
			s.Content[i.ID] = ts.ReadFile(filepath.Join(spec, i.Source))
		case *bundle.Block:
			s.Content[i.ID] = ts.ReadFile(filepath.Join(spec, i.Source))
		case *bundle.Secret:
			name := strings.TrimSuffix(strings.TrimPrefix(i.Sealed, "sealed/"), ".age")
			if i.Sealed != "" {
				s.Content[i.ID] = strings.TrimSuffix(ts.ReadFile(filepath.Join(spec, "plain", name)), "\n")
			}
		}
	}
	b, err := s.Make()
	ts.Check(err)
	ts.Check(hosttest.Write(b, out))
}

func option(ts *testscript.TestScript, s *hosttest.Spec, arg string) {
	key, value, _ := strings.Cut(arg, "=")
	switch key {
	case "to":
		id, err := seal.ParseIdentity([]byte(ts.ReadFile(value)))
		ts.Check(err)
		s.To = id.Recipient()
	case "serial":
		n, err := strconv.ParseInt(value, 10, 64)
		ts.Check(err)
		s.Origin.Serial = n
	case "as":
		id, as, _ := strings.Cut(value, ":")
		s.SealedAs = map[bundle.ID]string{bundle.ID(id): as}
	case "commit":
		s.Origin.Commit = value
	case "sign":
		k, err := sshsig.ParseKey([]byte(ts.ReadFile(value)))
		ts.Check(err)
		s.Sign = k.Sign
	default:
		ts.Fatalf("unknown option %s", arg)
	}
}
