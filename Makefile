# make help says what there is.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
export PATH := $(PATH):/usr/local/sbin:/usr/sbin:/sbin

# The tools of lint, each at one version. Where they are installed already:
# make lint STATICCHECK=staticcheck GOFUMPT=gofumpt CUE=cue
STATICCHECK ?= go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     ?= go run mvdan.cc/gofumpt@v0.12.0
CUE         ?= go run cuelang.org/go/cmd/cue@v0.17.1

# Folders that hold Go, tests' tools included; ./... leaves testdata out.
GO := ./... ./testdata/tools/...

# What is built for use: the same bytes wherever it is built, no C library, and a release's version where its tag is checked out.
VERSION ?= $(patsubst v%,%,$(shell git describe --tags --exact-match --match 'v*' 2>/dev/null))
BUILD = CGO_ENABLED=0 go build -trimpath $(if $(VERSION),-ldflags '-X main.version=$(VERSION)')
FUZZTIME ?= 10s
FUZZLEAST ?= 100

help: ## what there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## bin/meshc and bin/mesh-host
	@$(BUILD) -o bin/ ./cmd/...

demo: build ## builds the mesh meshes/home into bundles, and shows what one machine is given
	@rm -rf bin/demo && cp -r meshes/home bin/demo
	@printf 'a key from its issuer' | bin/meshc -C bin/demo accept personal
	@printf 'a token from the registrar' | bin/meshc -C bin/demo accept anchor/reverse-proxy/dns-token
	@bin/meshc -C bin/demo build
	@echo; bin/meshc -C bin/demo plan board 2>/dev/null
	@echo; echo "bin/demo/dist/board holds"; cd bin/demo/dist/board && find . -type f | sort | sed 's|^\./|  |'

test: lint ## everything a change has to pass; prints how many tests there were
	@testdata/tools/install.sh
	@go build -o bin/gotest ./testdata/tools/gotest
	@MESHC_TEST_TOOLS=required bin/gotest $(GO)

lab: ## boots four machines, applies the bundles of meshes/lab, and looks whether they are true (as root)
	@host/lab/base.sh able
	@go test -c -tags lab -o bin/lab.test ./host/lab
	@base=$$(host/lab/base.sh); cd host/lab; MESHC_LAB_BASE="$$base" ../../bin/lab.test -test.timeout 30m

lint: ## vet, staticcheck, gofumpt, and CUE's own vet and fmt
	@go vet $(GO)
	@go vet -tags lab ./host/...
	@$(STATICCHECK) $(GO)
	@files=$$($(GOFUMPT) -l .); if [ -n "$$files" ]; then echo "not formatted, run gofumpt -w:"; echo "$$files"; exit 1; fi
	@$(CUE) vet -c=false ./schema/... ./catalog/...
	@for mesh in meshes/*/; do (cd "$$mesh" && $(CUE) vet -c=false ./...) || { echo "in $$mesh"; exit 1; }; done
	@$(CUE) fmt --check --files schema catalog meshes || { echo "not formatted, run cue fmt --files schema catalog meshes"; exit 1; }

gen: ## writes what is made from something else: vendored schemas, docs/diagnostics.md, docs/commands.md, docs/mesh-host.md, docs/ci.md
	@for mesh in meshes/*/; do \
		dir="$$mesh"cue.mod/pkg/meshc.dev/schema; \
		rm -rf "$$dir" && mkdir -p "$$dir" && cp schema/*.cue "$$dir"/; \
	done
	@UPDATE=1 go test . ./cmd/meshc ./cmd/mesh-host -run 'TestDiagnosticsPage|TestCommandsPage|TestRecipesPage|TestHostPage' -count=1

golden: ## writes the expected output of tests anew; read the diff
	@UPDATE=1 go test $(GO) -count=1

bench: ## speed and size, of functions and of whole runs over generated meshes
	@go test -run '^$$' -bench . -benchmem $(GO)

fuzz: ## each fuzz test for FUZZTIME (10s), and at least FUZZLEAST (100) executions
	@FUZZTIME=$(FUZZTIME) FUZZLEAST=$(FUZZLEAST) testdata/tools/fuzz.sh

race: ## what runs side by side, watched by the race detector
	@go test -race -cpu 2,8 -run AtOnce ./compiler
	@go test -race ./compiler/parallel ./compiler/work

.PHONY: help build demo test lab lint gen golden bench fuzz race
