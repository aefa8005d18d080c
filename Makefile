# Every recipe is a plain command that can also be typed by hand. Go and make are all that is needed;
# a go.mod pins everything else.

FUZZTIME     ?= 200000x
SLOWFUZZTIME ?= 20000x
FUZZEXCLUDE  ?= none
SOAK         ?= 1m
STRESS       ?= 1m
TOOL         := go tool -modfile=internal/tools/go.mod

# RACE=1 turns on the race detector, which needs cgo and a C compiler. It is off by default, so that
# the tests need nothing but Go; .ci/run always turns it on.
#
# The race detector leaves out SQLite, which is C translated to Go: with it, the tests of the sandbox
# take several times as long. The code that calls SQLite is covered. Tests that run other tests once
# more are left to "make quirks", without the detector.
RACE      ?=
RACEFLAGS := $(if $(RACE),-race '-gcflags=modernc.org/...=-race=false -d=checkptr=0' -skip '^TestRerun_')

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.PHONY: help demo quick test test-postgres limit test-browser screenshots quirks generate spec lint api fmt tidy examples consumer consumer-update fuzz chaos bulk-chaos bulk-million sale bench bench-check bench-go bench-sandbox soak stress check clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

demo: ## sell an inventory against the embedded sandbox
	go run ./cmd/sellside demo

# The packages that a change of the spec reaches; about 40 s without cached results.
quick: ## generate, vet, and test the spec, the client and the sandbox; without the race detector
	go generate ./...
	go vet ./...
	go test -timeout 5m ./api ./gen ./client/... ./sandbox/...

test: ## run all tests; RACE=1 with the race detector
	go test $(RACEFLAGS) -timeout 20m ./...

# The server is that of SELLSIDE_TEST_DATABASE_URL, or a temporary one; see internal/cmd/withpostgres.
test-postgres: ## run the tests on databases with PostgreSQL too; RACE=1 with the race detector
	go run ./internal/cmd/withpostgres go test $(RACEFLAGS) -tags postgres -count 1 -timeout 20m \
		./bulk ./bulk/internal/db ./bulk/internal/ledger ./bulk/internal/limit ./client/token/pgstore
	go run ./internal/cmd/withpostgres go test $(RACEFLAGS) -tags postgres -count 1 -timeout 10m -run '^TestDatabase_' ./cmd/sellside

limit: ## let 8 processes share an account's quota on both databases; no violation, as fast as one process
	go run ./internal/cmd/withpostgres go test -count 1 -timeout 20m -v \
		-run TestLimiter_IsAsFastWithManyProcesses ./bulk/internal/limit -limit-calls 20 -limit-compare

# The browser is Chromium of the system; axe-core comes from npm and is not installed by anything else.
test-browser: ## test the pages of the sandbox in Chromium; SCREENSHOTS=DIR saves what they look like
	cd internal/browser && npm ci --no-audit --no-fund && go vet ./... && \
		SCREENSHOTS='$(abspath $(SCREENSHOTS))' go test -count 1 -timeout 10m ./...

screenshots: ## write docs/console/*.png
	$(MAKE) test-browser SCREENSHOTS=$(CURDIR)/docs/console

quirks: ## run the tests on the sandbox once more with responses as a live service sends them
	go test -count 1 -timeout 10m -run '^TestRerun_' ./sandbox ./client ./client/recovery ./cmd/sellside

generate: ## write the generated files from api/openapi.yaml
	go generate ./...
	cd bench && go generate ./...

spec: ## validate api/openapi.yaml
	go run github.com/getkin/kin-openapi/cmd/validate api/openapi.yaml
	go test -timeout 5m ./api

lint: ## run go vet, gofumpt, golangci-lint and actionlint
	go vet ./...
	$(TOOL) gofumpt -l -d .
	$(TOOL) golangci-lint run ./...
	cd bench && go vet ./... && go tool -modfile=../internal/tools/go.mod golangci-lint run ./...
	cd examples/otel && go vet ./... && go tool -modfile=../../internal/tools/go.mod golangci-lint run ./...
	$(TOOL) actionlint -shellcheck= -pyflakes=

# BASE is a commit; the merge base with main by default, see internal/cmd/apicheck.
api: ## check that CHANGELOG.md names every incompatible change of the API since BASE
	go run ./internal/cmd/apicheck -base '$(BASE)'

fmt: ## format the code as lint requires
	$(TOOL) gofumpt -l -w .

tidy: ## tidy all go.mod files
	go mod tidy
	cd bench && go mod tidy
	cd internal/browser && go mod tidy
	cd examples/otel && go mod tidy
	cd internal/consumer && go mod tidy
	cd internal/tools && go mod tidy

examples: ## build and test the example programs with dependencies of their own
	cd examples/otel && go vet ./... && go test -timeout 5m ./...

consumer: ## build and test a module that uses the SDK from outside
	cd internal/consumer && go vet ./... && go test -timeout 5m ./...

consumer-update: ## update internal/consumer/packages.txt
	cd internal/consumer && go mod tidy && go test -timeout 5m -update ./...

# The targets get a number of inputs and not a time: a time that ends in the middle of an input can
# fail with "context deadline exceeded".
fuzz: ## fuzz every target with FUZZTIME inputs (200000x), slow ones with SLOWFUZZTIME (20000x), but for those in files FUZZEXCLUDE
	@grep -rHoE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' --exclude='$(FUZZEXCLUDE)' . | sort | sed -E 's|/[^/]*:func | |' | \
	while read -r dir name; do \
		case "$$name" in FuzzOperations) inputs=$(SLOWFUZZTIME);; *) inputs=$(FUZZTIME);; esac; \
		echo "go test -run '^$$' -fuzz '^$$name$$' -fuzztime $$inputs -fuzzminimizetime 10x $$dir"; \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime "$$inputs" -fuzzminimizetime 10x "$$dir" </dev/null || exit 1; \
	done

chaos: ## sell 20 x 10,000 listings through a broken network; lose and duplicate none
	go run ./internal/cmd/chaos

# ROWS is the size of the inventory, SEED the trial; KILLS and STOPS are how often the process is
# killed with -9, and stopped for longer than what it has recorded may be sent.
bulk-chaos: ## keep ROWS (20000) rows in step through faults, sales, edits, kills and stops; SEED is 1
	go run ./internal/cmd/bulkchaos -rows $(or $(ROWS),20000) -seed $(or $(SEED),1) -kills $(or $(KILLS),10) -stops $(or $(STOPS),5)

bulk-million: ## plan ROWS (1000000) rows against as many listings; print time and peak memory
	go run ./internal/cmd/bulkmillion -rows $(or $(ROWS),1000000)

sale: ## sell 10,000 listings in simulated time, within the public quota
	go test -count 1 -run TestSale_LastsAsLongAsTheQuota -v ./client -sale-listings 10000

bench: ## compare the SDK with other clients, as in docs/performance.md
	cd bench && go run .

bench-check: ## fail if the SDK is beyond bench/limits.json, and test the comparison
	cd bench && go test -timeout 5m ./...
	cd bench && go run . -check

bench-go: ## run all benchmarks of go test
	go test -run '^$$' -bench . -benchmem -timeout 20m ./...
	cd bench && go test -run '^$$' -bench . -benchmem -timeout 20m ./...

bench-sandbox: ## measure the sandbox with 1,000,000 listings in its file
	go run ./internal/cmd/benchsandbox

soak: ## let 64 clients work on one sandbox for SOAK (1m); no error, no lost update
	go test -count 1 -run '^TestSoak$$' -v ./sandbox -soak $(SOAK)

stress: ## write from 64 goroutines to servers that break exchanges, for STRESS (1m) over each protocol
	go test $(RACEFLAGS) -count 1 -timeout 30m -run '^TestStress_' -v ./client -stress $(STRESS)

check: ## run everything that CI runs, in its order
	.ci/run

clean: ## remove cached test results and fuzz inputs
	go clean -testcache -fuzzcache
