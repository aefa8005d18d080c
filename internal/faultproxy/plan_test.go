package faultproxy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/internal/faultproxy"
)

func chaos() []faultproxy.Share {
	return []faultproxy.Share{
		{PerMille: 50, Faults: []faultproxy.Fault{{Kind: faultproxy.LostAnswer}}},
		{PerMille: 50, Faults: []faultproxy.Fault{faultproxy.Status(500, ""), faultproxy.Replace(503, "1")}},
		{PerMille: 100, Faults: []faultproxy.Fault{faultproxy.Slow(1)}},
	}
}

func draw(t *testing.T, seed uint64, n int) []string {
	t.Helper()
	plan, err := faultproxy.NewPlan(seed, chaos()...)
	require.NoError(t, err)
	drawn := make([]string, n)
	for i := range drawn {
		drawn[i] = plan.Decide(nil).String()
	}
	return drawn
}

func TestAPlanIsTheSameForASeedAndAnotherForAnother(t *testing.T) {
	assert.Equal(t, draw(t, 1, 1000), draw(t, 1, 1000))
	assert.NotEqual(t, draw(t, 1, 1000), draw(t, 2, 1000))
}

func TestAPlanKeepsItsShares(t *testing.T) {
	counts := map[string]int{}
	for _, fault := range draw(t, 7, 100_000) {
		counts[fault]++
	}
	for fault, want := range map[string]int{
		"None": 80_000, "LostAnswer": 5_000, "500": 2_500, "503 with Retry-After 1 in place of the answer": 2_500, "Latency of 1ns": 10_000,
	} {
		assert.InDelta(t, want, counts[fault], 500, fault)
	}
	assert.Len(t, counts, 5)
}

func TestAPlanRefusesSharesThatDoNotAddUp(t *testing.T) {
	lost := []faultproxy.Fault{{Kind: faultproxy.LostAnswer}}
	for what, shares := range map[string][]faultproxy.Share{
		"beyond the whole": {{PerMille: 600, Faults: lost}, {PerMille: 401, Faults: lost}},
		"below nothing":    {{PerMille: -1, Faults: lost}},
		"of no fault":      {{PerMille: 1}},
	} {
		_, err := faultproxy.NewPlan(1, shares...)
		assert.Error(t, err, what)
	}
}
