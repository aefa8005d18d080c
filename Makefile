# Every recipe is a plain command that can be typed by hand just as well.
# Go and make are all that is needed; everything else is pinned by a go.mod.

FUZZTIME     ?= 200000x
SLOWFUZZTIME ?= 20000x
SOAK         ?= 1m
STRESS       ?= 1m
TOOL         := go tool -modfile=internal/tools/go.mod

# The race detector needs cgo, a C compiler that works and a platform that has
# it. In CI it is not negotiable: a machine without it fails the tests.
#
# SQLite is left out of it: it is C turned into Go, threads and locks included,
# and watching it makes every test of the sandbox several times slower. All that
# calls it stays under watch.
WATCHED := -race '-gcflags=modernc.org/...=-race=false -d=checkptr=0'
ifeq ($(CI),true)
RACE := $(WATCHED)
else
RACE = $(if $(shell go list -race errors >/dev/null 2>&1 && echo 'int main(void){return 0;}' | $$(go env CC) -x c -o /dev/null - 2>/dev/null && echo yes),$(WATCHED))
endif

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.PHONY: help demo test generate spec lint fmt tidy consumer consumer-update fuzz chaos sale bench bench-sandbox soak stress check clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

demo: ## sell an inventory against the embedded sandbox
	go run ./cmd/sellside demo

test: ## run all tests, with -race wherever cgo is on
	go test $(RACE) -timeout 10m ./...

generate: ## write the generated files from api/openapi.yaml
	go generate ./...

spec: ## validate api/openapi.yaml and its promises
	go run github.com/getkin/kin-openapi/cmd/validate api/openapi.yaml
	go test -timeout 5m ./api

lint: ## run go vet, gofumpt and golangci-lint
	go vet ./...
	$(TOOL) gofumpt -l -d .
	$(TOOL) golangci-lint run ./...

fmt: ## format the code the way lint wants it
	$(TOOL) gofumpt -l -w .

tidy: ## tidy the three go.mod files
	go mod tidy
	cd internal/consumer && go mod tidy
	cd internal/tools && go mod tidy

consumer: ## build and test a module that uses the SDK from outside
	cd internal/consumer && go vet ./... && go test -timeout 5m ./...

consumer-update: ## write internal/consumer/packages.txt anew
	cd internal/consumer && go mod tidy && go test -timeout 5m -update ./...

# Inputs are counted, for a time can run out in the middle of one, which fails.
fuzz: ## fuzz every target with FUZZTIME inputs (200000x), slow ones with SLOWFUZZTIME (20000x)
	@grep -rHoE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' . | sort | sed -E 's|/[^/]*:func | |' | \
	while read -r dir name; do \
		case "$$name" in FuzzOperations) inputs=$(SLOWFUZZTIME);; *) inputs=$(FUZZTIME);; esac; \
		echo "go test -run '^$$' -fuzz '^$$name$$' -fuzztime $$inputs -fuzzminimizetime 10x $$dir"; \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime "$$inputs" -fuzzminimizetime 10x "$$dir" </dev/null || exit 1; \
	done

chaos: ## sell 20 x 10,000 listings through a broken network; lose and duplicate none
	go run ./internal/cmd/chaos

sale: ## sell 10,000 listings in simulated time, within the public quota
	go test -count 1 -run TestSale_LastsAsLongAsTheQuota -v ./client -sale-listings 10000

bench: ## run the benchmarks
	go test -run '^$$' -bench . -benchmem -timeout 20m ./...

bench-sandbox: ## measure the sandbox with 1,000,000 listings in its file
	go run ./internal/cmd/benchsandbox

soak: ## let 64 clients work on one sandbox for SOAK (1m); no error, no lost update
	go test -count 1 -run '^TestSoak$$' -v ./sandbox -soak $(SOAK)

stress: ## write from 64 goroutines to servers that break exchanges, for STRESS (1m) over each protocol
	go test $(RACE) -count 1 -timeout 30m -run '^TestStress_' -v ./client -stress $(STRESS)

check: ## run everything that CI runs, in its order
	.ci/run

clean: ## forget cached test results and fuzz inputs
	go clean -testcache -fuzzcache
