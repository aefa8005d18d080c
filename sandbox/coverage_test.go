package sandbox_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
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
	return c.compare(spec)
}

// compare holds the page to what was seen: its lines are all there are, and the
// tests of each have seen what they are named for. There may be other tests that
// are about it, so that a new test does not make the page wrong.
func (c *coverage) compare(spec *specgen.Spec) error {
	if *updateCoverage {
		return os.WriteFile(coverageFile, []byte(c.page(spec, c.closest)), 0o644)
	}
	have, err := os.ReadFile(coverageFile)
	if err != nil {
		return err
	}
	lines, seen := strings.Split(string(have), "\n"), strings.Split(c.page(spec, everyOne), "\n")
	for i := range max(len(lines), len(seen)) {
		if i >= len(lines) || i >= len(seen) || !tellsOf(lines[i], seen[i]) {
			return fmt.Errorf("%s is out of date from line %d on: go test ./sandbox -update writes it", coverageFile, i+1)
		}
	}
	return nil
}

// tellsOf reports whether a line says what was seen, with some of its tests.
func tellsOf(line, seen string) bool {
	what, tests := lastColumn(line)
	of, all := lastColumn(seen)
	return what == of && !slices.ContainsFunc(tests, func(t string) bool { return !slices.Contains(all, t) })
}

// lastColumn parts a line of a table from the tests it names.
func lastColumn(line string) (what string, tests []string) {
	row, table := strings.CutSuffix(line, " |")
	i := strings.LastIndex(row, "| ")
	if !table || i < 0 {
		return line, nil
	}
	return row[:i], strings.Split(row[i+len("| "):], "<br>")
}

// everyOne names all tests.
func everyOne(tests map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(tests)), "<br>")
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
