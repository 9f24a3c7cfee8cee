package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"meshc": main})
}

// TestScripts runs the scripts of testdata/script on the real command.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "../../testdata/script",
		UpdateScripts: os.Getenv("UPDATE") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			e.Setenv("CI", "")
			e.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
	})
}
