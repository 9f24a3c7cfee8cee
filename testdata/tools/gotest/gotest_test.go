package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Real output of go test -v, and what is made of it.
func TestSummarise(t *testing.T) {
	const in = `=== RUN   TestGood
    a_test.go:8: all is well
--- PASS: TestGood (0.00s)
=== RUN   TestBad
=== RUN   TestBad/one
=== PAUSE TestBad/one
=== RUN   TestBad/two
=== CONT  TestBad/one
    a_test.go:12: one is wrong
=== NAME  TestBad
    a_test.go:20: said by the parent
--- FAIL: TestBad (0.01s)
    --- FAIL: TestBad/one (0.00s)
    --- PASS: TestBad/two (0.00s)
=== RUN   TestTool
    a_test.go:30: there is no nft here
--- SKIP: TestTool (0.00s)
FAIL
FAIL	meshc.dev/a	0.012s
=== RUN   TestLoud
--- FAIL: TestNobody (0.00s)
--- PASS: TestLoud (0.00s)
PASS
ok  	meshc.dev/b	0.003s
?   	meshc.dev/c	[no test files]
FAIL	meshc.dev/d [build failed]
=== RUN   TestPanic
panic: boom

goroutine 1 [running]:
FAIL	meshc.dev/e	0.004s
FAIL
`
	const want = `    a_test.go:12: one is wrong
    a_test.go:20: said by the parent
--- FAIL: TestBad (0.01s)
    --- FAIL: TestBad/one (0.00s)
skipped TestTool: a_test.go:30: there is no nft here
FAIL	meshc.dev/a	0.012s
ok  	meshc.dev/b	0.003s
FAIL	meshc.dev/d [build failed]
panic: boom

goroutine 1 [running]:
FAIL	meshc.dev/e	0.004s
`
	var out strings.Builder
	total, err := summarise(strings.NewReader(in), &out)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
	if want := (counts{passed: 3, failed: 4, skipped: 1}); total != want {
		t.Errorf("counted %v, not %v", total, want)
	}
}

// The last line is the count and the exit code is go test's, also where nothing compiles.
func TestRun(t *testing.T) {
	for name, c := range map[string]struct {
		test, last string
		code       int
	}{
		"passes":   {"func TestA(t *testing.T) {}\nfunc TestB(t *testing.T) { t.Skip(\"why\") }", "1 passed, 0 failed, 1 skipped", 0},
		"fails":    {"func TestA(t *testing.T) { t.Error(\"no\") }", "0 passed, 1 failed, 0 skipped", 1},
		"no build": {"func TestA(t *testing.T) { nothing() }", "0 passed, 1 failed, 0 skipped", 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "go.mod", "module x\n\ngo 1.26\n")
			write(t, dir, "x_test.go", "package x\n\nimport \"testing\"\n\n"+c.test+"\n")
			t.Chdir(dir)
			var out strings.Builder
			code, err := run([]string{"./..."}, &out)
			if err != nil || code != c.code {
				t.Errorf("run = %d, %v", code, err)
			}
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			if last := lines[len(lines)-1]; last != c.last {
				t.Errorf("the last line is %q, not %q:\n%s", last, c.last, out.String())
			}
		})
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
