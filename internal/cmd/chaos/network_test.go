package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/internal/faultproxy"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

func draw(seed uint64, n int) []fault {
	next := broken(seed)
	drawn := make([]fault, n)
	for i := range drawn {
		drawn[i] = next(nil)
	}
	return drawn
}

func TestBroken_DrawsTheSameFaultsForASeed(t *testing.T) {
	assert.Equal(t, draw(1, 1000), draw(1, 1000))
	assert.NotEqual(t, draw(1, 1000), draw(2, 1000))
}

// TestBroken_DrawsTheMixThatIsPrinted tests the shares that main.go prints.
func TestBroken_DrawsTheMixThatIsPrinted(t *testing.T) {
	counts := map[fault]int{}
	for _, m := range draw(7, 100_000) {
		counts[m]++
	}
	type sums struct{ none, lost, reset, applied, refused, throttled, late int }
	var got sums
	market, err := sandbox.New(sandbox.Options{Manual: true})
	require.NoError(t, err)
	defer market.Close()
	for m, n := range counts {
		assert.Equal(t, m.http1.Kind.Delivered(), m.http2.Delivered(), "%v delivers a request over both protocols or over none", m)
		switch {
		case m.response.Status == 429:
			got.throttled += n
		case m.response.Applied:
			got.applied += n
		case m.response.Status >= 500:
			got.refused += n
		case m.http1.Kind == faultproxy.None:
			got.none += n
		case m.http1.Kind == faultproxy.Reset:
			got.reset += n
		case m.http1.Kind == faultproxy.Latency:
			got.late += n
		default:
			got.lost += n
		}
		if m.response.Kind != "" {
			require.NoError(t, market.Fail(m.response), "a valid fault")
		}
	}
	for what, share := range map[string]struct{ want, got int }{
		"nothing": {78_000, got.none}, "a lost response": {5_000, got.lost}, "a reset": {5_000, got.reset},
		"5xx after it was applied": {2_500, got.applied}, "5xx before": {2_500, got.refused}, "429": {5_000, got.throttled}, "late": {2_000, got.late},
	} {
		assert.InDelta(t, share.want, share.got, 500, what)
	}
	assert.Len(t, counts, 20, "every fault occurs")
}
