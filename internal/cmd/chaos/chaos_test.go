package main

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/internal/faultproxy"
	"github.com/sellside-sdk/sellside-go/internal/h2peer"
)

// inTurn injects the faults into the submissions of batches, one after the other, and into nothing
// else.
func inTurn(faults ...fault) network {
	return func(uint64) func(*http.Request) fault {
		var submissions atomic.Int64
		return func(r *http.Request) fault {
			if r.Method != http.MethodPost {
				return fault{}
			}
			n := int(submissions.Add(1)) - 1
			return faults[n%len(faults)]
		}
	}
}

var (
	none         = fault{}
	lostResponse = connection(faultproxy.LostResponse, h2peer.Applied, h2peer.ResetStream, http2.ErrCodeProtocol)
	reset        = connection(faultproxy.Reset, h2peer.Headers, h2peer.GoAwayClose, http2.ErrCodeNo)
	stall        = connection(faultproxy.Stall, h2peer.Applied, h2peer.Stall, http2.ErrCodeNo)
)

func TestRun_NeitherLosesNorDuplicatesListings(t *testing.T) {
	cut := connection(faultproxy.CutMidBody, h2peer.HalfResponse, h2peer.ResetStream, http2.ErrCodeCancel)
	headers := connection(faultproxy.ResetAfterHeaders, h2peer.ResponseHeaders, h2peer.ResetConnection, http2.ErrCodeNo)
	net := inTurn(lostResponse, reset, none, cut, headers, status(503, true), status(503, false))
	for seed, protocol := range map[uint64]string{1: "HTTP/1", 2: "HTTP/2"} {
		t.Run(protocol, func(t *testing.T) {
			o, err := run{listings: 600, deadline: time.Minute, network: net}.sellSeed(t.Context(), seed)

			require.NoError(t, err)
			assert.Equal(t, "lost=0 duplicated=0 unknown=0", o.String())
			assert.Equal(t, 4, o.recovered, "four batches landed without a response, and one with half of it")
		})
	}
}

func TestCommand_ExitsWithWhetherListingsAreRight(t *testing.T) {
	for _, row := range []struct {
		what string
		args []string
		code int
		last string
	}{
		{"recovered", nil, 0, "lost=0 duplicated=0 unknown=0\n"},
		{"sent again without recovery", []string{"-blind"}, 1, "lost=0 duplicated=200 unknown=0\n"},
	} {
		t.Run(row.what, func(t *testing.T) {
			var out, failed bytes.Buffer

			code := command(t.Context(), append(row.args, "-seeds", "2", "-listings", "100"), &out, &failed, inTurn(lostResponse, none))

			assert.Equal(t, row.code, code)
			assert.Contains(t, out.String(), row.last)
			assert.Equal(t, code != 0, failed.Len() > 0, failed.String())
		})
	}
}

func TestCommand_GivesUpFailingSteps(t *testing.T) {
	for _, row := range []struct {
		what string
		net  network
		args []string
		want string
	}{
		{"a refusal", inTurn(status(400, false)), nil, "chaos: seed 1: batch 1 of 1: submit: CreateListingsBatch: 400"},
		{"a failure each time", inTurn(status(429, false)), nil, "chaos: seed 1: batch 1 of 1: submit: the step keeps failing, 10 times in a row: CreateListingsBatch: 429"},
		{"a stalled request", inTurn(stall), []string{"-deadline", "200ms"}, "chaos: seed 1: not done at the deadline of 200ms: batch 1 of 1: submit: CreateListingsBatch"},
	} {
		t.Run(row.what, func(t *testing.T) {
			var out, failed bytes.Buffer

			code := command(t.Context(), append(row.args, "-seeds", "1", "-listings", "10"), &out, &failed, row.net)

			assert.Equal(t, 1, code)
			assert.Contains(t, failed.String(), row.want)
			assert.NotContains(t, out.String(), "lost=")
		})
	}
}

func TestRetry_DoesNotRepeatAStepThatGaveUp(t *testing.T) {
	calls := 0
	err := retry(t.Context(), "outer", func() error {
		return retry(t.Context(), "inner", func() error {
			calls++
			return &client.TransportError{Err: io.EOF}
		})
	})
	require.ErrorIs(t, err, errStuck)
	assert.Equal(t, maxFailures, calls)
}

func TestCommand_RefusesInvalidFlags(t *testing.T) {
	var out, failed bytes.Buffer

	code := command(t.Context(), []string{"-seed", "1"}, &out, &failed, inTurn(none))

	assert.Equal(t, 2, code)
	assert.Contains(t, failed.String(), "not defined: -seed")
	assert.Empty(t, out.String())
}

func TestRun_NeitherLosesNorDuplicatesWithQuirks(t *testing.T) {
	net := inTurn(lostResponse, reset, none, status(503, true), status(503, false))
	o, err := run{listings: 600, deadline: time.Minute, network: net, quirks: true}.sellSeed(t.Context(), 1)

	require.NoError(t, err)
	assert.Equal(t, "lost=0 duplicated=0 unknown=0", o.String())
}
