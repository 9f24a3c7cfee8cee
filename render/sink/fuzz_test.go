package sink_test

import (
	"testing"

	"meshc.dev/compiler/data"
)

// BLD-6: no value makes a writer panic or write what is read as another value
func FuzzJSON(f *testing.F) { fuzz(f, checkJSON, 4) }

// BLD-6: the same for YAML, by readers of 1.1 and 1.2
func FuzzYAML(f *testing.F) { fuzz(f, checkYAML, 4) }

// BLD-6: the same for TOML
func FuzzTOML(f *testing.F) { fuzz(f, checkTOML, 4) }

// BLD-6: the same for INI
func FuzzINI(f *testing.F) { fuzz(f, checkINI, 2) }

// BLD-6: the same for systemd's environment files
func FuzzEnv(f *testing.F) { fuzz(f, checkEnv, 1) }

// BLD-6: the same for docker's and podman's environment files
func FuzzEnvFile(f *testing.F) { fuzz(f, checkEnvFile, 1) }

// BLD-6: the same for systemd units
func FuzzSystemd(f *testing.F) { fuzz(f, checkSystemd, 3) }

// BLD-6: the same for properties
func FuzzProperties(f *testing.F) { fuzz(f, checkProperties, 3) }

func fuzz(f *testing.F, check func(*testing.T, data.Value) bool, depth int) {
	f.Add([]byte{4, 0, 9, 1, 7, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, true)
	f.Add([]byte("\x03\x01\x04\x00\x06\x02\x05\x01a\x00\nb\\\"'$%#;=:"), false)
	f.Fuzz(func(t *testing.T, b []byte, wild bool) {
		check(t, (&source{bytes: b, wild: wild}).structure(depth))
	})
}
