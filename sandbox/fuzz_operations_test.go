package sandbox_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/specgen"
)

// FuzzOperations makes every input into a few requests to a market of its own,
// each of them about what those before have said.
func FuzzOperations(f *testing.F) {
	busy := makeBusyMarket(f)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range busy.spec.Operations() {
		f.Add([]byte{byte(i)}) // the plainest request
		input := []byte{byte(i)}
		for range 60 {
			input = append(input, byte(random.UintN(256)))
		}
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		choices := specgen.NewBytes(input[:min(len(input), 400)])
		m := busy.open(t)
		g := &specgen.Generator{Known: m.known, Choices: choices, Base: sandbox.BasePath}
		ops := busy.spec.Operations()
		for choices.More() {
			m.try(g.Request(ops[choices.IntN(len(ops))]))
			if choices.IntN(8) == 7 {
				m.pass(time.Second)
			}
		}
	})
}

// TestFuzzedRequestsGetTheAnswersOfTheDocument is the same with random numbers
// instead of inputs, and with a count of what was reached.
func TestFuzzedRequestsGetTheAnswersOfTheDocument(t *testing.T) {
	const rounds, each = 8, 20 // markets, and requests per operation to each
	busy := makeBusyMarket(t)
	tally := tally{}
	for round := range rounds {
		m := busy.open(t)
		choices := rand.New(rand.NewPCG(2026, uint64(round)))
		g := &specgen.Generator{Known: m.known, Choices: choices, Base: sandbox.BasePath}
		for range each {
			for _, i := range choices.Perm(len(busy.spec.Operations())) {
				r := g.Request(busy.spec.Operations()[i])
				tally.count(r, m.try(r))
				if choices.IntN(16) == 0 {
					m.pass(time.Second)
				}
			}
		}
		require.NoError(t, m.Close())
	}
	t.Logf("requests by operation and class:\n%s", tally)
	for _, op := range busy.spec.Operations() {
		assert.Positive(t, tally[op.ID].answered[2], "%s was never asked for something that it has", op.ID)
		assert.Positive(t, tally[op.ID].answered[4], "%s was never asked for something that it refuses", op.ID)
	}
}

// tally counts requests by the operation that they were made for.
type tally map[string]*answers

type answers struct {
	answered [6]int // by class
	fit      int    // made to fit the document
}

func (c tally) count(r specgen.Request, status int) {
	if c[r.Operation] == nil {
		c[r.Operation] = &answers{}
	}
	c[r.Operation].answered[status/100]++
	if r.Fit {
		c[r.Operation].fit++
	}
}

func (c tally) String() string {
	var b strings.Builder
	var all answers
	line := func(name string, a answers) {
		fmt.Fprintf(&b, "%-32s fit %5d  2xx %5d  4xx %5d\n", name, a.fit, a.answered[2], a.answered[4])
	}
	names := make([]string, 0, len(c))
	for name, a := range c {
		names = append(names, name)
		all.fit += a.fit
		for class, n := range a.answered {
			all.answered[class] += n
		}
	}
	slices.Sort(names)
	for _, name := range names {
		line(name, *c[name])
	}
	line("all", all)
	return b.String()
}
