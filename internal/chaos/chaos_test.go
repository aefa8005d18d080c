package main

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/internal/faultproxy"
)

// inTurn lets submissions of batches meet the faults one after the other, and everything else pass.
func inTurn(kinds ...faultproxy.Kind) func(*http.Request) faultproxy.Fault {
	var submissions atomic.Int64
	return func(r *http.Request) faultproxy.Fault {
		if r.Method != http.MethodPost {
			return faultproxy.Fault{}
		}
		n := int(submissions.Add(1)) - 1
		return faultproxy.Fault{Kind: kinds[n%len(kinds)]}
	}
}

func TestRecoveryNeitherLosesNorDuplicatesListings(t *testing.T) {
	faults := inTurn(faultproxy.LostAnswer, faultproxy.Reset, faultproxy.None, faultproxy.CutMidBody, faultproxy.ResetAfterHeaders)

	o, err := sellSeed(t.Context(), 1, 500, faults, false)

	require.NoError(t, err)
	assert.Equal(t, "lost=0 duplicated=0 unknown=0", o.String())
	assert.Equal(t, 4, o.recovered, "of five batches, submitted six times, four landed without saying so")
}

func TestSendingAgainWithoutRecoveryDuplicates(t *testing.T) {
	o, err := sellSeed(t.Context(), 1, 500, inTurn(faultproxy.LostAnswer, faultproxy.None), true)

	require.NoError(t, err)
	assert.Equal(t, 500, o.duplicated, "what the careful seller is spared")
}
