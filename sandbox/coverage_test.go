package sandbox_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/routers"

	"github.com/sellside-sdk/sellside-go/api"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/specgen"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

// coverageFile is the table of what the tests of this package have exercised.
const coverageFile = "../docs/coverage.md"

var updateCoverage = flag.Bool("update", false, "write "+coverageFile+" anew")

// TestMain holds the tests as a whole to the document, once all of them have
// run: every operation is exercised, with every status that it declares.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 && allTestsRan() {
		if err := covered.check(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// allTestsRan reports whether no flag has left tests out.
func allTestsRan() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return true
}

// covered is what the tests have exercised so far.
var covered = &coverage{
	answers: map[cell]map[string]bool{}, changes: map[stateChange]map[string]bool{},
	cells: map[string]map[cell]bool{}, last: map[string]snapshot{},
}

// coverage collects which test was given which answer and has seen which change
// of state.
type coverage struct {
	mu      sync.Mutex
	answers map[cell]map[string]bool
	changes map[stateChange]map[string]bool
	cells   map[string]map[cell]bool // by test
	last    map[string]snapshot      // by test and id
}

// cell is an operation answered with a status.
type cell struct {
	operation string
	status    int
}

// record notes an answer that has passed the document. What a fuzzer or a soak
// was given is left out, for it is another thing every time.
func (c *coverage) record(tb testing.TB, route *routers.Route, w *httptest.ResponseRecorder) {
	tb.Helper()
	test, _, _ := strings.Cut(tb.Name(), "/")
	for _, prefix := range []string{"Fuzz", "TestFuzz", "TestSoak", "Benchmark"} {
		if strings.HasPrefix(test, prefix) {
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := cell{route.Operation.OperationID, w.Code}
	add(c.answers, at, test)
	add(c.cells, test, at)
	var answer any
	if w.Code < 300 && json.Unmarshal(w.Body.Bytes(), &answer) == nil { // a PDF has no state
		c.observe(tb.Name(), test, answer)
	}
}

func add[K, V comparable](to map[K]map[V]bool, key K, value V) {
	if to[key] == nil {
		to[key] = map[V]bool{}
	}
	to[key][value] = true
}

// check fails if a status that the document declares or a row of a table of
// states is not exercised by any test, if something has happened that is in no
// table, or if the page is not the one that the tests make.
func (c *coverage) check() error {
	spec, err := specgen.Load(api.Spec)
	if err != nil {
		return err
	}
	var missing []string
	for _, op := range spec.Operations() {
		for _, status := range op.Statuses {
			if len(c.answers[cell{op.ID, status}]) == 0 {
				missing = append(missing, fmt.Sprintf("%s answered %d", op.ID, status))
			}
		}
	}
	for _, m := range state.Machines() {
		for _, row := range m.Transitions() {
			if len(c.sawRow(m, row)) == 0 {
				missing = append(missing, fmt.Sprintf("%s %s --%s--> %s", m.Name(), row.From, row.Event, row.To))
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("no test has seen\n\t%s", strings.Join(missing, "\n\t"))
	}
	if impossible := c.impossible(); len(impossible) > 0 {
		return fmt.Errorf("no table of states leads from\n\t%s", strings.Join(impossible, "\n\t"))
	}
	return c.compare(c.page(spec))
}

func (c *coverage) compare(page string) error {
	if *updateCoverage {
		return os.WriteFile(coverageFile, []byte(page), 0o644)
	}
	have, err := os.ReadFile(coverageFile)
	if err != nil {
		return err
	}
	if string(have) == page {
		return nil
	}
	old := strings.Split(string(have), "\n")
	for line := range strings.SplitSeq(page, "\n") {
		if !slices.Contains(old, line) {
			return fmt.Errorf("%s is out of date, go test ./sandbox -update writes it; it should say\n%s", coverageFile, line)
		}
	}
	return fmt.Errorf("%s is out of date, go test ./sandbox -update writes it", coverageFile)
}

// closest names the tests that are most about something: those that exercise the
// fewest answers, three at most.
func (c *coverage) closest(tests map[string]bool) string {
	var names []string
	for name := range tests {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(c.cells[a]), len(c.cells[b])), cmp.Compare(a, b))
	})
	names = names[:min(len(names), 3)]
	slices.Sort(names)
	return strings.Join(names, "<br>")
}
