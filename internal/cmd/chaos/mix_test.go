package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/internal/faultproxy"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

func draw(seed uint64, n int) []mishap {
	next := broken(seed)
	drawn := make([]mishap, n)
	for i := range drawn {
		drawn[i] = next(nil)
	}
	return drawn
}

func TestAMixIsTheSameForASeedAndAnotherForAnother(t *testing.T) {
	assert.Equal(t, draw(1, 1000), draw(1, 1000))
	assert.NotEqual(t, draw(1, 1000), draw(2, 1000))
}

// The line that the program prints about its mix is held to what is drawn.
func TestTheMixIsWhatIsPrinted(t *testing.T) {
	counts := map[mishap]int{}
	for _, m := range draw(7, 100_000) {
		counts[m]++
	}
	type sums struct{ none, lost, reset, applied, refused, throttled, late int }
	var got sums
	market, err := sandbox.New(sandbox.Options{Manual: true})
	require.NoError(t, err)
	defer market.Close()
	for m, n := range counts {
		assert.Equal(t, m.network.Kind.Delivered(), m.stream.Delivered(), "%v happens to a request over either protocol", m)
		switch {
		case m.answer.Status == 429:
			got.throttled += n
		case m.answer.Applied:
			got.applied += n
		case m.answer.Status >= 500:
			got.refused += n
		case m.network.Kind == faultproxy.None:
			got.none += n
		case m.network.Kind == faultproxy.Reset:
			got.reset += n
		case m.network.Kind == faultproxy.Latency:
			got.late += n
		default:
			got.lost += n
		}
		if m.answer.Kind != "" {
			require.NoError(t, market.Fail(m.answer), "the sandbox can do it")
		}
	}
	for what, share := range map[string]struct{ want, got int }{
		"nothing": {78_000, got.none}, "a lost answer": {5_000, got.lost}, "a reset": {5_000, got.reset},
		"5xx after being done": {2_500, got.applied}, "5xx before": {2_500, got.refused}, "429": {5_000, got.throttled}, "late": {2_000, got.late},
	} {
		assert.InDelta(t, share.want, share.got, 500, what)
	}
	assert.Len(t, counts, 20, "each way to lose an answer and each status happens")
}
