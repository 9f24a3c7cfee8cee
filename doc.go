// Package meshc is the top of the module meshc.dev, a compiler for fleets of
// machines. It holds no code, only the tests of the house (house_test.go): imports
// go one way, every rule has a test, every link resolves, the generated pages are
// current. ARCHITECTURE.md is the map; cmd/meshc and cmd/mesh-host are the programs.
package meshc
